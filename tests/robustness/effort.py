"""How hard the tests of this folder try, and what they did.

By default a few examples, always the same ones. With the environment variable FAIRPCA_EXAMPLES
set to a number, that many new ones for every test; and with FAIRPCA_TALLY set to a path, the
numbers of fits, refusals and steps are written there as JSON when the process ends.
"""

import atexit
import json
import os
from collections import Counter, defaultdict
from pathlib import Path

from hypothesis import HealthCheck, settings

EXAMPLES = int(os.environ.get("FAIRPCA_EXAMPLES", "0"))
TALLY = defaultdict(Counter)


def effort(examples, **options):
    """Return hypothesis settings: so many examples, or as many as the environment asks for."""
    return settings(
        max_examples=EXAMPLES or examples,
        derandomize=not EXAMPLES,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        **options,
    )


def count(what, outcome):
    """Remember that something was tried, and how it ended."""
    TALLY[what][outcome] += 1


@atexit.register
def _write():
    path = os.environ.get("FAIRPCA_TALLY")
    if path and TALLY:
        worker = os.environ.get("PYTEST_XDIST_WORKER", "")  # each has its own numbers
        text = json.dumps(TALLY, indent=1, sort_keys=True)
        Path(path + worker).write_text(text, encoding="utf-8")
