"""What an audit finds, as plain values: the single source of the JSON and of its schema."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field
from typing import Annotated, Any

from ..metrics import PROBES

SCHEMA_VERSION = "4.0"
"""Changes of the first number break readers; changes of the second add fields."""


_KINDS = ", ".join(map(repr, PROBES))
"""Of the models that are asked."""

EXISTING = "existing_model"
"""The kind of model of a score or a decision that exists."""


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
    """A number measured on held-out rows, with its confidence interval."""

    value: Number = doc("Mean over the splits.")
    low: Number = doc("Lower end of the confidence interval.")
    high: Number = doc("Upper end of the confidence interval.")


@dataclass(frozen=True)
class Setting:
    """What is compared: a method as it was fitted, or a score or decision that exists.

    >>> str(Setting("fair_pca", n_components=7)), str(Setting("score", column="risk"))
    ('fair_pca@7', 'score:risk')
    """

    method: str = doc(
        "'raw', 'pca', 'fair_pca', 'fair_pca_covariances', 'fair_pca_distributions', "
        "'fair_kernel_pca', 'leace', 'fair_pls'; 'score' or 'decision' of a model that exists."
    )
    n_components: Count | None = doc(
        "Components, where it is compared at fewer than it reaches; else null.", None
    )
    tradeoff: Number | None = doc("The lambda; null where there is none.", None)
    column: str | None = doc("Column of the score or decision that exists; else null.", None)

    def __str__(self) -> str:
        """Return the key by which the other parts of an audit refer to it."""
        parts = [self.method]
        parts += [] if self.n_components is None else [f"@{self.n_components}"]
        parts += [] if self.tradeoff is None else [f"~{self.tradeoff:g}"]
        return "".join(parts if self.column is None else [*parts, f":{self.column}"])


@dataclass(frozen=True)
class Group:
    """One group of an attribute."""

    label: str = doc("The level, or levels joined with ' & ' for intersections.")
    n_rows: Count = doc("Rows of this group in the data.")
    share: Number = doc("Its share of the rows whose group is known, by their weights.")
    outcome: Number | None = doc(
        "Share of its rows with the positive target, or the target's mean."
    )
    n_used: Count = doc("Rows of this group that were used; all, unless rows were drawn.")
    measured: bool = doc("Whether probes are asked about it; others are too rare.", True)


@dataclass(frozen=True)
class Attribute:
    """A sensitive attribute, or the intersection of several, as it was measured."""

    name: str = doc("Name of the column, or names joined with ' × '.")
    columns: list[str] = doc("The columns of the table it comes from.")
    kind: str = doc("'levels', 'numeric' (measured in two bands) or 'intersection'.")
    groups: list[Group] = doc("Its groups, most rows first.")
    n_missing: Count = doc("Rows whose group is unknown.")
    note: str = doc("What was merged, cut or left out; empty if nothing was.")


@dataclass(frozen=True)
class Column:
    """A column of the table and what was made of it."""

    name: str = doc("Its name, as text.")
    role: str = doc(
        "'feature', 'sensitive', 'target', 'score', 'decision', 'person', 'weight', 'ignored'."
    )
    kind: str = doc("'numeric', 'category', 'text', 'date', 'constant', 'empty', ...")
    n_missing: Count = doc("Rows without a value.")
    n_distinct: Count = doc("Distinct values.")
    n_outputs: Count = doc("Numbers it became.")
    note: str = doc("Anything unusual; empty if nothing was.")


@dataclass(frozen=True)
class Notice:
    """Something in the table that a person should look at; nothing was dropped for it."""

    kind: str = doc("'proxy', 'leak', 'id', 'copy', 'repeated_rows', 'small_group', 'sampled', ...")
    severity: str = doc("'info' or 'warning'.")
    column: str = doc("The column it is about; empty if about no single one.")
    other: str = doc("The attribute, target or column it concerns; may be empty.")
    value: Number | None = doc("The number behind it, such as an AUC.")
    text: str = doc("The notice as a sentence.")


@dataclass(frozen=True)
class Target:
    """What is to be predicted."""

    name: str = doc("Name of the column.")
    kind: str = doc("'binary', 'classes' or 'number'.")
    pos_label: str | None = doc("The value that counts as positive; null unless binary.")
    rate: Number | None = doc("Share of positive rows; null unless binary.")
    classes: list[str] = doc("The classes; empty unless there are several.")
    mean: Number | None = doc("Mean of a number; else null.")
    deviation: Number | None = doc("Standard deviation of a number; else null.")


@dataclass(frozen=True)
class Reading:
    """What had to be said about a text file, so that it could be read."""

    columns: list[str] | None = doc("Names given to the columns.")
    header: bool | None = doc("Whether the first line has the names, if that was said.")
    skip_lines: Count = doc("Lines left out at the beginning.")
    encoding: str | None = doc("The encoding, if one was named.", None)


@dataclass(frozen=True)
class Data:
    """The table."""

    name: str = doc("Name of the file or data set.")
    source: str = doc("What was given: a path or a built-in name; empty for a frame.")
    fingerprint: str = doc("'sha256:' and the digest of the file, or of the values of a frame.")
    n_rows: Count = doc("Rows that were used.")
    n_rows_dropped: Count = doc("Rows left out: their target is missing, or their weight 0.")
    n_people: Count = doc("Different people among them: each counts once.")
    n_features: Count = doc("Columns that are features.")
    n_encoded: Count = doc("Numbers per row after encoding (all rows together).")
    ignored: list[str] = doc("Columns left out on request.")
    columns: list[Column] = doc("Every column of the table.")
    attributes: list[Attribute] = doc("What was measured: attributes, then intersections.")
    target: Target | None = doc("The target, if one was named.")
    reading: Reading | None = doc("What had to be said about the file; null if nothing.", None)
    n_rows_table: Count | None = doc("Rows of the table, with those left out or not drawn.", None)
    title: str = doc("What the rows are, where and when collected; empty if not given.", "")
    owner: str = doc("Who answers for the data or the model; empty if not given.", "")
    note: str = doc("What readers should know, such as source and use; empty if not given.", "")
    labels: dict[str, str] | None = doc("Readable names of columns; null if none is known.", None)


@dataclass(frozen=True)
class Settings:
    """How the audit was made."""

    sensitive: list[str] = doc("Columns named as sensitive.")
    target: str | None = doc("Column named as target.")
    above: Number | None = doc("The target is whether its column exceeds this; else null.")
    aim: str = doc("'hide', 'decide' or 'keep': what the advice optimises.")
    max_gap: Number = doc("Largest gap that the aim 'decide' accepts, as a fraction.")
    model: str = doc(f"{_KINDS} or 'any': models that the advice is for.")
    n_components: Count = doc("Components that were asked of all projections.")
    common_components: Count | None = doc(
        "Components that every projection reaches, where some reach fewer; else null."
    )
    n_splits: Count = doc("Splits into rows to fit on and rows that probes are asked about.")
    n_decision_splits: Count = doc("Splits whose decisions are judged.")
    n_probe_rows: Count = doc("Most held-out rows that probes see in a split.")
    confidence: Number = doc("Level of all intervals and certificates.")
    seed: Count = doc("Seed of splits, probes and permutations.")
    quick: bool = doc("Whether fewer splits and rows were used.")
    sensitive_kinds: dict[str, str] | None = doc(
        "Sensitive columns, or the target, that were said to be 'numeric' or 'categorical'."
    )
    scores: list[str] = doc("Columns with scores of models that exist.")
    decisions: list[str] = doc("Columns with decisions that were made.")
    person: str | None = doc("Column that tells whose row it is; null if every row is a person.")
    weight: str | None = doc("Column with weights of rows; null if all count alike.")
    missing: list[float] = doc("Numbers that stand for missing values of features.")
    scale: str = doc("'standard' or 'rank': how numbers of features are scaled.")


@dataclass(frozen=True)
class Representation:
    """One way to present the rows to a model, or what a model that exists says of them."""

    key: str = doc("By which the other parts of the audit refer to it.")
    setting: Setting = doc("What it is.")
    name: str = doc("Its name for people.")
    kind: str = doc("'features', 'method', 'score' or 'decision'.")
    guarantee: str = doc("What holds on the rows it is fitted to, and what does not, in words.")
    n_columns: Count | None = doc("Columns of the representation; null if it failed.")
    variance_kept: Estimate | None = doc(
        "Share of the variance of held-out rows that a linear map, learned on the others, "
        "recovers; null if it failed, and where it is not made to keep any."
    )
    fit_seconds: Number | None = doc("Median time of a fit.")
    failure: str | None = doc("Why it could not be fitted; null if it could.")
    note: str = doc("What it could not reach, such as all components; empty if nothing.")


@dataclass(frozen=True)
class Leak:
    """How well a probe recognises the groups of an attribute from a representation."""

    representation: str = doc("Key of the representation.")
    attribute: str = doc("Name of the attribute or intersection.")
    probe: str = doc(" or ".join(_KINDS.rsplit(", ", 1)) + ".")
    auc: Estimate = doc("Area under the ROC curve on held-out rows; 0.5 is guessing.")
    chance: Number = doc(
        "Above this is above chance: with permuted groups, the best of all attributes and probes "
        "stays below it, with the confidence. Each is measured in its own deviations."
    )
    above_chance: bool = doc("Whether the AUC is above that.")
    p_value: Number = doc(
        "How often the best of all attributes and probes of this representation does as well or "
        "better with permuted groups."
    )
    p_value_unadjusted: Number = doc(
        "How often this probe does as well or better with permuted groups of this attribute, for "
        "who asks for no other."
    )


@dataclass(frozen=True)
class GroupRates:
    """What a model does to one group; what its target does not have is null."""

    label: str = doc("The group.")
    n_rows: Count = doc("People of it that are held out in a round of splits.")
    compared: bool = doc(
        "Whether gaps compare it: they leave out groups of fewer than 100 people, or of fewer than "
        "20 where no two groups have 100."
    )
    selection_rate: Estimate | None = doc("Share of positive decisions.")
    true_positive_rate: Estimate | None = doc("Share of positive rows that are selected.")
    false_positive_rate: Estimate | None = doc("Share of negative rows that are selected.")
    precision: Estimate | None = doc("Share of selected rows that are positive.")
    mean_score: Estimate | None = doc("Mean of predicted numbers, or of scores from 0 to 1.")
    mean_outcome: Estimate | None = doc("Mean of what they predict, on the same rows.")


@dataclass(frozen=True)
class Parity:
    """Decisions or predictions compared between the groups of an attribute."""

    attribute: str = doc("Name of the attribute or intersection.")
    level: str | None = doc("Of several classes, the one whose gap is largest, which this is of.")
    gap: Estimate | None = doc(
        "Largest difference of selection rates (demographic parity); of a number, that of mean "
        "predictions, in standard deviations of the target. Of several groups it is too large by "
        "chance; its interval allows for that. Null where no two groups can be compared."
    )
    ratio: Estimate | None = doc(
        "Smallest selection rate over the largest: 0.8 is the four-fifths rule; null of a number."
    )
    true_positive_gap: Estimate | None = doc("Largest difference of true positive rates.")
    false_positive_gap: Estimate | None = doc("Largest difference of false positive rates.")
    precision_gap: Estimate | None = doc("Largest difference of precisions.")
    distribution_gap: Estimate | None = doc(
        "Of a number or a score: largest difference, over all thresholds, of the shares above; "
        "larger than 0 by chance."
    )
    score_auc: Estimate | None = doc(
        "How well the score by itself tells the groups apart, whichever it ranks higher: AUC, of "
        "several groups the mean of each against the others. Null of decisions and of classes."
    )
    groups: list[GroupRates] = doc("Rates of each group, in the order of the attribute's.")
    n_compared: Count = doc("Groups that gaps and ratio compare.")
    n_groups: Count = doc("Groups that there are, with those of too few people to be compared.")


@dataclass(frozen=True)
class Comparison:
    """Between which groups a gap is, and which it leaves out."""

    n_compared: Count = doc("Groups that the gap compares.")
    n_groups: Count = doc("Groups that there are.")
    left_out: list[GroupRates] = doc("Groups of too few people to be compared, with their rates.")


@dataclass(frozen=True)
class Downstream:
    """A model that predicts the target from a representation, or a model that exists."""

    representation: str = doc("Key of the representation.")
    model: str = doc(f"{_KINDS}; 'existing_model' of scores and decisions.")
    utility: Estimate | None = doc(
        "Area under the ROC curve, its mean over several classes, or R2 of a number; null of "
        "what is no prediction of the target."
    )
    rank_correlation: Estimate | None = doc("Of predicted numbers with the true ones.")
    accuracy: Estimate | None = doc("Share of right decisions; null unless yes or no.")
    parities: list[Parity] = doc("One for each attribute and intersection.")


@dataclass(frozen=True)
class CurvePoint:
    """One lambda of the trade-off."""

    tradeoff: Number = doc("The lambda.")
    utility: Estimate = doc("As of models on representations.")
    parities: list[Parity] = doc(
        "One for each attribute and intersection; of the groups, those that gaps leave out."
    )


@dataclass(frozen=True)
class Curve:
    """Utility against fairness over all lambdas, for one downstream model."""

    representation: str = doc("Key of the representation that lambda blends with plain PCA.")
    model: str = doc("'linear' or 'kernel'.")
    points: list[CurvePoint] = doc("By increasing lambda.")


@dataclass(frozen=True)
class CertifiedGap:
    """A bound on the gap of selection rates of every threshold on a single column."""

    representation: str = doc("Key of the representation.")
    attribute: str = doc("Name of the attribute.")
    n_rows: Count = doc("Held-out rows behind the bound.")
    observed: Number = doc("The largest gap that a threshold has on these rows.")
    bound: Number = doc("With the confidence, no threshold has more in the population.")
    confidence: Number = doc(
        "Probability that the bound holds; each one by itself, not all of them together."
    )


@dataclass(frozen=True)
class ProxyImportance:
    """How much of what is recognised of an attribute one column of the table carries."""

    attribute: str = doc("Name of the attribute.")
    column: str = doc("Column of the table.")
    auc_drop: Estimate = doc(
        "AUC that boosted trees lose on held-out rows when the column's values are shuffled; what "
        "other columns say, too, is not lost."
    )


@dataclass(frozen=True)
class Weight:
    """What one value of a column adds to the score of a linear model."""

    level: str = doc("'one more' of a number, 'true' of a truth; else the level, or 'missing'.")
    weight: Number = doc(
        "What it adds, to a predicted number in its own unit; of a level, compared with the "
        "average row."
    )
    per_deviation: Number = doc("The same for one standard deviation.")


@dataclass(frozen=True)
class DecisionImportance:
    """How much the recommended model's decisions depend on one column of the table."""

    column: str = doc("Column of the table.")
    changed: Estimate = doc(
        "Share of held-out decisions that change when the column's values are shuffled; of a "
        "number, the mean change of predictions in standard deviations of the target."
    )
    weights: list[Weight] = doc(
        "Of a linear model through a linear map; else empty. Those beyond 1e100, as for one more "
        "of numbers next to 0, are left out."
    )


