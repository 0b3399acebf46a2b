"""What users pass, checked and turned into rows; each refusal says what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from .._attributes import Attribute, drop_unused_labels, tie_to_strata
from .._numerics import on_the_host
from ..errors import MissingGroupError, MissingTargetError, UsageError

CRITERIA = ("demographic_parity", "equal_opportunity", "equalized_odds")
MANY_CLASSES = 50


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Leave the estimator as it was if anything goes wrong inside."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def check_sensitive_given(
    sensitive_features: Any, sensitive_columns: Any, name: str = "FairPCA"
) -> None:
    """Raise unless the attributes come from exactly one place; `name` is the estimator's."""
    if sensitive_features is None and sensitive_columns is None:
        raise MissingGroupError(
            f"No sensitive features were given, and without them this would be plain PCA. Pass "
            f"fit(X, sensitive_features=...); in a pipeline, fit(X, y, "
            f"{name.lower()}__sensitive_features=...) or set_fit_request(sensitive_features=True) "
            f"with metadata routing; or name columns of X with {name}(sensitive_columns=[...])."
        )
    if isinstance(sensitive_features, str):
        raise UsageError(
            f"sensitive_features={sensitive_features!r} is a name, not one entry per row. Pass the "
            f"column itself, or name it with {name}(sensitive_columns=[{sensitive_features!r}])."
        )
    if sensitive_features is not None and sensitive_columns is not None:
        raise UsageError(
            f"Both sensitive_features and sensitive_columns={sensitive_columns!r} were "
            f"given, so it is unclear which are the attributes. Use one of the two."
        )


def check_same_order(X: Any, sensitive_features: Any) -> None:
    """Raise if pandas indexes show that rows and attributes are in different orders."""
    rows: Any = getattr(X, "index", None)
    people: Any = getattr(sensitive_features, "index", None)
    if not (hasattr(rows, "equals") and hasattr(people, "equals")) or rows.equals(people):
        return
    if len(rows) == len(people) and rows.sort_values().equals(people.sort_values()):
        raise UsageError(
            "X and sensitive_features have the same index labels in a different order, and rows "
            "are paired by position, so people would get the groups of others. Pass "
            "sensitive_features.loc[X.index]."
        )


def check_lengths(n: int, attributes: Sequence[Attribute]) -> None:
    """Raise unless every attribute has one entry per row."""
    for a in attributes:
        if len(a.missing) != n:
            raise UsageError(
                f"X has {n} rows, but the sensitive attribute {a.name!r} has {len(a.missing)} "
                f"entries, so rows and groups cannot be paired. Pass one entry per row of X."
            )


def check_weights(sample_weight: Any, n: int, *, some: bool = True) -> np.ndarray | None:
    """Return weights as an array, None for unit weights; `some` must be positive if asked."""
    if sample_weight is None:
        return None
    weight = np.asarray(on_the_host(sample_weight), dtype=float)
    if weight.ndim == 0:
        weight = np.full(n, float(weight))
    if weight.shape != (n,):
        raise UsageError(
            f"sample_weight has shape {weight.shape}, but X has {n} rows. Pass one weight per row."
        )
    if not np.isfinite(weight).all():
        raise UsageError("sample_weight contains NaN or infinity. Pass finite weights.")
    if (weight < 0).any():
        raise UsageError(
            f"sample_weight has {int((weight < 0).sum())} negative entries (the smallest is "
            f"{weight.min():g}), and a row cannot count less than nothing. Pass weights >= 0."
        )
    if some and not weight.any():
        raise UsageError(
            f"All {n} entries of sample_weight are zero, so no row counts. Give some rows a "
            f"positive weight."
        )
    return None if (weight == 1).all() else weight


def check_target(y: Any, n: int, criterion: str) -> np.ndarray:
    """Return y as a vector of labels."""
    if y is None:
        raise MissingTargetError(
            f"criterion={criterion!r} compares rows with the same label and requires y to be "
            f"passed, but the target y is None. Pass fit(X, y, ...), or use "
            f"criterion='demographic_parity'."
        )
    labels = np.asarray(on_the_host(y))
    if _has_missing(labels):
        raise MissingTargetError(
            f"y has missing values, and criterion={criterion!r} cannot tell which rows to compare "
            f"them with. Fill them in, or leave these rows out."
        )
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels.ravel()
    if labels.shape != (n,):
        raise UsageError(f"y has shape {labels.shape}, but X has {n} rows. Pass one label per row.")
    return labels


def _has_missing(labels: np.ndarray) -> bool:
    if labels.dtype.kind == "f":
        return bool(np.isnan(labels).any())
    return labels.dtype.kind == "O" and any(v is None or v != v for v in labels.tolist())


def apply_criterion(
    criterion: str,
    attributes: tuple[Attribute, ...],
    y: np.ndarray | None,
    pos_label: Any,
    kept: np.ndarray,
) -> tuple[tuple[Attribute, ...], np.ndarray]:
    """Return the attributes to equalise, and the mask of the rows that count.

    Demographic parity uses all rows. Equal opportunity uses the rows with the positive label, as
    in the paper. Equalised odds keeps all rows for the variance and ties every attribute to
    every class of y.
    """
    if not kept.all():
        attributes = tuple(a.take(np.flatnonzero(kept)) for a in attributes)
    attributes = tuple(drop_unused_labels(a) for a in attributes)
    if criterion == "demographic_parity" or y is None:
        return attributes, kept
    labels = y[kept]
    if criterion == "equal_opportunity":
        positive = labels == pos_label
        rows = kept.copy()
        rows[kept] = positive
        # Labels are those of all rows: a group without a positive row must be noticed.
        within = tuple(
            a.take(np.flatnonzero(positive)).within(pos_label, np.ones(positive.sum(), bool))
            for a in attributes
        )
        return within, rows
    classes = sorted(set(labels.tolist()), key=lambda c: (type(c).__name__, c))
    if len(classes) > MANY_CLASSES:
        raise MissingTargetError(
            f"criterion='equalized_odds' matches the groups within each class of y, but y has "
            f"{len(classes)} distinct values. Pass class labels (cut a continuous y into bands)."
        )
    return tie_to_strata(attributes, labels, classes), kept


def check_some_positive(y: np.ndarray, pos_label: Any, n_rows: int) -> None:
    """Raise if equal opportunity has no row to work with."""
    if n_rows == 0:
        found = list(dict.fromkeys(y.tolist()))[:10]
        raise MissingTargetError(
            f"criterion='equal_opportunity' uses the rows with y == pos_label, but no row has "
            f"y == {pos_label!r}; the labels are {found}. Set pos_label to one of them."
        )
