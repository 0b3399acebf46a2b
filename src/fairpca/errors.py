"""What can go wrong, one class per thing a caller may want to catch."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

__all__ = [
    "AuditError",
    "ExistingFileError",
    "ExportError",
    "FairPCAError",
    "FewLandmarksWarning",
    "FittedRowsWarning",
    "IndefiniteKernelWarning",
    "InfeasibleError",
    "ManyLevelsWarning",
    "MissingExtraError",
    "MissingGroupError",
    "MissingTargetError",
    "ModelFileError",
    "OutlierWarning",
    "ResidualWarning",
    "SingleGroupError",
    "TableError",
    "UnscaledWarning",
    "UsageError",
]

OURS = ("fairpca", "sklearn")
"""Packages between a warning and the line of the user that it is about."""


class ExitStatus(IntEnum):
    """How a command ends that compares numbers with a limit, or with earlier ones.

    For a comparison, within means that nothing changed for the worse beyond chance.
    """

    WITHIN = 0
    EXCEEDED = 1
    ERROR = 2
    UNDECIDED = 3


class FairPCAError(Exception):
    """Base of all errors of this package.

    Each kind of error is a subclass, and also the built-in error that one expects, so both
    ``except FairPCAError`` and ``except ValueError`` catch it.

    Examples
    --------
    >>> from fairpca import FairPCA, FairPCAError
    >>> try:
    ...     FairPCA().fit([[0.0, 1.0], [2.0, 3.0]], sensitive_features=["a", "a"])
    ... except FairPCAError as error:
    ...     print(type(error).__name__, isinstance(error, ValueError))
    SingleGroupError True
    """


class UsageError(FairPCAError, ValueError):
    """An argument, a parameter or a value cannot be used; the message says what to pass instead.

    Examples
    --------
    >>> from fairpca import FairPCA
    >>> FairPCA(match="medians").fit([[0.0, 1.0], [2.0, 3.0]], sensitive_features=["a", "b"])
    Traceback (most recent call last):
    fairpca.errors.UsageError: match='medians' is not an option. Use one of 'means',
    'covariances', 'distributions'.
    """


class MissingGroupError(FairPCAError, ValueError):
    """The sensitive attributes are absent, or absent for some rows.

    Examples
    --------
    >>> from fairpca import FairPCA
    >>> FairPCA().fit([[0.0, 1.0], [2.0, 3.0]], sensitive_features=["a", None])
    Traceback (most recent call last):
    fairpca.errors.MissingGroupError: The sensitive attribute 'sensitive' is missing in 1 of 2
    rows, so these rows belong to no group. Set missing_sensitive='ignore' (they count for the
    variance, not for the constraint), 'group' (missing is a level), or fill in the values.
    """


class SingleGroupError(FairPCAError, ValueError):
    """A sensitive attribute takes one value only, so there is nothing to be fair between.

    Examples
    --------
    >>> from fairpca import FairPCA
    >>> FairPCA().fit([[0.0, 1.0], [2.0, 3.0]], sensitive_features=["a", "a"])
    Traceback (most recent call last):
    fairpca.errors.SingleGroupError: The sensitive attribute 'sensitive' has only the level 'a',
    so there is nothing to be fair between. Leave the attribute out, or pass rows of every
    group.
    """


class MissingTargetError(FairPCAError, ValueError):
    """The criterion needs labels y that were not given, or that lack the needed values.

    Examples
    --------
    >>> from fairpca import FairPCA
    >>> fair = FairPCA(criterion="equal_opportunity")
    >>> fair.fit([[0.0, 1.0], [2.0, 3.0]], sensitive_features=["a", "b"])
    Traceback (most recent call last):
    fairpca.errors.MissingTargetError: criterion='equal_opportunity' compares rows with the same
    label and requires y to be passed, but the target y is None. Pass fit(X, y, ...), where you
    name files target=..., or use criterion='demographic_parity'.
    """


class InfeasibleError(FairPCAError, ValueError):
    """The request cannot be met by any subspace of these data.

    Parameters
    ----------
    message : str
        What was asked for, and why it cannot be.
    available : int or None, default=None
        The largest number of components there is, where it is known.

    Examples
    --------
    >>> from fairpca import FairPCA
    >>> X = [[0.0, 1.0], [2.0, 1.0], [4.0, 4.0], [5.0, 7.0]]
    >>> FairPCA(n_components=2).fit(X, sensitive_features=["a", "b", "a", "b"])
    Traceback (most recent call last):
    fairpca.errors.InfeasibleError: n_components=2 is too large: the attributes ('sensitive')
    separate the group means in 1 of the 2 feature directions, which leaves 1. Use n_components
    <= 1, or merge groups.
    """

    def __init__(self, message: str, available: int | None = None) -> None:
        super().__init__(message)
        self.available = available


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
    >>> from fairpca.errors import MissingExtraError
    >>> print(MissingExtraError("onnx", extra="onnx", purpose="An export to ONNX"))
    An export to ONNX needs the optional library 'onnx', which is not installed. Install it with:
    pip install "fairpca[onnx]"
    """

    def __init__(self, library: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the optional library '{library}', which is not installed. "
            f'Install it with: pip install "fairpca[{extra}]"',
            name=library,
        )


