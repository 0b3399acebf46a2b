"""Where rows come from, and how they are cut into blocks."""

from .batches import flat, is_cube
from .devices import (
    DeviceRows,
    StreamedRows,
    check_all_finite,
    checked_rows,
    example_on,
    in_place_of,
    in_working_precision,
    is_plain_on_device,
    streamed,
)
from .in_memory import BLOCK_ROWS, MappedRows, Rows, block_rows, row_blocks, rows_per_block
from .lazy_rows import Batch, Collect, LazyRows, as_lazy_rows
from .ordered_fold import ordered_fold
from .sample import LargestKey, Sample, rows_at
