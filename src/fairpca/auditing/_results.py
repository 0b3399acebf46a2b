"""What an audit finds, as plain values: the single source of the JSON and of its schema."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field
from typing import Annotated, Any

from ..metrics import PROBES

SCHEMA_VERSION = "4.4"
"""Changes of the first number break readers; changes of the second add fields."""


_KINDS = ", ".join(map(repr, PROBES))
"""Model families."""

EXISTING = "existing_model"
"""Stands for the model family of an existing score or decision."""


@dataclass(frozen=True)
class _UpTo:
    """Says to pydantic, where an audit is read, how large a number can be; NaN is none."""

    largest: float

    def __get_pydantic_core_schema__(self, kind: Any, handler: Any) -> Any:
        finite = {"allow_inf_nan": False} if kind is float else {}
        return {**handler(kind), "ge": -self.largest, "le": self.largest, **finite}


LARGEST_NUMBER = 1e100  # sums and squares of larger ones may overflow
Number = Annotated[float, _UpTo(LARGEST_NUMBER)]
Count = Annotated[int, _UpTo(2**53)]  # larger ones are not exact in every JSON reader


def doc(description: str, default: Any = MISSING) -> Any:
    """Return a field with the sentence that the schema says of it."""
    return field(default=default, metadata={"description": description})


@dataclass(frozen=True)
class Estimate:
    """A number measured on held-out data, with its confidence interval."""

    value: Number = doc("Mean over splits.")
    low: Number = doc("Lower end.")
    high: Number = doc("Upper end.")


@dataclass(frozen=True)
class Setting:
    """A method as it was fitted, or an existing score or decision.

    >>> str(Setting("fair_pca", n_components=7)), str(Setting("score", column="risk"))
    ('fair_pca@7', 'score:risk')
    """

    method: str = doc(
        "'raw', 'pca', 'fair_pca', 'fair_pca_covariances', 'fair_pca_distributions', "
        "'fair_kernel_pca', 'leace', 'fair_pls', 'score' or 'decision'."
    )
    n_components: Count | None = doc("Where fewer than it reaches.", None)
    tradeoff: Number | None = doc("Lambda.", None)
    column: str | None = doc("Of the score or decision.", None)

    def __str__(self) -> str:
        """Return the key by which the other parts of an audit refer to it."""
        parts = [self.method]
        parts += [] if self.n_components is None else [f"@{self.n_components}"]
        parts += [] if self.tradeoff is None else [f"~{self.tradeoff:g}"]
        return "".join(parts if self.column is None else [*parts, f":{self.column}"])


@dataclass(frozen=True)
class Group:
    """One group of an attribute."""

    label: str = doc("Level; of an intersection, levels joined by ' & '.")
    n_rows: Count = doc("Rows in the data; where groups are probabilities, expected rows.")
    share: Number = doc("Weighted share of rows of known group.")
    outcome: Number | None = doc("Its positive rate, or mean target.")
    n_used: Count = doc("Rows used; fewer where rows were drawn.")
    measured: bool = doc("Whether probes include it; others are too rare.", True)


@dataclass(frozen=True)
class Attribute:
    """A sensitive attribute, or the intersection of several."""

    name: str = doc("Column, or columns joined by ' × '; the name given to probabilities.")
    columns: list[str] = doc("Its columns.")
    kind: str = doc(
        "'levels', 'numeric' (split into two bands), 'probabilities' (of groups, a column for "
        "each) or 'intersection'."
    )
    groups: list[Group] = doc("Most rows first.")
    n_missing: Count = doc("Rows of unknown group.")
    note: str = doc("What was merged, cut or left out.")


@dataclass(frozen=True)
class Column:
    """A column of the table and its encoding."""

    name: str = doc("Its name.")
    role: str = doc(
        "'feature', 'sensitive', 'probability', 'target', 'score', 'decision', 'person', 'weight' "
        "or 'ignored'."
    )
    kind: str = doc("'numeric', 'category', 'text', 'date', 'constant', 'empty', ...")
    n_missing: Count = doc("Missing values.")
    n_distinct: Count = doc("Distinct values.")
    n_outputs: Count = doc("Encoded columns.")
    note: str = doc("Anything unusual.")


@dataclass(frozen=True)
class Notice:
    """A data warning; nothing was dropped for it."""

    kind: str = doc("'proxy', 'leak', 'id', 'copy', 'repeated_rows', 'small_group', 'sampled', ...")
    severity: str = doc("'info' or 'warning'.")
    column: str = doc("Its column; may be empty.")
    other: str = doc("The other column or attribute; may be empty.")
    value: Number | None = doc("Such as an AUC.")
    text: str = doc("The warning.")


@dataclass(frozen=True)
class Target:
    """The target."""

    name: str = doc("Its column.")
    kind: str = doc("'binary', 'classes' or 'number'.")
    pos_label: str | None = doc("Positive class.")
    rate: Number | None = doc("Share of positive rows.")
    classes: list[str] = doc("Of several.")
    mean: Number | None = doc("Of a number.")
    deviation: Number | None = doc("Standard deviation of a number.")


@dataclass(frozen=True)
class Reading:
    """Options with which a file was read."""

    columns: list[str] | None = doc("Column names.")
    header: bool | None = doc("Whether the first line has the names.")
    skip_lines: Count = doc("Lines skipped.")
    encoding: str | None = doc("Encoding.", None)
    vectors: str | None = doc("File of vectors added as a column; empty for an array.", None)


@dataclass(frozen=True)
class Data:
    """The table."""

    name: str = doc("File or data set.")
    source: str = doc("Path or built-in name; empty for a frame.")
    fingerprint: str = doc("'sha256:' and the digest of file or frame.")
    n_rows: Count = doc("Rows used.")
    n_rows_dropped: Count = doc("Rows without target, or of weight 0.")
    n_people: Count = doc("Different people.")
    n_features: Count = doc("Feature columns.")
    n_encoded: Count = doc("Columns after encoding.")
    ignored: list[str] = doc("Ignored columns.")
    columns: list[Column] = doc("All columns.")
    attributes: list[Attribute] = doc("Attributes, then intersections.")
    target: Target | None = doc("The target.")
    reading: Reading | None = doc("How the file was read.", None)
    n_rows_table: Count | None = doc("All rows.", None)
    title: str = doc("What the rows are, where and when.", "")
    owner: str = doc("Who is responsible.", "")
    note: str = doc("Source and use.", "")
    labels: dict[str, str] | None = doc("Readable column names.", None)


@dataclass(frozen=True)
class Settings:
    """Options of the audit."""

    sensitive: list[str] = doc("Sensitive columns.")
    target: str | None = doc("Target column.")
    above: Number | None = doc("Threshold that makes a numeric target binary.")
    aim: str = doc("'hide', 'decide' or 'keep'.")
    max_gap: Number = doc("Limit of the gap, as a fraction.")
    model: str = doc(f"{_KINDS} or 'any'.")
    n_components: Count = doc("Components asked for.")
    common_components: Count | None = doc(
        "Components that all projections reach, where some reach fewer."
    )
    n_splits: Count = doc("Splits of probes.")
    n_decision_splits: Count = doc("Splits of decisions.")
    n_probe_rows: Count = doc("Most held-out rows of probes, per split.")
    confidence: Number = doc("Level of intervals.")
    seed: Count = doc("Random seed.")
    quick: bool = doc("Whether it is a first look.")
    sensitive_kinds: dict[str, str] | None = doc("'numeric' or 'categorical', by column.")
    scores: list[str] = doc("Existing scores.")
    decisions: list[str] = doc("Existing decisions.")
    person: str | None = doc("Column of subject ids.")
    weight: str | None = doc("Column of sample weights.")
    missing: list[float] = doc("Numbers that mean missing.")
    scale: str = doc("'standard' or 'rank'.")
    alternatives: bool = doc("Whether plain alternatives were measured.", False)
    given: list[str] | None = doc(
        "Columns of legitimate factors, given which gaps are split.", None
    )
    given_by: str = doc(
        "Who decided that these factors are legitimate; empty if nobody is named.", ""
    )
    probabilities: dict[str, dict[str, str]] | None = doc(
        "Columns with the probabilities of groups, by attribute and group.", None
    )

    @property
    def attributes(self) -> list[str]:
        """The attributes by name: sensitive columns, and those known as probabilities."""
        return [*self.sensitive, *(self.probabilities or {})]


@dataclass(frozen=True)
class Representation:
    """An encoding of the rows, or an existing score or decision."""

    key: str = doc("Its key in this file.")
    setting: Setting = doc("How it was made.")
    name: str = doc("Readable name.")
    kind: str = doc("'features', 'method', 'score' or 'decision'.")
    guarantee: str = doc("What holds on training data.")
    n_columns: Count | None = doc("Its columns.")
    variance_kept: Estimate | None = doc("Share of held-out variance that a linear map recovers.")
    fit_seconds: Number | None = doc("Median time of a fit.")
    failure: str | None = doc("Why it could not be fitted.")
    note: str = doc("Such as fewer components than asked for.")
    neighbours_kept: Estimate | None = doc(
        "Of vectors: share of the 10 nearest held-out rows, of up to 2,000, that stay nearest.",
        None,
    )


@dataclass(frozen=True)
class FewPeople:
    """What erasers fitted to so few people leave among others: the law of `fairpca plan`."""

    n_people: Count = doc("People of the smallest group that were fitted to, in a half.")
    expected: Estimate = doc("AUC expected of the probe; the ends are those of the AUC before.")
    n_more: Count = doc("Four times as many.")
    expected_of_more: Number = doc("AUC expected with these.")


@dataclass(frozen=True)
class Leak:
    """How well a probe predicts an attribute from a representation."""

    representation: str = doc("Its key.")
    attribute: str = doc("Attribute or intersection.")
    probe: str = doc(" or ".join(_KINDS.rsplit(", ", 1)) + ".")
    auc: Estimate = doc("Held-out AUC; 0.5 is chance.")
    chance: Number = doc(
        "Largest AUC over attributes and probes with permuted groups, at the confidence level."
    )
    above_chance: bool = doc("Whether the AUC exceeds it.")
    p_value: Number = doc("Adjusted for all attributes and probes.")
    p_value_unadjusted: Number = doc("Of this attribute and probe alone.")
    few_people: FewPeople | None = doc(
        "How much is the price of few people: of the linear probe, after linear methods that "
        "equalise means.",
        None,
    )


@dataclass(frozen=True)
class GroupRates:
    """Rates of one group."""

    label: str = doc("The group.")
    n_rows: Count = doc("Held-out people; where groups are probabilities, expected ones.")
    compared: bool = doc(
        "Whether gaps include it: groups of 100 people, or of 20 where no two have 100."
    )
    selection_rate: Estimate | None = doc("Share selected.")
    true_positive_rate: Estimate | None = doc("Of positive rows.")
    false_positive_rate: Estimate | None = doc("Of negative rows.")
    precision: Estimate | None = doc("Share of selected rows that are positive.")
    mean_score: Estimate | None = doc("Mean prediction.")
    mean_outcome: Estimate | None = doc("Mean target.")


@dataclass(frozen=True)
class Bounds:
    """What a gap may be whoever the people of unknown group are, without any assumption."""

    n_unknown: Count = doc("Held-out people whose group is unknown, and whom the gap leaves out.")
    smallest: Number = doc("The smallest gap that agrees with what is known.")
    largest: Number = doc("The largest.")
    low: Number = doc("The smallest, less its sampling error.")
    high: Number = doc("The largest, plus its sampling error.")
    n_probable: Count = doc(
        "Held-out people of whom probabilities are known: if calibrated, bounds hold whatever "
        "decisions depend on.",
        0,
    )


@dataclass(frozen=True)
class ExplainedGap:
    """A difference split by legitimate factors (conditional demographic parity).

    The parts add up to the difference; negative ones work against it.
    """

    higher: str = doc("Group with the highest rate or mean of those compared.")
    lower: str = doc("Group with the lowest.")
    difference: Estimate = doc(
        "Between the rates or means of these two, as they are shown; a gap that allows for the "
        "sampling error of the fit to all rows is larger."
    )
    explained: Estimate = doc(
        "What remains where people of equal factors are treated alike: groups differ in factors."
    )
    unexplained: Estimate = doc("Between people of equal factors: the conditional difference.")
    unmatched: Estimate = doc(
        "Of people without a counterpart: nobody of the other group has their factors."
    )
    higher_alone: Number = doc("Share of the higher group's people without a counterpart.")
    lower_alone: Number = doc("Share of the lower group's.")
    n_strata: Count = doc("Combinations of factors with people of both groups.")

    @property
    def most_alone(self) -> float:
        """The larger share of people without a counterpart."""
        return max(self.higher_alone, self.lower_alone)


@dataclass(frozen=True)
class Parity:
    """Decisions or predictions, compared between groups."""

    attribute: str = doc("Attribute or intersection.")
    level: str | None = doc("Of several classes, that of the largest gap.")
    gap: Estimate | None = doc(
        "Largest difference of selection rates (demographic parity), or of mean predictions in "
        "standard deviations of the target; null where fewer than two groups are compared."
    )
    ratio: Estimate | None = doc("Smallest over largest selection rate (four-fifths rule).")
    true_positive_gap: Estimate | None = doc("Equal opportunity.")
    false_positive_gap: Estimate | None = doc("With the above, equalised odds.")
    precision_gap: Estimate | None = doc("Predictive parity.")
    distribution_gap: Estimate | None = doc(
        "Largest difference of shares above any threshold, of a number or score."
    )
    score_auc: Estimate | None = doc("How well the score ranks groups apart, averaged over groups.")
    groups: list[GroupRates] = doc("In the attribute's order.")
    n_compared: Count = doc("Groups compared.")
    n_groups: Count = doc("All groups.")
    bounds: Bounds | None = doc(
        "Of the gap, where the groups of some people are unknown or known as probabilities.", None
    )
    explained: ExplainedGap | None = doc(
        "The gap split by legitimate factors: of single attributes; null where no combination of "
        "factors has people of both groups.",
        None,
    )


GAPS = {
    "gap": "selection_rate",
    "true_positive_gap": "true_positive_rate",
    "false_positive_gap": "false_positive_rate",
    "precision_gap": "precision",
}
"""Gaps between groups, and the rates that they compare."""


@dataclass(frozen=True)
class Comparison:
    """Groups that a gap compares."""

    n_compared: Count = doc("Groups compared.")
    n_groups: Count = doc("All groups.")
    left_out: list[GroupRates] = doc("Groups with too few people.")


@dataclass(frozen=True)
class Downstream:
    """A downstream model, or an existing one."""

    representation: str = doc("Its key.")
    model: str = doc(f"{_KINDS}; or 'existing_model'.")
    utility: Estimate | None = doc("AUC (its mean over several classes), or R2 of a number.")
    rank_correlation: Estimate | None = doc("Of predicted with true numbers.")
    accuracy: Estimate | None = doc("Of a binary target.")
    parities: list[Parity] = doc("One per attribute and intersection.")


@dataclass(frozen=True)
class CurvePoint:
    """One lambda."""

    tradeoff: Number = doc("Lambda.")
    utility: Estimate = doc("As of downstream models.")
    parities: list[Parity] = doc("As of downstream models; of groups, only those left out.")


@dataclass(frozen=True)
class Curve:
    """Fairness-accuracy trade-off of one downstream model."""

    representation: str = doc("Key of what lambda blends with PCA.")
    model: str = doc("'linear' or 'kernel'.")
    points: list[CurvePoint] = doc("By increasing lambda.")


@dataclass(frozen=True)
class CertifiedGap:
    """Certified bound on the selection-rate gap of every threshold on one column."""

    representation: str = doc("Its key.")
    attribute: str = doc("The attribute.")
    n_rows: Count = doc("Held-out rows.")
    observed: Number = doc("Largest gap observed.")
    bound: Number = doc("Upper bound in the population.")
    confidence: Number = doc("Of each bound by itself.")


@dataclass(frozen=True)
class ProxyImportance:
    """A proxy for an attribute."""

    attribute: str = doc("The attribute.")
    column: str = doc("The proxy.")
    auc_drop: Estimate = doc("AUC that boosted trees lose when it is shuffled.")


@dataclass(frozen=True)
class Weight:
    """What one value of a column adds to a linear score."""

    level: str = doc("'one more' of a number, 'true' of a boolean, a level or 'missing'.")
    weight: Number = doc("Compared with the average row, for a level.")
    per_deviation: Number = doc("Per standard deviation.")


@dataclass(frozen=True)
class DecisionImportance:
    """Influence of a column on the recommended model's decisions."""

    column: str = doc("The column.")
    changed: Estimate = doc(
        "Share of decisions that change when it is shuffled; of a number, mean change in standard "
        "deviations."
    )
    weights: list[Weight] = doc("Of linear models; none beyond 1e100.")


