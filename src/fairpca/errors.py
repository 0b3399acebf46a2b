"""What can go wrong, one class per thing a caller may want to catch."""

import sys
import warnings

OURS = ("fairpca", "sklearn")
"""Packages between a warning and the line of the user that it is about."""


class FairPCAError(Exception):
    """Anything this package refuses to do.

    Each kind of refusal is a class of its own below this one, and the built-in error that one
    expects besides, so both ``except FairPCAError`` and ``except ValueError`` catch it.

    Examples
    --------
    >>> from fairpca import FairPCA, FairPCAError
    >>> try:
    ...     FairPCA().fit([[0.0, 1.0], [2.0, 3.0]], sensitive_features=["a", "a"])
    ... except FairPCAError as refusal:
    ...     print(type(refusal).__name__, isinstance(refusal, ValueError))
    SingleGroupError True
    """


class MissingGroupError(FairPCAError, ValueError):
    """The sensitive attributes are absent, or absent for some rows.

    Examples
    --------
    >>> from fairpca import FairPCA, MissingGroupError
    >>> try:
    ...     FairPCA().fit([[0.0, 1.0], [2.0, 3.0]], sensitive_features=["a", None])
    ... except MissingGroupError as refusal:
    ...     print(refusal)
    The sensitive attribute 'sensitive' is missing in 1 of 2 rows, so these rows belong
    to no group. Set missing_sensitive='ignore' (they count for the variance, not for
    the constraint), 'group' (missing is a level), or fill in the values.
    """


class SingleGroupError(FairPCAError, ValueError):
    """A sensitive attribute takes one value only, so there is nothing to be fair between.

    Examples
    --------
    >>> from fairpca import FairPCA, SingleGroupError
    >>> try:
    ...     FairPCA().fit([[0.0, 1.0], [2.0, 3.0]], sensitive_features=["a", "a"])
    ... except SingleGroupError as refusal:
    ...     print(refusal)
    The sensitive attribute 'sensitive' has only the level 'a', so there is nothing to
    be fair between. Leave the attribute out, or pass rows of every group.
    """


class MissingTargetError(FairPCAError, ValueError):
    """The criterion needs labels y that were not given, or that lack the needed values.

    Examples
    --------
    >>> from fairpca import FairPCA, MissingTargetError
    >>> fair = FairPCA(criterion="equal_opportunity")
    >>> try:
    ...     fair.fit([[0.0, 1.0], [2.0, 3.0]], sensitive_features=["a", "b"])
    ... except MissingTargetError as refusal:
    ...     print(refusal)
    criterion='equal_opportunity' compares rows with the same label and requires y to be
    passed, but the target y is None. Pass fit(X, y, ...), or use
    criterion='demographic_parity'.
    """


class InfeasibleError(FairPCAError, ValueError):
    """The request cannot be met by any subspace of these data.

    Examples
    --------
    >>> from fairpca import FairPCA, InfeasibleError
    >>> X = [[0.0, 1.0], [2.0, 1.0], [4.0, 4.0], [5.0, 7.0]]
    >>> try:
    ...     FairPCA(n_components=2).fit(X, sensitive_features=["a", "b", "a", "b"])
    ... except InfeasibleError as refusal:
    ...     print(refusal)
    n_components=2 is too large: the attributes ('sensitive') separate the group means
    in 1 of the 2 feature directions, which leaves 1. Use n_components <= 1, or merge
    groups.
    """


class MissingExtraError(FairPCAError, ImportError):
    """An optional library is needed; the message names the extra that installs it.

    Parameters
    ----------
    library : str
        What is not installed.
    extra : str
        The extra of this package that installs it.
    purpose : str
        What it is needed for, as the beginning of a sentence.

    Examples
    --------
    >>> from fairpca import MissingExtraError
    >>> try:
    ...     raise MissingExtraError("onnx", extra="onnx", purpose="An export to ONNX")
    ... except ImportError as refusal:
    ...     print(refusal)
    An export to ONNX needs the optional library 'onnx', which is not installed. Install
    it with: pip install 'fairpca[onnx]'
    """

    def __init__(self, library: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the optional library '{library}', which is not installed. "
            f"Install it with: pip install 'fairpca[{extra}]'",
            name=library,
        )


class ManyLevelsWarning(UserWarning):
    """An integer attribute has so many levels that it was probably meant to be numeric.

    Examples
    --------
    >>> import numpy as np, warnings
    >>> from fairpca import ManyLevelsWarning, collect_moments
    >>> age = np.arange(200)
    >>> with warnings.catch_warnings(action="error", category=ManyLevelsWarning):
    ...     try:
    ...         collect_moments(np.ones((200, 2)), age)
    ...     except ManyLevelsWarning as told:
    ...         print(str(told).split(";")[0])
    The integer attribute 'sensitive' has 200 distinct values
    >>> moments = collect_moments(np.ones((200, 2)), age.astype(float))  # a number, not a level
    """


class ResidualWarning(UserWarning):
    """A constraint holds less exactly than promised; the message gives the number.

    Examples
    --------
    >>> import numpy as np, warnings
    >>> from fairpca import ResidualWarning
    >>> from fairpca.peers import FPCA
    >>> rng = np.random.default_rng(0)
    >>> sex = np.arange(100) % 2
    >>> X = rng.normal(size=(100, 4)) * (1 + sex[:, None]) + sex[:, None]
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always", ResidualWarning)
    ...     fair = FPCA(2, max_iter=3).fit(X, sensitive_features=sex)
    >>> str(told[0].message).split(" is ")[0]
    'After 3 steps the relative duality gap'
    >>> bool(fair.duality_gap_ > 1e-7)
    True
    """


class IndefiniteKernelWarning(UserWarning):
    """A kernel has negative eigenvalues, which were left out; the message gives their size.

    Examples
    --------
    >>> import numpy as np, warnings
    >>> from fairpca import FairKernelPCA, IndefiniteKernelWarning
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> sex = np.arange(60) % 2
    >>> with warnings.catch_warnings(action="error", category=IndefiniteKernelWarning):
    ...     try:
    ...         FairKernelPCA(2, kernel="sigmoid", gamma=1.0).fit(X, sensitive_features=sex)
    ...     except IndefiniteKernelWarning as told:
    ...         print(str(told).split(":")[0])
    The kernel is not positive semi-definite
    """


class FewLandmarksWarning(UserWarning):
    """Fewer landmarks were drawn than asked for: there were not more rows to draw from.

    Examples
    --------
    >>> import numpy as np, warnings
    >>> from fairpca import FairKernelPCA, FewLandmarksWarning
    >>> first_batch = np.random.default_rng(0).normal(size=(60, 3))
    >>> fair = FairKernelPCA(2, approximation="nystroem", n_landmarks=100)
    >>> with warnings.catch_warnings(action="error", category=FewLandmarksWarning):
    ...     try:
    ...         fair.partial_fit(first_batch, sensitive_features=np.arange(60) % 2)
    ...     except FewLandmarksWarning as told:
    ...         print(told)
    n_landmarks=100, but the first batch has 60 rows that count, so these are all
    landmarks there will be. Start with a larger batch.
    """


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn, pointing at the user's line, however many calls of ours lie in between."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(OURS):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
