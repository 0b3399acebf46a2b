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

FEATURES, COMPONENTS, CHUNK_ROWS = 512, 10, 25_000

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
    """Make rows of two groups on the workers, spread evenly, and keep them there."""
    group = da.random.default_rng(1).integers(0, 2, size=n, chunks=CHUNK_ROWS)
    noise = da.random.default_rng(0).normal(size=(n, FEATURES), chunks=(CHUNK_ROWS, FEATURES))
    scale = np.linspace(3.0, 1.0, FEATURES)
    X, z = client.persist([noise * scale + 0.5 * group[:, None], group])
    with client.as_current():
        wait([X, z])
    client.rebalance([X, z])
    return X, z


def fit_on(client: Client, data: Data) -> FairPCA:
    X, z = data
    with client.as_current():
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
        X, z = (client.compute(a, sync=True) for a in data)
        contestants["NumPy"] = partial(fit_in_memory, X, z)
        fits = {name: fit() for name, fit in contestants.items()}
        check_same(fits)
        return alternate(contestants, repeats, warm_up=False)


def check_same(fits: dict[str, FairPCA]) -> None:
    """Raise unless all found the same subspace: a wrong answer has no speed."""
    projectors = [fair.components_.T @ fair.components_ for fair in fits.values()]
    for projector in projectors:
        np.testing.assert_allclose(projector, projectors[-1], atol=1e-8)


def rows_of_the_table(n: int = 400_000, repeats: int = 5) -> Iterator[tuple[str, ...]]:
    """Yield rows of: what, size, against, seconds, ratio of the other's seconds to ours."""
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
