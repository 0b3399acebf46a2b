"""The value objects that a fitted model is made of, and what makes each of them valid."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from .._rows import FeatureMap, LinearMap, in_double_precision
from ..errors import ModelFileError
from ..estimators import Choice
from ..kernels import KERNELS, Kernel, KernelColumns, RandomFeatures
from ..moments import DenseScatter, GroupMoments, LevelMoments, NumericMoments

FUNCTIONS: dict[str, Callable[..., Any]] = {"in_double_precision": in_double_precision}
"""Functions of ours that a map may hold; files name them, and nothing else is ever called."""


@dataclass(frozen=True)
class Record:
    """A class whose objects are saved field by field, and the check of what comes back."""

    cls: type
    check: Callable[[Any], bool]

    def made(self, fields: Mapping[str, Any]) -> Any:
        """Return the object, if its fields fit together."""
        value = self.cls(**fields)
        if set(fields) != set(fields_of(value)) or not self.check(value):
            raise ModelFileError(f"has a {self.cls.__name__} whose parts do not fit together")
        return value


def fields_of(value: Any) -> dict[str, Any]:
    """Return the fields of a value object by name."""
    return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}


def is_array(a: Any, *shape: int | None) -> bool:
    """Tell whether this is an array of floats of a shape; None stands for any length."""
    if not isinstance(a, np.ndarray) or a.dtype.kind != "f" or a.ndim != len(shape):
        return False
    return all(wanted is None or n == wanted for n, wanted in zip(a.shape, shape, strict=True))


def is_number(value: Any) -> bool:
    """Tell whether this is a finite number."""
    number = isinstance(value, int | float | np.integer | np.floating)
    return number and not isinstance(value, bool) and bool(np.isfinite(value))


def is_count(value: Any) -> bool:
    """Tell whether this is a whole number >= 0."""
    counted = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return counted and bool(value >= 0)


def is_label(value: Any) -> bool:
    """Tell whether this can be the name of a group: text, a number, nothing, or several of them."""
    if isinstance(value, tuple):
        return all(map(is_label, value))
    return value is None or isinstance(value, str | int | float | np.generic)


def _linear_map(m: LinearMap) -> bool:
    if not is_array(m.matrix, None, None):
        return False
    d, k = m.matrix.shape
    scaled = m.scale is None or (is_array(m.scale, d) and bool((m.scale != 0).all()))
    return is_array(m.mean, d) and scaled and (m.offset is None or is_array(m.offset, k))


def _kernel(k: Kernel) -> bool:
    numbers = all(map(is_number, (k.gamma, k.degree, k.coef0)))
    centred = k.centre is None or is_array(k.centre, None)
    jobs = k.n_jobs is None or (type(k.n_jobs) is int and k.n_jobs != 0)
    return k.name in KERNELS and numbers and k.gamma > 0 and centred and k.parameters == {} and jobs


def _kernel_columns(c: KernelColumns) -> bool:
    if not isinstance(c.kernel, Kernel):
        return False
    rows = issparse(c.rows) and c.rows.dtype == float
    if not rows and not is_array(c.rows, None, None):
        return False
    return c.kernel.centre is None or c.kernel.centre.shape == (c.rows.shape[1],)


def _random_features(f: RandomFeatures) -> bool:
    return is_array(f.frequencies, None, None) and is_array(f.centre, f.frequencies.shape[0])


def _feature_map(m: FeatureMap) -> bool:
    if not isinstance(m.linear, LinearMap):
        return False
    if isinstance(m.features, KernelColumns | RandomFeatures):
        return bool(m.features.n_features == m.linear.matrix.shape[0])
    return m.features is in_double_precision


def _level_moments(a: LevelMoments) -> bool:
    if not isinstance(a.labels, tuple) or not is_array(a.total, None, None):
        return False
    m, d = a.total.shape
    counted = (
        isinstance(a.count, np.ndarray) and a.count.shape == (m,) and a.count.dtype.kind == "i"
    )
    named = isinstance(a.name, str) and is_label(a.stratum) and isinstance(a.integral_floats, bool)
    return (
        len(a.labels) == m
        and all(map(is_label, a.labels))
        and counted
        and named
        and isinstance(a.optional, bool)
        and is_array(a.weight, m)
        and (a.scatters is None or _scatters(a.scatters, m, d))
    )


def _scatters(scatters: Any, m: int, d: int) -> bool:
    return (
        isinstance(scatters, tuple)
        and len(scatters) == m
        and all(s is None or (isinstance(s, DenseScatter) and len(s.matrix) == d) for s in scatters)
    )


def _numeric_moments(a: NumericMoments) -> bool:
    numbers = all(map(is_number, (a.weight, a.value_mean, a.value_scatter)))
    vectors = is_array(a.total, None) and is_array(a.cross, None)
    if not (numbers and vectors and is_count(a.count)):
        return False
    return isinstance(a.name, str) and is_label(a.stratum) and a.total.shape == a.cross.shape


def _group_moments(m: GroupMoments) -> bool:
    if not is_array(m.mean, None) or not isinstance(m.scatter, DenseScatter):
        return False
    d, attributes = m.mean.shape[0], m.attributes
    known = isinstance(attributes, tuple) and all(
        isinstance(a, LevelMoments | NumericMoments) and a.total.shape[-1] == d for a in attributes
    )
    numbers = is_number(m.weight) and is_number(m.precision) and is_count(m.n_rows)
    return known and numbers and m.scatter.matrix.shape == (d, d)


def _choice(c: Choice) -> bool:
    return is_number(c.setting) and isinstance(c.auc, dict)


RECORDS = {
    record.cls.__name__: record
    for record in (
        Record(LinearMap, _linear_map),
        Record(FeatureMap, _feature_map),
        Record(Kernel, _kernel),
        Record(KernelColumns, _kernel_columns),
        Record(RandomFeatures, _random_features),
        Record(GroupMoments, _group_moments),
        Record(LevelMoments, _level_moments),
        Record(NumericMoments, _numeric_moments),
        Record(DenseScatter, lambda s: is_array(s.matrix, None, None)),
        Record(Choice, _choice),
    )
}
"""All that files can hold, by name."""
