"""A fitted encoder as plain data, and back: numbers, texts and arrays, no objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from ..errors import TableError, UsageError
from ._column_kinds import KINDS
from ._frozen_column import Arrays, Column, Plain

if TYPE_CHECKING:
    from ._encoder import TableEncoder

PLAIN_VERSION = 1
UNFIT = (KeyError, TypeError, ValueError, AttributeError, IndexError)
"""What altered data make the code below raise."""


def to_plain(encoder: TableEncoder) -> tuple[Plain, Arrays]:
    """Return what a fitted encoder learned: a dict that JSON can hold, and arrays by name."""
    arrays: Arrays = {"mean": encoder.mean_, "scale": encoder.scale_}
    encoders = []
    for i, (column, _, kept) in enumerate(encoder.spans()):
        plain, own = column.to_plain()
        encoders.append({**plain, "kept": kept.tolist()})
        arrays.update({f"column{i}.{key}": array for key, array in own.items()})
    columns = [asdict(column) for column in encoder.columns_]
    return {"version": PLAIN_VERSION, "columns": columns, "encoders": encoders}, arrays


def restore(encoder: TableEncoder, plain: Plain, arrays: Mapping[str, np.ndarray]) -> None:
    """Give a new encoder what another one learned; nothing is executed.

    Raises
    ------
    TableError
        If these are not the data of an encoder, or those of a later version.
    """
    version = plain.get("version") if isinstance(plain, Mapping) else None
    if version != PLAIN_VERSION:
        raise TableError(
            f"The encoder was written in format {version}, but this version of fairpca reads "
            f"format {PLAIN_VERSION}. Update fairpca, or fit again."
        )
    try:
        encoder.columns_ = [Column(**column) for column in plain["columns"]]
        encoder.feature_names_in_ = [column.name for column in encoder.columns_]
        encoder.mean_ = np.asarray(arrays["mean"], dtype=float)
        encoder.scale_ = np.asarray(arrays["scale"], dtype=float)
        encoder.encoders_, encoder.kept_ = [], []
        for i, own in enumerate(plain["encoders"]):
            mine = {
                key.partition(".")[2]: np.asarray(array, dtype=float)
                for key, array in arrays.items()
                if key.startswith(f"column{i}.")
            }
            _check_plain(own, mine)
            encoder.encoders_.append(KINDS[own["kind"]].from_plain(own, mine))
            encoder.kept_.append(np.array(own["kept"], dtype=np.intp))
        _check_shapes(encoder)
    except UNFIT as error:
        raise TableError(
            f"These are not the data of a table encoder ({type(error).__name__}: {error}). Was "
            f"the file altered? Fit again."
        ) from error


def _check_plain(own: Plain, arrays: Arrays) -> None:
    """Refuse names that are no texts, texts that occur twice, and numbers that are none."""
    texts = [*own.get("levels", ()), *own.get("vocabulary", ())]
    if not all(isinstance(text, str) for text in (own["name"], *texts)):
        raise TypeError("names, levels and groups of letters are texts")
    if len(set(texts)) < len(texts):
        raise UsageError(f"column '{own['name']}' has the same text twice")
    flags = [own[key] for key in ("missing", "indicator", "boolean") if key in own]
    if not all(isinstance(flag, bool) for flag in flags):
        raise TypeError("flags are true or false")
    numbers = [own.get("share", 0.0), *np.ravel(own.get("fill", 0.0))]
    if not all(np.isfinite(numbers)) or not all(np.isfinite(a).all() for a in arrays.values()):
        raise UsageError(f"column '{own['name']}' has numbers that are not finite")


def _check_shapes(encoder: TableEncoder) -> None:
    n_outputs = sum(len(kept) for kept in encoder.kept_)
    if not n_outputs:
        raise UsageError("there are no outputs")
    if encoder.mean_.shape != (n_outputs,) or encoder.scale_.shape != (n_outputs,):
        raise UsageError("means and scales do not fit the columns")
    positive = np.isfinite(encoder.scale_) & (encoder.scale_ > 0)
    if not (np.isfinite(encoder.mean_).all() and positive.all()):
        raise UsageError("means must be finite, scales positive")
    for column, _, kept in encoder.spans():
        if not np.isin(kept, np.arange(len(column.outputs))).all():
            raise UsageError(f"column '{column.name}' has no such outputs")
