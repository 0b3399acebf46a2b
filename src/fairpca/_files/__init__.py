"""Files that are whole or not there, the one serialiser, and the versions that a file names."""

from .records import (
    FUNCTIONS,
    LENGTH,
    MAX_HEADER,
    RECORDS,
    Packer,
    RationedArrays,
    announced_size,
    header_bytes,
    is_array,
    is_count,
    is_label,
    is_number,
    pack,
    record,
    unpack,
    unplain,
)
from .versions import library_versions
from .whole_files import is_no_plain_file, keep_existing, whole_file
