"""What every refusal promises."""

from __future__ import annotations

import traceback
from pathlib import Path

from fairpca import FairPCAError

from .cases import Failed


def is_ours(error: Exception, *, plainly: bool) -> bool:
    """Tell whether an error is one of ours; plain ones that estimators raise may count."""
    if isinstance(error, FairPCAError):
        return True
    raised_in = traceback.extract_tb(error.__traceback__)[-1].filename
    return plainly and type(error) is ValueError and "/fairpca/" in raised_in


def assert_clear(error: Exception) -> None:
    """Check that an error has words, and not too many."""
    if not str(error).strip() or len(str(error)) > 20_000:
        raise Failed(f"an error without a clear line: {str(error)[:200]!r}") from error


def assert_nothing_left(folder: Path, *expected: Path) -> None:
    """Check that a refusal leaves no file behind."""
    left = sorted({p.name for p in folder.iterdir()} - {p.name for p in expected})
    if left:
        raise Failed(f"files are left after a refusal: {left}")


def assert_one_line(error: Exception, path: Path) -> None:
    """Check that a refusal is one line that names the file, of a length that can be read."""
    message = str(error)
    if "\n" in message or repr(str(path)) not in message or len(message) > 2000:
        raise Failed(f"a refusal that is not one clear line: {message[:300]!r}")
