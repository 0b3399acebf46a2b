"""What users pass, checked, with errors that say what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from .._attributes import (
    MOST_LEVELS,
    Attribute,
    Factors,
    Levels,
    are_missing,
    attribute_columns,
    can_advise,
    checked_kinds,
    drop_unused_labels,
    in_words_of_targets,
    read_column,
    rows_named,
    warn_of_spellings,
)
from .._kernels import KERNELS, PRECOMPUTED
from .._numerics import check_n_jobs, on_the_host
from ..errors import MissingGroupError, MissingTargetError, UsageError
from ..solvers import SOLVERS

CRITERIA = ("demographic_parity", "equal_opportunity", "equalized_odds")
MISSING = ("error", "ignore", "group")
NYSTROEM, RANDOM_FEATURES = "nystroem", "random_features"
SHIFT_INVARIANT = ("rbf", "laplacian")
DECIDED_AT_FIRST = ("kernel", "gamma", "degree", "coef0", "approximation", "n_landmarks")
"""Parameters that cannot change once features are drawn."""

MATCHES = ("means", "covariances", "distributions")
"""What can be made equal between groups; only the last looks at rows more than once."""

FLOATS = (np.float64, np.float32)
MANY_FRACTIONS = 50
"""A y of more values than this, some with fractions, has no classes."""


def check_choice(name: str, value: Any, allowed: tuple[str, ...], *, or_else: str = "") -> None:
    """Raise unless `value` is one of the allowed words; `or_else` says what else would do."""
    if not isinstance(value, str) or value not in allowed:
        choices = ", ".join(repr(a) for a in allowed) + (f", or {or_else}" if or_else else "")
        raise UsageError(f"{name}={value!r} is not an option. Use one of {choices}.")


def reads_once(estimator: Any) -> bool:
    """Tell whether what an estimator matches is in moments, so that rows may come in batches."""
    return bool(estimator.match != "distributions")


def check_bool(name: str, value: Any) -> None:
    """Raise unless `value` is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise UsageError(f"{name}={value!r} is not a bool. Use True or False.")


