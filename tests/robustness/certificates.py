"""A fit is refused in words, or its result is certified: there is no third way."""

import traceback
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning

import fairpca
from fairpca import FairPCAError
from fairpca.errors import ResidualWarning

OURS = str(Path(fairpca.__file__).parent)
NOT_A_REFUSAL = (np.linalg.LinAlgError, ArithmeticError, LookupError, AssertionError, RuntimeError)
EPS = float(np.finfo(float).eps)
SLACK = 500.0
"""How many rounding units a sum of a few dozen products may be off by."""


def rows_seen(estimator, data):
    """Return the mask of rows that are learned from: of FairPLS, all that have a weight."""
    if type(estimator).__name__ == "FairPLS":
        return np.ones(len(data.rows), bool) if data.weight is None else data.weight > 0
    return rows_that_count(estimator, data)


def rows_that_count(estimator, data):
    """Return the mask of rows that a criterion and the weights leave."""
    kept = np.ones(len(data.rows), bool) if data.weight is None else data.weight > 0
    if getattr(estimator, "criterion", "") == "equal_opportunity":
        kept &= data.y == 1
    return kept


def compared(estimator, data):
    """Yield pairs (mask of rows, codes or values) in which no difference may be left."""
    kept = rows_that_count(estimator, data)
    truths = [c.truth for c in data.columns.values()]
    levels = [t for t in truths if t.dtype.kind != "f"]
    numbers = [t for t in truths if t.dtype.kind == "f"]
    missing = getattr(estimator, "missing_sensitive", "error")
    if missing == "group":
        levels = [t - t.min() for t in levels]
    if getattr(estimator, "intersectional", False) and len(levels) > 1:
        known = np.all([t >= 0 for t in levels], axis=0)
        joint = np.unique(np.array(levels).T, axis=0, return_inverse=True)[1].ravel()
        levels = [np.where(known, joint, -1)]
    strata = [np.ones(len(kept), bool)]
    if getattr(estimator, "criterion", "") == "equalized_odds":
        strata = [data.y == c for c in np.unique(data.y[kept])]
    for t in [*levels, *numbers]:
        for stratum in strata:
            counts = kept & stratum & ((t >= 0) if t.dtype.kind != "f" else np.isfinite(t))
            yield counts, t


def fitted_or_refused(estimator, data, **options):
    """Return (fitted estimator, warnings), or (None, the refusal's text)."""
    options = {"sensitive_features": data.sensitive, **options}
    if data.weight is not None:
        options["sample_weight"] = data.weight
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            estimator.fit(data.X, data.y, **options)
            estimator_or_none = estimator
        except Exception as error:
            assert_is_a_refusal(error)
            estimator_or_none, told = None, str(error)
    assert_are_our_warnings(heard)
    return (None, told) if estimator_or_none is None else (estimator, heard)


def assert_is_a_refusal(error):
    """Our error, or a check of scikit-learn's: chosen words, not something that broke inside."""
    assert isinstance(error, ValueError | TypeError), repr(error)
    assert not isinstance(error, NOT_A_REFUSAL), repr(error)
    place = traceback.extract_tb(error.__traceback__)[-1]
    checked = "sklearn" in place.filename and "validation" in place.filename
    assert place.filename.startswith(OURS) or checked, f"{error!r} from {place}"
    assert "raise " in place.line, f"{error!r} was not meant: it comes from {place}"
    if not checked:
        said = str(error)
        assert len(said) > 40, said
        assert ". " in said, f"says what is wrong, and not what to do: {said}"
        if type(error) not in (ValueError, TypeError):
            assert isinstance(error, FairPCAError), repr(error)


def assert_are_our_warnings(heard):
    for warning in heard:
        ours = warning.category.__module__.startswith("fairpca")
        assert ours or warning.category is ConvergenceWarning, str(warning)


def assert_same_numbers(X, before):
    """Raise if a container does not hold the numbers that its copy does."""
    if scipy.sparse.issparse(X):
        for part in ("data", "indices", "indptr"):
            if hasattr(X, part):
                np.testing.assert_array_equal(getattr(X, part), getattr(before, part))
    else:
        np.testing.assert_array_equal(np.asarray(X), np.asarray(before))


def transformed(estimator, data):
    """Return the representation of the rows of the fit, as many as can be had."""
    return estimator.transform(data.X)


def assert_certified(estimator, promise, data, heard):
    """Everything a fitted estimator says of itself is so."""
    for name, value in vars(estimator).items():
        if name.endswith("_") and isinstance(value, np.ndarray) and value.dtype.kind == "f":
            assert np.isfinite(value).all(), f"{name} is not finite"
    if promise.orthonormal:
        V = estimator.components_
        np.testing.assert_allclose(V @ V.T, np.eye(len(V)), atol=1e-10)
    kept = rows_that_count(estimator, data)
    if type(estimator).__name__ == "OracleLEACE" and not kept.all():
        return  # rows of a group that nobody was fitted to are refused
    T = transformed(estimator, data)
    assert T.shape[0] == len(data.rows)
    assert T.dtype == (np.float32 if of_single_precision(data.X) else np.float64)
    assert np.isfinite(T).all()
    if hasattr(estimator, "n_samples_seen_"):
        assert estimator.n_samples_seen_ == rows_seen(estimator, data).sum()
    if promise.fair:
        told = [w for w in heard if w.category is ResidualWarning]
        assert_no_difference_is_left(estimator, T, data, told)


