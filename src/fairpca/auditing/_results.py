"""What an audit finds, as plain values: the single source of the JSON and of its schema."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

SCHEMA_VERSION = "1.0"
"""Changes of the first number break readers; changes of the second add fields."""


def said(description: str) -> Any:
    """Return a field with the sentence that the schema says of it."""
    return field(metadata={"description": description})


@dataclass(frozen=True)
class Estimate:
    """A number measured on held-out rows, with its confidence interval."""

    value: float = said("Mean over the splits.")
    low: float = said("Lower end of the confidence interval.")
    high: float = said("Upper end of the confidence interval.")


@dataclass(frozen=True)
class Group:
    """One group of an attribute."""

    label: str = said("The level, or levels joined with ' & ' for intersections.")
    n_rows: int = said("Rows of this group in the data.")
    share: float = said("Its share of the rows whose group is known.")
    positive_rate: float | None = said("Share of its rows with the positive target, if any.")


@dataclass(frozen=True)
class Attribute:
    """A sensitive attribute, or the intersection of several, as it was measured."""

    name: str = said("Name of the column, or names joined with ' × '.")
    columns: list[str] = said("The columns of the table it comes from.")
    kind: str = said("'levels', 'numeric' (measured in two bands) or 'intersection'.")
    groups: list[Group] = said("Its groups, most rows first.")
    n_missing: int = said("Rows whose group is unknown or too rare to be measured.")
    note: str = said("What was merged, cut or left out; empty if nothing was.")


@dataclass(frozen=True)
class Column:
    """A column of the table and what was made of it."""

    name: str = said("Its name, as text.")
    role: str = said("'feature', 'sensitive', 'target' or 'ignored'.")
    kind: str = said("'numeric', 'category', 'text', 'date', 'constant', 'empty', ...")
    n_missing: int = said("Rows without a value.")
    n_distinct: int = said("Distinct values.")
    n_outputs: int = said("Numbers it became.")
    note: str = said("Anything unusual; empty if nothing was.")


@dataclass(frozen=True)
class Notice:
    """Something in the table that a person should look at; nothing was dropped for it."""

    kind: str = said("'proxy', 'leak', 'id', 'copy', 'constant', 'small_group', ...")
    severity: str = said("'info' or 'warning'.")
    column: str = said("The column it is about; empty if about no single one.")
    other: str = said("The attribute, target or column it concerns; may be empty.")
    value: float | None = said("The number behind it, such as an AUC.")
    text: str = said("The notice as a sentence.")


@dataclass(frozen=True)
class Target:
    """What is to be predicted."""

    name: str = said("Name of the column.")
    positive: str = said("The value that counts as positive.")
    rate: float = said("Share of positive rows.")


@dataclass(frozen=True)
class Reading:
    """What had to be said about a text file, so that it could be read."""

    columns: list[str] | None = said("Names given to the columns.")
    header: bool | None = said("Whether the first line has the names, if that was said.")
    skip_lines: int = said("Lines left out at the beginning.")


@dataclass(frozen=True)
class Data:
    """The table."""

    name: str = said("Name of the file or data set.")
    source: str = said("What was given: a path or a built-in name; empty for a frame.")
    fingerprint: str = said("'sha256:' and the digest of the file, or of the values of a frame.")
    n_rows: int = said("Rows that were used.")
    n_rows_dropped: int = said("Rows left out because their target is missing.")
    n_features: int = said("Columns that are features.")
    n_encoded: int = said("Numbers per row after encoding (on the first split).")
    ignored: list[str] = said("Columns left out on request.")
    columns: list[Column] = said("Every column of the table.")
    attributes: list[Attribute] = said("What was measured: attributes, then intersections.")
    target: Target | None = said("The target, if one was named.")
    reading: Reading | None = field(
        default=None,
        metadata={"description": "What had to be said about the file; null if nothing."},
    )


@dataclass(frozen=True)
class Settings:
    """How the audit was made."""

    sensitive: list[str] = said("Columns named as sensitive.")
    target: str | None = said("Column named as target.")
    aim: str = said("'hide', 'decide' or 'keep': what the advice optimises.")
    max_gap: float = said("Largest parity gap that the aim 'decide' accepts.")
    n_components: int = said("Components of all projections.")
    n_splits: int = said("Splits into rows to fit on and rows to measure on.")
    n_probe_rows: int = said("Most held-out rows that probes see in a split.")
    confidence: float = said("Level of all intervals and certificates.")
    seed: int = said("Seed of splits, probes and permutations.")
    quick: bool = said("Whether fewer splits and rows were used.")


@dataclass(frozen=True)
class Representation:
    """One way to present the rows to a model."""

    key: str = said("'raw', 'pca', 'fair_pca', 'fair_pca_covariances', 'fair_kernel_pca', 'leace'.")
    name: str = said("Its name for people.")
    promise: str = said("What holds on the rows it is fitted to, and what does not, in words.")
    n_columns: int | None = said("Columns of the representation; null if it failed.")
    variance_kept: Estimate | None = said(
        "Share of the variance of held-out rows that a linear map, learned on the others, recovers."
    )
    fit_seconds: float | None = said("Median time of a fit.")
    failure: str | None = said("Why it could not be fitted; null if it could.")


@dataclass(frozen=True)
class Leak:
    """How well a probe recognises the groups of an attribute from a representation."""

    representation: str = said("Key of the representation.")
    attribute: str = said("Name of the attribute or intersection.")
    probe: str = said("'linear', 'boosting' or 'kernel'.")
    auc: Estimate = said("Area under the ROC curve on held-out rows; 0.5 is guessing.")
    chance_low: float = said(
        "Lower end of the central part (that of the confidence) of AUCs under permuted groups."
    )
    chance_high: float = said("Upper end of it.")
    p_value: float = said("How often permuted groups are recognised as well or better.")
    above_chance: bool = said("Whether that is less than 1 - confidence.")


@dataclass(frozen=True)
class Gap:
    """How differently the groups of an attribute are distributed in a representation."""

    representation: str = said("Key of the representation.")
    attribute: str = said("Name of the attribute or intersection.")
    mean_gap: Estimate = said(
        "Largest distance of a group's mean from that of all held-out rows, over columns, in "
        "standard deviations; above 0 by chance alone. The interval is the spread over splits."
    )
    covariance_gap: Estimate | None = said(
        "Largest distance of a group's covariance from the average one, relative to that of all "
        "held-out rows (Frobenius norms); above 0 by chance alone. The interval is the spread "
        "over splits."
    )
    mmd2: Estimate = said(
        "Squared maximum mean discrepancy, largest over pairs of groups. The interval is the "
        "spread over splits."
    )
    mmd2_chance: float = said("Its mean under permuted groups.")
    mmd2_p_value: float = said(
        "How often permuted groups differ as much or more: the tests of all splits combined."
    )


@dataclass(frozen=True)
class GroupRates:
    """What a downstream model does to one group."""

    label: str = said("The group.")
    n_rows: int = said("Its held-out rows in all splits of one round.")
    selection_rate: Estimate = said("Share of positive decisions.")
    true_positive_rate: Estimate | None = said(
        "Share of positive rows that are selected; null if there are none."
    )
    accuracy: Estimate = said("Share of right decisions.")


@dataclass(frozen=True)
class Parity:
    """Decisions compared between the groups of an attribute."""

    attribute: str = said("Name of the attribute or intersection.")
    dp_gap: Estimate = said(
        "Largest difference of selection rates: demographic parity. Of several small groups it "
        "is too large by chance; its interval allows for that."
    )
    eo_gap: Estimate | None = said(
        "Largest difference of true positive rates, of groups with positive rows; null if fewer "
        "than two have some."
    )
    groups: list[GroupRates] = said("Rates of each group, in the order of the attribute's.")


@dataclass(frozen=True)
class Downstream:
    """A model that predicts the target from a representation."""

    representation: str = said("Key of the representation.")
    model: str = said("'linear', 'boosting' or 'kernel'.")
    accuracy: Estimate = said("Share of right decisions.")
    auc: Estimate = said("Area under the ROC curve.")
    parities: list[Parity] = said("One for each attribute and intersection.")


@dataclass(frozen=True)
class CurvePoint:
    """One lambda of the trade-off."""

    tradeoff: float = said("The lambda.")
    accuracy: Estimate = said("Share of right decisions.")
    auc: Estimate = said("Area under the ROC curve.")
    parities: list[Parity] = said("One for each attribute and intersection.")


@dataclass(frozen=True)
class Curve:
    """Accuracy against fairness over all lambdas, for one downstream model."""

    representation: str = said("Key of the representation that lambda blends with plain PCA.")
    model: str = said("'linear' or 'kernel'.")
    points: list[CurvePoint] = said("By increasing lambda.")


@dataclass(frozen=True)
class CertifiedGap:
    """A bound on the parity gap of every classifier that sees only the cell of a row."""

    representation: str = said("Key of the representation that was cut into cells.")
    attribute: str = said("Name of the attribute.")
    n_cells: int = said("Number of cells.")
    n_rows: int = said("Held-out rows behind the bound.")
    observed: float = said("The largest gap that a classifier has on these rows.")
    bound: float = said("With the confidence below, no classifier has more in the population.")
    confidence: float = said(
        "Probability that the bound holds; each one by itself, not all of them together."
    )
    accuracy: Estimate | None = said(
        "Accuracy of the best decision per cell; null without a target."
    )


@dataclass(frozen=True)
class Spectrum:
    """How much variance each component explains on the rows of the first split."""

    representation: str = said("Key of the representation.")
    ratios: list[float] = said("Share of each component in the total variance of the features.")


@dataclass(frozen=True)
class Panel:
    """Held-out rows in the first two components of a representation."""

    representation: str = said("Key of the representation.")
    x: list[float] = said("First component.")
    y: list[float] = said("Second component.")


@dataclass(frozen=True)
class PanelGroups:
    """The groups of the rows in the panels."""

    attribute: str = said("Name of the attribute.")
    codes: list[int] = said("Position of each row's group among the attribute's; -1 if none.")


@dataclass(frozen=True)
class Pictures:
    """The same held-out rows in several representations."""

    panels: list[Panel] = said("One per representation.")
    groups: list[PanelGroups] = said("One per attribute and intersection.")


@dataclass(frozen=True)
class Summary:
    """What anyone should read first."""

    headline: str = said("One sentence.")
    sentences: list[str] = said("The findings in plain words, with their numbers.")


@dataclass(frozen=True)
class Advice:
    """Which setting to take."""

    aim: str = said("What was asked for: 'hide', 'decide' or 'keep'.")
    representation: str | None = said("Key of the recommended one; null if none helps.")
    tradeoff: float | None = said("Recommended lambda, where there is a choice.")
    reasons: list[str] = said("Why, in words with numbers.")
    code: str = said("Python that reproduces the recommended model.")
    command: str = said("The command that fits and saves it.")
    caveats: list[str] = said("What is not protected.")
