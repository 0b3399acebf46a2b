"""Rows of two attributes and a number, for any test of devices."""

from dataclasses import dataclass, replace

import numpy as np

from fairpca import FairPCA
from optional_libraries import array_api_strict


@dataclass(frozen=True)
class People:
    X: np.ndarray
    sensitive: dict[str, np.ndarray]
    y: np.ndarray
    weight: np.ndarray

    def with_features(self, X):
        return replace(self, X=X)


def people(n=700, d=9, seed=0):
    rng = np.random.default_rng(seed)
    origin, sex = rng.integers(0, 3, n), rng.integers(0, 2, n)
    age = rng.normal(40.0, 12.0, n)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) * 1.5 ** -np.arange(d)
    X += np.outer(origin == 2, rng.normal(size=d)) + np.outer(sex, rng.normal(size=d))
    X += np.outer(age / 40.0, rng.normal(size=d))
    sensitive = {"origin": origin, "sex": sex, "age": age}
    return People(X, sensitive, rng.integers(0, 2, n), rng.integers(0, 4, n) / 2.0)


def fitted(rows, *, put=None, weighted=False, only=None, method=FairPCA, **parameters):
    """Fit FairPCA, or another method, to all of it, every array taken somewhere by `put`."""
    put = put or (lambda a: a)
    names = rows.sensitive if only is None else only
    return method(**parameters).fit(
        put(rows.X),
        put(rows.y),
        sensitive_features={name: put(rows.sensitive[name]) for name in names},
        sample_weight=put(rows.weight) if weighted else None,
    )


def to_numpy(array):
    """Return what an array of any library holds, wherever it is."""
    if hasattr(array, "detach"):  # torch
        return array.detach().cpu().numpy()
    if type(array).__module__.startswith("array_api_strict"):
        array = array.to_device(array_api_strict.Device("CPU_DEVICE"))
    return array.get() if type(array).__module__.startswith("cupy") else np.asarray(array)


def projector(fair):
    components = to_numpy(fair.components_)
    return components.T @ components