@dataclass(frozen=True)
class ModelNumbers:
    """Utility and gap of one kind of model on a setting."""

    model: str = doc(f"{_KINDS}, or 'existing_model'.")
    utility: Estimate | None = doc("As in the downstream models.")
    gap: Estimate | None = doc("Largest gap over the single attributes.")
    attribute: str = doc("The attribute of that gap.")


@dataclass(frozen=True)
class Option:
    """A setting that one may take: a representation, perhaps at a lambda, and what it comes to."""

    representation: str = doc("Key of the representation.")
    name: str = doc("Its name for people, with components and lambda.")
    n_columns: Count = doc("Columns of the representation.")
    tradeoff: Number | None = doc("The lambda; null where there is none.")
    gap: Estimate | None = doc(
        "Largest gap over the single attributes and the models asked for; null without a target."
    )
    gap_attribute: str | None = doc("The attribute of that gap.")
    gap_model: str | None = doc("The model of that gap.")
    gap_groups: Comparison | None = doc("The groups that it compares, and those it leaves out.")
    utility: Estimate | None = doc(
        "Best utility of the models asked for; without a target, the variance kept."
    )
    utility_model: str | None = doc("The model of that utility; null without a target.")
    leak: Estimate = doc(
        "Largest AUC over the single attributes and the probes; of one kind of probe if hiding "
        "from that kind is the aim."
    )
    leak_attribute: str = doc("The attribute of that AUC.")
    leak_probe: str = doc("The probe of that AUC.")
    leak_above_chance: bool = doc("Whether that is above chance.")
    ratio: Estimate | None = doc("Ratio of selection rates of that gap: four-fifths rule.")
    joint_gap: Estimate | None = doc("Largest gap between groups of intersections, if measured.")
    joint_attribute: str | None = doc("The intersection of that gap.")
    joint_groups: Comparison | None = doc("The groups that it compares, and those it leaves out.")
    reduction: Estimate | None = doc(
        "By how much the gap is smaller than that of the raw features, on the same rows."
    )
    models: list[ModelNumbers] = doc("Every kind of model, whichever were asked for.")
    eligible: bool = doc("Whether it cannot be told from what the aim accepts, and helps.")
    selection_frequency: Number = doc("Share of resamples in which it would have been recommended.")