@dataclass(frozen=True)
class ModelNumbers:
    """Utility and gap of one model family."""

    model: str = doc(f"{_KINDS}, or 'existing_model'.")
    utility: Estimate | None = doc("As of downstream models.")
    gap: Estimate | None = doc("Largest over attributes.")
    attribute: str = doc("Its attribute.")


@dataclass(frozen=True)
class Option:
    """A candidate: a representation, perhaps at a lambda, and its results."""

    representation: str = doc("Its key.")
    name: str = doc("Readable name.")
    n_columns: Count = doc("Its columns.")
    tradeoff: Number | None = doc("Lambda.")
    gap: Estimate | None = doc("Largest over attributes and models asked for.")
    gap_attribute: str | None = doc("Its attribute.")
    gap_model: str | None = doc("Its model.")
    gap_groups: Comparison | None = doc("Groups compared.")
    utility: Estimate | None = doc("Best of the models asked for; without a target, variance kept.")
    utility_model: str | None = doc("Its model.")
    leak: Estimate = doc("Largest AUC over attributes and probes.")
    leak_attribute: str = doc("Its attribute.")
    leak_probe: str = doc("Its probe.")
    leak_above_chance: bool = doc("Whether significantly above chance.")
    ratio: Estimate | None = doc("Ratio of selection rates.")
    joint_gap: Estimate | None = doc("Largest over intersections.")
    joint_attribute: str | None = doc("Its intersection.")
    joint_groups: Comparison | None = doc("Groups compared.")
    reduction: Estimate | None = doc("Gap of the raw features minus this gap.")
    models: list[ModelNumbers] = doc("Every model family.")
    eligible: bool = doc("Whether it helps, and may meet the limit.")
    selection_frequency: Number = doc("Share of resamples that recommend it (stability).")


