"""The memory of a fit depends on the number of columns, not of rows."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from slow import first_fast

PEAK = """
import re, sys
from pathlib import Path
from fairpca import FairPCA
from fairpca.io import ParquetRows

def megabytes(what):  # VmHWM is the peak since this program started
    return int(re.search(what + r":\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024

small, large = sys.argv[1:]
FairPCA(2).fit(ParquetRows(small, sensitive="g"))  # BLAS buffers, lazy imports
now = megabytes("VmRSS")
FairPCA(2).fit(ParquetRows(large, sensitive="g", n_jobs=2, batch_rows=2**15))
print(megabytes("VmHWM") - now)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells")
@pytest.mark.parametrize("row_group_size", first_fast([2**24, 2**17]))
def test_memory_does_not_grow_with_the_file(tmp_path, row_group_size):
    """A file of 300 MB, in row groups of 32 MB and in a single one."""
    n = 1_200_000
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.standard_normal(n, dtype=np.float32) for j in range(64)}
    table = pa.table({**columns, "g": np.arange(n) % 3})
    options = {"compression": "none", "use_dictionary": False}
    pq.write_table(table, tmp_path / "large", row_group_size=row_group_size, **options)
    pq.write_table(table.slice(0, 10_000), tmp_path / "small", **options)
    del columns, table
    paths = [str(tmp_path / name) for name in ("small", "large")]
    assert Path(paths[1]).stat().st_size > 300e6
    result = subprocess.run(
        [sys.executable, "-c", PEAK, *paths], check=True, capture_output=True, text=True
    )
    assert float(result.stdout) < 200
