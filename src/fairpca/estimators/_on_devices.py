"""Fits that compute on a device, and fitted estimators that move between devices."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._numerics import Array, is_foreign, is_numpy, placed
from .._rows import LinearMap, Rows, StreamedRows, example_on, streamed
from ..moments import GroupMoments, moments_at
from ._representation import FairTransformer

HOST = np.empty(0)
"""An example of arrays in host memory."""


class WorksOnDevices(FairTransformer):
    """Mixin of estimators that take arrays on any device, and send host rows to one.

    The estimator has the parameter `device`.
    """

    device: Any
    _works_on_devices: ClassVar[bool] = True

    def to_device(self, device: Any) -> Self:
        """Move all that was learned to another device, or to another array library.

        `transform` takes rows on any device, wherever the estimator is; it then sends its small
        arrays along with every call, which moving the estimator saves.

        Parameters
        ----------
        device : str, torch.device or array
            "cpu" for NumPy arrays, "cuda" or "cuda:1" for torch tensors there; an array for
            arrays of its library on its device (so CuPy works).

        Returns
        -------
        self

        Examples
        --------
        >>> import numpy as np
        >>> from fairpca import FairPCA
        >>> X = np.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0], [4.0, 4.0, 1.0], [1.0, 0.0, 3.0]])
        >>> fair = FairPCA(n_components=1).fit(X, sensitive_features=["a", "b", "b", "a"])
        >>> type(fair.to_device("cpu").components_)
        <class 'numpy.ndarray'>
        """
        check_is_fitted(self)
        example = _example(device)
        for name in (*self._learned, "moments_"):
            if name in vars(self):
                self.__dict__[name] = _moved(self.__dict__[name], example)
        return self

    def _moments(self, *arguments: Any, first: bool, partial: bool) -> GroupMoments:
        moments = super()._moments(*arguments, first=first, partial=partial)
        # Batches meet on the host, and those of a cluster travel.
        return self._brought_back(moments) if partial else moments

    def _keep(self, moments: GroupMoments) -> None:
        super()._keep(moments)
        if "moments_" in vars(self):
            self.moments_ = self._brought_back(self.moments_)

    def _sent(self, moments: GroupMoments) -> GroupMoments:
        """Return moments where they are to be solved."""
        return moments if self.device is None else moments_at(moments, example_on(self.device))

    def _brought_back(self, value: Any) -> Any:
        """Return what was computed on the device asked for as NumPy; else as it is."""
        return value if self.device is None else _moved(value, HOST)

    def _represent(self, features: Any) -> Any:
        rows = streamed(Rows(features), self.device)
        if isinstance(rows, StreamedRows) and isinstance(self._map, LinearMap):
            return self._map.streamed(rows)
        return super()._represent(features)


def _example(device: Any) -> Array:
    if is_numpy(device) or is_foreign(device):
        return device
    return HOST if str(device) == "cpu" else example_on(device)


def _moved(value: Any, example: Array) -> Any:
    if is_numpy(value) or is_foreign(value):
        return placed(value, example)
    if isinstance(value, LinearMap):
        return value.converted(lambda a: placed(a, example))
    return moments_at(value, example) if isinstance(value, GroupMoments) else value
