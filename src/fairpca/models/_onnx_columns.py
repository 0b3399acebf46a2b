"""The preprocessing of tables as nodes of an ONNX graph: numbers and categories."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ExportError
from ..tables import LARGEST, NULL_STRINGS, LevelColumn, NumberColumn
from ._onnx_graph import Graph


def column_values(graph: Graph, encoder: Any) -> str:
    """Add one input per column, and return the name of the encoded rows.

    Raises
    ------
    ExportError
        If there are columns of texts or dates.
    """
    spans = encoder.spans()
    others = [c.name for c, _, _ in spans if not isinstance(c, NumberColumn | LevelColumn)]
    if others:
        shown = ", ".join(repr(name) for name in others[:10]) + (", ..." if others[10:] else "")
        raise ExportError(
            f"ONNX has no operators for texts and dates, so the columns {shown} cannot be part of "
            f"the graph. Export the map alone with preprocessing=False and encode rows with the "
            f"model's encoder, or fit without these columns."
        )
    # All inputs come first: their names are the columns', and nodes take what is left.
    inputs = [_input(graph, column) for column, _, _ in spans]
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


def _input(graph: Graph, column: NumberColumn | LevelColumn) -> str:
    if isinstance(column, NumberColumn):
        return graph.input(column.name, 1, column=column.name)
    levels = list(column.levels)
    return graph.input(column.name, 1, text=True, column=column.name, levels=levels)


def _number(graph: Graph, name: str, column: NumberColumn, kept: np.ndarray) -> str:
    """Numbers that are missing or infinite become the median; that they were, an output."""
    x = graph.cast(name, "float64")
    unknown = graph.op("Or", graph.op("IsNaN", x), graph.op("IsInf", x))
    values = [graph.op("Where", unknown, graph.constant(float(column.fill)), x)]
    if column.indicator:
        values.append(graph.cast(unknown, "float64"))
    return graph.concat([values[i] for i in kept])


def _level(graph: Graph, name: str, column: LevelColumn, table: np.ndarray) -> str:
    """Strings become the standardised indicators of their level, looked up in a table."""
    codes = dict(column.place)
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
