"""A model as it is handed over: preprocessing, fair representation, and where it comes from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from .._numerics import is_foreign, to_numpy
from .._rows import FeatureMap, LinearMap
from ..errors import UsageError
from ..estimators import FLOATS
from ._estimator_state import n_columns


@dataclass(frozen=True)
class FairModel:
    """From rows of a table, as they are in a file, to their fair representation.

    Parameters
    ----------
    encoder : TableEncoder or None
        Fitted preprocessing: columns of any kind become numbers. None if rows are numbers already.
    estimator : estimator
        What was fitted to the encoded rows: `fairpca.FairPCA` and so on.
    info : dict
        Plain facts: ``sensitive``, ``target``, ``data``, ``fingerprint``, and numbers that were
        measured, such as ``leakage_before`` and ``leakage_after``.

    See Also
    --------
    fit_table : What makes it of a table.
    fairpca.models.model_card : The same model for people.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca import FairPCA
    >>> from fairpca.models import FairModel
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 4))
    >>> fair = FairPCA(2).fit(X, sensitive_features=rng.choice(["f", "m"], size=50))
    >>> model = FairModel(None, fair, {"data": "made up", "sensitive": ["sex"]})
    >>> model.output_names
    ['fairpca0', 'fairpca1']
    >>> model.transform(X).shape
    (50, 2)
    """

    encoder: Any
    estimator: Any
    info: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_is_fitted(self.estimator)
        self.estimator._ensure_solved()
        if self.encoder is None:
            return
        wanted, given = n_columns(self.map), len(self.encoder.get_feature_names_out())
        if wanted != given:
            raise UsageError(
                f"The encoder makes {given} columns, but the estimator was fitted to {wanted}. "
                f"Fit it to what this encoder returns."
            )

    @property
    def map(self) -> LinearMap | FeatureMap:
        """The map on encoded rows, in NumPy arrays; a `FeatureMap` is one of kernel values."""
        fitted: LinearMap | FeatureMap = self.estimator._map
        if isinstance(fitted, LinearMap) and is_foreign(fitted.matrix):
            return fitted.converted(to_numpy)
        return fitted

    @property
    def output_names(self) -> list[str]:
        """Names of the columns of the representation."""
        return [str(name) for name in self.estimator.get_feature_names_out()]

    def transform(self, frame: Any) -> np.ndarray:
        """Return the representation of the rows of a table.

        Parameters
        ----------
        frame : frame, or array-like of shape (n, d) where there is no encoder
            Rows with the columns the model was fitted to; sensitive ones are not needed.

        Returns
        -------
        T : array of float of shape (n, k)
        """
        if self.encoder is None:
            return np.asarray(self.estimator.transform(frame))
        # The encoder has checked the names of the columns; the estimator's are its own.
        encoded = check_array(self.encoder.transform(frame), dtype=FLOATS, ensure_min_samples=0)
        if len(encoded) == 0:  # a batch of a stream may be empty
            return np.empty((0, len(self.output_names)))
        return np.asarray(self.estimator._represent(encoded))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, as `fairpca.save` does.

        Parameters
        ----------
        path : path
            Where the file will be, ``model.fairpca`` by custom. It is replaced in one step.
        """
        from ._saving import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the model that a file holds; a bare estimator becomes one without an encoder.

        Parameters
        ----------
        path : path
            A file that `save` wrote.

        Returns
        -------
        FairModel
            As it was saved.

        Raises
        ------
        ModelFileError
            If the file is not a model, as in `fairpca.load`.
        """
        from ._saving import load_with_info

        model, info = load_with_info(path)
        return model if isinstance(model, cls) else cls(None, model, info)