@contextmanager
def needing(library: str, extra: str, purpose: str) -> Iterator[None]:
    """Import an optional library inside, or say which extra installs it."""
    try:
        yield
    except ImportError as error:
        raise MissingExtraError(library, extra, purpose) from error


class TableError(FairPCAError, ValueError):
    """A file, a table or a column cannot be used: missing, unreadable, or of other values.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairpca import fit_table
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 100, "age": range(200)})
    >>> fit_table(people, sensitive="Sex")
    Traceback (most recent call last):
    fairpca.errors.TableError: There is no column 'Sex'. Did you mean 'sex'?
    """


class AuditError(FairPCAError, ValueError):
    """An audit cannot be made, or a saved one cannot be read; the message says what to change.

    Parameters
    ----------
    message : str
        What was given, why it cannot be, and what to do.
    too_few : bool, default=False
        Whether there are too few people, or too few of a kind, to measure anything.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairpca import audit
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 10, "age": range(20)})
    >>> audit(people, sensitive=["sex"])
    Traceback (most recent call last):
    fairpca.errors.AuditError: The table has 20 rows, but at least 100 are needed: fewer show only
    noise.
    """

    def __init__(self, message: str, *, too_few: bool = False) -> None:
        super().__init__(message)
        self.too_few = too_few


class ModelFileError(FairPCAError, ValueError):
    """A file is not a model that can be loaded: damaged, altered, too large, or of the future.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import fairpca
    >>> from fairpca.errors import ModelFileError
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "model.fairpca")
    ...     _ = path.write_bytes(b"not a model")
    ...     try:
    ...         fairpca.load(path)
    ...     except ModelFileError as error:
    ...         print(str(error).replace(str(path), path.name))
    'model.fairpca' is not a model file of fairpca. Pass a file that fairpca.save wrote.
    """


class ExportError(FairPCAError, ValueError):
    """A model holds something that the file to be written cannot hold, such as a function.

    Examples
    --------
    >>> import numpy as np
    >>> import fairpca
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> fair = fairpca.FairKernelPCA(1, kernel=lambda X, Y: X @ Y.T)
    >>> _ = fair.fit(X, sensitive_features=np.arange(20) % 2)
    >>> fairpca.save(fair, "model.fairpca")
    Traceback (most recent call last):
    fairpca.errors.ExportError: A function in FairKernelPCA.kernel cannot be saved: a model file
    holds numbers and text only, never code. Use a built-in kernel, plain labels, an integer
    random_state; or, for a whole pipeline, skops: see fairpca.models.trusted_types.
    """


class ExistingFileError(FairPCAError, FileExistsError):
    """A file exists already, and is kept: overwriting has to be asked for.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import fairpca
    >>> X = [[0.0, 1.0], [2.0, 1.0], [4.0, 4.0], [5.0, 7.0]]
    >>> fair = fairpca.FairPCA(1).fit(X, sensitive_features=["a", "b", "a", "b"])
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "model.fairpca")
    ...     fairpca.save(fair, path)
    ...     try:
    ...         fairpca.save(fair, path)
    ...     except FileExistsError as error:
    ...         print(str(error).replace(str(path), path.name))
    ...     fairpca.save(fair, path, overwrite=True)
    model.fairpca exists and is kept. Pass overwrite=True to replace it, or another name.
    """


class ManyLevelsWarning(UserWarning):
    """An attribute may have more levels than intended; the message says why, and what to do.

    It has more than ten integer values, each a group, and is perhaps a quantity; or levels that
    differ only in case, blanks around them or a final dot, such as "yes" and "Yes".

    Examples
    --------
    >>> import numpy as np, warnings
    >>> from fairpca.errors import ManyLevelsWarning
    >>> from fairpca.moments import collect_moments
    >>> age = np.arange(200)
    >>> with warnings.catch_warnings(action="error", category=ManyLevelsWarning):
    ...     collect_moments(np.ones((200, 2)), age)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    fairpca.errors.ManyLevelsWarning: sensitive has 200 whole-number values, which are...
    >>> moments = collect_moments(np.ones((200, 2)), age, sensitive_kinds={"sensitive": "numeric"})
    >>> with warnings.catch_warnings(action="error", category=ManyLevelsWarning):
    ...     collect_moments(np.ones((4, 2)), ["Yes", "yes", "no", "no"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    fairpca.errors.ManyLevelsWarning: sensitive has levels that differ in case, blanks or a ...
    """


