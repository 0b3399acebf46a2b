"""Rows, attributes, labels and weights that nobody would choose, as one strategy."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse
from hypothesis import strategies as st

from robustness import nasty_features, nasty_groups


def in_fortran_order(X):
    return np.asfortranarray(X)


def every_other_row(X):
    return np.repeat(X, 2, axis=0)[::-2][::-1]


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def single_precision(X):
    with np.errstate(over="ignore"):
        return X.astype(np.float32)


def pandas_frame(X):
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])


def polars_frame(X):
    return pl.DataFrame({f"x{j}": X[:, j] for j in range(X.shape[1])})


def sparse_single(X):
    return scipy.sparse.csr_array(single_precision(X))


def sparse_with_duplicates(X):
    """Every entry stored as two halves that add up, indices unsorted."""
    half = scipy.sparse.coo_array(X / 2)
    rows, columns = np.r_[half.row, half.row][::-1], np.r_[half.col, half.col][::-1]
    data = np.r_[half.data, half.data][::-1]
    matrix = scipy.sparse.csr_array((X.shape[0], X.shape[1]))
    order = np.argsort(rows, kind="stable")
    matrix.indptr = np.r_[0, np.cumsum(np.bincount(rows, minlength=X.shape[0]))].astype(np.int32)
    matrix.indices, matrix.data = columns[order].astype(np.int32), data[order]
    return matrix


DENSE = [np.array, in_fortran_order, every_other_row, read_only, single_precision]
FRAMES = [pandas_frame, polars_frame, np.ndarray.tolist]
SPARSE = [scipy.sparse.csr_array, scipy.sparse.csc_matrix, sparse_single, sparse_with_duplicates]
CONTAINERS = [*DENSE, *FRAMES, *SPARSE]


def dense(X):
    """Return what a container holds, in double precision."""
    if scipy.sparse.issparse(X):
        return X.toarray().astype(float)
    return np.asarray(X, dtype=float)


WEIGHTS = ["none", "some", "ones", "some zero", "one only", "all zero", "tiny", "huge", "uneven"]


def weights(kind, rng, n):
    w = rng.uniform(0.5, 2.0, n)
    return {
        "none": None,
        "ones": np.ones(n),
        "some": w,
        "some zero": w * (rng.random(n) < 0.6),
        "one only": np.eye(n)[0],
        "all zero": np.zeros(n),
        "tiny": w * 1e-200,
        "huge": w * 1e200,
        "uneven": 10.0 ** rng.uniform(-9, 9, n),
    }[kind]


@dataclass(frozen=True)
class Nasty:
    """Arguments of `fit`, and the truth about them.

    Parameters
    ----------
    X, sensitive, y, weight
        What `fit` gets.
    rows : array of shape (n, d)
        The numbers in X, in double precision.
    columns : dict of Column
        The sensitive columns with their truth.
    made_of : dict
        How it was made: printed when a test fails.
    """

    X: Any
    sensitive: Any
    y: Any
    weight: np.ndarray | None
    rows: np.ndarray
    columns: dict
    made_of: dict

    def __repr__(self):
        return f"nasty({', '.join(f'{k}={v!r}' for k, v in self.made_of.items())})"


def nasty(
    n=12, d=3, shape="plain", groups=("two",), container="array", unit=1.0, gap=1.0, weight="none",
    labels="two classes", seed=0,
):  # fmt: skip
    """Return nasty data by name; a test that fails prints this call."""
    made_of = dict(locals())
    rng = np.random.default_rng(seed)
    columns = {
        f"{kind} {i}" if i else kind: getattr(nasty_groups, kind)(rng, n)
        for i, kind in enumerate(groups)
    }
    shift = nasty_groups.shifts(columns.values(), d, rng, gap)
    make = getattr(nasty_features, shape)
    rows = nasty_features.features(make, seed + 1, n, d, unit, shift)
    wrap = {f.__name__: f for f in CONTAINERS}[container]
    X = wrap(rows)
    y = rng.integers(0, 2, n) if labels == "two classes" else rng.normal(size=n)
    y[: min(2, n)] = np.arange(min(2, n))
    return Nasty(
        X,
        {name: column.given for name, column in columns.items()},
        y,
        weights(weight, rng, n),
        dense(X),
        columns,
        made_of,
    )


def mostly(first, *others):
    """Draw the first, plain choice as often as all others together: one trouble at a time."""
    return st.one_of(st.just(first), st.sampled_from([first, *others]))


def _names(functions):
    return [function.__name__ for function in functions]


@st.composite
def nasty_data(
    draw,
    containers=CONTAINERS,
    kinds=nasty_groups.KINDS,
    shapes=nasty_features.SHAPES,
    units=nasty_features.UNITS,
    weighted=True,
):
    """Any mixture of the above; as a rule few troubles at once, so that something is fitted."""
    n, d = draw(mostly(*nasty_features.SIZES))
    kind = mostly(*_names(kinds))
    groups = draw(mostly(1, 2).flatmap(lambda m: st.tuples(*[kind] * m)))
    if "two_hundred" in groups:
        n, d = draw(st.sampled_from([(210, 3), (210, 205)]))
    return nasty(
        n=n,
        d=d,
        shape=draw(mostly(*_names(shapes))),
        groups=groups,
        container=draw(mostly(*_names(containers))),
        unit=draw(mostly(*units)),
        gap=draw(st.sampled_from([1.0, 0.0, 1e3])),
        weight=draw(mostly(*WEIGHTS)) if weighted else "none",
        labels=draw(mostly("two classes", "numbers")),
        seed=draw(nasty_features.seeds),
    )