@dataclass(frozen=True)
class Summary:
    """What anyone should read first."""

    headline: str = doc("One sentence.")
    sentences: list[str] = doc("The findings in plain words, with their numbers.")


@dataclass(frozen=True)
class Advice:
    """Which setting to take, if any."""

    aim: str = doc("What was asked for: 'hide', 'decide' or 'keep'.")
    verdict: str = doc(
        "'recommended', 'tie' (of several), 'no action needed' (the whole interval is within the "
        "limit), 'not settled' (the interval includes the limit), 'limit not reached' (no option "
        "reaches it) or 'no method helps'; 'only measured' for scores or decisions of an existing "
        "model without features; 'target leak' where one column alone predicts the target: nothing "
        "is recommended until that column is declared or ignored."
    )
    representation: str | None = doc("Key of the recommended one; null if none is.")
    tradeoff: Number | None = doc("Recommended lambda, where there is a choice.")
    ties: list[str] = doc("Names of settings that cannot be told apart from it.")
    options: list[Option] = doc(
        "The raw features, models that exist, then what no other one exceeds in both gap (or "
        "hiding) and utility: two to four of them, by decreasing utility."
    )
    reasons: list[str] = doc("Why, in words with numbers.")
    code: str = doc("Python that fits the recommended setting; empty if none is.")
    command: str = doc("The command that fits and saves it; empty if none is.")
    caveats: list[str] = doc("What is not protected.")

    @property
    def option(self) -> Option | None:
        """The setting that is recommended, if one is."""
        wanted = self.representation, self.tradeoff
        named = (one for one in self.options if (one.representation, one.tradeoff) == wanted)
        return next(named, None)
