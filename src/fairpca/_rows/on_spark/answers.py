"""What the partitions of a Spark DataFrame have to say, and how it becomes one answer."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from ..._numerics import limited_threads

FAN_IN = 8
"""How many answers are added up in one place, on the way to a single one."""

SCHEMA = "answer binary"
"""Answers in a DataFrame: one column of pickles, which nobody but these workers writes."""

MOST_BYTES = 2**31 - 2**12
"""What Spark carries in one row."""


@dataclass(frozen=True)
class Answer:
    """What partitions have to say; answers add up.

    Parameters
    ----------
    total : object or None
        The sum of what was collected.
    failure : Exception, optional
        Why there is no sum. Exceptions are data here: an exception that Python workers let out
        would be tried again, and end as a page of the Java virtual machine.
    where : int
        The number of the part that failed; of several failures the first is told.
    warned : dict of class to str
        The warnings that somebody should see.
    """

    total: Any = None
    failure: Exception | None = None
    where: int = 0
    warned: dict[type[Warning], str] = field(default_factory=dict)

    def __add__(self, other: Answer) -> Answer:
        warned = other.warned | self.warned
        failed = sorted([a for a in (self, other) if a.failure], key=lambda a: a.where)
        if failed:
            return Answer(None, failed[0].failure, failed[0].where, warned)
        if self.total is None or other.total is None:
            return Answer(other.total if self.total is None else self.total, warned=warned)
        summed = attempted(lambda: self.total + other.total)
        return Answer(summed.total, summed.failure, self.where, warned | summed.warned)


def attempted(work: Callable[[], Any], number: int = 0, told: str | None = None) -> Answer:
    """Return what work returns, or the exception that it raises, as an answer."""
    with limited_threads(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            total, failure = work(), None
        except Exception as error:
            total, failure = None, _that_travels(error)
            if told is not None:
                failure.add_note(told)
    return Answer(total, failure, number, {w.category: str(w.message) for w in caught})


def _that_travels(error: Exception) -> Exception:
    try:
        remade: Exception = pickle.loads(pickle.dumps(error))
        return remade
    except Exception:  # its class cannot be made again from its message
        return RuntimeError(f"{type(error).__name__}: {error}")


def sum_of_answers(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Add up the answers that came to one place, one at a time."""
    answer = None
    for batch in batches:
        for value in batch.column(0):
            other = received(value.as_buffer())
            answer = other if answer is None else answer + other
    if answer is not None:
        yield sent(answer)


def added_up(answers: DataFrame) -> Answer:
    """Return the sum of a DataFrame of answers, formed where they are, in a tree."""
    n = answers.count()
    while n > 1:
        n = -(-n // FAN_IN)
        answers = map_in_arrow(answers.repartition(n), sum_of_answers, SCHEMA)
    rows = answers.collect()
    return received(rows[0].answer) if rows else Answer()


def map_in_arrow(frame: DataFrame, function: Any, schema: Any) -> DataFrame:
    """Return a lazy DataFrame of what a function makes of the record batches of a partition."""
    with warnings.catch_warnings():
        # Spark warns of versions of pandas, which it does not use for record batches.
        warnings.filterwarnings("ignore", "PySpark does not yet fully support", FutureWarning)
        return frame.mapInArrow(function, schema)


def received(value: Any) -> Answer:
    """Return an answer from its bytes."""
    answer: Answer = pickle.loads(value)
    return answer


def sent(answer: Answer) -> pa.RecordBatch:
    """Return an answer as a record batch of one row."""
    data = pickle.dumps(answer, protocol=5)
    if len(data) > MOST_BYTES:
        too_large = ValueError(
            f"The moments of a partition take {len(data):,} bytes, but Spark carries at most "
            f"{MOST_BYTES:,} in one row. Use fewer features; matched covariances keep a matrix "
            f"for each group, match='means' keeps one in all."
        )
        data = pickle.dumps(Answer(failure=too_large, where=answer.where), protocol=5)
    return pa.RecordBatch.from_pydict({"answer": [data]})
