"""What can go wrong, one class per thing a caller may want to catch."""

import sys
import warnings

OURS = ("fairpca", "sklearn")
"""Packages between a warning and the line of the user that it is about."""


class FairPCAError(Exception):
    """Anything this package refuses to do."""


class MissingGroupError(FairPCAError, ValueError):
    """The sensitive attributes are absent, or absent for some rows."""


class SingleGroupError(FairPCAError, ValueError):
    """A sensitive attribute takes one value only, so there is nothing to be fair between."""


class MissingTargetError(FairPCAError, ValueError):
    """The criterion needs labels y that were not given, or that lack the needed values."""


class InfeasibleError(FairPCAError, ValueError):
    """The request cannot be met by any subspace of these data."""


class MissingExtraError(FairPCAError, ImportError):
    """An optional library is needed; the message names the extra that installs it."""

    def __init__(self, library: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the optional library '{library}', which is not installed. "
            f"Install it with: pip install 'fairpca[{extra}]'",
            name=library,
        )


class ManyLevelsWarning(UserWarning):
    """An integer attribute has so many levels that it was probably meant to be numeric."""


class ResidualWarning(UserWarning):
    """A constraint holds less exactly than promised; the message gives the number."""


class IndefiniteKernelWarning(UserWarning):
    """A kernel has negative eigenvalues, which were left out; the message gives their size."""


class FewLandmarksWarning(UserWarning):
    """Fewer landmarks were drawn than asked for: there were not more rows to draw from."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn, pointing at the user's line, however many calls of ours lie in between."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(OURS):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
