"""Which of our types a file of skops may hold."""

from __future__ import annotations

from typing import Any

from .._files import FUNCTIONS, RECORDS
from ._estimator_state import CLASSES
from ._table_transformer import FairTableTransformer

ARRAYS = (
    "numpy.dtype",
    *(
        f"scipy.sparse._{form}.{form}_{kind}"
        for form in ("csr", "csc", "coo", "bsr", "dia")
        for kind in ("array", "matrix")
    ),
)
"""Types that our estimators hold, and that skops leaves to its user."""


def trusted_types() -> list[str]:
    """Return the types of fairpca that skops has to trust, to load pipelines without pickle.

    `fairpca.save` is for our own models alone. A scikit-learn pipeline with our estimators among
    its steps goes to a file with `skops <https://skops.readthedocs.io>`_, which loads its own
    types, those of scikit-learn and NumPy, and these. None of them runs code of the file. Add no
    other name unless you trust whoever wrote the file, and load no file from elsewhere without a
    limit on its size.

    Returns
    -------
    names : list of str
        Full names, as ``skops.io.load(path, trusted=...)`` takes them.

    See Also
    --------
    fairpca.save : For a model of this package alone.

    Examples
    --------
    >>> import numpy as np
    >>> from skops.io import dumps, loads
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from fairpca import FairPCA
    >>> from fairpca.models import trusted_types
    >>> rng = np.random.default_rng(0)
    >>> X, sex = rng.normal(size=(60, 4)), rng.choice(["f", "m"], size=60)
    >>> steps = make_pipeline(StandardScaler(), FairPCA(2))
    >>> fitted = steps.fit(X, fairpca__sensitive_features=sex)
    >>> loaded = loads(dumps(fitted), trusted=trusted_types())
    >>> bool((loaded.transform(X) == fitted.transform(X)).all())
    True
    """
    ours: tuple[Any, ...] = (FairTableTransformer, *CLASSES.values())
    ours += (*RECORDS.values(), *FUNCTIONS.values())
    return sorted({f"{one.__module__}.{one.__qualname__}" for one in ours} | set(ARRAYS))
