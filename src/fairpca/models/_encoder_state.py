"""The preprocessing of a model as plain JSON and arrays, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._numerics import DTYPES, Packer, unplain
from ..errors import ModelFileError, UnsavableModelError

ENCODER = "TableEncoder"


def plain_encoder(encoder: Any, packer: Packer) -> dict[str, Any]:
    """Return the fitted preprocessing in plain terms; arrays go to the packer."""
    if type(encoder) is not encoder_class():
        raise UnsavableModelError(
            f"The encoder is a {type(encoder).__name__}, and model files hold a "
            f"fairpca.tables.{ENCODER}. For other preprocessing make a scikit-learn pipeline and "
            f"use fairpca.models.save_pipeline."
        )
    plain, arrays = encoder.to_plain()
    for name, a in arrays.items():
        if a.dtype.name not in DTYPES:
            raise UnsavableModelError(
                f"The encoder's array {name!r} has the type {a.dtype}, which a model file cannot "
                f"hold. Arrays of numbers can be saved."
            )
    return {
        "class": ENCODER,
        "plain": packer.plain(plain, "encoder"),
        "arrays": {name: packer._tensor(a) for name, a in arrays.items()},
    }


def made_encoder(plain: Mapping[str, Any], tensors: Mapping[str, np.ndarray]) -> Any:
    """Return the fitted preprocessing of a file.

    Raises
    ------
    ModelFileError
        If it is none.
    """
    if plain["class"] != ENCODER:
        raise ModelFileError(f"has preprocessing of the unknown kind {str(plain['class'])[:40]!r}")
    arrays = {name: tensors[tensor].copy() for name, tensor in plain["arrays"].items()}
    cls = encoder_class()
    try:
        return cls.from_plain(unplain(plain["plain"], tensors), arrays)
    except ImportError:
        raise  # a missing extra says what to install
    except Exception as reason:  # whatever is wrong with it, it is not what was saved
        told = " ".join(str(reason).split())[:400]
        raise ModelFileError(f"has preprocessing that cannot be restored: {told}") from reason


def encoder_class() -> Any:
    """Return the class of preprocessing that files hold; its libraries are optional."""
    from ..tables import TableEncoder

    return TableEncoder
