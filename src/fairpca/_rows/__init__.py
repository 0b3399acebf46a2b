"""Where rows come from, how they are cut into blocks, and what maps them."""

from .devices import DeviceRows, StreamedRows, example_on, streamed
from .elsewhere import Batch, Collect, Part, RowsElsewhere, plus, rows_elsewhere
from .in_memory import BLOCK_ROWS, MappedRows, Rows, block_rows, row_blocks, rows_per_block
from .maps import FeatureMap, LinearMap, in_double_precision, side_by_side
