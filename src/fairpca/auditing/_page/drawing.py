"""Two kinds of drawings as SVG: rows of marks with intervals, and marks with labels in a plane.

Elements are built as a tree, so that no text of the data can become markup. Colours are classes of
the style sheet; every mark has a title that browsers show when it is pointed at.
"""

from __future__ import annotations

import math
import textwrap
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from .._phrases import decimal, shortened
from .._results import Estimate

WIDTHS = {"wide": 960, "narrow": 330}
"""Each is drawn for wide screens and paper, and for phones, in pixels where nothing is scaled."""

TYPE, SMALL, LANE = 13, 12, 15
"""Sizes of type, as in the style sheet, and the height of a line or of a mark in its row."""

CIRCLE = "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z"
SQUARE = "M-4.5 -4.5h9v9h-9z"
DIAMOND = "M0 -6.2l6.2 6.2l-6.2 6.2l-6.2 -6.2z"

_LONGEST = 300.0  # pixels of a label in a plane

_Box = tuple[float, float, float]


@dataclass(frozen=True)
class Mark:
    """A number with its interval, as a shape; in a plane it has a height and a label.

    Without a height it lies below the plane; `chance` is how far chance alone reaches.
    """

    x: Estimate
    hover: str
    look: str
    shape: str = CIRCLE
    chance: float | None = None
    y: Estimate | None = None
    label: str = ""


@dataclass(frozen=True)
class Row:
    """A name and its marks, one under the other."""

    name: str
    detail: str
    marks: list[Mark]


@dataclass(frozen=True)
class Frame:
    """What stands around marks; `limit` is a line across the plane."""

    title: str
    words: str
    x_title: str
    y_title: str = ""
    origin: float = 0.0
    limit: float | None = None
    limit_words: str = ""


