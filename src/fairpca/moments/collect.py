"""From arrays and frames as users hold them to moments, in one call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..batches import Rows
from ..groups import read_attributes
from .accumulate import accumulate
from .group_moments import GroupMoments


def collect_moments(
    X: Any,
    sensitive_features: Any,
    *,
    sample_weight: Any = None,
    with_scatters: bool = False,
    sensitive_kinds: Mapping[Any, str] | None = None,
    intersectional: bool = False,
    missing_sensitive: str = "error",
) -> GroupMoments:
    """Return the moments of a batch of rows, ready to be added to those of other batches.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Features, finite floats.
    sensitive_features : array-like, Series or frame with n rows
        Sensitive attributes.
    sample_weight : array of shape (n,), optional
        Positive weights.
    with_scatters : bool
        Whether to keep a scatter per group, as ``match="covariances"`` needs.
    sensitive_kinds, intersectional, missing_sensitive
        As in `fairpca.FairPCA`.

    Returns
    -------
    GroupMoments
        Fit from it with ``FairPCA(...).fit_moments(moments)``; one set of moments serves every
        number of components and every trade-off.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 4.0]])
    >>> collect_moments(X, ["a", "b", "b"]).attributes[0].weight
    array([1., 2.])
    """
    attributes = read_attributes(
        sensitive_features,
        kinds=sensitive_kinds,
        intersectional=intersectional,
        missing=missing_sensitive,
    )
    for a in attributes:
        if len(a.missing) != X.shape[0]:
            raise ValueError(
                f"X has {X.shape[0]} rows, but the sensitive attribute {a.name!r} has "
                f"{len(a.missing)} entries. Pass one entry per row."
            )
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
    return accumulate(Rows(X, weight, attributes), with_scatters=with_scatters)
