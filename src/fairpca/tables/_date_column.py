"""Dates and times: their parts as numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import TableError, UsageError
from ._adapters import import_arrow, import_pandas
from ._frozen_column import MISSING_SHARE, Arrays, Learned, Plain, moments
from ._text_values import distinct_texts

PARTS = ("year", "month", "day", "hour", "total_seconds")
MISSING = np.iinfo(np.int64).min  # numpy's "not a time"


@dataclass(frozen=True)
class DateColumn:
    """The parts of a date in its time zone, and the seconds since 1970.

    Parameters
    ----------
    name : str
        The column.
    format : str or None
        How texts are read, in the letters of `strptime`; None: as ISO 8601 writes them.
    zone : str or None
        Time zone of the parts; times without a zone are taken as they are.
    fill : tuple of 5 floats
        The parts of a missing date: their means.
    indicator : bool
        Whether "missing" is an output.
    """

    name: str
    format: str | None = None
    zone: str | None = None
    fill: tuple[float, ...] = (0.0,) * len(PARTS)
    indicator: bool = False

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
            to_time = arrow.timestamp("us", getattr(kind, "tz", None))
            instants = array.cast(to_time, safe=False).cast(arrow.int64()).fill_null(MISSING)
            microseconds = instants.to_numpy(zero_copy_only=False)
        elif types.is_null(kind):
            microseconds = np.full(len(array), MISSING)
        else:
            codes, texts = distinct_texts(array)
            microseconds = self._read(texts)
        return codes, self._parts(microseconds)

    def _read(self, texts: list[str | None]) -> np.ndarray:
        """Return texts as microseconds since 1970."""
        read = import_pandas().to_datetime
        how = self.format or "ISO8601"
        zoned = self.zone is not None or "%z" in how
        with_nan = [np.nan if text is None else text for text in texts]
        times = read(with_nan, format=how, errors="coerce", utc=zoned)
        times = times.tz_localize(None) if times.tz is not None else times
        microseconds: np.ndarray = times.as_unit("us").asi8
        for i in np.flatnonzero(microseconds == MISSING):
            if texts[i] is not None:
                raise TableError(
                    f"Column '{self.name}' held dates ({how}) when the encoder was fitted, but "
                    f"has '{texts[i]}' here. Correct the value, or leave it empty."
                )
        return microseconds

    def _parts(self, microseconds: np.ndarray) -> np.ndarray:
        missing = microseconds == MISSING
        instants = np.where(missing, 0, microseconds)
        local = instants if self.zone is None else _local(instants, self.zone)
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

    def to_plain(self) -> tuple[Plain, Arrays]:
        """Return the learned data."""
        return {**vars(self), "kind": "date", "fill": list(self.fill)}, {}

    @classmethod
    def from_plain(cls, plain: Plain, arrays: Arrays) -> DateColumn:
        """Return what `to_plain` was called on."""
        fill = tuple(float(value) for value in plain["fill"])
        if len(fill) != len(PARTS):
            raise UsageError(f"a missing date of column '{plain['name']}' lacks parts")
        made = cls(plain["name"], plain["format"], plain["zone"], fill, plain["indicator"])
        made._check_words()
        return made

    def _check_words(self) -> None:
        """Refuse a time zone or a format that there is not, before they are used."""
        for word in (self.zone, self.format):
            if not (word is None or isinstance(word, str)):
                raise TypeError("time zones and formats are texts")
        if self.zone is not None and (self.zone.startswith("dateutil") or ".." in self.zone):
            raise UsageError(f"the time zone {self.zone[:40]!r} is a path")
        self._parts(np.zeros(1, dtype=np.int64))
        import_pandas().to_datetime(["1"], format=self.format or "ISO8601", errors="coerce")


def _local(microseconds: np.ndarray, zone: str) -> np.ndarray:
    """Return what the clocks of a time zone show."""
    times = import_pandas().DatetimeIndex(microseconds.astype("datetime64[us]"), tz="UTC")
    local: np.ndarray = times.tz_convert(zone).tz_localize(None).as_unit("us").asi8
    return local


def fit_dates(name: str, array: Any, format: str | None) -> Learned:
    """Learn how a column of dates is encoded."""
    zone = getattr(array.type, "tz", None) or ("UTC" if format and "%z" in format else None)
    column = DateColumn(name, format, zone, indicator=True)
    codes, parts = column.rows(array)
    counts = np.bincount(codes, minlength=len(parts)) if codes is not None else np.ones(len(parts))
    missing = parts[:, -1] > 0
    n_missing = int(counts[missing].sum())
    here = ~missing & (counts > 0)
    fill, _ = moments(parts[here, :-1], counts[here])
    indicator = n_missing > MISSING_SHARE * len(array)
    column = replace(column, fill=tuple(map(float, fill)), indicator=indicator)
    parts[missing, :-1] = fill
    mean, scale = moments(parts[:, : len(column.outputs)], counts)
    n_distinct = len(np.unique(parts[here, -2]))
    return Learned(column, "date", n_missing, n_distinct, mean, scale, format or "")