class OutlierWarning(UserWarning):
    """Few values far from all others hold nearly all of a column's scatter; the message names them.

    Means follow such values, so that group means may be equal while the groups of all other rows
    differ. An entry such as 99999 for "unknown", or a row of totals, is enough.

    Examples
    --------
    >>> import numpy as np, warnings
    >>> from fairpca import FairPCA
    >>> from fairpca.errors import OutlierWarning
    >>> sex = np.arange(200) % 2
    >>> X = np.random.default_rng(0).normal(size=(200, 3)) + 0.5 * sex[:, None]
    >>> X[7, 1] = 99999
    >>> with warnings.catch_warnings(action="error", category=OutlierWarning):
    ...     FairPCA(2, scale=True).fit(X, sensitive_features=sex)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    fairpca.errors.OutlierWarning: Few values far from all others ... column 1 has 99999 in row 7...
    """


class ResidualWarning(UserWarning):
    """A constraint holds less exactly than it should, or not everywhere; the message says how much.

    Examples
    --------
    >>> import numpy as np, warnings
    >>> from fairpca import FairKernelPCA
    >>> from fairpca.errors import ResidualWarning
    >>> sex = np.arange(60) % 2
    >>> X = np.random.default_rng(0).normal(size=(60, 4)) + sex[:, None]
    >>> with warnings.catch_warnings(action="error", category=ResidualWarning):
    ...     FairKernelPCA(2, gamma=1e-10).fit(X, sensitive_features=sex)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    fairpca.errors.ResidualWarning: A group mean still differs by ...
    """


class UnscaledWarning(UserWarning):
    """Few columns, in larger units than the others, decide what `FairPCA` keeps.

    Examples
    --------
    >>> import numpy as np, warnings
    >>> from fairpca import FairPCA
    >>> from fairpca.errors import UnscaledWarning
    >>> sex = np.arange(200) % 2
    >>> X = np.random.default_rng(0).normal(size=(200, 5)) + 0.5 * sex[:, None]
    >>> X[:, 2] *= 1000.0  # grams, say, beside kilograms
    >>> with warnings.catch_warnings(action="error", category=UnscaledWarning):
    ...     FairPCA(2).fit(X, sensitive_features=sex)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    fairpca.errors.UnscaledWarning: scale=False, and 1 of 5 columns (2) hold 100.0 % of the ...
    >>> _ = FairPCA(2, scale=True).fit(X, sensitive_features=sex)
    """


class IndefiniteKernelWarning(UserWarning):
    """A kernel has negative eigenvalues, which were left out; the message gives their size.

    Examples
    --------
    >>> import numpy as np, warnings
    >>> from fairpca import FairKernelPCA
    >>> from fairpca.errors import IndefiniteKernelWarning
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> fair = FairKernelPCA(2, kernel="sigmoid", gamma=1.0)
    >>> with warnings.catch_warnings(action="error", category=IndefiniteKernelWarning):
    ...     fair.fit(X, sensitive_features=np.arange(60) % 2)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    fairpca.errors.IndefiniteKernelWarning: The kernel is not positive semi-definite: ...
    """


class FewLandmarksWarning(UserWarning):
    """Fewer landmarks were drawn than asked for: there were not more rows to draw from.

    Examples
    --------
    >>> import numpy as np, warnings
    >>> from fairpca import FairKernelPCA
    >>> from fairpca.errors import FewLandmarksWarning
    >>> first_batch = np.random.default_rng(0).normal(size=(60, 3))
    >>> fair = FairKernelPCA(2, approximation="nystroem", n_landmarks=100)
    >>> with warnings.catch_warnings(action="error", category=FewLandmarksWarning):
    ...     fair.partial_fit(first_batch, sensitive_features=np.arange(60) % 2)
    Traceback (most recent call last):
    fairpca.errors.FewLandmarksWarning: n_landmarks=100, but the first batch has 60 rows that count,
    so these are all landmarks there will be. Start with a larger batch.
    """


class FittedRowsWarning(UserWarning):
    """A probe is below chance, so it measures the training data of a projection.

    Examples
    --------
    >>> import numpy as np, warnings
    >>> from fairpca import FairPCA
    >>> from fairpca.errors import FittedRowsWarning
    >>> from fairpca.metrics import leakage
    >>> sex = np.arange(400) % 2
    >>> X = np.random.default_rng(0).normal(size=(400, 10)) + 0.5 * sex[:, None]
    >>> fair = FairPCA(9).fit(X[:200], sensitive_features=sex[:200])
    >>> with warnings.catch_warnings(action="error", category=FittedRowsWarning):
    ...     found = leakage(fair.transform(X[200:]), sex[200:], random_state=0)
    ...     leakage(fair.transform(X[:200]), sex[:200], random_state=0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    fairpca.errors.FittedRowsWarning: The linear probe has an AUC of 0.2... on 200 rows, ...
    """


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn, pointing at the user's line, however many calls of ours lie in between."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(OURS):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
