"""Columns a user should know about before anything is fitted: pointed out, never dropped.

Ids, copies, the constant and the empty; what looks like an attribute that the law may protect; and
columns that alone predict an attribute or the target: rows in bins, one half judging the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._attributes import about_initials, about_spellings, did_you_mean, folded, one_spelling
from .._numerics import FEWEST_ROWS_TO_BE_FAR, far_from_the_others
from ..errors import TableError
from ._adapters import import_arrow
from ._dates_and_texts import date_format
from ._frozen_columns import MOST_LEVELS, are_known, floats
from ._protected_names import about_protected, protected_attribute
from ._table import arrow_columns, is_text, is_vector
from ._text_values import (
    about_numbers,
    as_numbers,
    distinct_texts,
    look_like_dates,
    nearly_numbers,
)

_ID_NAME = re.compile(
    r"(?<![a-z])(?i:ids?|uuid|guid|key|number|nr|no|index|rownum)(?![A-Za-z])"
    r"|(?<=[a-z])(Ids?|IDs?|Key|Number|Nr|No|Index)(?![a-z])"
    r"|(?i:user|customer|client|person|people|passenger|patient|member|account|employee|student|"
    r"applicant|case|record|row|loan|order|session)_?(?i:id)s?(?![a-z])"
)
"""As a word of its own, in camel case, or after what ids are often of."""

_WEIGHT_NAME = re.compile(r"(?i)weight|wgt|(?<![a-z])[a-z]{0,4}wts?(?![a-z])")
"""Of columns that say how much a row counts, as in surveys: weight, fnlwgt, perwt, wt."""

_DIGITS = 12
"""Of whole numbers that look like ids so many are looked at: personal numbers may encode sex."""

_NEARLY, _MANY = 0.95, 100
"""From this share of different values on a column may be an id; numbers of so many rows, too."""

_SURE, _LIKELY = 0.95, 0.8
"""From these areas under the ROC curve on, a column is a warning, or pointed out."""

_SAME_PERSON, _ALIKE = 0.95, 0.15
"""So far beyond chance rows of a person agree in an attribute, and in half of the columns."""

_MOST_ROWS_EACH = 100
"""Of more rows a value is no person."""

_NINES = re.compile(r"-?9{2,}")
"""Numbers that stand for missing ones are often written so."""

_SKEWED, _MOST_NAMED = 2.0, 5
"""From the skewness of an exponential distribution on, numbers are pointed out, so many by name."""

ROWS = 20_000
BINS, _MOST_BINS = 32, 1000
"""Ranges of numbers, and levels, that a column is looked at in."""

_FEW_LEVELS = 10
"""A numeric attribute with more values than this is cut at its median, too."""

FEWEST_ROWS = 20
"""Levels of an attribute with fewer rows than this are not looked at."""


@dataclass(frozen=True)
class Notice:
    """Something about a column that a user should know.

    Attributes
    ----------
    kind : {"id", "constant", "empty", "renamed", "copy", "proxy", "leak", "protected", "format", \
            "spelling", "person", "outlier", "skew"}
        A proxy predicts a sensitive attribute, a leak predicts the target; a protected column looks
        by its name like an attribute that the law may protect, and was not declared; a format keeps
        numbers or dates from being read as such; a level has several spellings; an outlier is far
        from all other values of its column.
    severity : {"info", "warning"}
        A warning needs a decision; an info is less certain, or harmless.
    column : str
        The column.
    other : str or None
        The attribute, the target, or the column it is a copy of.
    value : float or None
        The AUC of a proxy or leak; the share of different values of an id; the outlier, or the
        skewness, itself.
    text : str
        The notice in words.

    """

    kind: str
    severity: str
    column: str
    other: str | None
    value: float | None
    text: str


def check_columns(
    frame: Any,
    sensitive: Sequence[str],
    target: str | None = None,
    *,
    renamed: Sequence[tuple[str, str]] = (),
    missing: Sequence[float] = (),
    max_rows: int = ROWS,
    seed: int = 0,
) -> list[Notice]:
    """Point out proxies, undeclared protected attributes, leaks of the target, ids and more.

    Parameters
    ----------
    frame : DataFrame of pandas, polars, ..., or Arrow table of shape (n_samples, n_columns)
        All columns: features, attributes and target.
    sensitive : sequence of str
        The columns that are sensitive attributes.
    target : str, default=None
        The column that is to be predicted.
    renamed : sequence of (str, str), default=()
        Names that were changed when the table was read, as in ``Table.renamed``.
    missing : sequence of float, default=()
        Numbers that are known to stand for missing values, as in `TableEncoder`.
    max_rows : int, default=20000
        In longer tables, proxies are searched in a random sample of this many rows.
    seed : int, default=0
        Seed of the sample, and of the two halves of the rows.

    Returns
    -------
    notices : list of Notice
        Warnings first, then by column. Each has its `kind` ("id", "constant", "empty", "renamed",
        "copy", "proxy" of a sensitive attribute, "leak" of the target, "protected" by name,
        "format", "spelling" of levels, "person", "outlier" or "skew"), its `severity` ("info" or
        "warning"), the `column`, the `other` column that it predicts or copies, a `value` (the AUC
        of a proxy or leak) and its `text`.

    Notes
    -----
    For proxies and leaks, a column is cut into up to 32 ranges, or into its levels. Half of the
    rows give the share of each class of an attribute in each of them, and these shares rank the
    rows of the other half. The area under the ROC curve, averaged over both halves and largest over
    the classes with 20 rows or more, is 0.5 for a column without information, whatever the number
    of its levels. From 0.8 on the column is pointed out, from 0.95 on as a warning. For integers
    that look like ids, digits are tested as well. Combinations of columns are left to an audit.

    Vectors, such as embeddings, are not looked at: no single dimension of them means anything.

    Features whose names look like marital status, age, religion, disability, pregnancy, nationality
    or origin, ethnic origin, sex, sexual orientation, union membership, veteran status or place of
    residence are one warning, unless they are constant or a copy of a declared attribute.

    An outlier is more than 30 quartile ranges from the median and holds, with others like it, 90 %
    of the column's scatter; or it is written with nines only, as 999 is, and further from the
    other values than these are apart. Numbers are skewed where their skewness is beyond 2, that of
    an exponential distribution.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairpca.tables import check_columns
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 50, "title": ["Ms", "Mr"] * 50, "wage": 40})
    >>> for notice in check_columns(people, ["sex"]):
    ...     print(notice.severity, notice.text)
    warning 'title' is as good as a copy of 'sex': their levels belong together one to one.
    info 'wage' has the same value in all rows.
    """
    arrays = arrow_columns(frame)
    named = list(dict.fromkeys([*sensitive, *([target] if target is not None else [])]))
    for name in named:
        if name not in arrays:
            raise TableError(f"The table has no column '{name}'.{did_you_mean(name, list(arrays))}")
    n = len(next(iter(arrays.values()))) if arrays else 0
    order = {name: i for i, name in enumerate(arrays)}
    arrays = {name: a for name, a in arrays.items() if name in named or not is_vector(a.type)}
    rows = np.arange(n)
    rng = np.random.default_rng(seed)
    if n > max_rows:
        rows = np.sort(rng.choice(n, max_rows, replace=False))
    drawn = {name: array.take(rows) if n > max_rows else array for name, array in arrays.items()}
    columns = {name: _binned(array, name) for name, array in drawn.items()}
    digits = {name: list(_digits(array)) for name, array in drawn.items()}
    special = {*sensitive, target}
    features = [name for name in arrays if name not in special]
    found = []
    for old, new in renamed:
        twice = f"Two columns were called '{old}': this one"
        was = twice if old.strip() else "A column without a name"
        found.append(Notice("renamed", "info", new, old, None, f"{was} is called '{new}'."))
    rows_of = {name: _rows_of_texts(array) for name, array in arrays.items()}
    for name in features:
        found.extend(_about(name, arrays[name], rows_of[name]))
    for name in named:
        found.extend(_with_marks(name, rows_of[name]) if is_text(arrays[name].type) else ())
    for name in arrays:
        found.extend(check_spellings(name, rows_of[name], is_feature=name in features))
    numbers = {name: _known_numbers(arrays[name], name, missing) for name in features}
    for name, values in numbers.items():
        found.extend(_far_values(name, values))
    found.extend(_skewed(numbers))
    dull = {notice.column for notice in found if notice.kind in ("empty", "constant")}
    found.extend(_copies(arrays, columns, [f for f in arrays if f not in dull], special))
    same = {(notice.column, notice.other) for notice in found if notice.kind == "copy"}
    declared = {copy for copy, original in same if original in sensitive}
    found.extend(_not_declared([f for f in features if f not in dull | declared]))
    halves = rng.permutation(len(rows)) % 2
    for other, classes in [(each, c) for each in named for c in _classes(drawn[each], each)]:
        for name in features:
            if name in dull or (name, other) in same:
                continue
            auc, best, how = *_held_out_auc(columns[name], classes, halves), ""
            for place, digit in [] if auc >= _LIKELY else digits[name]:
                by_digit, of_digit = _held_out_auc(digit, classes, halves)
                if not by_digit <= auc:
                    auc, best, how = by_digit, of_digit, place
            if auc >= _LIKELY:
                same.add((name, other))
                # With two classes, the name of the attribute says as much as that of the class.
                labels = classes.labels if classes.n_bins > 3 else None
                of = f"'{other}' = '{labels[best]}'" if labels is not None else f"'{other}'"
                found.append(_tells(name, other, auc, of + how, other == target))
    return sorted(found, key=lambda x: (x.severity != "warning", order.get(x.column, -1)))


def _rows_of_texts(array: Any) -> dict[str, int]:
    """Return how many rows have each text of a column of texts or declared categories.

    Blanks around texts are gone, as is what means "missing".
    """
    types, kind = import_arrow().types, array.type
    if not (is_text(kind) or (types.is_dictionary(kind) and is_text(kind.value_type))):
        return {}
    codes, texts = distinct_texts(array)
    counts = np.bincount(codes, minlength=len(texts)).tolist()
    return {text: n for text, n in zip(texts, counts, strict=True) if text is not None and n}


def find_spellings(frame: Any, features: Sequence[str]) -> list[Notice]:
    """Point out levels of several spellings in all columns of a table, some of them features."""
    rows_of = {name: _rows_of_texts(array) for name, array in arrow_columns(frame).items()}
    return [
        notice
        for name, n_rows in rows_of.items()
        for notice in check_spellings(name, n_rows, is_feature=name in features)
    ]


def check_spellings(name: str, n_rows: Mapping[str, int], *, is_feature: bool) -> Iterator[Notice]:
    """Yield which levels of a column have several spellings, of which there are so many rows.

    A feature of many levels is encoded by its letters, so nothing is merged there.
    """
    n_levels = len(set(map(folded, n_rows)))
    if (is_feature and n_levels > MOST_LEVELS) or as_numbers(n_rows, few_levels=MOST_LEVELS):
        return
    if told := about_spellings(f"'{name}'", n_rows):
        merged = float(len(n_rows) - n_levels)
        yield Notice("spelling", "warning", name, None, merged, told)
    if not is_feature and (asked := about_initials(f"'{name}'", n_rows)):
        yield Notice("spelling", "warning", name, None, None, asked)


def far_numbers(frame: Any, missing: Sequence[float] = ()) -> list[Notice]:
    """Return what is far from all other numbers of its column, or seems to stand for none."""
    return [
        notice
        for name, array in arrow_columns(frame).items()
        for notice in _far_values(name, _known_numbers(array, name, missing))
    ]


def _known_numbers(array: Any, name: str, missing: Sequence[float]) -> np.ndarray:
    """Return the finite numbers of a column, but those that stand for missing ones; else none."""
    types = import_arrow().types
    numeric = (types.is_integer, types.is_floating, types.is_decimal)
    if not any(holds(array.type) for holds in numeric):
        return np.empty(0)
    values = floats(array, name)
    return values[are_known(values, tuple(missing))]


def _far_values(name: str, values: np.ndarray) -> Iterator[Notice]:
    """Yield what is so far from all other numbers that it decides their mean, or means "none"."""
    if len(values) < FEWEST_ROWS_TO_BE_FAR:
        return
    found = far_from_the_others(values)
    if found is not None:
        row, n_far, share, distance = found
        value, others = float(values[row]), f" and {n_far - 1:,} more values" * (n_far > 1)
        what = (
            f"'{name}' has {value:g}{others} {distance:,.0f} quartile ranges from the median, with "
            f"{100 * share:.1f} % of the column's scatter: group means follow it, and the groups "
            f"of all other rows may differ."
        )
        yield Notice("outlier", "warning", name, None, value, f"{what} {_remedy(value)}")
        return
    for value, rest in (
        (values.max(), values < values.max()),
        (values.min(), values > values.min()),
    ):
        others = values[rest]
        if not _NINES.fullmatch(f"{value:.15g}") or len(others) < FEWEST_ROWS_TO_BE_FAR:
            continue
        low, high = others.min(), others.max()
        # In halves, which do not overflow.
        beyond = max(0.5 * value - 0.5 * high, 0.5 * low - 0.5 * value)
        if low < high and beyond > 0.5 * high - 0.5 * low:
            what = (
                f"'{name}' is {value:g} in {len(values) - len(others):,} rows and from {low:g} to "
                f"{high:g} in all others."
            )
            yield Notice("outlier", "warning", name, None, float(value), f"{what} {_remedy(value)}")


def _remedy(value: float) -> str:
    return (
        f"If that stands for a missing value, pass missing=[{value:g}] (command line: --missing "
        f"{value:g}); if it is a total, leave the row out; else use ranks: scale='rank'."
    )


def _skewed(numbers: Mapping[str, np.ndarray]) -> Iterator[Notice]:
    """Yield one notice of all columns whose means say little about most people."""
    skewness = {}
    for name, values in numbers.items():
        if len(values) >= FEWEST_ROWS_TO_BE_FAR:
            centred = 0.5 * values / (np.abs(values).max() or 1.0)  # no difference overflows
            centred -= centred.mean()
            centred /= np.abs(centred).max() or 1.0
            spread, third = np.sqrt(np.mean(centred**2)), np.mean(centred**3)
            if abs(third) > _SKEWED * spread**3 and len(np.unique(values)) > 2:
                skewness[name] = float(third / spread**3)
    if not skewness:
        return
    worst = sorted(skewness, key=lambda name: -abs(skewness[name]))
    listed = ", ".join(f"'{name}' ({skewness[name]:.1f})" for name in worst[:_MOST_NAMED])
    more = f" and {len(worst) - _MOST_NAMED} more" if len(worst) > _MOST_NAMED else ""
    text = (
        f"Skewed numbers, with their skewness: {listed}{more}. Equal group means are not enough "
        f"for such columns: the score of a linear model may still separate the groups. Try "
        f"scale='rank' (command line: --scale rank), or logarithms."
    )
    yield Notice("skew", "info", worst[0], None, skewness[worst[0]], text)


def _not_declared(features: Sequence[str]) -> Iterator[Notice]:
    """Yield one notice of all features that look like attributes that the law may protect."""
    told = about_protected(features)
    if told is not None:
        first = next(name for name in features if protected_attribute(name))
        yield Notice("protected", "warning", first, None, None, told)


def find_person(frame: Any, sensitive: Sequence[str], candidates: Sequence[str]) -> Notice | None:
    """Point out a column that seems to be a subject id of repeated measures.

    Two rows of one person agree in an attribute, and in most columns more often than two of
    anybody: agreeing goes some of the way from chance to certainty. Of a place or an occupation,
    rows agree in what describes it, and in few other columns. Floats are nobody's
    name, and a weight of a survey is that of all people who were drawn alike.
    """
    arrays = {n: a for n, a in arrow_columns(frame).items() if not is_vector(a.type)}
    candidates = [name for name in candidates if name in arrays]
    n = len(frame)
    if n > ROWS:
        rows = np.sort(np.random.default_rng(0).choice(n, ROWS, replace=False))
        arrays, n = {name: array.take(rows) for name, array in arrays.items()}, ROWS
    columns = {name: _binned(array, name, _FEW_LEVELS).codes for name, array in arrays.items()}
    by_chance = {name: equal_pairs(codes) / (n * (n - 1) / 2) for name, codes in columns.items()}
    found = []
    for name in candidates:
        if _WEIGHT_NAME.search(name) or _has_fractions(arrays[name]):
            continue
        whose = np.unique(_exact(arrays[name]), return_inverse=True)[1]
        counts = np.bincount(whose)
        repeated = int(np.count_nonzero(counts > 1))
        if repeated < FEWEST_ROWS or n > _MOST_ROWS_EACH * len(counts):
            continue

        def alike(other: str, whose: np.ndarray = whose) -> float:
            chance, codes = by_chance[other], columns[other]
            agree = equal_pairs(whose * (int(codes.max()) + 1) + codes) / equal_pairs(whose)
            return (agree - chance) / (1.0 - chance) if chance < 1 else 0.0

        attribute = max(sensitive, key=alike)
        if alike(attribute) < _SAME_PERSON:
            continue
        others = [other for other in columns if other != name and by_chance[other] < 1]
        share = float(np.median([alike(other) for other in others]))
        if share >= _ALIKE:
            text = (
                f"'{name}' seems to be a subject id: it has {len(counts):,} values in {n:,} rows, "
                f"and rows with the same value have the same '{attribute}' and agree in most "
                f"columns. A model may know people from the training data: pass person='{name}' "
                f"(command line: --person {name}), or keep one row of each."
            )
            found.append(
                (
                    counts[counts > 1].sum(),
                    Notice("person", "warning", name, attribute, share, text),
                )
            )
    return max(found, key=lambda each: each[0])[1] if found else None


def _has_fractions(array: Any) -> bool:
    types, kind = import_arrow().types, array.type
    if types.is_decimal(kind):
        return bool(kind.scale > 0)
    return bool(types.is_floating(kind)) and _whole_numbers(array) is None


def _exact(array: Any) -> np.ndarray:
    """Return a number for each value, different ones for missing values."""
    codes = array.dictionary_encode()
    codes = codes.combine_chunks() if hasattr(codes, "combine_chunks") else codes
    places = codes.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    missing = np.flatnonzero(places < 0)
    places[missing] = -1 - np.arange(len(missing))
    return places


def equal_pairs(codes: np.ndarray) -> float:
    """Return the number of pairs of rows with equal codes."""
    counts = np.unique(codes, return_counts=True)[1].astype(float)
    return float(np.sum(counts * (counts - 1)) / 2)


def _about(name: str, array: Any, rows_of: Mapping[str, int]) -> Iterator[Notice]:
    """Yield what a column shows by itself."""
    types, kind, n = import_arrow().types, array.type, len(array)
    n_distinct = len(array.drop_null().unique())
    if n_distinct == 0:
        yield Notice("empty", "info", name, None, None, f"'{name}' has no value at all.")
        return
    if n_distinct == 1 and not array.null_count:
        text = f"'{name}' has the same value in all rows."
        yield Notice("constant", "info", name, None, None, text)
        return
    share = n_distinct / n
    textual = is_text(kind) or types.is_dictionary(kind)
    written = _oddly_written(name, rows_of, declared=not is_text(kind)) if textual else None
    if written is not None:
        yield written
        return
    if n < 20 or share < _NEARLY:
        return
    numbers = None if textual else _whole_numbers(array)
    counted = numbers is not None and share == 1.0 and _count_rows(numbers.to_numpy())
    named = (textual or numbers is not None) and _ID_NAME.search(name)
    some = array.drop_null().slice(0, 100).to_pylist() if textual else []
    is_date = textual and date_format([str(value) for value in some]) is not None
    if (textual and share == 1.0 and not is_date) or counted or (named and share >= 0.99):
        part = "its values are all" if share == 1.0 else f"{share:.1%} of its values are"
        text = (
            f"'{name}' looks like an id: {part} different. It is used as a feature; ignore it if "
            f"it should not be."
        )
        yield Notice("id", "warning", name, None, share, text)
    elif textual and not is_date:
        text = f"'{name}' has a different value in nearly every row, such as names of people."
        yield Notice("id", "info", name, None, share, text)
    elif numbers is not None and n >= _MANY:
        text = (
            f"'{name}' has a different whole number in nearly every row: ignore it if it is an id."
        )
        yield Notice("id", "info", name, None, share, text)


def _oddly_written(name: str, rows_of: Mapping[str, int], *, declared: bool) -> Notice | None:
    """Return a warning where numbers or dates are not plainly written: read, or taken for texts."""
    how = None if declared else as_numbers(rows_of, few_levels=MOST_LEVELS)
    if how is not None and (told := about_numbers(rows_of, how)):
        share = sum(rows_of[text] for text in how.odd) / sum(rows_of.values())
        return Notice("format", "warning", name, None, share, f"'{name}': {told}.")
    if how is not None or len(set(map(folded, rows_of))) <= MOST_LEVELS:
        return None
    texts = list(rows_of)
    if others := nearly_numbers(texts):
        text = (
            f"'{name}' looks like numbers, but is read as text because of values such as "
            f"'{others[0][:30]}'. Write plain numbers, such as 1234.5, and leave others empty."
        )
        return Notice("format", "warning", name, None, len(others) / len(texts), text)
    if look_like_dates(texts) and date_format(texts) is None:
        text = (
            f"'{name}' looks like dates, but is read as text because they are not all written in "
            f"one format. Use one format for all, such as 2024-12-31."
        )
        return Notice("format", "warning", name, None, None, text)
    return None


def _with_marks(name: str, rows_of: Mapping[str, int]) -> Iterator[Notice]:
    """Yield that an attribute or a target is numbers but for marks: no other texts are read so."""
    how = as_numbers(rows_of, few_levels=MOST_LEVELS)
    told = _oddly_written(name, rows_of, declared=False)
    if how is not None and told is not None and not (how.decimal or how.has_words):
        yield told


def _whole_numbers(array: Any) -> Any:
    """Return a column as integers, or None; where some are missing, pandas made floats of them."""
    arrow = import_arrow()
    if not arrow.types.is_floating(array.type):
        return array if arrow.types.is_integer(array.type) else None
    try:
        return array.cast(arrow.int64())
    except arrow.ArrowInvalid:
        return None


def _count_rows(values: np.ndarray) -> bool:
    """Whether different integers rise or fall from row to row, or leave few out: row numbers do."""
    steps = np.diff(values.astype(float))
    dense = len(values) >= _MANY and np.ptp(values) < 2 * len(values)
    return bool(dense or np.all(steps > 0) or np.all(steps < 0))


def _digits(array: Any) -> Iterator[tuple[str, _Binned]]:
    """Yield the digits of whole numbers that differ in nearly all rows: they may be codes."""
    whole = _whole_numbers(array)
    if whole is None or len(whole.unique()) < _NEARLY * len(whole):
        return
    known, rest = whole.is_valid().to_numpy(zero_copy_only=False), whole.fill_null(0).to_numpy()
    for place in range(1, _DIGITS + 1):
        rest, digit = np.divmod(rest, 10)
        bins = _Binned(np.where(known, digit.astype(int), 10), 11, None, 10)
        yield f" by its digit {place} from the right" if place > 1 else " by its last digit", bins


def _copies(
    arrays: dict[str, Any], columns: dict[str, _Binned], names: list[str], special: set[str | None]
) -> Iterator[Notice]:
    """Yield columns that say the same as another, in the same or in other words."""
    groups: dict[bytes, list[str]] = {}
    for name in names:
        seen, first, codes = np.unique(columns[name].codes, return_index=True, return_inverse=True)
        # Numbered in the order in which they appear, so that names of levels do not matter.
        renumbered = np.argsort(np.argsort(first))[codes].astype(np.uint16)
        if len(seen) > 1:
            groups.setdefault(renumbered.tobytes(), []).append(name)
    for group in groups.values():
        # The attribute or the target is what others are copies of; else the first column is.
        original, *others = sorted(group, key=lambda name: name not in special)
        for name in others:
            if name in special:
                continue  # both are attributes or target, which is the user's choice
            exact = arrays[name].equals(arrays[original])
            ranges = columns[name].labels is None or columns[original].labels is None
            many = columns[name].n_distinct > 0.5 * len(columns[name].codes)
            if not exact and (ranges or many):
                continue
            severity = "warning" if original in special else "info"
            words = (
                f"'{name}' is a copy of '{original}'."
                if exact
                else f"'{name}' is as good as a copy of '{original}': their levels belong "
                f"together one to one."
            )
            yield Notice("copy", severity, name, original, 1.0, words)


@dataclass(frozen=True, eq=False)
class _Binned:
    """A column in a few bins, the last for missing values; without labels, ranges of numbers."""

    codes: np.ndarray
    n_bins: int
    labels: list[str] | None
    n_distinct: int


def _binned(array: Any, name: str, n_bins: int = BINS) -> _Binned:
    """Return a column in bins: its levels, or quantiles of its many numbers."""
    types, kind = import_arrow().types, array.type
    if is_text(kind) or types.is_dictionary(kind):
        codes, texts = distinct_texts(array)
        known = [text for text in texts if text is not None]
        counts = np.bincount(codes, minlength=len(texts)).tolist()
        rows_of = dict(zip(known, counts, strict=False))
        how = as_numbers(rows_of, few_levels=MOST_LEVELS) if is_text(kind) else None
        if how is None:
            return _levels(*_one_spelling_each(codes, rows_of))
        lenient = how.has_words
        values = floats(array, name, boolean=True, decimal=how.decimal, odd_is_missing=lenient)
    elif types.is_timestamp(kind) or types.is_date(kind):
        to_micro = import_arrow().timestamp("us", getattr(kind, "tz", None))
        values = floats(array.cast(to_micro, safe=False).cast("int64"), name)
    else:
        values = floats(array, name)
    return _ranges(values, n_bins)


def _one_spelling_each(
    codes: np.ndarray, rows_of: Mapping[str, int]
) -> tuple[np.ndarray, list[str]]:
    """Return levels as their rows mostly spell them; the code of missing values stays the last."""
    level_of = one_spelling(rows_of)
    labels = list(dict.fromkeys(level_of.values()))
    if len(labels) == len(rows_of):
        return codes, labels
    place = {label: i for i, label in enumerate(labels)}
    return np.array([*(place[level_of[t]] for t in rows_of), len(labels)])[codes], labels


def _levels(codes: np.ndarray, labels: list[str]) -> _Binned:
    """Return levels as bins; beyond the most frequent ones, all others are one."""
    counts = np.bincount(codes, minlength=len(labels) + 1)
    n_distinct = int(np.count_nonzero(counts[:-1]))
    if len(labels) <= _MOST_BINS:
        return _Binned(codes, len(labels) + 1, labels, n_distinct)
    common = np.argsort(-counts[:-1], kind="stable")[:_MOST_BINS]
    place = np.full(len(labels) + 1, _MOST_BINS)
    place[common] = np.arange(_MOST_BINS)
    place[-1] = _MOST_BINS + 1
    names = [*(labels[i] for i in common), "(others)"]
    return _Binned(place[codes], _MOST_BINS + 2, names, n_distinct)


def _ranges(values: np.ndarray, n_bins: int) -> _Binned:
    known = np.isfinite(values)
    different = np.unique(values[known])
    if len(different) <= n_bins:
        codes = np.searchsorted(different, np.where(known, values, 0.0))
        labels = [f"{value:.6g}" for value in different]
        codes = np.where(known, np.minimum(codes, len(different)), len(different))
        return _Binned(codes, len(different) + 1, labels, len(different))
    edges = np.unique(np.quantile(values[known], np.linspace(0, 1, n_bins + 1)[1:-1]))
    codes = np.searchsorted(edges, np.where(known, values, 0.0), side="right")
    codes = np.where(known, codes, len(edges) + 1)
    return _Binned(codes, len(edges) + 2, None, len(different))


def _classes(array: Any, name: str) -> list[_Binned]:
    """Return an attribute as classes: many numbers below and above their median; its levels.

    Many numbers are levels only if they are whole, as codes are: nobody asks who earns 2.11.
    """
    few = _binned(array, name, _FEW_LEVELS).labels is not None
    as_levels = _binned(array, name, _MOST_BINS)
    if few:
        return [as_levels]
    whole = as_levels.labels is not None and all(float(x).is_integer() for x in as_levels.labels)
    return [_binned(array, name, 2), *([as_levels] if whole else [])]


def _held_out_auc(column: _Binned, classes: _Binned, halves: np.ndarray) -> tuple[float, int]:
    """Return how well bins predict a class of an attribute, and which class best.

    Each half (0 or 1) is judged by the shares in the other; NaN where no class has enough rows.
    """
    shape = 2, column.n_bins, classes.n_bins
    where = np.ravel_multi_index((halves, column.codes, classes.codes), shape)
    counts = np.bincount(where, minlength=int(np.prod(shape))).reshape(shape)[:, :, :-1]
    totals = counts.sum(axis=(0, 1))
    rest = totals.sum() - totals
    enough = (totals >= FEWEST_ROWS) & (rest >= FEWEST_ROWS)
    best, best_auc = -1, np.nan
    for c in np.flatnonzero(enough):
        yes, no = counts[:, :, c], counts.sum(axis=2) - counts[:, :, c]
        # The share of the class in each bin, drawn to the overall share where few rows are.
        overall = yes.sum(axis=1) / np.maximum(1, yes.sum(axis=1) + no.sum(axis=1))
        shares = (yes + overall[:, None]) / (yes + no + 1)
        auc = 0.5 * sum(_auc(yes[h], no[h], shares[1 - h]) for h in (0, 1))
        if not auc <= best_auc:
            best, best_auc = int(c), auc
    return float(best_auc), best


def _auc(yes: np.ndarray, no: np.ndarray, scores: np.ndarray) -> float:
    """Return the area under the ROC curve of scored bins; equal scores count half."""
    if not (yes.sum() and no.sum()):
        return 0.5
    _, order = np.unique(scores, return_inverse=True)
    yes = np.bincount(order, weights=yes)
    no = np.bincount(order, weights=no)
    below = np.cumsum(no) - no
    return float(np.sum(yes * (below + 0.5 * no)) / (yes.sum() * no.sum()))


def _tells(name: str, other: str, auc: float, of: str, is_target: bool) -> Notice:
    if is_target:
        kind, meaning = "leak", "is it known before the decision?"
    else:
        kind, meaning = "proxy", "a model can use it instead."
    severity = "warning" if auc >= _SURE else "info"
    how = "nearly perfectly" if auc >= _SURE else "well"
    text = f"'{name}' alone predicts {of} {how} (AUC {auc:.2f}): {meaning}"
    return Notice(kind, severity, name, other, round(auc, 4), text)
