"""Whole scikit-learn pipelines on disk, through skops; the only place that knows it."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._files import FUNCTIONS, RECORDS, whole_file
from ..errors import ModelFileError, UnsavableModelError, needing
from ._estimator_state import CLASSES
from ._fair_model import FairModel
from ._model_file import MAX_BYTES, about_file, file_content

LARGEST_GROWTH, ALWAYS_ALLOWED = 20, 2**27
"""An archive may unpack to so many times its bytes, or to so many; ours are not packed at all."""

FORMATS = ("csr", "csc", "coo", "bsr", "dia")
HARMLESS = (np.dtype, *(getattr(sp, f"{f}_{t}") for f in FORMATS for t in ("array", "matrix")))
"""Types that steps hold, and that skops leaves to its user; it keeps them as NumPy's arrays."""


def save_pipeline(pipeline: Any, path: str | os.PathLike[str]) -> None:
    """Write a scikit-learn pipeline, or any estimator, to a file without pickle.

    Parameters
    ----------
    pipeline : estimator
        Steps of scikit-learn and of this package; `fairpca.save` is stricter, and for
        our own models alone.
    path : path
        Where the file will be, ``pipeline.skops`` by custom. It is replaced in one step.

    Raises
    ------
    UnsavableModelError
        If the pipeline holds something that `load_pipeline` would refuse, such as a function.

    See Also
    --------
    load_pipeline : The way back.
    fairpca.save : For a model of this package alone.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from fairpca import FairPCA
    >>> from fairpca.models import load_pipeline, save_pipeline
    >>> rng = np.random.default_rng(0)
    >>> X, sex = rng.normal(size=(60, 4)), rng.choice(["f", "m"], size=60)
    >>> steps = make_pipeline(StandardScaler(), FairPCA(2))
    >>> fitted = steps.fit(X, fairpca__sensitive_features=sex)
    >>> path = f"{tempfile.mkdtemp()}/pipeline.skops"
    >>> save_pipeline(fitted, path)
    >>> bool((load_pipeline(path).transform(X) == fitted.transform(X)).all())
    True
    """
    skops = _skops()
    try:
        content = skops.dumps(pipeline)
        strange = _strange(skops, content)
    except Exception as reason:  # skops has no class of its own for what it cannot write
        raise UnsavableModelError(
            f"This {type(pipeline).__name__} cannot be written without pickle: {reason}"
        ) from reason
    if strange:
        raise UnsavableModelError(
            f"This {type(pipeline).__name__} holds {', '.join(strange)}, which load_pipeline would "
            f"refuse: only types of scikit-learn, NumPy, SciPy and fairpca are loaded. Use their "
            f"counterparts, or save the other steps apart."
        )
    with whole_file(path) as draft:
        draft.write_bytes(content)


def load_pipeline(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> Any:
    """Return the pipeline of a file that `save_pipeline` wrote.

    Parameters
    ----------
    path : path
        The file.
    max_bytes : int
        Files whose contents take more are refused before they are unpacked.

    Returns
    -------
    pipeline : estimator
        As it was saved.

    Raises
    ------
    ModelFileError
        If the file is missing, damaged or too large, or holds types other than those of
        scikit-learn, NumPy, SciPy and this package; the message names them.

    See Also
    --------
    save_pipeline : The way there, with an example of both.

    Examples
    --------
    >>> from fairpca.models import ModelFileError, load_pipeline
    >>> try:
    ...     load_pipeline("missing.skops")
    ... except ModelFileError as refusal:
    ...     print(refusal)
    'missing.skops' does not exist. Check the path.
    """
    with about_file(path):
        content = file_content(Path(path), max_bytes)
        _check_unpacked_size(content, max_bytes)
        return _loaded(content)


def _trusted_types() -> frozenset[str]:
    """Return the types that files may hold beside those that skops trusts, by skops' names."""
    ours = (FairModel, *CLASSES.values(), *RECORDS.values(), *FUNCTIONS.values())
    known: tuple[Any, ...] = (*ours, *HARMLESS)
    return frozenset(f"{cls.__module__}.{cls.__qualname__}" for cls in known)


def _loaded(content: bytes) -> Any:
    skops = _skops()
    try:
        strange = _strange(skops, content)
        if not strange:
            return skops.loads(content, trusted=sorted(_trusted_types()))
    except Exception as reason:  # of a damaged file anything may go wrong
        raise ModelFileError(
            "is not a pipeline that skops can read, or is damaged. Pass a file that "
            "fairpca.models.save_pipeline wrote"
        ) from reason
    named = ", ".join(name[:80] for name in strange[:5]) + (" and more" if strange[5:] else "")
    raise ModelFileError(
        f"holds {named}, which is not loaded: only types of scikit-learn, NumPy, "
        f"SciPy and fairpca are. If you trust the file, load it with skops.io.load"
    )


def _strange(skops: Any, content: bytes) -> list[str]:
    """Return the types in a file that are neither trusted by skops nor ours."""
    return sorted(set(skops.get_untrusted_types(data=content)) - _trusted_types())


def _check_unpacked_size(content: bytes, max_bytes: int) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            size = _unpacked_size(archive, max_bytes)
    except Exception as reason:  # of a damaged file anything may go wrong
        raise ModelFileError(
            "is not a pipeline file. Pass a file that fairpca.models.save_pipeline wrote"
        ) from reason
    allowed = min(max_bytes, max(ALWAYS_ALLOWED, LARGEST_GROWTH * len(content)))
    if size > allowed:
        raise ModelFileError(
            f"unpacks to {size:,} bytes, more than the {allowed:,} that are allowed for an archive "
            f"of {len(content):,}. If it is yours, load it with skops.io.load"
        )


def _unpacked_size(archive: zipfile.ZipFile, most: int) -> int:
    """Return what the entries take, up to `most`; sparse matrices are archives themselves."""
    entries = archive.infolist()
    size = sum(entry.file_size for entry in entries)
    for entry in entries if size <= most else ():
        with archive.open(entry) as file:
            start = file.read(2)
            if start == b"PK":
                with zipfile.ZipFile(io.BytesIO(start + file.read())) as matrix:
                    size += sum(part.file_size for part in matrix.infolist())
    return size


def _skops() -> Any:
    with needing("skops", "models", "A pipeline file"):
        import skops.io
    return skops.io
