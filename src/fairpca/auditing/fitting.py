"""From a table on disk to a fair model on disk."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from ..errors import InfeasibleError
from ..estimators import FairKernelPCA, FairPCA, collect_moments
from ..peers import LEACE, PCA
from ..persistence import FairModel
from ..tables import TableEncoder
from .attributes import estimator_columns, measured_attributes
from .errors import AuditError, TargetError
from .preparation import as_table, roles_in, usual_components
from .representations import COVARIANCE_TOLERANCE, approximation_for, fewer_and_fewer
from .roles import binary_target

TABLE_METHODS = ("fair_pca", "fair_kernel_pca", "leace", "pca")


def fit_table(
    table: Any,
    sensitive: str | Sequence[str] | None = None,
    target: str | None = None,
    *,
    method: str = "fair_pca",
    n_components: int | None = None,
    match: str = "means",
    tradeoff: float = 0.0,
    criterion: str = "demographic_parity",
    positive: Any = None,
    ignore: Sequence[str] = (),
    intersectional: bool = False,
    seed: int = 0,
    data: str | os.PathLike[str] | None = None,
    **options: Any,
) -> FairModel:
    """Fit a fair representation to a table with messy columns, ready to be saved.

    Parameters
    ----------
    table, sensitive, target, positive, ignore, data
        As in `fairpca.audit`. The target is no feature; its values matter for criteria other than
        demographic parity only.
    method : {"fair_pca", "fair_kernel_pca", "leace", "pca"}
        What to fit to the encoded columns.
    n_components : int, optional
        Number of components, by default 15 or fewer; LEACE keeps all columns.
    match : {"means", "covariances"}
        For fair PCA.
    tradeoff : float in [0, 1]
        The paper's lambda; above 0 the guarantee is gone.
    criterion : str
        As in `fairpca.FairPCA`.
    intersectional : bool
        Whether to compare joint groups.
    seed : int
    **options
        More parameters of the estimator, such as ``covariance_tol``, which is 0.05 here: groups
        of real tables seldom have equal covariances in many dimensions.

    Returns
    -------
    FairModel
        With `transform` for frames of the same columns (sensitive ones are not needed), `save` and
        the numbers of the fit. **Equal means do not hide what a non-linear model can see**: run
        `fairpca.audit` on the same table.

    Examples
    --------
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> people = pd.DataFrame({"sex": rng.choice(["f", "m"], size=200)})
    >>> people["height"] = rng.normal(170, 7, size=200) + 13 * (people["sex"] == "m")
    >>> people["shoe"] = people["height"] / 4 + rng.normal(size=200)
    >>> people["age"] = rng.integers(18, 80, size=200)
    >>> model = fit_table(people, "sex", n_components=2)
    >>> model.transform(people.drop(columns="sex")).shape
    (200, 2)
    """
    if method not in TABLE_METHODS:
        raise AuditError(f"method='{method}' is none of {', '.join(map(repr, TABLE_METHODS))}.")
    table = as_table(table, data)
    roles = roles_in(table, sensitive, target, ignore)
    frame = table.frame
    y = None
    if roles.target is not None and criterion != "demographic_parity":
        is_positive, known, _ = binary_target(frame[roles.target], positive)
        frame, y = frame[known], is_positive[known].astype(int)
    elif criterion != "demographic_parity":
        raise TargetError(
            f"criterion='{criterion}' compares groups among rows with the same outcome, and no "
            f"target was named. Name one."
        )
    frame = frame.reset_index(drop=True)
    attributes = measured_attributes(frame, roles.sensitive, joint=False)
    encoder = TableEncoder().fit(frame[list(roles.features)])
    X = encoder.transform(frame[list(roles.features)])
    k = usual_components(X.shape[1]) if n_components is None else n_components
    columns, kinds = estimator_columns(attributes, np.arange(len(frame)))
    choices: dict[str, Any] = {
        "criterion": criterion,
        "intersectional": intersectional,
        "sensitive_kinds": kinds,
        "missing_sensitive": "ignore",
    }
    if match == "covariances":
        options = {"covariance_tol": COVARIANCE_TOLERANCE, **options}
    if method == "fair_pca":
        fair = FairPCA(k, match=match, tradeoff=tradeoff, random_state=seed, **choices, **options)
        ours = n_components is None and match == "covariances"
        numbers = fewer_and_fewer(k) if ours else (k,)
        estimator: Any = _first_that_fits(fair, numbers, X, y, columns)
    elif method == "fair_kernel_pca":
        options = {"approximation": approximation_for(len(X)), **options}
        estimator = FairKernelPCA(
            k, tradeoff=tradeoff, random_state=seed, **choices, **options
        ).fit(X, y, sensitive_features=columns)
    else:
        moments = collect_moments(X, columns, y=y, **choices)
        estimator = (LEACE(**options) if method == "leace" else PCA(k, **options)).fit_moments(
            moments
        )
    info = {
        "data": table.name,
        "fingerprint": table.fingerprint,
        "n_rows": len(frame),
        "sensitive": list(roles.sensitive),
        "target": roles.target,
        "groups": {
            a.name: {group.label: group.n_rows for group in a.described(None).groups}
            for a in attributes
            if a.kind == "levels"
        },
    }
    return FairModel(encoder, estimator, info)


def _first_that_fits(
    fair: FairPCA, numbers: Sequence[int], X: np.ndarray, y: Any, columns: dict
) -> FairPCA:
    """Fit with the first of these numbers of components that is possible."""
    *tried, last = numbers
    for k in tried:
        try:
            return clone(fair).set_params(n_components=k).fit(X, y, sensitive_features=columns)
        except InfeasibleError:
            continue
    return fair.set_params(n_components=last).fit(X, y, sensitive_features=columns)
