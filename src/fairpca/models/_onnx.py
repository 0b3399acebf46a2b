"""Maps, and the preprocessing of numbers and categories, as an ONNX graph."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from .._files import keep_existing, library_versions, whole_file
from ..errors import ExportError, needing
from ..tables import LARGEST, NULL_STRINGS, LevelColumn, NumberColumn
from ._estimator_state import n_columns
from ._map_parts import MapParts, map_parts
from ._table_transformer import fitted_model

OPSET, ML_OPSET, IR_VERSION = 17, 3, 8
"""Old enough for every runtime of recent years."""

_NAMES = {"float32": "FLOAT", "float64": "DOUBLE", "int64": "INT64"}

MAX_PROTOBUF = 2**31 - 2**20
"""Files of the format's encoding cannot be larger."""


def export_onnx(
    model: Any,
    path: str | os.PathLike[str],
    *,
    preprocessing: bool = True,
    dtype: str = "float32",
    overwrite: bool = False,
) -> None:
    """Write the map of a fitted model as an ONNX file, for use without Python.

    Parameters
    ----------
    model : estimator or FairTableTransformer
        Linear maps, and kernel maps with the built-in kernels, exact or approximate.
    path : path
        Where the file will be, ``model.onnx`` by custom.
    preprocessing : bool, default=True
        Whether the graph of a `fairpca.FairTableTransformer` starts at the columns of the table:
        one input of shape (n_samples, 1) each, numbers as `dtype` (NaN is missing), categories as
        strings ("" is missing). If False, it starts at the encoded rows, as the graphs of all other
        models do: one input ``X`` of shape (n_samples, n_features).
    dtype : {"float32", "float64"}, default="float32"
        Type of the numbers that go in, and of the output ``T`` of shape (n_samples, n_components).
        In between, double precision is used: kernel values cancel.
    overwrite : bool, default=False
        Whether a file of this name is replaced, in one step; else it is kept.

    Raises
    ------
    ExportError
        If the preprocessing has texts or dates, which ONNX has no operators for; the message names
        the columns.
    ExistingFileError
        If there is a file of this name, which is not to be replaced.

    See Also
    --------
    export_torch : For PyTorch.

    Notes
    -----
    Strings are compared letter by letter: levels are known as they are spelled in the model, in
    small letters, capitals and titles, and with a final dot; remove blanks around them first, and
    pass numbers as numbers. Names of the output's columns, and what each input is, are in the
    file's metadata.

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
    with needing("onnx", "onnx", "An ONNX file"):
        import onnx
        import onnx.checker
        import onnx.helper
        import onnx.numpy_helper
    if dtype not in ("float32", "float64"):
        raise ExportError(f"dtype={dtype!r} is not offered. Use 'float32' or 'float64'.")
    model = fitted_model(model)
    graph = _Graph(onnx, dtype)
    if preprocessing and model.encoder_ is not None:
        X = _column_values(graph, model.encoder_)
    else:
        X = graph.cast(graph.input("X", n_columns(model._map)), "float64")
    T = _mapped(graph, X, map_parts(model._map))
    if graph.bytes > MAX_PROTOBUF:
        raise ExportError(
            f"The arrays of this model take {graph.bytes / 2**30:.1f} GB, and an ONNX file holds "
            f"at most 2. Use approximation='nystroem' with fewer landmarks."
        )
    names = model.get_feature_names_out().tolist()
    made = graph.model(T, len(names))
    facts = {
        "fairpca": library_versions()["fairpca"],
        "class": type(model.estimator_).__name__,
        "inputs": json.dumps(graph.described),
        "output_names": json.dumps(names),
    }
    onnx.helper.set_model_props(made, facts)
    onnx.checker.check_model(made)
    keep_existing(path, overwrite=overwrite)
    with whole_file(path) as draft:
        draft.write_bytes(made.SerializeToString())


def _mapped(graph: _Graph, X: str, parts: MapParts) -> str:
    """Add the map to the graph: features of rows, if there are any, and the linear map."""
    if parts.column_mean is not None:
        X = graph.op("Sub", X, graph.constant(parts.column_mean))
        X = graph.op("Div", X, graph.constant(parts.column_scale))
    features = X
    if parts.centre is not None:
        features = graph.op("Sub", features, graph.constant(parts.centre))
    if parts.unit_rows:
        features = _unit_rows(graph, features)
    if parts.kind == "laplacian":
        features = _laplacian(graph, features, parts)
    elif parts.kind != "linear":
        features = _of_products(graph, features, parts)
    features = graph.concat([X, features]) if parts.beside else features
    features = graph.op("Sub", features, graph.constant(parts.mean))
    T = graph.op("MatMul", features, graph.constant(parts.matrix))
    return T if parts.offset is None else graph.op("Add", T, graph.constant(parts.offset))


def _of_products(graph: _Graph, X: str, parts: MapParts) -> str:
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


def _laplacian(graph: _Graph, X: str, parts: MapParts) -> str:
    left = graph.op("Unsqueeze", X, graph.constant(np.array([1])))
    differences = graph.op("Abs", graph.op("Sub", left, graph.constant(parts.rows.T[None])))
    axis = graph.constant(np.array([2]))
    distances = graph.op("ReduceSum", differences, axis, keepdims=0)
    return graph.op("Exp", graph.op("Mul", distances, graph.constant(-parts.gamma)))


def _unit_rows(graph: _Graph, X: str) -> str:
    length = graph.op("Sqrt", graph.row_sums(graph.op("Mul", X, X)))
    positive = graph.op("Greater", length, graph.constant(0.0))
    return graph.op("Div", X, graph.op("Where", positive, length, graph.constant(1.0)))


def _column_values(graph: _Graph, encoder: Any) -> str:
    """Add one input per column, and return the name of the encoded rows."""
    spans = encoder.spans()
    others = [c.name for c, _, _ in spans if not isinstance(c, NumberColumn | LevelColumn)]
    if others:
        shown = ", ".join(repr(name) for name in others[:10]) + (", ..." if others[10:] else "")
        raise ExportError(
            f"ONNX has no operators for texts, dates or vectors, so the columns {shown} cannot "
            f"be part of the graph. Export the map alone with preprocessing=False and encode rows "
            f"with the model's encoder, or fit without these columns."
        )
    # All inputs come first: their names are the columns', and nodes take what is left.
    inputs = []
    for column, _, _ in spans:
        text = isinstance(column, LevelColumn)
        levels = {"levels": list(column.levels)} if isinstance(column, LevelColumn) else {}
        inputs.append(graph.input(column.name, 1, text=text, column=column.name, **levels))
    encoded = []
    for name, (column, span, kept) in zip(inputs, spans, strict=True):
        if isinstance(column, NumberColumn):
            values = _number(graph, name, column, kept)
            values = graph.op("Sub", values, graph.constant(encoder.mean_[span]))
            values = graph.op("Div", values, graph.constant(encoder.scale_[span]))
            bounds = graph.constant(-LARGEST), graph.constant(LARGEST)
            encoded.append(graph.op("Clip", values, *bounds))
        else:
            table = encoder.standardized(column.table[:, kept], span)
            encoded.append(_level(graph, name, column, table))
    return graph.concat(encoded)


def _number(graph: _Graph, name: str, column: NumberColumn, kept: np.ndarray) -> str:
    """Numbers that are missing or infinite become the median; that they were, an output."""
    x = graph.cast(name, "float64")
    unknown = graph.op("Or", graph.op("IsNaN", x), graph.op("IsInf", x))
    for number in column.missing:
        unknown = graph.op("Or", unknown, graph.op("Equal", x, graph.constant(float(number))))
    values = [graph.op("Where", unknown, graph.constant(float(column.fill)), x)]
    if column.ranks is not None:
        values = [_rank(graph, values[0], *column.ranks)]
    if column.indicator:
        values.append(graph.cast(unknown, "float64"))
    return graph.concat([values[i] for i in kept])


def _rank(graph: _Graph, x: str, at: np.ndarray, ranks: np.ndarray) -> str:
    """Interpolate: how far a number reaches into each interval of values, times the slope there."""
    widths = np.diff(at)
    beyond = graph.op("Sub", x, graph.constant(at[None, :-1]))
    within = graph.op("Max", beyond, graph.constant(np.zeros((1, 1))))
    within = graph.op("Min", within, graph.constant(widths[None, :]))
    risen = graph.op("Mul", within, graph.constant((np.diff(ranks) / widths)[None, :]))
    return graph.op("Add", graph.row_sums(risen), graph.constant(float(ranks[0])))


def _level(graph: _Graph, name: str, column: LevelColumn, table: np.ndarray) -> str:
    """Strings become the standardised indicators of their level, looked up in a table."""
    codes = dict(column.place)
    for level, place in column.place.items():  # ONNX compares letters: usual spellings are named
        for text in (level, level.lower(), level.upper(), level.capitalize(), level.title()):
            codes.setdefault(text, place)
            codes.setdefault(f"{text}.", place)
    codes.update({text: len(column.levels) for text in sorted(NULL_STRINGS)})
    code = graph.op(
        "LabelEncoder",
        graph.op("Reshape", name, graph.constant(np.array([-1]))),
        domain="ai.onnx.ml",
        keys_strings=list(codes),
        values_int64s=list(codes.values()),
        default_int64=len(column.levels) + 1,
    )
    return graph.op("Gather", graph.constant(np.asarray(table, dtype=float)), code, axis=0)


class _Graph:
    """Collects nodes, constants and names; every method returns the name of what it made."""

    def __init__(self, onnx: Any, dtype: str) -> None:
        self.onnx, self.dtype = onnx, dtype
        self.bytes = 0
        self.described: dict[str, dict[str, Any]] = {}
        self._nodes: list[Any] = []
        self._inputs: list[Any] = []
        self._constants: list[Any] = []
        self._taken = {"T"}

    def input(self, name: str, width: int, *, text: bool = False, **facts: Any) -> str:
        """Add an input of shape (n, width); a name that is empty or taken becomes another."""
        found = self._fresh(name or "column")
        kind = "STRING" if text else _NAMES[self.dtype]
        self._inputs.append(
            self.onnx.helper.make_tensor_value_info(
                found, getattr(self.onnx.TensorProto, kind), ["n", width]
            )
        )
        self.described[found] = {"type": "string" if text else self.dtype, "width": width, **facts}
        return found

    def constant(self, value: Any) -> str:
        """Add numbers; floats are doubles, all others 64-bit integers."""
        a = np.asarray(value)
        a = np.ascontiguousarray(a, dtype=np.float64 if a.dtype.kind == "f" else np.int64)
        name = self._fresh("constant")
        self._constants.append(self.onnx.numpy_helper.from_array(a.reshape(np.shape(value)), name))
        self.bytes += a.nbytes
        return name

    def op(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node with one output."""
        name = self._fresh(kind.lower())
        self._nodes.append(
            self.onnx.helper.make_node(
                kind, list(inputs), [name], name=f"{name} node", domain=domain, **attributes
            )
        )
        return name

    def cast(self, value: str, dtype: str) -> str:
        """Add a change of type."""
        return self.op("Cast", value, to=getattr(self.onnx.TensorProto, _NAMES[dtype]))

    def concat(self, values: list[str]) -> str:
        """Put columns side by side."""
        return values[0] if len(values) == 1 else self.op("Concat", *values, axis=1)

    def row_sums(self, value: str) -> str:
        """Add up the columns, to shape (n, 1)."""
        return self.op("ReduceSum", value, self.constant(np.array([1])), keepdims=1)

    def model(self, output: str, width: int) -> Any:
        """Return the finished model, whose output `T` has shape (n, width)."""
        helper, proto = self.onnx.helper, self.onnx.TensorProto
        to = getattr(proto, _NAMES[self.dtype])
        self._nodes.append(helper.make_node("Cast", [output], ["T"], name="T node", to=to))
        outputs = [helper.make_tensor_value_info("T", to, ["n", width])]
        graph = helper.make_graph(
            self._nodes, "fair representation", self._inputs, outputs, self._constants
        )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        return helper.make_model(
            graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="fairpca"
        )

    def _fresh(self, name: str) -> str:
        candidate, copy = name, 2
        while candidate in self._taken:
            candidate, copy = f"{name} ({copy})", copy + 1
        self._taken.add(candidate)
        return candidate
