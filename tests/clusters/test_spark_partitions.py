"""What Python workers do with record batches, tried without Spark."""

import pickle
from threading import Lock

import pytest

from clusters.spark_people import FEATURES

pytest.importorskip("pyspark", reason="needs the extra 'spark'")
import pyarrow as pa

from fairpca._rows import spark as engine
from fairpca._rows.spark import _Answer, _attempted


def batches_of(table, size):
    return pa.Table.from_pandas(table, preserve_index=False).to_batches(max_chunksize=size)


def test_a_partition_is_collected_a_bounded_number_of_rows_at_once(table, monkeypatch):
    monkeypatch.setattr(engine, "ROWS_AT_ONCE", 50)
    layout = engine._Layout(tuple(FEATURES))
    given = batches_of(table[FEATURES], 30)

    def collect(part):
        return [(part.number, part.n_rows)]  # lists add, too

    (sent,) = engine._answer_of_partition(given, collect, layout)
    seen = pickle.loads(sent.column(0)[0].as_py()).total
    assert seen == [(i, 60) for i in range(6)] + [(6, 40)]


def test_an_error_that_cannot_be_sent_is_told():
    def work():
        error = KeyError("this")
        error.held = Lock()  # no process can have another's
        raise error

    answer = _attempted(work)
    assert repr(answer.failure) == """RuntimeError("KeyError: 'this'")"""


def test_the_first_of_several_failures_is_told_whatever_the_order():
    early = _Answer(failure=ValueError("early"), where=1)
    late = _Answer(failure=ValueError("late"), where=2)
    for total in (early + late, late + early, _Answer([1]) + late + early):
        assert str(total.failure) == "early"
        assert total.total is None
    assert (_Answer([1]) + _Answer() + _Answer([2])).total == [1, 2]
    assert isinstance((_Answer([1]) + _Answer("a")).failure, TypeError)


def test_moments_too_large_for_a_row_are_refused(monkeypatch):
    monkeypatch.setattr(engine, "MOST_BYTES", 1000)
    answer = pickle.loads(engine._sent(_Answer(bytes(2000))).column(0)[0].as_buffer())
    assert answer.total is None
    assert "bytes, but Spark carries at most 1,000" in str(answer.failure)
