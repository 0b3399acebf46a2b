"""The model of a stream: all rows that were accepted, kept in a list, and textbook sums."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from fairpca import FairPCA
from robustness.nasty_data import dense

EPS, EPS_SINGLE = float(np.finfo(float).eps), float(np.finfo(np.float32).eps)
SLACK = 500.0
"""Rounding units that a dozen sums of a few dozen products may be off by."""

BATCHES = st.tuples(st.integers(0, 7), st.integers(0, 2**16), st.booleans())
"""Number of rows, seed, and whether the rows have weights."""


@dataclass(frozen=True)
class Batch:
    """Arguments of `partial_fit`, and the same as plain arrays."""

    X: Any
    y: np.ndarray
    sensitive: dict
    weight: np.ndarray | None
    rows: np.ndarray

    @property
    def options(self):
        return {"sensitive_features": self.sensitive, "sample_weight": self.weight}


def batch_of(model, n, seed, weighted, container):
    """Return n rows of the stream's kind."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, n)
    rows = np.round(rng.normal(size=(n, model.d)) * 8) / 8 + codes[:, None] * 0.5 + model.offset
    if model.d > 1:
        rows[:, -1] = 2.5  # a constant column asks for nothing
    groups = np.array(["f", "m", "ü"], dtype=object)[codes]
    if model.missing != "error":
        groups[rng.random(n) < 0.2] = None
    sensitive = {"group": groups.tolist()}
    if model.numeric:
        sensitive["age"] = np.round(rng.normal(size=n) * 4) / 4 + 0.125  # never a whole number
    X = container(rows)
    y = rng.integers(0, 2, n)
    weight = rng.integers(0, 4, n) / 2 if weighted else None
    if weighted and n and not weight.any():
        weight[0] = 1.0
    return Batch(X, y, sensitive, weight, dense(X).reshape(n, model.d))


def same_rows(model):
    """Return all accepted rows as one batch."""
    sensitive = {"group": list(model.groups)}
    if model.numeric:
        sensitive["age"] = np.array(model.ages)
    return Batch(model.rows, np.array(model.y), sensitive, np.array(model.weights), model.rows)


def _with_entry(batch, value):
    rows = batch.rows.copy()
    rows[-1, 0] = value
    return replace(batch, X=rows, y=np.ones(len(rows), int), weight=None)  # a row that counts


SPOILED = {
    "not a number": lambda b, m: _with_entry(b, np.nan),
    "infinity": lambda b, m: _with_entry(b, np.inf),
    "overflow": lambda b, m: _with_entry(b, 1e300),
    "another width": lambda b, m: replace(b, X=np.hstack([b.rows, b.rows])),
    "one dimension": lambda b, m: replace(b, X=b.rows[:, 0]),
    "negative weight": lambda b, m: replace(b, weight=-np.ones(len(b.rows))),
    "weights too short": lambda b, m: replace(b, weight=np.ones(len(b.rows) - 1)),
    "groups too short": lambda b, m: replace(b, sensitive={**b.sensitive, "group": ["f"]}),
    "no groups": lambda b, m: replace(b, sensitive=None),
    "no labels": lambda b, m: None if not m.needs_y else replace(b, y=None),
    "labels too short": lambda b, m: None if not m.needs_y else replace(b, y=b.y[1:]),
    "a missing group": lambda b, m: (
        None
        if m.missing != "error"
        else replace(b, sensitive={**b.sensitive, "group": [None] * len(b.rows)})
    ),
    "numbers for groups": lambda b, m: (
        None
        if m.n == 0 or m.intersectional
        else replace(b, sensitive={**b.sensitive, "group": np.arange(len(b.rows)) + 0.5})
    ),
    "another attribute": lambda b, m: (
        None if m.n == 0 else replace(b, sensitive={**b.sensitive, "extra": ["a"] * len(b.rows)})
    ),
}
"""Ways to spoil a batch of at least two rows; None where nothing would be wrong with it."""


