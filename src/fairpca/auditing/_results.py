"""What an audit finds, as plain values: the single source of the JSON and of its schema."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field
from typing import Any

SCHEMA_VERSION = "1.2"
"""Changes of the first number break readers; changes of the second add fields."""


def doc(description: str, default: Any = MISSING) -> Any:
    """Return a field with the sentence that the schema says of it."""
    return field(default=default, metadata={"description": description})


@dataclass(frozen=True)
class Estimate:
    """A number measured on held-out rows, with its confidence interval."""

    value: float = doc("Mean over the splits.")
    low: float = doc("Lower end of the confidence interval.")
    high: float = doc("Upper end of the confidence interval.")


@dataclass(frozen=True)
class Group:
    """One group of an attribute."""

    label: str = doc("The level, or levels joined with ' & ' for intersections.")
    n_rows: int = doc("Rows of this group in the data.")
    share: float = doc("Its share of the rows whose group is known.")
    positive_rate: float | None = doc("Share of its rows with the positive target, if any.")
    n_used: int | None = doc(
        "Rows of this group that were used; all, unless rows were drawn.", None
    )


@dataclass(frozen=True)
class Attribute:
    """A sensitive attribute, or the intersection of several, as it was measured."""

    name: str = doc("Name of the column, or names joined with ' × '.")
    columns: list[str] = doc("The columns of the table it comes from.")
    kind: str = doc("'levels', 'numeric' (measured in two bands) or 'intersection'.")
    groups: list[Group] = doc("Its groups, most rows first.")
    n_missing: int = doc("Rows whose group is unknown or too rare to be measured.")
    note: str = doc("What was merged, cut or left out; empty if nothing was.")


@dataclass(frozen=True)
class Column:
    """A column of the table and what was made of it."""

    name: str = doc("Its name, as text.")
    role: str = doc("'feature', 'sensitive', 'target' or 'ignored'.")
    kind: str = doc("'numeric', 'category', 'text', 'date', 'constant', 'empty', ...")
    n_missing: int = doc("Rows without a value.")
    n_distinct: int = doc("Distinct values.")
    n_outputs: int = doc("Numbers it became.")
    note: str = doc("Anything unusual; empty if nothing was.")


@dataclass(frozen=True)
class Notice:
    """Something in the table that a person should look at; nothing was dropped for it."""

    kind: str = doc("'proxy', 'leak', 'id', 'copy', 'repeated_rows', 'small_group', 'sampled', ...")
    severity: str = doc("'info' or 'warning'.")
    column: str = doc("The column it is about; empty if about no single one.")
    other: str = doc("The attribute, target or column it concerns; may be empty.")
    value: float | None = doc("The number behind it, such as an AUC.")
    text: str = doc("The notice as a sentence.")


@dataclass(frozen=True)
class Target:
    """What is to be predicted."""

    name: str = doc("Name of the column.")
    positive: str = doc("The value that counts as positive.")
    rate: float = doc("Share of positive rows.")


@dataclass(frozen=True)
class Reading:
    """What had to be said about a text file, so that it could be read."""

    columns: list[str] | None = doc("Names given to the columns.")
    header: bool | None = doc("Whether the first line has the names, if that was said.")
    skip_lines: int = doc("Lines left out at the beginning.")
    encoding: str | None = doc("The encoding, if one was named.", None)


@dataclass(frozen=True)
class Data:
    """The table."""

    name: str = doc("Name of the file or data set.")
    source: str = doc("What was given: a path or a built-in name; empty for a frame.")
    fingerprint: str = doc("'sha256:' and the digest of the file, or of the values of a frame.")
    n_rows: int = doc("Rows that were used.")
    n_rows_dropped: int = doc("Rows left out because their target is missing.")
    n_features: int = doc("Columns that are features.")
    n_encoded: int = doc("Numbers per row after encoding (on the first split).")
    ignored: list[str] = doc("Columns left out on request.")
    columns: list[Column] = doc("Every column of the table.")
    attributes: list[Attribute] = doc("What was measured: attributes, then intersections.")
    target: Target | None = doc("The target, if one was named.")
    reading: Reading | None = doc("What had to be said about the file; null if nothing.", None)


@dataclass(frozen=True)
class Settings:
    """How the audit was made."""

    sensitive: list[str] = doc("Columns named as sensitive.")
    target: str | None = doc("Column named as target.")
    aim: str = doc("'hide', 'decide' or 'keep': what the advice optimises.")
    max_gap: float = doc("Largest parity gap that the aim 'decide' accepts.")
    n_components: int = doc("Components of all projections; fair PLS has one, made for the target.")
    n_splits: int = doc("Splits into rows to fit on and rows to measure on.")
    n_probe_rows: int = doc("Most held-out rows that probes see in a split.")
    confidence: float = doc("Level of all intervals and certificates.")
    seed: int = doc("Seed of splits, probes and permutations.")
    quick: bool = doc("Whether fewer splits and rows were used.")
    sensitive_kinds: dict[str, str] | None = doc(
        "Sensitive columns that were said to be 'numeric' or 'categorical'; null if none.", None
    )


@dataclass(frozen=True)
class Representation:
    """One way to present the rows to a model."""

    key: str = doc(
        "'raw', 'pca', 'fair_pca', 'fair_pca_covariances', 'fair_kernel_pca', 'leace', and with a "
        "target 'fair_pls'."
    )
    name: str = doc("Its name for people.")
    promise: str = doc("What holds on the rows it is fitted to, and what does not, in words.")
    n_columns: int | None = doc("Columns of the representation; null if it failed.")
    variance_kept: Estimate | None = doc(
        "Share of the variance of held-out rows that a linear map, learned on the others, "
        "recovers; null if it failed, and for fair PLS, which is not made to keep any."
    )
    fit_seconds: float | None = doc("Median time of a fit.")
    failure: str | None = doc("Why it could not be fitted; null if it could.")


@dataclass(frozen=True)
class Leak:
    """How well a probe recognises the groups of an attribute from a representation."""

    representation: str = doc("Key of the representation.")
    attribute: str = doc("Name of the attribute or intersection.")
    probe: str = doc("'linear', 'boosting' or 'kernel'.")
    auc: Estimate = doc("Area under the ROC curve on held-out rows; 0.5 is guessing.")
    chance_low: float = doc("As far below 0.5 as the upper end is above.")
    chance_high: float = doc(
        "Above this is above chance: with permuted groups, the best of all attributes and probes "
        "stays below it, with the confidence. Each is measured in its own deviations."
    )
    p_value: float = doc(
        "How often the best of all attributes and probes of this representation does as well or "
        "better with permuted groups."
    )
    above_chance: bool = doc("Whether that is less than 1 - confidence.")
    p_value_alone: float | None = doc(
        "How often this probe does as well or better with permuted groups of this attribute, for "
        "who asks for no other.",
        None,
    )


@dataclass(frozen=True)
class Gap:
    """How differently the groups of an attribute are distributed in a representation."""

    representation: str = doc("Key of the representation.")
    attribute: str = doc("Name of the attribute or intersection.")
    mean_gap: Estimate = doc(
        "Largest distance of a group's mean from that of all held-out rows, over columns, in "
        "standard deviations; above 0 by chance alone. The interval is the spread over splits."
    )
    covariance_gap: Estimate | None = doc(
        "Largest distance of a group's covariance from the average one, relative to that of all "
        "held-out rows (Frobenius norms); above 0 by chance alone. The interval is the spread "
        "over splits."
    )
    mmd2: Estimate = doc(
        "Squared maximum mean discrepancy, largest over pairs of groups. The interval is the "
        "spread over splits."
    )
    mmd2_chance: float = doc("Its mean under permuted groups.")
    mmd2_p_value: float = doc(
        "How often permuted groups differ as much or more: the tests of all splits combined."
    )


@dataclass(frozen=True)
class GroupRates:
    """What a downstream model does to one group."""

    label: str = doc("The group.")
    n_rows: int = doc("Its held-out rows in all splits of one round.")
    selection_rate: Estimate = doc("Share of positive decisions.")
    true_positive_rate: Estimate | None = doc(
        "Share of positive rows that are selected; null if there are none."
    )
    accuracy: Estimate = doc("Share of right decisions.")


@dataclass(frozen=True)
class Parity:
    """Decisions compared between the groups of an attribute."""

    attribute: str = doc("Name of the attribute or intersection.")
    dp_gap: Estimate = doc(
        "Largest difference of selection rates: demographic parity. Of several small groups it "
        "is too large by chance; its interval allows for that."
    )
    eo_gap: Estimate | None = doc(
        "Largest difference of true positive rates, of groups with positive rows; null if fewer "
        "than two have some."
    )
    groups: list[GroupRates] = doc("Rates of each group, in the order of the attribute's.")


@dataclass(frozen=True)
class Downstream:
    """A model that predicts the target from a representation."""

    representation: str = doc("Key of the representation.")
    model: str = doc("'linear', 'boosting' or 'kernel'.")
    accuracy: Estimate = doc("Share of right decisions.")
    auc: Estimate = doc("Area under the ROC curve.")
    parities: list[Parity] = doc("One for each attribute and intersection.")


@dataclass(frozen=True)
class CurvePoint:
    """One lambda of the trade-off."""

    tradeoff: float = doc("The lambda.")
    accuracy: Estimate = doc("Share of right decisions.")
    auc: Estimate = doc("Area under the ROC curve.")
    parities: list[Parity] = doc("One for each attribute and intersection.")


@dataclass(frozen=True)
class Curve:
    """Accuracy against fairness over all lambdas, for one downstream model."""

    representation: str = doc("Key of the representation that lambda blends with plain PCA.")
    model: str = doc("'linear' or 'kernel'.")
    points: list[CurvePoint] = doc("By increasing lambda.")


@dataclass(frozen=True)
class CertifiedGap:
    """A bound on the parity gap of every classifier on cells, or every threshold on a score."""

    representation: str = doc("Key of the representation.")
    attribute: str = doc("Name of the attribute.")
    n_cells: int = doc("Number of cells that it was cut into; a threshold makes two.")
    n_rows: int = doc("Held-out rows behind the bound.")
    observed: float = doc("The largest gap that one of them has on these rows.")
    bound: float = doc("With the confidence below, none of them has more in the population.")
    confidence: float = doc(
        "Probability that the bound holds; each one by itself, not all of them together."
    )
    accuracy: Estimate | None = doc(
        "Accuracy of the best decision per cell, or threshold; null without a target."
    )
    of: str = doc(
        "'cells', or 'scores' where the only column of the representation is a score.", "cells"
    )


@dataclass(frozen=True)
class Spectrum:
    """How much variance each component explains on the rows of the first split."""

    representation: str = doc("Key of the representation.")
    ratios: list[float] = doc("Share of each component in the total variance of the features.")


@dataclass(frozen=True)
class Panel:
    """Held-out rows in the first two components of a representation."""

    representation: str = doc("Key of the representation.")
    x: list[float] = doc("First component.")
    y: list[float] = doc("Second component.")


@dataclass(frozen=True)
class PanelGroups:
    """The groups of the rows in the panels."""

    attribute: str = doc("Name of the attribute.")
    codes: list[int] = doc("Position of each row's group among the attribute's; -1 if none.")


@dataclass(frozen=True)
class Pictures:
    """The same held-out rows in several representations."""

    panels: list[Panel] = doc("One per representation.")
    groups: list[PanelGroups] = doc("One per attribute and intersection.")


@dataclass(frozen=True)
class Summary:
    """What anyone should read first."""

    headline: str = doc("One sentence.")
    sentences: list[str] = doc("The findings in plain words, with their numbers.")


@dataclass(frozen=True)
class Advice:
    """Which setting to take."""

    aim: str = doc("What was asked for: 'hide', 'decide' or 'keep'.")
    representation: str | None = doc("Key of the recommended one; null if none helps.")
    tradeoff: float | None = doc("Recommended lambda, where there is a choice.")
    reasons: list[str] = doc("Why, in words with numbers.")
    code: str = doc("Python that reproduces the recommended model.")
    command: str = doc("The command that fits and saves it.")
    caveats: list[str] = doc("What is not protected.")