@dataclass(frozen=True)
class _Scale:
    """From numbers to places on the paper, and the numbers worth a line."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / ((self.high - self.low) or 1.0)
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self, about: int) -> list[tuple[float, str]]:
        """Return round numbers, about as many as asked for, and how they are written.

        >>> [text for _, text in _Scale(0.0, 27.0, 0, 100).ticks(6)]
        ['0', '5', '10', '15', '20', '25']
        """
        rough = (self.high - self.low) / about or 1.0
        power = 10.0 ** math.floor(math.log10(rough))
        step = power * min((1, 2, 5, 10), key=lambda one: abs(math.log(one * power / rough)))
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [(place * step, decimal(place * step, digits)) for place in range(first, last + 1)]


class _Drawing:
    """An SVG element that is filled from the back to the front."""

    def __init__(self, name: str, floor: float, frame: Frame) -> None:
        lines = textwrap.wrap(frame.x_title, int((WIDTHS[name] - 60) / (0.6 * SMALL)))
        self.width, height = WIDTHS[name], floor + 29 + LANE * len(lines)
        box = {"class": name, "viewBox": f"0 0 {self.width} {height:g}", "role": "img"}
        self.root = ElementTree.Element("svg", box)
        self.narrow, self.floor = name == "narrow", floor
        self.lines: dict[str, ElementTree.Element] = {}
        ElementTree.SubElement(self.root, "title").text = frame.title
        ElementTree.SubElement(self.root, "desc").text = frame.words
        for place, text in enumerate(lines):
            self.write(self.width / 2, floor + 34 + LANE * place, text, "tick", "middle")

    def put(self, tag: str, look: str, hover: str = "", **at: object) -> ElementTree.Element:
        """Add an element; nobody hovers over a phone."""
        given = {name: str(round(v, 1) if isinstance(v, float) else v) for name, v in at.items()}
        one = ElementTree.SubElement(self.root, tag, {"class": look, **given})
        if hover and not self.narrow:
            ElementTree.SubElement(one, "title").text = hover
        return one

    def write(self, x: float, y: float, text: str, look: str = "words", anchor: str = "") -> None:
        """Add a line of text that begins at a place, ends there or has its middle there."""
        one = self.put("text", look, x=x, y=y)
        one.text = text
        if anchor:
            one.set("text-anchor", anchor)

    def line(self, look: str, x1: float, y1: float, x2: float, y2: float) -> None:
        """Add a line; lines that look the same are one element, where the first of them is."""
        if look not in self.lines:
            self.lines[look] = self.put("path", look, d="")
        one = self.lines[look]
        one.set("d", one.get("d", "") + f"M{x1:g} {y1:g}L{x2:g} {y2:g}")

    def mark(self, mark: Mark, x: float, y: float) -> None:
        """Add a mark."""
        place = f"translate({x:g} {y:g})"
        self.put("path", f"mark {mark.look}", mark.hover, d=mark.shape, transform=place)

    def ticks(self, x: _Scale, top: float) -> None:
        """Add the lines and numbers of the axis below."""
        for value, text in x.ticks(4 if self.narrow else 7):
            self.line("grid", x(value), top, x(value), self.floor)
            self.write(x(value), self.floor + 16, text, "tick", "middle")


def text_width(text: str, size: float = TYPE) -> float:
    """Return how wide a text is at most, near enough to leave room for it."""
    wide = sum(unicodedata.east_asian_width(one) in "WF" for one in text)
    broad = sum(one.isupper() or one in "mw%&@<>=+" for one in text)
    return size * (0.56 * len(text) + 0.29 * broad + 0.49 * wide)


def fitting(text: str, width: float) -> str:
    """Return a text cut to a width."""
    line = shortened(text, 200)
    while text_width(line) > width and len(line) > 2:
        line = shortened(line, len(line) - 1)
    return line


def _ends(one: Estimate | None) -> list[float]:
    return [one.low, one.value, one.high] if one else []


def drawings(
    draw: Callable[[str, Sequence[Any], Frame], _Drawing], what: Sequence[Any], frame: Frame
) -> dict[str, str]:
    """Return both drawings of rows or marks, as HTML has them."""
    roots = {name: draw(name, what, frame).root for name in WIDTHS}
    return {n: ElementTree.tostring(r, encoding="unicode", method="html") for n, r in roots.items()}


def draw_rows(name: str, rows: Sequence[Row], frame: Frame) -> _Drawing:
    """Draw marks with intervals in rows."""
    lanes = max(len(row.marks) for row in rows)
    named = 21.0 if name == "narrow" else 0.0  # names stand above their marks
    height = named + max(LANE * lanes + 8.0, 0 if named else 23.0)
    top, left = 8.0, 22.0 if named else 330.0
    drawing = _Drawing(name, top + height * len(rows), frame)
    marks = [mark for row in rows for mark in row.marks]
    ends = [frame.origin, *(mark.chance for mark in marks if mark.chance is not None)]
    ends += [end for mark in marks for end in _ends(mark.x)]
    pad = 0.03 * ((max(ends) - min(ends)) or 1.0)
    x = _Scale(min(ends) - pad, max(ends) + pad, left, drawing.width - 14.0)
    for place in range(0, len(rows), 2):
        at = top + place * height
        drawing.put("rect", "stripe", x=0, y=at, width=drawing.width, height=height)
    drawing.ticks(x, top)
    drawing.line("origin", x(frame.origin), top, x(frame.origin), drawing.floor)
    for place, row in enumerate(rows):
        y = top + place * height
        detail = f" ({row.detail})" if row.detail else ""
        if named:
            room = drawing.width - 16 - text_width(detail)
            drawing.write(8, y + 15, fitting(row.name, room) + detail, "label")
        else:
            drawing.write(8, y + height / 2 + (-3 if detail else 4), fitting(row.name, left - 22))
            drawing.write(8, y + height / 2 + 13, row.detail, "tick")
        for lane, mark in enumerate(row.marks):
            at = y + named + (height - named) / 2 + LANE * (lane - (len(row.marks) - 1) / 2)
            _draw_mark(drawing, mark, x, round(at, 1), frame.origin)
    return drawing


def _draw_mark(drawing: _Drawing, mark: Mark, x: _Scale, y: float, origin: float) -> None:
    if mark.chance is not None and mark.chance > origin:
        drawing.line("chance", x(origin), y, x(mark.chance), y)
    ends = [x(end) for end in _ends(mark.x)]
    drawing.line(f"reach {mark.look}", min(ends), y, max(ends), y)
    drawing.mark(mark, x(mark.x.value), y)


def draw_plane(name: str, marks: Sequence[Mark], frame: Frame) -> _Drawing:
    """Draw marks in a plane, with intervals both ways and labels."""
    drawing = _Drawing(name, 290.0 if name == "narrow" else 334.0, frame)
    below = any(mark.y is None for mark in marks)
    top, bottom = 44.0, drawing.floor - (34 if below else 0)
    left, right = 40.0, drawing.width - 12.0
    limit = [] if frame.limit is None else [frame.limit]
    x = _padded([*limit, *(end for mark in marks for end in _ends(mark.x))], left, right)
    y = _padded([end for mark in marks for end in _ends(mark.y)] or [0.0, 1.0], bottom, top)
    drawing.write(4, 13, frame.y_title, "tick")
    drawing.ticks(x, top)
    for value, text in y.ticks(5):
        drawing.line("grid", left, y(value), right, y(value))
        drawing.write(left - 6, y(value) + 4, text, "tick", "end")
    for value in limit:
        high = drawing.floor - top
        drawing.put("rect", "allowed", x=left, y=top, width=x(value) - left, height=high)
        drawing.line("limit", x(value), top - 4, x(value), drawing.floor)
        wide = text_width(frame.limit_words, SMALL)
        at = min(max(x(value), left + wide / 2 - 30), right - wide / 2)
        drawing.write(at, top - 9, frame.limit_words, "tick", "middle")
    if below:
        drawing.line("origin", left, bottom + 4, right, bottom + 4)
        drawing.write(left - 6, bottom + 23, "n/a", "tick", "end")
    placed = [(m, x(m.x.value), y(m.y.value) if m.y else bottom + 19) for m in marks]
    for mark, at_x, at_y in placed:
        across, along = [x(end) for end in _ends(mark.x)], [y(end) for end in _ends(mark.y)]
        drawing.line(f"reach {mark.look}", min(across), at_y, max(across), at_y)
        if along:
            drawing.line(f"reach {mark.look}", at_x, min(along), at_x, max(along))
    for one in placed:
        drawing.mark(*one)
    _label(drawing, placed, left, right)
    return drawing


def _padded(values: Sequence[float], start: float, end: float) -> _Scale:
    low, high = min(values), max(values)
    pad = 0.06 * ((high - low) or abs(high) or 1.0)
    return _Scale(0.0 if low >= 0 > low - pad else low - pad, high + pad, start, end)


def _label(
    drawing: _Drawing, placed: Sequence[tuple[Mark, float, float]], left: float, right: float
) -> None:
    """Write the label of each mark beside it, where nothing else is; its letter if none fits."""
    taken = [(x - 6.0, y + 6.0, 12.0) for _, x, y in placed]
    for mark, x, y in placed:
        letter = mark.label.split(" ")[0]
        texts = [letter] if drawing.narrow else [fitting(mark.label, _LONGEST), letter]
        spots = [
            (text, (at, base, width))
            for text in texts
            for width in [text_width(text) + 2]
            for base in (y - 7, y + 17)
            for at in (x + 9, x - 9 - width)
        ]
        free = [
            (text, spot)
            for text, spot in spots
            if left < spot[0] <= right - spot[2] and not any(_meet(spot, t) for t in taken)
        ]
        text, spot = (free or spots[-4:])[0]
        taken.append(spot)
        if text:
            drawing.write(spot[0], spot[1], text, f"label {mark.look}")


def _meet(one: _Box, other: _Box) -> bool:
    """Whether two texts, each with where it begins, its line and its width, touch each other."""
    above, below = sorted((one, other), key=lambda box: box[1])
    across = one[0] < other[0] + other[2] and other[0] < one[0] + one[2]
    return across and below[1] - above[1] < TYPE