@dataclass(frozen=True)
class Alternative:
    """A plain method beside fair representations: measured in the same way, never recommended."""

    key: str = doc(
        "'without_proxies', 'group_thresholds', 'correlation_remover' or 'exponentiated_gradient'."
    )
    name: str = doc("Readable name.")
    how: str = doc("What it does.")
    needs_attribute: bool = doc("Whether each decision needs the person's attributes.")
    randomised: bool = doc("Whether the same person may be decided about otherwise next time.")
    n_columns: Count | None = doc("Columns that models read, where it makes them.")
    left_out: list[str] = doc("Columns left out in most splits.")
    gap: Estimate | None = doc("As of options.")
    gap_attribute: str | None = doc("Its attribute.")
    gap_model: str | None = doc("Its model.")
    gap_groups: Comparison | None = doc("Groups compared.")
    ratio: Estimate | None = doc("Ratio of selection rates.")
    utility: Estimate | None = doc("As of options.")
    utility_model: str | None = doc("Its model.")
    leak: Estimate | None = doc("As of options; null where it makes no columns.")
    leak_attribute: str | None = doc("Its attribute.")
    leak_probe: str | None = doc("Its probe.")
    leak_above_chance: bool | None = doc("Whether significantly above chance.")
    selected: Number | None = doc("Share selected, where it chooses that itself.")
    models: list[ModelNumbers] = doc("Every model family.")
    failure: str | None = doc("Why it was not measured.")


