"""Where rows come from, how they are cut into blocks, and what maps them."""

from ..errors import DeviceError
from .device_rows import DeviceRows, rows_per_block
from .elsewhere import Collect, Part, RowsElsewhere, plus
from .in_memory import BLOCK_ROWS, MappedRows, Rows, block_rows, row_blocks
from .maps import FeatureMap, LinearMap, in_double_precision, side_by_side
from .recognize import rows_elsewhere
from .streamed_rows import StreamedRows, arriving, example_on, streamed
