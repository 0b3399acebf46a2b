"""Threads of the linear algebra that NumPy and SciPy brought, as threadpoolctl sees them."""

import threadpoolctl


def blas_threads():
    """Return how many threads BLAS may use now."""
    found = threadpoolctl.threadpool_info()
    return max((one["num_threads"] for one in found if one["user_api"] == "blas"), default=1)


def release_blas():
    """Let any thread set limits: newer threadpoolctl lets one until it is done, and no other."""
    openblas = getattr(threadpoolctl, "OpenBLASController", None)
    getattr(openblas, "clear_controlling_thread", lambda force: None)(force=True)