@dataclass(frozen=True)
class Summary:
    """Plain-language findings."""

    headline: str = doc("One sentence.")
    sentences: list[str] = doc("All findings.")


@dataclass(frozen=True)
class Advice:
    """The recommendation."""

    aim: str = doc("As asked for.")
    verdict: str = doc(
        "'recommended', 'tie', 'no action needed', 'not settled', 'limit not reached', "
        "'no method helps', 'only measured' (no features) or 'target leak' (one column alone "
        "predicts the target)."
    )
    representation: str | None = doc("Key of the recommended option; null if none is.")
    tradeoff: Number | None = doc("Its lambda.")
    ties: list[str] = doc("Options not significantly different.")
    options: list[Option] = doc(
        "Raw features, existing models, then up to four Pareto-optimal options, best utility first."
    )
    reasons: list[str] = doc("Why.")
    code: str = doc("Python that fits it.")
    command: str = doc("Command that fits it.")
    caveats: list[str] = doc("What is not protected.")

    @property
    def option(self) -> Option | None:
        """The recommended option, if there is one."""
        wanted = self.representation, self.tradeoff
        named = (one for one in self.options if (one.representation, one.tradeoff) == wanted)
        return next(named, None)


@dataclass(frozen=True)
class Change:
    """One number, before and now."""

    kind: str = doc(
        "'gap', 'ratio', 'true_positive_gap', 'false_positive_gap', 'precision_gap', 'leakage', "
        "'utility', 'selection_rate', 'mean_score', 'share' (of a group) or 'missing' (share of a "
        "column's values)."
    )
    representation: str | None = doc("Key of the option, score or decision.")
    tradeoff: Number | None = doc("Its lambda.")
    attribute: str | None = doc("Attribute or intersection.")
    part: str | None = doc("Probe, model, group or column.")
    before: Estimate | None = doc("In the earlier audit.")
    now: Estimate | None = doc("In this audit.")
    difference: Estimate | None = doc("Now minus before.")
    z: Number | None = doc("Difference in standard errors; null if not compared.")
    p_value: Number | None = doc(
        "Adjusted (Holm) for all numbers with a better and a worse direction, or for all others."
    )
    verdict: str = doc("'worse', 'better', 'changed' (neither), 'no change' or 'not compared'.")
    reason: str = doc("Why it was not compared.")


@dataclass(frozen=True)
class Changes:
    """What changed since an earlier audit, beyond chance."""

    name: str = doc("The earlier audit's file or data set.")
    created: str = doc("When it was made.")
    fingerprint: str = doc("Of its table.")
    n_rows: Count = doc("Its rows.")
    verdict: str = doc("'nothing worse', 'worse' or 'cannot tell'.")
    numbers: list[Change] = doc("All that both audits have.")
    notes: list[str] = doc("Groups, columns, options and versions that differ.")
