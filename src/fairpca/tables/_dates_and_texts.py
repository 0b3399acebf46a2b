"""Columns of dates, and of texts that are encoded by their letters."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from .._files import is_array, is_number, record
from ..errors import TableError
from ._adapters import import_arrow, import_pandas
from ._frozen_columns import (
    MISSING_SHARE,
    NOT_A_TIME,
    Learned,
    are_different_texts,
    means_and_deviations,
    microseconds_of,
)
from ._text_values import distinct_texts

PARTS = ("year", "month", "day", "hour", "total_seconds")
_OFFSET = re.compile(r"([+-])(\d{2}):?(\d{2})?\s*$")

TEXTS_TO_GUESS_FROM = 30
"""So many texts, drawn at random, tell the format of dates; then all are read in it."""

COMPONENTS = 10
MOST_NGRAMS = 20_000
"""N-grams beyond this number, the rarest, are not looked at: a model stays of bounded size."""

ROWS_TO_LEARN_FROM = 20_000
"""Of longer columns this many rows, evenly spread, tell which groups of letters matter."""


@record()
@dataclass(frozen=True)
class DateColumn:
    """What clocks and calendars show, and the seconds since 1970; means where it is missing.

    These are the clocks of the column's time `zone`; of texts, those of the offset that each of
    them is written with, unless there is a zone. Texts are read in a `format` of `strptime`, or as
    ISO 8601 writes them.
    """

    name: str
    format: str | None = None
    zone: str | None = None
    fill: tuple[float, ...] = (0.0,) * len(PARTS)
    indicator: bool = False

    def _fits_together(self) -> bool:
        texts = all(isinstance(word, str | None) for word in (self.zone, self.format))
        filled = isinstance(self.fill, tuple) and len(self.fill) == len(PARTS)
        if not (isinstance(self.name, str) and texts and filled and all(map(is_number, self.fill))):
            return False
        if self.zone is not None and (self.zone.startswith("dateutil") or ".." in self.zone):
            return False  # a path
        read = import_pandas().to_datetime
        try:  # a time zone or an unknown format raises an error before it is used
            _shown_by_clocks(np.zeros(1, dtype=np.int64), self.zone)
            read(["1"], format=self.format or "ISO8601", errors="coerce")
        except Exception:  # everybody's own: of time zones, of patterns
            return False
        return isinstance(self.indicator, bool)

    @property
    def outputs(self) -> list[str]:
        """Names of the outputs."""
        names = [f"{self.name}_{part}" for part in PARTS]
        return [*names, f"{self.name}_missing"] if self.indicator else names

    def rows(self, array: Any) -> tuple[np.ndarray | None, np.ndarray]:
        """Return the parts; of texts, those of each different text once."""
        arrow = import_arrow()
        types, kind = arrow.types, array.type
        codes = None
        if types.is_timestamp(kind) or types.is_date(kind):
            microseconds = microseconds_of(array)
            shown = _shown_by_clocks(microseconds, self.zone or getattr(kind, "tz", None))
        elif types.is_null(kind):
            microseconds = shown = np.full(len(array), NOT_A_TIME)
        else:
            codes, texts = distinct_texts(array)
            microseconds = self._read(texts)
            shown = _shown_by_clocks(microseconds, self.zone)
            if self.zone is None and "%z" in (self.format or ""):
                shown = microseconds + _offsets(texts)
        return codes, self._parts(microseconds, shown)

    def _read(self, texts: list[str | None]) -> np.ndarray:
        """Return texts as microseconds since 1970."""
        read = import_pandas().to_datetime
        how = self.format or "ISO8601"
        zoned = self.zone is not None or "%z" in how
        with_nan = [np.nan if text is None else text for text in texts]
        times = read(with_nan, format=how, errors="coerce", utc=zoned)
        times = times.tz_localize(None) if times.tz is not None else times
        microseconds: np.ndarray = times.as_unit("us").asi8
        for i in np.flatnonzero(microseconds == NOT_A_TIME):
            if texts[i] is not None:
                raise TableError(
                    f"Column '{self.name}' held dates ({how}) when the encoder was fitted, but "
                    f"has '{texts[i]}' here. Correct the value, or leave it empty."
                )
        return microseconds

    def _parts(self, microseconds: np.ndarray, shown: np.ndarray) -> np.ndarray:
        missing = microseconds == NOT_A_TIME
        instants, local = (np.where(missing, 0, times) for times in (microseconds, shown))
        times = local.astype("datetime64[us]")
        months, days = times.astype("datetime64[M]"), times.astype("datetime64[D]")
        parts = np.empty((len(instants), len(self.outputs)))
        parts[:, 0] = times.astype("datetime64[Y]").astype(np.int64) + 1970
        parts[:, 1] = months.astype(np.int64) % 12 + 1
        parts[:, 2] = (days - months.astype("datetime64[D]")).astype(np.int64) + 1
        parts[:, 3] = local // 3_600_000_000 % 24
        parts[:, 4] = instants / 1e6
        parts[missing, : len(PARTS)] = self.fill
        if self.indicator:
            parts[:, -1] = missing
        return parts

    @staticmethod
    def learned(name: str, array: Any, format: str | None) -> Learned:
        """Learn how a column of dates is encoded."""
        zone = getattr(array.type, "tz", None)
        column = DateColumn(name, format, zone, indicator=True)
        codes, parts = column.rows(array)
        counts = (
            np.bincount(codes, minlength=len(parts)) if codes is not None else np.ones(len(parts))
        )
        missing = parts[:, -1] > 0
        n_missing = int(counts[missing].sum())
        here = ~missing & (counts > 0)
        fill, _ = means_and_deviations(parts[here, :-1], counts[here])
        indicator = n_missing > MISSING_SHARE * len(array)
        column = replace(column, fill=tuple(map(float, fill)), indicator=indicator)
        parts[missing, :-1] = fill
        mean, scale = means_and_deviations(parts[:, : len(column.outputs)], counts)
        n_distinct = len(np.unique(parts[here, -2]))
        return Learned(column, "date", n_missing, n_distinct, mean, scale, format or "")


@record()
@dataclass(frozen=True, eq=False)
class TextColumn:
    """Combinations of the weights of 3 and 4 letters in a row, as in skrub's StringEncoder.

    `idf`, of shape (V,), weighs the n-grams of the `vocabulary`; `components` is of shape (V, c).
    """

    name: str
    vocabulary: tuple[str, ...]
    idf: np.ndarray
    components: np.ndarray
    indicator: bool = False

    def _fits_together(self) -> bool:
        V = len(self.vocabulary)
        arrays = is_array(self.idf, V) and is_array(self.components, V, None)
        named = isinstance(self.name, str) and are_different_texts(self.vocabulary)
        return arrays and named and isinstance(self.indicator, bool)

    @property
    def outputs(self) -> list[str]:
        """Names of the outputs."""
        names = [f"{self.name}_{i}" for i in range(self.components.shape[1])]
        return [*names, f"{self.name}_missing"] if self.indicator else names

    @cached_property
    def _vectorizer(self) -> TfidfVectorizer:
        made = _tfidf(list(self.vocabulary))
        made.idf_ = self.idf
        return made

    def rows(self, array: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the text of each row, and the numbers for each text."""
        codes, texts = distinct_texts(array)
        return codes, self.of_texts(texts)

    def of_texts(self, texts: list[str | None]) -> np.ndarray:
        """Return the numbers of each text."""
        values: np.ndarray = (
            self._vectorizer.transform([text or "" for text in texts]) @ self.components
        )
        if not self.indicator:
            return values
        return np.column_stack([values, [text is None for text in texts]])

    @staticmethod
    def learned(name: str, codes: np.ndarray, texts: list[str | None], note: str) -> Learned:
        """Learn which groups of letters tell the texts of a column apart."""
        counts = np.bincount(codes, minlength=len(texts))
        n_missing = int(counts[-1])
        step = max(1, -(-len(codes) // ROWS_TO_LEARN_FROM))
        vocabulary, idf, components = _letters([texts[code] or "" for code in codes[::step]])
        indicator = n_missing > MISSING_SHARE * len(codes)
        column = TextColumn(name, vocabulary, idf, components, indicator)
        mean, scale = means_and_deviations(column.of_texts(texts), counts)
        n_distinct = int(np.count_nonzero(counts[:-1]))
        return Learned(column, "text", n_missing, n_distinct, mean, scale, note)


def _shown_by_clocks(microseconds: np.ndarray, zone: str | None) -> np.ndarray:
    """Return what the clocks of a time zone show at instants, also in microseconds since 1970."""
    if zone is None:
        return microseconds
    instants = np.where(microseconds == NOT_A_TIME, 0, microseconds).astype("datetime64[us]")
    zoned = import_pandas().DatetimeIndex(instants, tz="UTC").tz_convert(zone)
    local: np.ndarray = zoned.tz_localize(None).as_unit("us").asi8
    return local


def _offsets(texts: list[str | None]) -> np.ndarray:
    """Return how far the clocks that dates are written by are ahead of UTC, in microseconds."""
    found = (_OFFSET.search(text or "") for text in texts)
    minutes = [int(f"{o[1]}1") * (60 * int(o[2]) + int(o[3] or 0)) if o else 0 for o in found]
    return np.array(minutes, dtype=np.int64) * 60_000_000


def date_format(texts: list[str]) -> str | None:
    """Return the format in which all the texts are dates, month first where both ways fit; or None.

    Examples
    --------
    >>> date_format(["31/12/2024", "01/02/2025"])
    '%d/%m/%Y'
    >>> date_format(["yesterday", "today"]) is None
    True
    """
    pandas = import_pandas()
    infer = pandas.tseries.api.guess_datetime_format
    column = pandas.Series(texts, dtype=object)
    drawn = column.sample(min(TEXTS_TO_GUESS_FROM, len(texts)), random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for day_first in (False, True):
            formats = {infer(text, dayfirst=day_first) for text in drawn}
            if len(formats) == 1 and None not in formats:
                (format,) = formats
                try:
                    pandas.to_datetime(column, format=format, utc="%z" in format)
                except (ValueError, TypeError, OverflowError):
                    return None
                return str(format)
    return None


def _tfidf(vocabulary: list[str] | None = None) -> TfidfVectorizer:
    return TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 4), vocabulary=vocabulary)


def _letters(texts: list[str]) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """Return vocabulary, weights, and components in units of the spread of what they give."""
    weigh = _tfidf()
    weighted = weigh.fit_transform(texts)
    if len(weigh.vocabulary_) > MOST_NGRAMS:
        common = np.argsort(weigh.idf_, kind="stable")[:MOST_NGRAMS]
        weigh = _tfidf(list(weigh.get_feature_names_out()[np.sort(common)]))
        weighted = weigh.fit_transform(texts)
    weighted = weighted.astype(np.float32)
    vocabulary = tuple(map(str, weigh.get_feature_names_out()))
    if min(weighted.shape) > COMPONENTS:
        svd = TruncatedSVD(COMPONENTS, random_state=0)
        values = svd.fit_transform(weighted)
        components = svd.components_.T.astype(float)
    else:
        values = weighted[:, :COMPONENTS].toarray()
        components = np.eye(len(vocabulary))[:, :COMPONENTS]
    spread = np.sqrt(np.var(values, axis=0).sum())
    if spread < 10 * np.finfo(spread.dtype).eps:
        spread = 1.0
    return vocabulary, weigh.idf_.astype(float), components / float(spread)