class KeptRows:
    """All rows that were accepted."""

    def __init__(self, setting, d, numeric, offset):
        self.setting, self.d, self.numeric, self.offset = setting, d, numeric, offset
        self.missing = setting.get("missing_sensitive", "error")
        self.criterion = setting.get("criterion", "demographic_parity")
        self.intersectional = setting.get("intersectional", False)
        self.needs_y = self.criterion != "demographic_parity"
        self.rows = np.empty((0, d))
        self.groups, self.ages, self.y, self.weights = [], [], [], []
        self.unit = EPS

    @property
    def n(self):
        return len(self.rows)

    def accept(self, batch):
        self.rows = np.vstack([self.rows, batch.rows])
        self.groups += batch.sensitive["group"]
        self.ages += list(batch.sensitive.get("age", ()))
        self.y += batch.y.tolist()
        weight = np.ones(len(batch.rows)) if batch.weight is None else batch.weight
        self.weights += weight.tolist()
        if getattr(batch.X, "dtype", None) == np.float32:
            self.unit = EPS_SINGLE

    def counted(self):
        """Return the weights of all rows; zero for those that do not count."""
        w = np.array(self.weights)
        return w * (np.array(self.y) == 1) if self.criterion == "equal_opportunity" else w

    def check_moments(self, moments):
        """The moments are the textbook's sums, up to rounding."""
        w = self.counted()
        assert moments.n_rows == (w > 0).sum()
        assert moments.weight == w.sum()
        if self.criterion == "equal_opportunity" and self.n:
            self.check_everyone(moments.everyone)
        if not w.any():
            return
        mean = w @ self.rows / w.sum()
        size = SLACK * self.unit * np.abs(self.rows).max(axis=0, initial=0.0)
        assert np.all(np.abs(moments.mean - mean) <= size)
        centred = self.rows - mean
        S = (centred * w[:, None]).T @ centred
        # Rows lose digits where they are stored (float32) and where their mean is subtracted.
        spread = np.sqrt(w @ centred**2) + np.sqrt(w.sum()) * size
        off = SLACK * self.unit * np.outer(spread, spread) + np.sqrt(w.sum()) * (
            np.outer(spread, size) + np.outer(size, spread)
        )
        assert np.all(np.abs(moments.scatter.dense().matrix - S) <= off)
        for a in moments.attributes:
            if a.name == "group" and hasattr(a, "labels"):
                self.check_levels(a, w, centred, w.sum() * size + SLACK * self.unit * spread)

    def check_everyone(self, everyone):
        """The mean and the deviations of all rows are the textbook's, up to rounding."""
        w, size = np.array(self.weights), np.abs(self.rows).max(axis=0)
        assert everyone.weight == w.sum()
        mean = w @ self.rows / w.sum()
        assert np.all(np.abs(everyone.mean - mean) <= SLACK * self.unit * size)
        spread = np.sqrt(w @ (self.rows - mean) ** 2 / w.sum())
        assert np.all(np.abs(everyone.spread - spread) <= SLACK * np.sqrt(self.unit) * size)

    def check_levels(self, a, w, centred, off):
        if a.stratum is not None:
            w = w * (np.array(self.y) == a.stratum)
        known = [("(missing)" if g is None else g) for g in self.groups]
        seen = {g for g, v in zip(known, self.weights, strict=True) if v > 0}
        assert set(a.labels) >= {g for g, v in zip(known, w, strict=True) if v > 0} - {"(missing)"}
        assert set(a.labels) <= seen | {"(missing)"}
        for label, count, weight, total in zip(a.labels, a.count, a.weight, a.total, strict=True):
            of_level = np.array([g == label for g in known]) & (w > 0)
            assert count == of_level.sum()
            assert weight == w[of_level].sum()
            assert np.all(np.abs(total - w[of_level] @ centred[of_level]) <= off * np.sqrt(self.n))

    def check_result(self, fair):
        """The result is that of one fit to all rows, or both are refused."""
        batch, whole = same_rows(self), FairPCA(**self.setting)
        try:
            whole.fit(batch.X, batch.y, **batch.options)
        except ValueError:
            try:
                fair.transform(self.rows)
            except ValueError:
                return
            raise AssertionError("batches were accepted that a fit refuses") from None
        if self.unit > EPS and not hasattr(fair, "components_"):
            # Of rows in single precision, digits that are left in double precision are rounding.
            with pytest.raises(ValueError, match="Nothing is left"):
                FairPCA(**self.setting).fit(batch.X.astype(np.float32), batch.y, **batch.options)
            return
        T = fair.transform(self.rows)
        assert np.isfinite(T).all()
        assert fair.n_samples_seen_ == whole.n_samples_seen_
        assert {k: v if v == "numeric" else set(v) for k, v in fair.groups_.items()} == {
            k: v if v == "numeric" else set(v) for k, v in whole.groups_.items()
        }
        assert fair.constraint_rank_ == whole.constraint_rank_
        V = fair.components_
        np.testing.assert_allclose(V @ V.T, np.eye(len(V)), atol=1e-10)
        self.check_fair(fair, whole, V)

    def check_fair(self, fair, whole, V):
        """The same variance, and the fair part of one lies in that of the other."""
        total = np.trace(whole.moments_.scatter.matrix) if "moments_" in vars(whole) else 0.0
        if not total:
            return
        digits = self.unit * (1 + np.abs(self.rows).max() ** 2 * len(self.rows) / total)
        k = min(len(V), len(whole.components_))
        np.testing.assert_allclose(
            np.sort(fair.explained_variance_ratio_)[::-1][:k],
            np.sort(whole.explained_variance_ratio_)[::-1][:k],
            atol=SLACK * digits,
        )
        if len(V) == len(whole.components_) and self.setting.get("match") != "covariances":
            W = whole.components_
            bound = min(1e-3, 1e4 * SLACK * digits)
            np.testing.assert_allclose(V.T @ V, W.T @ W, atol=bound)
