"""The fuzzers are at the root of the project, beside the tests."""

import os
import sys
from pathlib import Path

collect_ignore = [] if os.name == "posix" else ["test_machinery.py", "test_slices.py"]
"""The fuzzers limit the time and the memory of processes as POSIX has it."""

ROOT = str(Path(__file__).parents[2])
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)
