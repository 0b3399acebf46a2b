"""What users pass, checked; each refusal says what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._attributes import Attribute, drop_unused_labels, tie_to_strata
from .._numerics import (
    Array,
    array_namespace,
    device,
    in_host_memory,
    is_sparse,
    on_the_host,
    quiet_overflow,
    to_numpy,
    without_history,
)
from .._rows import row_blocks, rows_per_block
from ..errors import DeviceError, MissingGroupError, MissingTargetError, UsageError

FLOATS = (np.float64, np.float32)
MANY_CLASSES = 50


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


def canonical(X: Any) -> Any:
    """Return sparse rows with sorted indices and no entry twice; others as they are.

    Squares of duplicate entries are not the square of their sum, and libraries that sort indices
    in place would do so in the caller's arrays.
    """
    if not is_sparse(X) or X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


def checked_rows(
    X: Array,
    *,
    ensure_all_finite: bool = True,
    ensure_min_samples: int = 1,
    input_name: str = "X",
    **_of_numpy: Any,
) -> Array:
    """Return rows of another library as float32 or float64, where they are; as `check_array`.

    Integers become float64, shorter floats float32; float32 and float64 are not copied.
    """
    xp = array_namespace(X)
    _check_layout(X, input_name)
    if X.ndim != 2:
        raise UsageError(
            f"Expected 2D array, got {X.ndim}D array instead: {input_name} has shape "
            f"{tuple(X.shape)}. Reshape your data: one row per sample, one column per feature."
        )
    if xp.isdtype(X.dtype, "complex floating"):
        raise UsageError(f"Complex data not supported: {input_name} has the type {X.dtype}.")
    X = without_history(X)
    if not xp.isdtype(X.dtype, "real floating"):
        X = xp.astype(X, xp.float64)
    elif X.dtype not in (xp.float32, xp.float64):
        X = xp.astype(X, xp.float32)
    for length, least, what in [(0, ensure_min_samples, "sample"), (1, 1, "feature")]:
        if X.shape[length] < least:
            raise UsageError(
                f"Found array with {X.shape[length]} {what}(s) (shape={tuple(X.shape)}) while a "
                f"minimum of {least} is required."
            )
    if ensure_all_finite:
        check_all_finite(X, input_name)
    return X


def _check_layout(X: Array, name: str) -> None:
    layout = str(getattr(X, "layout", "torch.strided"))
    if layout != "torch.strided":
        raise DeviceError(
            f"{name} is a sparse torch tensor ({layout}), which has no products with itself here. "
            f"Pass a SciPy sparse matrix, or {name}.to_dense()."
        )
    if str(device(X)).startswith("mps"):
        raise DeviceError(
            f"{name} is on {device(X)}, which has no float64, and moments are summed in float64. "
            f"Pass {name}.cpu()."
        )


def check_all_finite(X: Array, name: str = "X") -> None:
    """Raise if a number is NaN or infinite; one number crosses to the host."""
    xp = array_namespace(X)
    blocks = [X[rows, :] for rows in row_blocks(X.shape[0], rows_per_block(X))]
    with quiet_overflow():
        # A sum is finite only if all its terms are; so one read of the rows is enough for most.
        if not blocks or bool(xp.isfinite(sum(xp.sum(B) for B in blocks))):
            return
    if any(bool(xp.any(xp.isnan(B))) for B in blocks):
        raise UsageError(
            f"Input {name} contains NaN. Fill in or leave out missing values: fairpca, as most of "
            f"scikit-learn, does not accept them."
        )
    if any(bool(xp.any(xp.isinf(B))) for B in blocks):
        raise UsageError(f"Input {name} contains infinity or a value too large for {X.dtype}.")


def in_numpy(X: Any, name: str) -> Any:
    """Return a host array of another library as NumPy; refuse to fetch rows from a device."""
    if in_host_memory(X):
        return to_numpy(X)
    raise DeviceError(
        f"X is on the device {device(X)}, but {name} computes with NumPy in host memory, and rows "
        f"are not copied unasked. Pass a NumPy array, such as X.cpu().numpy(); FairPCA takes "
        f"arrays on devices as they are."
    )


def split_positions(X: Array, columns: Sequence[Any]) -> tuple[Array, dict[int, Any]]:
    """Split an array into the features, and the sensitive columns on the host."""
    xp, d = array_namespace(X), X.shape[1]
    unknown = [c for c in columns if not isinstance(c, int) or not -d <= c < d]
    if unknown:
        raise UsageError(
            f"sensitive_columns names {unknown}, but X is an array without names of {d} columns. "
            f"Use positions."
        )
    positions = [int(c) % d for c in columns]
    rest = [j for j in range(d) if j not in set(positions)]
    features = xp.take(X, xp.asarray(rest, device=device(X)), axis=1)
    return features, {j: to_numpy(X[:, j]) for j in positions}