def _is_count(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def check_count(name: str, value: Any, what: str = "", *, none_for: str = "") -> int | None:
    """Return a whole number above 0 as an int; None too, where `none_for` says what that means."""
    if value is None and none_for:
        return None
    if _is_count(value):
        return int(value)
    otherwise = f", or None for {none_for}" if none_for else ""
    wrong = f"is not {what}" if what else "cannot be used"
    raise UsageError(f"{name}={value!r} {wrong}. Use an integer >= 1{otherwise}.")


def check_number(
    name: str,
    value: Any,
    *,
    above: float = 0.0,
    zero: bool = False,
    below: float = np.inf,
    or_else: str = "",
) -> None:
    """Raise unless `value` is finite and between two numbers, or zero where that is allowed."""
    if not _is_number(value) or not (above < value < below or (zero and value == 0)):
        least = "" if above == -np.inf else f" {'>=' if zero else '>'} {above:g}"
        most = "" if below == np.inf else f" and < {below:g}"
        wanted = f"a finite number{least}{most}{f', or {or_else}' if or_else else ''}"
        raise UsageError(f"{name}={value!r} cannot be used. Use {wanted}.")


def check_n_components(n_components: Any) -> int | float | None:
    """Return the number of components as a plain int or float."""
    if n_components is None or _is_count(n_components):
        return None if n_components is None else int(n_components)
    if isinstance(n_components, Real) and 0.0 < float(n_components) < 1.0:
        return float(n_components)
    raise UsageError(
        f"n_components={n_components!r} is neither a number of directions nor a share of the "
        f"variance. Use an integer >= 1, a float strictly between 0 and 1, or None for all."
    )


def check_directions(directions: Any) -> int | float | None:
    """Return the number or fraction of directions as a plain int or float, None for all."""
    if directions is None:
        return None
    if _is_count(directions):
        return int(directions)
    if isinstance(directions, Real) and 0.0 < float(directions) <= 1.0:
        return float(directions)
    raise UsageError(
        f"covariance_directions={directions!r} is neither a number of directions nor a fraction "
        f"of them. Use an integer >= 1, a float in (0, 1], or None for all."
    )


def check_penalty(penalty: Any) -> float | None:
    """Return the penalty as a plain float, None where the directions decide."""
    if penalty is None:
        return None
    if _is_number(penalty) and 0 <= float(penalty) < np.inf:
        return float(penalty)
    raise UsageError(
        f"covariance_penalty={penalty!r} cannot be used. Use a number >= 0: 0 for the most "
        f"variance, 1 to count a group difference in variance as much as variance, or None."
    )


def check_covariance_tol(tol: Any) -> float:
    """Return the largest covariance gap to accept as a plain float."""
    if _is_number(tol) and float(tol) > 0:
        return float(tol)
    raise UsageError(
        f"covariance_tol={tol!r} is not a gap to accept. Use a number above 0: 1e-6 for equal "
        f"covariances, 0.05 if a difference of 5 % will do where no exact solution exists."
    )


def check_tradeoff(tradeoff: Any) -> float:
    """Return the trade-off as a plain float."""
    if isinstance(tradeoff, Real) and 0.0 <= float(tradeoff) <= 1.0:
        return float(tradeoff)
    raise UsageError(
        f"tradeoff={tradeoff!r} is outside [0, 1]: it is the factor of the standard representation "
        f"next to the fair one. Use 0 for the fair representation alone, 1 for all of both."
    )


def check_what_all_have(estimator: Any) -> None:
    """Raise if a parameter that all of our methods have is not usable."""
    check_choice("criterion", estimator.criterion, CRITERIA)
    check_choice("missing_sensitive", estimator.missing_sensitive, MISSING)
    check_bool("intersectional", estimator.intersectional)


def _check_what_pca_has(estimator: Any) -> None:
    check_what_all_have(estimator)
    check_choice("solver", estimator.solver, SOLVERS)
    check_n_components(estimator.n_components)
    check_tradeoff(estimator.tradeoff)


def check_kernel_parameters(estimator: Any) -> None:
    """Raise if a parameter of a kernel method is not usable, by itself or next to another."""
    e = estimator
    check_features_of_kernel(e, (*KERNELS, PRECOMPUTED))
    check_number("tol", e.tol, zero=True, below=1)
    check_bool("center", e.center)
    _check_what_pca_has(e)
    check_n_jobs(e.n_jobs)
    _check_kernel_params(e.kernel, e.kernel_params)
    _check_approximation(e.approximation, e.kernel)
    if e.kernel == PRECOMPUTED and e.sensitive_columns is not None:
        raise UsageError(
            f"sensitive_columns={e.sensitive_columns!r} names columns of X, but with "
            f"kernel='precomputed' these are rows compared with. Pass fit(K, "
            f"sensitive_features=...)."
        )


def check_features_of_kernel(estimator: Any, known: tuple[str, ...] = KERNELS) -> None:
    """Raise if a parameter of a kernel, or the number of landmarks, is not usable."""
    e = estimator
    if not callable(e.kernel):
        check_choice("kernel", e.kernel, known, or_else="a function of two rows")
    _check_gamma(e.gamma)
    check_number("degree", e.degree)
    check_number("coef0", e.coef0, above=-np.inf)
    check_count("n_landmarks", e.n_landmarks, "a number of rows")


def _check_gamma(gamma: Any) -> None:
    known = isinstance(gamma, str) and gamma in ("scale", "auto")
    if not known and not (_is_number(gamma) and 0 < float(gamma) < np.inf):
        raise UsageError(
            f"gamma={gamma!r} is not a width of the kernel. Use a number above 0, 'scale' for "
            f"1 / (d Var(X)), or 'auto' for 1 / d."
        )


def _check_kernel_params(kernel: Any, kernel_params: Any) -> None:
    if kernel_params is None:
        return
    if not isinstance(kernel_params, Mapping):
        raise UsageError(
            f"kernel_params={kernel_params!r} does not name arguments. Pass a dict such as "
            f"{{'width': 2.0}}."
        )
    if not callable(kernel):
        raise UsageError(
            f"kernel_params are the arguments of a function, but kernel={kernel!r} would ignore "
            f"them. Use gamma, degree and coef0, or pass a function."
        )


def _check_approximation(approximation: Any, kernel: Any) -> None:
    if approximation is None:
        return
    check_choice("approximation", approximation, (NYSTROEM, RANDOM_FEATURES), or_else="None")
    if kernel == PRECOMPUTED:
        raise UsageError(
            f"approximation={approximation!r} saves computing the kernel matrix, but "
            f"kernel='precomputed' says that it is there already. Use approximation=None."
        )
    if approximation == RANDOM_FEATURES and kernel not in SHIFT_INVARIANT:
        shown = getattr(kernel, "__name__", kernel)
        raise UsageError(
            f"approximation='random_features' draws from the Fourier transform of a kernel of "
            f"x - y, which kernel={shown!r} is not. Use one of {SHIFT_INVARIANT}, or "
            f"approximation='nystroem'."
        )


def check_sensitive_given(
    sensitive_features: Any, sensitive_columns: Any, name: str, y: Any = None
) -> None:
    """Raise unless the attributes come from exactly one place; `name` is the estimator's."""
    named = can_advise("sensitive_columns")
    if sensitive_features is None and sensitive_columns is None:
        why = "without them this would be plain PCA (or PLS)"
        if not named:
            why = "without them there is nothing to remove"
        passed = "" if y is None else "You passed y, but the attribute is sensitive_features. "
        columns = f"; or name columns of X with {name}(sensitive_columns=[...])" if named else ""
        raise MissingGroupError(
            f"No sensitive features were given, and {why}. {passed}Pass "
            f"fit(X, ..., sensitive_features=...); in a pipeline, fit(X, y, "
            f"{name.lower()}__sensitive_features=...) or "
            f"set_fit_request(sensitive_features=True) with metadata routing{columns}."
        )
    if isinstance(sensitive_features, str):
        given = repr(sensitive_features)
        columns = f", or name it with {name}(sensitive_columns=[{given}])" if named else ""
        raise UsageError(
            f"sensitive_features={given} is a name, not one entry per row. Pass the column "
            f"itself{columns}."
        )
    if sensitive_features is not None and sensitive_columns is not None:
        raise UsageError(
            f"Both sensitive_features and sensitive_columns={sensitive_columns!r} were "
            f"given, so it is unclear which are the attributes. Use one of the two."
        )


def check_lengths(n: int, attributes: Sequence[Attribute]) -> None:
    """Raise unless every attribute has one entry per row."""
    for a in attributes:
        if a.n_rows != n:
            raise UsageError(
                f"X has {n} rows, but the sensitive attribute {a.name!r} has {a.n_rows} "
                f"entries, so rows and groups cannot be paired. Pass one entry per row of X."
            )


def check_target(y: Any, n: int, criterion: str) -> np.ndarray:
    """Return y as a vector of labels."""
    if y is None:
        raise MissingTargetError(
            f"criterion={criterion!r} compares rows with the same label and requires y to be "
            f"passed, but the target y is None. Pass fit(X, y, ...), where you name files "
            f"target=..., or use criterion='demographic_parity'."
        )
    columns = list(y.values()) if isinstance(y, Mapping) else [y]
    labels = np.asarray(on_the_host(columns[0]))
    several = labels.shape[1] if labels.ndim == 2 else len(columns)
    if several > 1:
        raise UsageError(
            f"criterion={criterion!r} compares rows with the same label, but y has {several} "
            f"columns. Pass one label per row, or use criterion='demographic_parity'."
        )
    if are_missing(labels.ravel()).any():
        raise MissingTargetError(
            f"y has missing values, and criterion={criterion!r} cannot tell which rows to compare "
            f"them with. Fill them in, or leave these rows out."
        )
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels.ravel()
    if labels.shape != (n,):
        raise UsageError(f"y has shape {labels.shape}, but X has {n} rows. Pass one label per row.")
    return labels


def read_targets(y: Any, n: int, kinds: Mapping[Any, str] | None) -> tuple[Attribute, ...]:
    """Return the columns of y as classes or numbers, by the rules for sensitive attributes."""
    if y is None:
        raise MissingTargetError(
            "This estimator keeps what predicts the target, so it requires y to be passed, but the "
            "target y is None. Pass fit(X, y, ...), or where you name files target=...; without a "
            "target, use FairPCA."
        )
    with in_words_of_targets():
        found = attribute_columns(y, unnamed="y")
        columns = {str(name): c for name, c in found.items()}
        if not 0 < len(found) == len(columns):
            raise UsageError(
                f"y has {len(found)} columns, called {list(found)}. Pass one or more, with names "
                f"that do not read the same."
            )
        kinds = checked_kinds(kinds, columns)
        targets = tuple(read_column(name, c, kinds.get(name)) for name, c in columns.items())
    for a in targets:
        if isinstance(a, Levels):
            warn_of_spellings(f"The target {a.name}", a.labels)
        if len(a.missing) != n:
            raise UsageError(
                f"X has {n} rows, but the target {a.name!r} has {len(a.missing)} entries. Pass one "
                f"entry per row of X."
            )
        if a.missing.any():
            raise MissingTargetError(
                f"The target {a.name} has missing values, in {int(a.missing.sum())} of {n} rows, "
                f"and what predicts it cannot be learned there. Fill them in, or leave these rows "
                f"out."
            )
    return targets


def apply_criterion(
    criterion: str,
    attributes: tuple[Attribute, ...],
    y: np.ndarray | None,
    pos_label: Any,
    kept: np.ndarray,
    factors: Factors | None = None,
) -> tuple[tuple[Attribute, ...], np.ndarray]:
    """Return the attributes to equalise, and the mask of the rows that count for the criterion.

    Given legitimate factors, people whose factors are equal are compared with each other.
    """
    attributes = attributes_of(kept, attributes)
    if factors is not None and not kept.all():
        factors = factors.take(np.flatnonzero(kept))
    if criterion == "demographic_parity" or y is None:
        return attributes if factors is None else factors.applied(attributes), kept
    labels = y[kept]
    if criterion == "equal_opportunity":
        positive = rows_named(labels, pos_label)
        rows = kept.copy()
        rows[kept] = positive
        if factors is not None:
            chosen = np.flatnonzero(positive)
            of_one = factors.take(chosen).crossed("y", [pos_label], np.zeros(len(chosen), np.intp))
            return of_one.applied([a.take(chosen) for a in attributes]), rows
        # Labels are those of all rows: a group without a positive row must be noticed.
        within = tuple(
            a.take(np.flatnonzero(positive)).within(pos_label, np.ones(positive.sum(), bool))
            for a in attributes
        )
        return within, rows
    classes, codes = _coded_classes(labels)
    if factors is not None:
        return factors.crossed("y", classes, codes).applied(attributes), kept
    # Each attribute once per class, counting only the rows of that class.
    tied = tuple(a.within(c, codes == i) for a in attributes for i, c in enumerate(classes))
    return tied, kept


def attributes_of(kept: np.ndarray, attributes: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
    """Return the attributes of the rows that are kept, with the levels that these have."""
    if kept.all():
        return attributes
    return tuple(drop_unused_labels(a.take(np.flatnonzero(kept))) for a in attributes)


def _coded_classes(labels: np.ndarray) -> tuple[list[Any], np.ndarray]:
    """Return the classes of y in order, and the position of each row's class among them."""
    values = labels.tolist()
    if labels.dtype.kind in "OU":  # " yes" is "yes"
        values = [v.strip() if isinstance(v, str) else v for v in values]
    classes = sorted(set(values), key=lambda c: (type(c).__name__, c))
    warn_of_spellings("y", classes)
    continuous = any(isinstance(c, float) and not c.is_integer() for c in classes)
    if len(classes) > (MANY_FRACTIONS if continuous else MOST_LEVELS):
        what = "a continuous target" if continuous else "an identifier"
        raise MissingTargetError(
            f"criterion='equalized_odds' matches the groups within each class of y, but y has "
            f"{len(classes)} distinct values, which look like {what}. Pass class labels (cut a "
            f"continuous y into bands, merge rare classes)."
        )
    place = {c: i for i, c in enumerate(classes)}
    return classes, np.fromiter((place[v] for v in values), dtype=np.int32, count=len(values))


def no_positive_row(said: str) -> MissingTargetError:
    """Return what to raise if equal opportunity has no row to work with."""
    return MissingTargetError(
        f"criterion='equal_opportunity' uses the rows with y == pos_label, but no row has {said}. "
        f"Set pos_label to one of the labels; cut a continuous y into bands first."
    )
