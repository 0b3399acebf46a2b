"""What does Dask add to a fit, and what does a second worker take away?

Run ``python -m benchmarks.scale_dask``. Rows are made on the workers and stay there, so that
only the fit is timed. Workers have one thread each; so has the fit in memory. All alternate.
"""

from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait
from threadpoolctl import threadpool_limits

from fairpca import FairPCA

from .timing import alternate

FEATURES, COMPONENTS, CHUNK_ROWS = 512, 10, 50_000

Data = tuple[da.Array, da.Array]


@contextmanager
def workers(n: int) -> Iterator[Client]:
    """Start worker processes of one thread each, on this machine only."""
    with (
        LocalCluster(
            n_workers=n,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit=0,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def rows_on(client: Client, n: int) -> Data:
    """Make rows of two groups on the workers, as many on each, and keep them there."""
    addresses = list(client.scheduler_info()["workers"])
    shares = [
        client.persist(made_up_rows(n // len(addresses), seed), workers=[address])
        for seed, address in enumerate(addresses)
    ]
    with client.as_current():
        wait(shares)
    X, z = (da.concatenate(parts) for parts in zip(*shares, strict=True))
    return X, z


def made_up_rows(n: int, seed: int) -> list[da.Array]:
    rng = da.random.default_rng(seed)
    group = rng.integers(0, 2, size=n, chunks=CHUNK_ROWS)
    noise = rng.normal(size=(n, FEATURES), chunks=(CHUNK_ROWS, FEATURES))
    return [noise * np.linspace(3.0, 1.0, FEATURES) + 0.5 * group[:, None], group]


def fit_on(client: Client, data: Data) -> FairPCA:
    X, z = data
    with client.as_current(), threadpool_limits(1, user_api="blas"):
        return FairPCA(COMPONENTS).fit(X, sensitive_features=z)


def fit_in_memory(X: np.ndarray, z: np.ndarray) -> FairPCA:
    with threadpool_limits(1, user_api="blas"):
        return FairPCA(COMPONENTS).fit(X, sensitive_features=z)


def seconds(n: int, repeats: int) -> dict[str, float]:
    """Return the median seconds of a fit with NumPy, one worker and two workers."""
    with ExitStack() as stack:
        contestants: dict[str, Callable[[], FairPCA]] = {}
        for count, name in ((1, "one worker"), (2, "two workers")):
            client = stack.enter_context(workers(count))
            data = rows_on(client, n)
            contestants[name] = partial(fit_on, client, data)
        # Copied, because what comes by network is not aligned, which slows BLAS down.
        X, z = (client.compute(a, sync=True).copy() for a in data)
        contestants["NumPy"] = partial(fit_in_memory, X, z)
        check_same(contestants["two workers"](), contestants["NumPy"]())
        return alternate(contestants, repeats)


def check_same(a: FairPCA, b: FairPCA) -> None:
    """Raise unless both found the same subspace: a wrong answer has no speed."""
    projectors = (fair.components_.T @ fair.components_ for fair in (a, b))
    np.testing.assert_allclose(*projectors, atol=1e-8)


def rows_of_the_table(n: int = 400_000, repeats: int = 5) -> Iterator[tuple[str, ...]]:
    """Yield rows of: what, size, against, seconds, and their ratio to those of the other."""
    took, size = seconds(n, repeats), f"{n:,} x {FEATURES}"
    two, one, plain = took["two workers"], took["one worker"], took["NumPy"]
    yield ("Dask, two workers", size, "Dask, one worker", f"{two:.2f} s", f"{two / one:.2f}")
    yield ("Dask, one worker", size, "NumPy, one thread", f"{one:.2f} s", f"{one / plain:.2f}")


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    for row in rows_of_the_table(given.rows, given.repeats):
        print("  ".join(row))


if __name__ == "__main__":
    main()
