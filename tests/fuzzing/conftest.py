"""What the fuzzers need of the system."""

import os

collect_ignore = [] if os.name == "posix" else ["test_machinery.py", "test_targets.py"]
"""The fuzzers limit the time and the memory of processes as POSIX has it."""
