"""What can go wrong with models on disk."""

from ..errors import FairPCAError


class ModelFileError(FairPCAError, ValueError):
    """A file is not a model that can be loaded: damaged, altered, too large, or of the future.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import fairpca
    >>> from fairpca.persistence import ModelFileError
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "model.fairpca")
    ...     _ = path.write_bytes(b"not a model")
    ...     try:
    ...         fairpca.load(path)
    ...     except ModelFileError as refusal:
    ...         print(str(refusal).replace(str(path), path.name))
    'model.fairpca' is not a model file of fairpca. Pass a file that fairpca.save wrote.
    """


class UnsavableModelError(FairPCAError, TypeError):
    """A model holds something that cannot be written to a file without code, such as a function.

    Examples
    --------
    >>> import numpy as np
    >>> import fairpca
    >>> from fairpca.persistence import UnsavableModelError
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> fair = fairpca.FairKernelPCA(1, kernel=lambda X, Y: X @ Y.T)
    >>> _ = fair.fit(X, sensitive_features=np.arange(20) % 2)
    >>> try:
    ...     fairpca.save(fair, "model.fairpca")
    ... except UnsavableModelError as refusal:
    ...     print(refusal)
    A function in FairKernelPCA.kernel cannot be saved: a model file holds numbers and
    text only, never code. Use a built-in kernel, plain labels, an integer random_state;
    or, for a whole pipeline, fairpca.persistence.save_pipeline.
    """


class ExportError(FairPCAError, ValueError):
    """A model, or a part of it, has no counterpart in the format it was to be exported to.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca import FairKernelPCA
    >>> from fairpca.persistence import ExportError, export_torch
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> fair = FairKernelPCA(1, kernel=lambda X, Y: X @ Y.T)
    >>> _ = fair.fit(X, sensitive_features=np.arange(20) % 2)
    >>> try:
    ...     export_torch(fair, "model.py")
    ... except ExportError as refusal:
    ...     print(refusal)
    The kernel '<lambda>' is a function in Python, which cannot be exported. Fit again
    with a built-in kernel.
    """
