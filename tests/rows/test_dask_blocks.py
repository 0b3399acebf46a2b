"""Blocks of Dask collections, as they come to the moments."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from blas import blas_threads

pytest.importorskip("dask", reason="needs the extra 'dask'")
import dask.array as da

from fairpca._rows.dask import DaskRows


def test_tasks_have_one_blas_thread_each_and_give_the_others_back():
    with threadpool_limits(2, user_api="blas"):
        if blas_threads() == 1:
            pytest.skip("this BLAS has no threads")
        assert set(DaskRows(da.zeros((60, 2), chunks=10)).fold(threads_in_a_list)) == {1}
        assert blas_threads() == 2


def threads_in_a_list(part):
    return [blas_threads()]


def test_blocks_that_lie_at_odd_addresses_are_moved_before_they_are_multiplied():
    def moved(block):
        odd = np.empty(block.nbytes + 1, np.uint8)[1:].view(float).reshape(block.shape)
        odd[:] = block
        assert not odd.flags.aligned
        return odd

    rows = DaskRows(da.ones((60, 2), chunks=(10, 2)).map_blocks(moved, meta=np.empty((0, 0))))
    assert rows.fold(lambda part: [part.X.flags.aligned]) == [True] * 6
