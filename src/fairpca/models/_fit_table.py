"""What is fitted to the encoded rows of a table, in memory or on disk, and what is told of it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any
from warnings import catch_warnings, simplefilter

import narwhals as nw
import numpy as np
from sklearn.base import clone

from .._attributes import (
    Roles,
    as_columns,
    attribute_columns,
    check_weights,
    checked_kinds,
    factors_among,
    in_words_of_targets,
)
from .._rows import LazyRows
from ..erasers import LEACE
from ..errors import (
    InfeasibleError,
    ManyLevelsWarning,
    MissingTargetError,
    OutlierWarning,
    UsageError,
    warn_user,
)
from ..estimators import FairKernelPCA, FairPCA, FairPLS, PlainPCA, collect_moments
from ..tables import Notice, Table, TableEncoder, check_columns, checked_missing, far_numbers
from ._defaults import (
    COVARIANCE_TOLERANCE,
    approximation_for,
    component_fallbacks,
    fit_available_components,
    usual_components,
)
from ._plans import (
    AttributePlan,
    FactorPlan,
    numbers_of,
    plan_column,
    plan_factor,
    plan_target,
    roles_in,
    weights_of,
)

TABLE_METHODS = ("fair_pca", "fair_pls", "fair_kernel_pca", "leace", "pca")

MOST_IN_MEMORY = 2**25
"""Rows that are all among those looked at are not read again for what takes up to so many numbers,
256 MB."""

Fitted = tuple[TableEncoder, Any, dict[str, Any]]
"""An encoder, the estimator that was fitted to what it returns, and facts."""


def fit_in_memory(
    table: Table, wanted: TableOptions, y: Any = None, sample_weight: Any = None
) -> Fitted:
    """Encode all rows, and fit; values of the target, or weights, may be given beside the table."""
    if y is not None:
        table, wanted = _with_target(table, wanted, y)
    roles = roles_in(table, wanted.sensitive, wanted.target, wanted.ignore, weight=wanted.weight)
    factors = factors_among(list(table.frame.columns), roles, wanted.given)
    frame, y, target = table.frame, None, None
    weights = check_weights(sample_weight, len(frame))
    if roles.weight is not None:
        weights = weights_of(numbers_of(frame[roles.weight], "weight"), roles.weight)
    if wanted.needs_target(roles.target):
        target, values = plan_target(frame[roles.target], **wanted.of_target(roles))
        known = target.known(values)
        frame, y = frame[known], {target.name: target.fitted(values[known])}
        weights = None if weights is None else weights[known]
    frame = frame.reset_index(drop=True)
    said = checked_kinds(wanted.sensitive_kinds, [*roles.sensitive, *factors])
    planned = [plan_column(frame[name], said.get(name)) for name in roles.sensitive]
    plans = [plan for plan, _ in planned]
    alike = [plan_factor(frame[name], said.get(name)) for name in factors]
    given = {name: of for plan, values in alike for name, of in plan.columns(values).items()}
    likened = [plan for plan, _ in alike]
    wanted.warn_of_far_numbers(frame[list(roles.features)])
    encoder = wanted.encoder().fit(frame[list(roles.features)])
    X = encoder.transform(frame[list(roles.features)])
    columns = {plan.name: plan.fitted(values) for plan, values in planned}
    estimator = wanted.fitted(X, y, columns, plans, target, weights, likened, given or None)
    about = (table.name, table.fingerprint, len(frame), len(table.frame) - len(frame))
    notices = noticed(frame, roles, table.renamed)
    info = wanted.facts(*about, roles, plans, target, notices, likened)
    return encoder, estimator, info | ({} if sample_weight is None else {"weighted": True})


def noticed(frame: Any, roles: Roles, renamed: Sequence[tuple[str, str]]) -> list[Notice]:
    """Return what an audit would point out about the columns."""
    shown = [name for name in frame if roles.of(name) in ("feature", "sensitive", "target")]
    return check_columns(frame[shown], roles.sensitive, roles.target, renamed=renamed)


def _with_target(table: Table, wanted: TableOptions, y: Any) -> tuple[Table, TableOptions]:
    """Return the table with what is to be predicted as its target, where somebody looks at it."""
    frame, target = table.frame, wanted.target
    (name, column), *more = attribute_columns(y, target or "y").items()
    if more or len(column) != len(frame):
        raise UsageError(
            f"y has {1 + len(more)} column(s) of {len(column)} rows, and the table has "
            f"{len(frame)} rows. Pass one value of the target per row."
        )
    others = (target, *as_columns(wanted.sensitive or table.sensitive), *as_columns(wanted.ignore))
    if str(name) in frame and str(name) not in others:
        raise UsageError(
            f"y is called '{name}', and so is a column of the table, which would be a feature: "
            f"what is to be predicted would be known. Pass target='{name}', or rename one of them."
        )
    if not wanted.needs_target("y"):
        return table, replace(wanted, target=target if target in frame else None)
    values = column.to_pandas().array if isinstance(column, nw.Series) else column
    target = str(name) if target is None else target
    return replace(table, frame=frame.assign(**{target: values})), replace(wanted, target=target)


@dataclass(frozen=True)
class TableOptions:
    """What to fit to a table, as `FairTableTransformer` explains, and how to do it."""

    sensitive: str | Sequence[str] | None = None
    target: str | None = None
    _: KW_ONLY
    method: str | None = "fair_pca"
    n_components: int | None = None
    match: str | None = None
    tradeoff: float = 0.0
    criterion: str = "demographic_parity"
    pos_label: Any = None
    given: str | Sequence[str] = ()
    ignore: str | Sequence[str] = ()
    weight: str | None = None
    sensitive_kinds: Mapping[str, str] | None = None
    target_kinds: Mapping[str, str] | None = None
    intersectional: bool = False
    scale: str = "standard"
    missing: Sequence[float] = ()
    seed: int = 0
    options: Mapping[str, Any] | None = None

    def encoder(self) -> TableEncoder:
        """Return what columns become numbers by."""
        return TableEncoder(scale=self.scale, missing=self.missing)

    def warn_of_far_numbers(self, features: Any) -> None:
        """Warn, by the names of columns, of numbers far from all others: ranks are not."""
        if self.scale != "rank":
            for notice in far_numbers(features, checked_missing(self.missing)):
                warn_user(notice.text, OutlierWarning)

    def check(self) -> None:
        """Raise where the method would ignore something."""
        if self.method not in TABLE_METHODS:
            listed = ", ".join(map(repr, TABLE_METHODS))
            parts = ", as of a model that was made of fitted parts," if self.method is None else ""
            raise UsageError(f"method={self.method!r}{parts} is none of {listed}. Set one of them.")
        matched = ["fair_pca", "fair_pls"]
        if self.match == "distributions":
            matched = ["fair_pca", "fair_kernel_pca", "fair_pls"]
        for name, usual, methods in (
            ("match", (None, "means"), matched),
            ("tradeoff", (0.0,), ["fair_pca", "fair_kernel_pca"]),
            ("target_kinds", (None, {}), ["fair_pls"]),
            ("given", ((), [], "", None), [name for name in TABLE_METHODS if name != "pca"]),
        ):
            value = getattr(self, name)
            if value not in usual and self.method not in methods:
                raise UsageError(
                    f"{name}={value!r} is for {' and '.join(map(repr, methods))}, and "
                    f"method='{self.method}' would ignore it. Use one of them, or leave it out."
                )

    def fitted(
        self,
        X: np.ndarray | LazyRows,
        y: Any,
        columns: Any,
        plans: Sequence[AttributePlan],
        target: AttributePlan | None,
        weights: np.ndarray | None = None,
        factors: Sequence[FactorPlan] = (),
        given: Mapping[str, np.ndarray] | None = None,
    ) -> Any:
        """Fit to encoded rows; those elsewhere have all that belongs to them with them.

        Given numbers, means are made equal unless somebody asks for more, which has to be strata.
        Where nothing is left of the features, say which groups may not be meant as such.
        """
        kinds = {plan.name: plan.kind for plan in plans}
        for factor in factors:
            kinds |= factor.kinds
        numbers = any(factor.kind == "numeric" for factor in factors)
        wanted = replace(self, match=self.match or "means") if numbers else self
        try:
            with catch_warnings():
                simplefilter("ignore", OutlierWarning)  # told by the names of columns before
                return wanted._estimator(X, y, columns, kinds, target, weights, given)
        except InfeasibleError as error:
            told = [plan.told for plan in plans if plan.told and plan.kind == "categorical"]
            raise InfeasibleError(" ".join([str(error), *told])) from error

    def _estimator(
        self,
        X: np.ndarray | LazyRows,
        y: Any,
        columns: Any,
        kinds: dict[str, str],
        target: AttributePlan | None,
        weights: np.ndarray | None,
        given: Mapping[str, np.ndarray] | None,
    ) -> Any:
        usual = usual_components((X if isinstance(X, np.ndarray) else X.head.X).shape[1])
        more = self.options or {}
        choices: dict[str, Any] = {
            "criterion": self.criterion,
            "intersectional": self.intersectional,
            "sensitive_kinds": kinds,
            "missing_sensitive": "ignore",
        }

        def fit(unfitted: Any) -> Any:
            beside = {"sensitive_features": columns, "sample_weight": weights, "given": given}
            return unfitted.fit(X, y, **beside)

        if self.method == "fair_pls" and target is not None:
            kind = "numeric" if target.kind == "numeric" else "categorical"
            predictive = FairPLS(
                self.n_components,
                match=self.match or "distributions",
                random_state=self.seed,
                target_kinds={target.name: kind},
                **choices,
                **{"kernel": "rbf", **more},
            )
            return fit(predictive)
        if self.method == "fair_kernel_pca":
            approximation: str | None = "nystroem"
            if isinstance(X, np.ndarray) and self.match != "distributions":
                approximation = approximation_for(len(X))
            kernel = FairKernelPCA(
                match=self.match or "means",
                tradeoff=self.tradeoff,
                random_state=self.seed,
                **choices,
                **{"approximation": approximation, **more},
            )
            return self._with_components(usual, kernel, fit)
        in_rows = isinstance(X, np.ndarray) or self.match == "distributions"
        if self.method == "fair_pca" and in_rows:
            return self._fair_pca(usual, choices, fit)
        scatters = self.method == "fair_pca" and self.match == "covariances"
        moments = collect_moments(
            X,
            columns,
            given=given,
            y=y,
            sample_weight=weights,
            with_scatters=scatters,
            **choices,
        )
        if self.method == "fair_pca":
            return self._fair_pca(usual, choices, lambda f: f.fit_moments(moments))
        if self.method == "leace":
            return LEACE(**more).fit_moments(moments)
        return self._with_components(usual, PlainPCA(**more), lambda p: p.fit_moments(moments))

    @staticmethod
    def facts(
        name: str,
        fingerprint: str,
        n_rows: int,
        n_dropped: int,
        roles: Roles,
        plans: Sequence[AttributePlan],
        target: AttributePlan | None,
        notices: Sequence[Notice],
        factors: Sequence[FactorPlan] = (),
    ) -> dict[str, Any]:
        """Return the facts that a model keeps; warn of what may not be meant."""
        groups = {p.name: dict(zip(p.labels, p.n_rows, strict=True)) for p in plans if p.labels}
        named = {plan.name for plan in (*plans, target) if plan is not None}
        merged = [n.text for n in notices if n.kind == "spelling" and n.value and n.column in named]
        for told in [*(plan.told for plan in plans if plan.told and plan.labels), *merged]:
            warn_user(told, ManyLevelsWarning)
        if target is not None and target.told:
            unclear = Notice("pos_label", "warning", target.name, None, None, target.told)
            notices = [unclear, *notices]
        notes = [note for plan in plans for note in (plan.told, _what_was_merged(plan))]
        return {
            "data": name,
            "fingerprint": fingerprint,
            "n_rows": n_rows,
            **({"n_rows_dropped": n_dropped} if n_dropped else {}),
            "sensitive": list(roles.sensitive),
            "target": roles.target,
            **({"given": {plan.name: plan.kind for plan in factors}} if factors else {}),
            **({"weight": roles.weight} if roles.weight is not None else {}),
            **({"pos_label": target.labels[-1]} if target and target.kind == "binary" else {}),
            "groups": groups,
            **({"group_notes": list(filter(None, notes))} if any(notes) else {}),
            **({"notices": [n.text for n in notices]} if notices else {}),
        }

    def takes_all_rows_at_once(self, n_rows: int, d: int) -> bool:
        """Whether so few rows are better fitted in memory: by their kernel matrix, or often."""
        if self.method == "fair_pls":
            return n_rows * d <= MOST_IN_MEMORY
        if self.match == "distributions":
            return n_rows * d <= MOST_IN_MEMORY
        exact = (self.options or {}).get("approximation", approximation_for(n_rows)) is None
        return self.method == "fair_kernel_pca" and exact

    def needs_target(self, target: str | None) -> bool:
        """Whether a target is predicted, or rows of one outcome compared; raise without one."""
        why = ""
        if self.method == "fair_pls":
            why = "method='fair_pls' keeps what predicts the target"
        elif self.criterion != "demographic_parity":
            why = f"criterion='{self.criterion}' compares groups among rows with the same outcome"
        if why and target is None:
            raise MissingTargetError(f"{why}, and no target was named. Name one (--target).")
        return bool(why)

    def of_target(self, roles: Roles) -> dict[str, Any]:
        """Return what is said of the target: kind, positive class, whether it must be binary."""
        with in_words_of_targets():
            kinds = checked_kinds(self.target_kinds, [roles.target])
        binary = self.method != "fair_pls" or self.criterion != "demographic_parity"
        return {
            "kind": kinds.get(roles.target or ""),
            "pos_label": self.pos_label,
            "binary": binary,
        }

    def _with_components(self, usual: int, unfitted: Any, fit: Callable[[Any], Any]) -> Any:
        """Fit as many components as were asked for, else as many as is usual, or there are."""
        if self.n_components is not None:
            return fit(unfitted.set_params(n_components=self.n_components))
        return fit_available_components(
            lambda k: fit(clone(unfitted).set_params(n_components=k)), usual
        )

    def _fair_pca(self, usual: int, choices: Mapping[str, Any], fit: Callable[[Any], Any]) -> Any:
        """Fit; equal covariances in fewer components where nobody named a number of them."""
        usual_tol = {"covariance_tol": COVARIANCE_TOLERANCE} if self.match == "covariances" else {}
        fair = FairPCA(
            match=self.match or "means",
            tradeoff=self.tradeoff,
            random_state=self.seed,
            **choices,
            **usual_tol | dict(self.options or {}),
        )
        if self.n_components is None and self.match == "covariances":
            *more, usual = component_fallbacks(usual)
            for k in more:
                with contextlib.suppress(InfeasibleError):
                    return fit(clone(fair).set_params(n_components=k))
        return self._with_components(usual, fair, fit)


def _what_was_merged(plan: AttributePlan) -> str:
    """Return what a fit does not make equal, in a sentence or two; nothing if it is all."""
    said = []
    if plan.note:
        said.append(f"{plan.note.rstrip('.')}; differences among them are not removed.")
    if plan.n_unknown:
        said.append(
            f"{plan.n_unknown:,} rows have no group here; they count for the variance, not for the "
            f"comparison."
        )
    return f"{plan.name}: {' '.join(said)}" if said else ""
