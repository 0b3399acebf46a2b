"""An ONNX graph in the making: nodes, constants and names that do not collide."""

from __future__ import annotations

from typing import Any

import numpy as np


class Graph:
    """Collects the parts of a graph; every method returns the name of what it made.

    Parameters
    ----------
    onnx : module
        The library; this class does not import it.
    dtype : {"float32", "float64"}
        Type of inputs and outputs.
    """

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

    def model(self, output: str, width: int, opset: int, ml_opset: int, ir_version: int) -> Any:
        """Return the finished model, whose output `T` has shape (n, width)."""
        helper, proto = self.onnx.helper, self.onnx.TensorProto
        to = getattr(proto, _NAMES[self.dtype])
        self._nodes.append(helper.make_node("Cast", [output], ["T"], name="T node", to=to))
        outputs = [helper.make_tensor_value_info("T", to, ["n", width])]
        graph = helper.make_graph(
            self._nodes, "fair representation", self._inputs, outputs, self._constants
        )
        opsets = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", ml_opset)]
        return helper.make_model(
            graph, opset_imports=opsets, ir_version=ir_version, producer_name="fairpca"
        )

    def _fresh(self, name: str) -> str:
        candidate, copy = name, 2
        while candidate in self._taken:
            candidate, copy = f"{name} ({copy})", copy + 1
        self._taken.add(candidate)
        return candidate


_NAMES = {"float32": "FLOAT", "float64": "DOUBLE", "int64": "INT64"}
