"""What not every system has: tests that need it are skipped elsewhere, and say so."""

from __future__ import annotations

import os
import sys

import numpy as np
import pytest

posix = pytest.mark.skipif(os.name != "posix", reason="needs signals, pipes or rights of POSIX")

links = pytest.mark.skipif(os.name != "posix", reason="not everybody may make links here")

long_names = pytest.mark.skipif(sys.platform == "win32", reason="paths have 260 letters there")

long_doubles = pytest.mark.skipif(
    np.finfo(np.longdouble).eps == np.finfo(float).eps,
    reason="long doubles are doubles here, as on Windows and on Apple's processors",
)
