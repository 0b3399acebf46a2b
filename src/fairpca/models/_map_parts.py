"""A fitted map as the few arrays and one function that every other language has too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._kernels import Kernel, KernelColumns, RandomFeatures, RowsAndKernel
from .._maps import AffineMap, FeatureMap
from .._numerics import is_sparse
from ..errors import ExportError

MAX_DENSE = 2**28
"""Sparse training rows that would take more bytes than this as a matrix are not exported."""


@dataclass(frozen=True)
class MapParts:
    """What is computed: ``(f(x) - mean) @ matrix + offset``, with features f of one kind.

    They follow from the products G of ``x - centre`` with ``rows``, of shape (d, p), which have the
    factors of the kernel in them; x is of length 1 with `unit_rows`. Before all this, x has its
    `column_mean` subtracted and is divided by `column_scale`; with `beside`, that x stands before
    the features.

    ==========  ==================================================================
    linear      x itself; there are no rows
    rbf         exp(min(0, G - gamma |x - centre|^2 + shift))
    laplacian   exp(-gamma |x - row|_1), one feature per row
    poly        (G + shift)^degree
    sigmoid     tanh(G + shift)
    product     G itself (cosine, linear kernels)
    fourier     shift times the cosines of G, then the sines
    ==========  ==================================================================
    """

    kind: str
    matrix: np.ndarray
    mean: np.ndarray
    offset: np.ndarray | None = None
    rows: Any = None
    shift: Any = None
    centre: np.ndarray | None = None
    unit_rows: bool = False
    column_mean: np.ndarray | None = None
    column_scale: np.ndarray | None = None
    beside: bool = False
    gamma: float = 1.0
    degree: float = 1.0


def map_parts(fitted: AffineMap | FeatureMap) -> MapParts:
    """Return the parts of a map, in double precision, or say why it cannot be exported."""
    linear = fitted if isinstance(fitted, AffineMap) else fitted.linear
    ends: dict[str, Any] = {
        "matrix": np.asarray(linear.scaled_matrix, dtype=float),
        "mean": np.asarray(linear.mean, dtype=float),
        "offset": None if linear.offset is None else np.asarray(linear.offset, dtype=float),
    }
    if isinstance(fitted, AffineMap):
        return MapParts("linear", **ends)
    features = fitted.features
    if isinstance(features, RowsAndKernel):
        d, unit = features.n_columns, features.unit
        ends["matrix"] = np.vstack([unit * ends["matrix"][:d], ends["matrix"][d:]])
        ends["mean"] = np.concatenate([ends["mean"][:d] / unit, ends["mean"][d:]])
        ends |= {"beside": True, "column_mean": features.mean, "column_scale": features.scale}
        features = features.columns
    if isinstance(features, RandomFeatures):
        half = features.frequencies.shape[1]
        return MapParts(
            "fourier",
            rows=features.frequencies,
            shift=1.0 / np.sqrt(half),
            centre=features.centre,
            **ends,
        )
    if isinstance(features, KernelColumns):
        return MapParts(**_kernel(features.kernel, _dense(features.rows)), **ends)
    return MapParts("linear", **ends)  # given kernel values


def _kernel(kernel: Kernel, rows: np.ndarray) -> dict[str, Any]:
    if kernel.name == "rbf":
        centred = rows if kernel.centre is None else rows - kernel.centre
        return {
            "kind": "rbf",
            "rows": 2.0 * kernel.gamma * centred.T,
            "shift": -kernel.gamma * np.einsum("ij,ij->i", centred, centred),
            "centre": kernel.centre,
            "gamma": float(kernel.gamma),
        }
    if kernel.name == "laplacian":
        return {"kind": "laplacian", "rows": rows.T, "gamma": float(kernel.gamma)}
    if kernel.name in ("poly", "sigmoid"):
        return {
            "kind": kernel.name,
            "rows": kernel.gamma * rows.T,
            "shift": float(kernel.coef0),
            "degree": float(kernel.degree),
        }
    if kernel.name in ("cosine", "linear"):
        unit = kernel.name == "cosine"
        return {"kind": "product", "rows": kernel.prepared(rows, first=False).T, "unit_rows": unit}
    raise ExportError(
        f"The kernel {getattr(kernel.name, '__name__', kernel.name)!r} is a function in Python, "
        f"which cannot be exported. Fit again with a built-in kernel."
    )


def _dense(rows: Any) -> np.ndarray:
    if not is_sparse(rows):
        return np.asarray(rows, dtype=float)
    if 8 * rows.shape[0] * rows.shape[1] > MAX_DENSE:
        raise ExportError(
            f"The model compares with {rows.shape[0]} sparse rows of {rows.shape[1]} columns, "
            f"which would take {8e-9 * rows.shape[0] * rows.shape[1]:.1f} GB when exported. Use "
            f"approximation='nystroem' with fewer landmarks, or fewer columns."
        )
    return rows.toarray().astype(float)
