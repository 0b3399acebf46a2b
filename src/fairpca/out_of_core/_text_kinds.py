"""What columns of texts are: whole numbers, numbers, truth values or texts; in all files alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import TableError
from ..tables import MISSING, TRUTHS, import_arrow, number, without_nulls

WHOLE, NUMBER, TRUTH, TEXT = "whole number", "number", "truth value", "text"


class Guess:
    """What a column may still be, after some of its values.

    Examples
    --------
    >>> import pyarrow as pa
    >>> guess = Guess()
    >>> guess.see(pa.array(["1", " 2"]))
    >>> guess.kind
    'whole number'
    >>> guess.see(pa.array(["0.5", "?"]))
    >>> guess.kind
    'number'
    """

    def __init__(self) -> None:
        self.possible = [WHOLE, NUMBER, TRUTH]
        self.seen = False

    def see(self, texts: Any) -> None:
        """Look at more values."""
        known = without_nulls(trimmed(texts)).drop_null()
        if len(known):
            self.seen = True
            self.possible = [kind for kind in self.possible if _all_are(known, kind)]

    @property
    def kind(self) -> str:
        """The narrowest kind that all values are of."""
        return self.possible[0] if self.possible and self.seen else TEXT

    @property
    def is_final(self) -> bool:
        """Whether no value can change it."""
        return not self.possible


def kinds_of_columns(blocks: Iterable[Mapping[str, Any]], names: Iterable[str]) -> dict[str, str]:
    """Return the kinds of columns over all their values; stop where all are known to be texts."""
    guesses = {name: Guess() for name in names}
    for block in blocks:
        for name, guess in guesses.items():
            if not guess.is_final:
                guess.see(block[name])
        if all(guess.is_final for guess in guesses.values()):
            break
    return {name: guess.kind for name, guess in guesses.items()}


def converted(texts: Any, kind: str, name: str, where: str) -> Any:
    """Return a column of texts as Arrow values of a kind; missing ones are missing.

    Raises
    ------
    TableError
        If a value is not of that kind.
    """
    arrow = import_arrow()
    texts = trimmed(texts)
    if kind == TEXT:
        return without_nulls(texts, MISSING).dictionary_encode()
    known = without_nulls(texts)
    try:
        if kind == TRUTH and _all_are(known.drop_null(), TRUTH):
            return arrow.compute.equal(arrow.compute.utf8_lower(known), "true")
        if kind != TRUTH:
            return known.cast(arrow.int64() if kind == WHOLE else arrow.float64())
    except arrow.ArrowInvalid:
        pass
    tells = _tells_a_truth if kind == TRUTH else _tells_a_number
    odd = next((t for t in known.drop_null().to_pylist() if not tells(t)), "")
    raise TableError(
        f"The column '{name}' has '{odd[:40]}' in {where}, which is no {kind}. Correct it, or "
        f"leave the column out; the command `fairpca fit` encodes columns of any kind."
    )


def _tells_a_truth(text: str) -> bool:
    return text.lower() in TRUTHS


def _tells_a_number(text: str) -> bool:
    return number(text) is not None


def trimmed(texts: Any) -> Any:
    """Return texts without the blanks around them."""
    return import_arrow().compute.utf8_trim_whitespace(texts)


def _all_are(known: Any, kind: str) -> bool:
    arrow = import_arrow()
    if kind == TRUTH:
        small = arrow.compute.utf8_lower(known)
        return (
            arrow.compute.all(arrow.compute.is_in(small, arrow.array(sorted(TRUTHS)))).as_py()
            is not False
        )
    try:
        known.cast(arrow.int64() if kind == WHOLE else arrow.float64())
    except arrow.ArrowInvalid:
        return False
    return True
