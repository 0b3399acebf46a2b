"""Which value of the target is the yes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._attributes import listed
from ..errors import TargetError

if TYPE_CHECKING:
    from pandas import Series

POSITIVE_WORDS = ("1", "true", "yes", "y", "t", "positive", "approved", "good", "accepted")


def binary_target(column: Series, positive: Any = None) -> tuple[np.ndarray, np.ndarray, str]:
    """Return which rows are positive, which are known, and the value that counts as positive.

    Parameters
    ----------
    column : Series of length n
        Two distinct values; or any number, where `positive` is given.
    positive : object, optional
        The positive value, compared as it is or as text. By default the larger of two numbers,
        or a word such as "yes"; else the second in alphabetical order.

    Returns
    -------
    is_positive, is_known : array of bool of shape (n,)
    positive : str
    """
    known = is_known(column)
    values = column[known]
    distinct = values.unique().tolist()
    if len(distinct) < 2:
        only = f"the value '{as_text(distinct[0])}' only" if distinct else "no value at all"
        raise TargetError(
            f"The target '{column.name}' has {only}, and nothing can be learned about it. Name "
            f"another target, or none."
        )
    if positive is not None:
        wanted = as_text(positive)
        chosen = [v for v in distinct if as_text(v) == wanted or _same_number(v, wanted)]
        if not chosen:
            raise TargetError(
                f"No row of the target '{column.name}' is '{positive}'. Its values are "
                f"{listed(list(map(as_text, _sorted(distinct))))}."
            )
        positive = chosen[0]
    elif len(distinct) == 2:
        positive = _likely_positive(distinct)
    else:
        shown = list(map(as_text, _sorted(distinct)))
        raise TargetError(
            f"The target '{column.name}' has {len(distinct)} distinct values "
            f"({listed(shown, 4)}), but it must be a yes or no. Say which value is the "
            f"yes (positive='{shown[-1]}', on the command line --positive), or make a column of "
            f"two values, such as whether it exceeds a limit."
        )
    is_positive = np.zeros(len(column), dtype=bool)
    is_positive[known] = (values == positive).to_numpy(dtype=bool)
    return is_positive, known, as_text(positive)


def is_known(column: Series) -> np.ndarray:
    """Return which rows have a value; a question mark is none, as in the features."""
    known: np.ndarray = (column.notna() & (column.astype(object) != "?")).to_numpy(dtype=bool)
    return known


def as_text(value: Any) -> str:
    """Return how a value is called; numbers without a fraction like integers.

    Examples
    --------
    >>> as_text(1.0), as_text(" yes "), as_text(True)
    ('1', 'yes', 'True')
    """
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip() or "(blank)"


def _same_number(value: Any, text: str) -> bool:
    """Whether a number is what a text means: 2 and "2.0"."""
    if isinstance(value, str | bool):
        return False
    try:
        return bool(value == float(text))
    except (TypeError, ValueError):
        return False


def _likely_positive(distinct: Sequence[Any]) -> Any:
    words = [v for v in distinct if str(v).strip().casefold() in POSITIVE_WORDS]
    if len(words) == 1 and isinstance(words[0], str):
        return words[0]
    return _sorted(distinct)[-1]


def _sorted(values: Sequence[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=str)
