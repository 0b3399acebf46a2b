"""Maps, and the preprocessing of numbers and categories, as an ONNX graph; knows onnx."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from .._numerics import library_versions, whole_file
from ..errors import ExportError, MissingExtraError
from ._estimator_state import n_columns
from ._fair_model import FairModel
from ._map_parts import MapParts, map_parts
from ._onnx_columns import column_values
from ._onnx_graph import Graph

OPSET, ML_OPSET, IR_VERSION = 17, 3, 8
"""Old enough for every runtime of recent years."""

MAX_PROTOBUF = 2**31 - 2**20
"""Files of the format's encoding cannot be larger."""


def export_onnx(
    model: Any,
    path: str | os.PathLike[str],
    *,
    preprocessing: bool = True,
    dtype: str = "float32",
) -> None:
    """Write the map of a fitted model as an ONNX file, for use without Python.

    Parameters
    ----------
    model : estimator or FairModel
        Linear maps, and kernel maps with the built-in kernels, exact or approximate.
    path : path
        Where the file will be, ``model.onnx`` by custom. It is replaced in one step.
    preprocessing : bool, default=True
        Whether the graph of a `fairpca.FairModel` starts at the columns of the table: one input of
        shape (n, 1) each, numbers as `dtype` (NaN is missing), categories as strings ("" is
        missing). If False, it starts at the encoded rows, as all others do: one input ``X`` of
        shape (n, d).
    dtype : {"float32", "float64"}
        Type of the numbers that go in, and of the output ``T`` of shape (n, k). In between, double
        precision is used: kernel values cancel.

    Raises
    ------
    ExportError
        If the preprocessing has texts or dates, which ONNX has no operators for; the message names
        the columns.

    See Also
    --------
    export_torch : For PyTorch.

    Notes
    -----
    Strings are compared as they are: remove blanks around categories first. Names of the output's
    columns, and what each input is, are in the file's metadata.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from fairpca import FairPCA
    >>> from fairpca.models import export_onnx
    >>> rng = np.random.default_rng(0)
    >>> X, sex = rng.normal(size=(60, 4)), rng.choice(["f", "m"], size=60)
    >>> export_onnx(FairPCA(2).fit(X, sensitive_features=sex), f"{tempfile.mkdtemp()}/model.onnx")
    """
    onnx = _onnx()
    if dtype not in ("float32", "float64"):
        raise ExportError(f"dtype={dtype!r} is not offered. Use 'float32' or 'float64'.")
    if not isinstance(model, FairModel):
        model = FairModel(None, model)
    graph = Graph(onnx, dtype)
    if preprocessing and model.encoder is not None:
        X = column_values(graph, model.encoder)
    else:
        X = graph.cast(graph.input("X", n_columns(model.map)), "float64")
    T = _mapped(graph, X, map_parts(model.map))
    if graph.bytes > MAX_PROTOBUF:
        raise ExportError(
            f"The arrays of this model take {graph.bytes / 2**30:.1f} GB, and an ONNX file holds "
            f"at most 2. Use approximation='nystroem' with fewer landmarks."
        )
    made = graph.model(T, len(model.output_names), OPSET, ML_OPSET, IR_VERSION)
    _describe(onnx, made, model, graph)
    onnx.checker.check_model(made)
    with whole_file(path) as draft:
        draft.write_bytes(made.SerializeToString())


def _mapped(graph: Graph, X: str, parts: MapParts) -> str:
    """Add the map to the graph: features of rows, if there are any, and the linear map."""
    features = X
    if parts.centre is not None:
        features = graph.op("Sub", features, graph.constant(parts.centre))
    if parts.unit_rows:
        features = _unit_rows(graph, features)
    if parts.kind == "laplacian":
        features = _laplacian(graph, features, parts)
    elif parts.kind != "linear":
        features = _of_products(graph, features, parts)
    features = graph.op("Sub", features, graph.constant(parts.mean))
    T = graph.op("MatMul", features, graph.constant(parts.matrix))
    return T if parts.offset is None else graph.op("Add", T, graph.constant(parts.offset))


def _of_products(graph: Graph, X: str, parts: MapParts) -> str:
    """Add a function of the products of rows with given ones."""
    G = graph.op("MatMul", X, graph.constant(parts.rows))
    if parts.kind == "rbf":
        squares = graph.op(
            "Mul", graph.row_sums(graph.op("Mul", X, X)), graph.constant(-parts.gamma)
        )
        G = graph.op("Add", graph.op("Add", G, squares), graph.constant(parts.shift))
        return graph.op("Exp", graph.op("Min", G, graph.constant(0.0)))
    if parts.kind == "fourier":
        # Older runtimes have no cosine of doubles; sin(G + pi/2) is the same to rounding.
        cosine = graph.op("Sin", graph.op("Add", G, graph.constant(np.pi / 2)))
        both = graph.concat([cosine, graph.op("Sin", G)])
        return graph.op("Mul", both, graph.constant(parts.shift))
    if parts.shift is not None:
        G = graph.op("Add", G, graph.constant(parts.shift))
    if parts.kind == "poly":
        return graph.op("Pow", G, graph.constant(float(parts.degree)))
    return graph.op("Tanh", G) if parts.kind == "sigmoid" else G


def _laplacian(graph: Graph, X: str, parts: MapParts) -> str:
    left = graph.op("Unsqueeze", X, graph.constant(np.array([1])))
    differences = graph.op("Abs", graph.op("Sub", left, graph.constant(parts.rows.T[None])))
    axis = graph.constant(np.array([2]))
    distances = graph.op("ReduceSum", differences, axis, keepdims=0)
    return graph.op("Exp", graph.op("Mul", distances, graph.constant(-parts.gamma)))


def _unit_rows(graph: Graph, X: str) -> str:
    length = graph.op("Sqrt", graph.row_sums(graph.op("Mul", X, X)))
    positive = graph.op("Greater", length, graph.constant(0.0))
    return graph.op("Div", X, graph.op("Where", positive, length, graph.constant(1.0)))


def _describe(onnx: Any, made: Any, model: FairModel, graph: Graph) -> None:
    onnx.helper.set_model_props(
        made,
        {
            "fairpca": library_versions()["fairpca"],
            "class": type(model.estimator).__name__,
            "inputs": json.dumps(graph.described),
            "output_names": json.dumps(model.output_names),
        },
    )


def _onnx() -> Any:
    try:
        import onnx
        import onnx.checker
        import onnx.helper
        import onnx.numpy_helper
    except ImportError as reason:
        raise MissingExtraError("onnx", "onnx", "An ONNX file") from reason
    return onnx
