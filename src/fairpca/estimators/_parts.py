"""Rows that come in parts, from files or a cluster: what is done where they are, and after."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._attributes import as_columns, ask_about_integers
from .._numerics import fingerprint_of
from .._rows import Part, RowsElsewhere
from ..errors import MissingGroupError, MissingTargetError, UsageError
from ..moments import GroupMoments, LevelMoments

NO_ROWS = "Found 0 rows (n_samples = 0) in {}, while a variance needs at least 2. Pass rows."


@dataclass(frozen=True)
class CollectMoments:
    """From a part of the rows to its moments, read as an estimator reads rows.

    Parameters
    ----------
    reader : estimator or reader of rows
        Has seen the names of the columns, and holds no rows.
    """

    reader: Any

    def __call__(self, part: Part) -> GroupMoments | None:
        """Return the moments of a part; None if it has no rows."""
        if part.n_rows == 0:
            return None
        moments: GroupMoments = self.reader._moments(
            part.X, part.y, part.sensitive_features, part.sample_weight, first=False, partial=True
        )
        return moments

    @property
    def fingerprint(self) -> str:
        """Tells whether moments collected by another process belong to the same question.

        It is only asked for where there is a checkpoint: functions have none.
        """
        return fingerprint_of(self.reader, type(self.reader).__name__)


def moments_elsewhere(
    reader: Any, source: RowsElsewhere, *, first: bool, partial: bool = True
) -> GroupMoments:
    """Return the moments of rows that are elsewhere.

    Parameters
    ----------
    reader : estimator or reader of rows
        Learns the names of the columns, if this is the `first` time.
    source : RowsElsewhere
        The rows.
    partial : bool
        Whether others may follow, so that these need not have a row that counts.
    """
    source = source.for_estimator(_sensitive_columns(reader))
    begin(reader, source.head, first=first)
    if first:
        reader._look_ahead(source)
    moments: GroupMoments | None = source.fold(CollectMoments(without_rows(reader)))
    if moments is None:
        raise UsageError(NO_ROWS.format(type(source).__name__))
    if moments.n_rows == 0 and not partial and reader.criterion == "equal_opportunity":
        raise MissingTargetError(
            f"criterion='equal_opportunity' uses the rows with y == pos_label, but no row has "
            f"y == {reader.pos_label!r}. Set pos_label to one of the labels."
        )
    for a in moments.attributes:
        if isinstance(a, LevelMoments) and a.name not in map(str, reader.sensitive_kinds or ()):
            ask_about_integers(a.name, a.labels)
    return moments


def begin(reader: Any, head: Part, *, first: bool) -> None:
    """Check the columns of rows that are still to come."""
    if head.sensitive_features is None and reader.sensitive_columns is None:
        raise MissingGroupError(
            "No sensitive features were given, and without them this would be plain PCA. Pass "
            "sensitive_features=... of the same engine, or name columns of X with "
            "sensitive_columns=[...]."
        )
    if head.y is None and reader.criterion != "demographic_parity":
        raise MissingTargetError(
            f"criterion={reader.criterion!r} compares rows with the same label, but there is no y. "
            f"Pass y of the same engine as X, or name it where you name files: target=..."
        )
    reader._features(head.X, first=first, ensure_all_finite=False, ensure_min_samples=0)


def _sensitive_columns(reader: Any) -> list[Any]:
    return [] if reader.sensitive_columns is None else as_columns(reader.sensitive_columns)


def without_rows(reader: Any) -> Any:
    """Return a copy that holds nothing of the rows seen so far, to be sent to others."""
    shell = copy(reader)
    shell._sees_a_part = True
    for name in getattr(reader, "_learned", ()):
        shell.__dict__.pop(name, None)
    shell.__dict__.pop("moments_", None)
    return shell


@dataclass(frozen=True)
class TransformPart:
    """From the features of some rows to their representation; there may be none."""

    estimator: Any

    def __call__(self, X: Any) -> np.ndarray:
        """Return the representation, of shape (n, k)."""
        if X.shape[0] == 0:
            features, _ = self.estimator._features(X, first=False, ensure_min_samples=0)
            return np.empty((0, self.estimator._n_features_out), dtype=features.dtype)
        return np.asarray(self.estimator.transform(X))


def transformed_elsewhere(estimator: Any, source: RowsElsewhere) -> Any:
    """Return a lazy collection of the representations of rows that are elsewhere."""
    names = [str(name) for name in getattr(estimator, "feature_names_in_", ())]
    source = source.for_estimator(_sensitive_columns(estimator), names)
    shell = copy(estimator)
    shell.__dict__.pop("moments_", None)  # large, and of no use there
    shell.__dict__.pop("_sklearn_output_config", None)
    transform = TransformPart(shell)
    names = [str(name) for name in estimator.get_feature_names_out()]
    return source.mapped(transform, names, transform(source.head.X).dtype)