def of_single_precision(X):
    return getattr(X, "dtype", None) == np.float32


def assert_no_difference_is_left(estimator, T, data, told):
    """Groups' means agree, in each component, up to rounding and to what the estimator tells.

    What evaluating a component rounds off is at most a few rounding units of the sum of the sizes
    of its terms; what the fit left is in `mean_gap_`, in standard deviations.
    """
    k = getattr(estimator, "n_components_", T.shape[1])
    T = T[:, :k].astype(float)
    w = np.ones(len(T)) if data.weight is None else data.weight / data.weight.max()
    kept = rows_that_count(estimator, data)
    scale = np.sqrt(np.average((T[kept] - T[kept].mean(axis=0)) ** 2, axis=0, weights=w[kept]))
    rounding = size_of_rounding(estimator, T, data)
    gap = getattr(estimator, "mean_gap_", 0.0)
    if hasattr(estimator, "dual_components_"):
        gap = 5 * gap  # of typical kernel values; a bound where it was told
    if not told:
        gap_told = getattr(estimator, "mean_gap_", 0.0)
        limit = 1e-3 if of_single_precision(data.X) else 1e-7
        assert gap_told <= limit, f"mean_gap_ is {gap_told:.1e}, and nobody was told"
    for counts, truth in compared(estimator, data):
        if not counts.any():
            continue
        known = T[counts], truth[counts], w[counts]
        measure = left_of_numbers if truth.dtype.kind == "f" else left_of_levels
        for what, left, share in measure(*known):
            assert_small(left, 10 * gap * scale + rounding * share, what)


def left_of_levels(T, codes, w):
    """Yield the distance of each level's mean from the mean, and how exactly that is known.

    What is solved for are sums over all rows, of which a light level has a small share.
    """
    middle = np.average(T, axis=0, weights=w)
    for level in np.unique(codes):
        of_level = codes == level
        mean = np.average(T[of_level], axis=0, weights=w[of_level])
        yield f"level {level}", np.abs(mean - middle), np.sqrt(w.sum() / w[of_level].sum())


def left_of_numbers(T, values, w):
    """Yield the covariance with values of unit variance, and how exactly that is known.

    Values near 1e10 that differ by 1 are known to six digits; that enters by its square.
    """
    centred = values - np.average(values, weights=w)
    spread = np.abs(centred).max()
    if spread <= 100 * EPS * np.abs(values).max():
        return
    v = centred / spread / np.sqrt(np.average((centred / spread) ** 2, weights=w))
    around = T - np.average(T, axis=0, weights=w)
    digits = EPS * np.abs(values).max() / spread
    share = np.average(np.abs(v), weights=w) + digits**2 / EPS
    yield "a numeric attribute", np.abs((w * v) @ around) / w.sum(), share


def assert_small(left, bound, what):
    worst = np.argmax(left - bound)
    assert np.all(left <= bound), (
        f"component {worst} still shows {what} by {left[worst]:.1e}, more than {bound[worst]:.1e}"
    )


def size_of_rounding(estimator, T, data):
    """Return what rounding can do to a mean of each column of the representation."""
    unit = float(np.finfo(np.float32).eps) if of_single_precision(data.X) else EPS
    if scipy.sparse.issparse(data.X) and data.X.dtype == np.float32:
        unit = float(np.finfo(np.float32).eps)
    if hasattr(estimator, "components_") and not hasattr(estimator, "dual_components_"):
        factors = np.abs(estimator.components_)
        if getattr(estimator, "scale_", None) is not None:
            factors = factors / estimator.scale_
        terms = np.max(np.abs(data.rows) + np.abs(estimator.mean_), axis=0)
        if len(factors) == data.rows.shape[1]:  # entries of a d x d map are rounded, too
            terms = terms + np.abs(data.rows).max()
        many = max(1.0, data.rows.shape[1] / 20)  # features, and so directions to take out
        return many * SLACK * unit * (factors @ terms + np.abs(T).max(axis=0))
    if hasattr(estimator, "dual_components_"):
        with np.errstate(over="ignore"):
            kernel_values = estimator._map.features(data.rows)
            lost = digits_lost(estimator._map.features, data.rows)
        terms = np.max(np.abs(kernel_values), axis=0) @ np.abs(estimator._map.matrix) * lost
        return SLACK * (unit * np.abs(T).max(axis=0) + 4 * EPS * terms)
    return SLACK * unit * (np.abs(T).max(axis=0) + np.abs(data.rows).max(axis=0))  # OracleLEACE


def digits_lost(features, rows):
    """Return how many rounding units kernel values are off by, in distances or in angles."""
    features = getattr(features, "columns", features)  # beside the rows themselves
    if hasattr(features, "frequencies"):
        return 1.0 + np.max(np.abs(rows) @ np.abs(features.frequencies))
    return features.kernel.digits_lost(rows) if hasattr(features, "kernel") else 1.0
