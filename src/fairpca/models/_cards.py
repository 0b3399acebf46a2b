"""Model cards: what a model is, what it guarantees, and what it does not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np

from .._attributes import about_whole_numbers, name_of_missing
from .._files import is_count, is_number, library_versions
from .._kernels import KernelColumns, RowsAndKernel
from .._maps import FeatureMap
from .._moments import LevelMoments
from .._numerics import to_numpy
from ..estimators import PlainPCA
from ._table_transformer import FairTableTransformer, fitted_model

SMALL_GROUP = 100
"""Groups with fewer rows than this are pointed out."""

MOST_LISTED = 60
"""So many names or labels are listed in Markdown; the number of the others is given."""

LONGEST, LONGEST_NOTE = 80, 1000
"""Longer values are cut in Markdown."""

KNOWN_FACTS = (
    *("data", "fingerprint", "sensitive", "target", "pos_label", "weight", "weighted"),
    *("given", "n_rows", "n_rows_dropped", "groups", "group_notes", "notices", "median_gap"),
)


def model_card(model: Any, *, info: Mapping[str, Any] | None = None) -> str:
    """Describe a fitted model in Markdown, for the people who rely on it.

    Parameters
    ----------
    model : estimator or FairTableTransformer
        Anything that `fairpca.save` takes.
    info : dict, default=None
        Plain facts about an estimator; a `fairpca.FairTableTransformer` has its own. Facts without
        a place of their own are listed among the numbers.

    Returns
    -------
    card : str
        Markdown. Column names and labels are shown as text, whatever they contain.

    See Also
    --------
    inspect_model : The same facts for programs.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca import FairPCA
    >>> from fairpca.models import model_card
    >>> rng = np.random.default_rng(0)
    >>> X, sex = rng.normal(size=(300, 4)), rng.choice(["f", "m"], size=300)
    >>> card = model_card(FairPCA(2).fit(X, sensitive_features={"sex": sex}))
    >>> print(card.splitlines()[0])
    # Model card: FairPCA, 4 features to 2 columns
    """
    model = fitted_model(model, info)
    sections = {
        "What it was trained on": _training(model),
        "What it guarantees": _guarantees(model),
        "What it does not guarantee": _caveats(model),
        "Numbers": _numbers(model),
        "Parameters": _parameters(model.estimator_),
        "How to use it": _use(model),
        "Made with": _versions(),
    }
    d, k = model.estimator_.n_features_in_, len(model.get_feature_names_out())
    made = f"{k} column{'s' if k != 1 else ''}"
    title = f"# Model card: {type(model.estimator_).__name__}, {d} features to {made}"
    parts = [title, _what(model)]
    for heading, lines in sections.items():
        parts.append(f"## {heading}\n\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _what(model: FairTableTransformer) -> str:
    kernel = " in the feature space of a kernel" if isinstance(model._map, FeatureMap) else ""
    before = "" if model.encoder_ is None else " Columns of a table are made into numbers first."
    method = type(model.estimator_).__name__
    linear = f"The map is linear{kernel}, and needs no sensitive attribute."
    return f"A representation by {method}. {linear}{before}"


def _training(model: FairTableTransformer) -> Iterator[str]:
    estimator, info = model.estimator_, model.info_
    rows = info.get("n_rows", vars(estimator).get("n_samples_seen_", "unknown"))
    yield f"- Data: {_markdown(info.get('data', 'not recorded'))}"
    yield f"- Fingerprint: {_markdown(info.get('fingerprint', 'not recorded'))}"
    yield f"- Rows: {_markdown(rows)}"
    dropped = info.get("n_rows_dropped")
    if is_count(dropped) and is_count(rows) and dropped:
        share = 100 * dropped / (dropped + rows)
        told = f"{dropped} ({share:.1f} % of the table)"
        yield f"- **Rows left out, whose target is missing: {told}**"
    if info.get("weight") is not None:
        yield f"- Rows count by their weight in {_markdown(info['weight'])}, which is no feature"
    elif info.get("weighted"):
        yield "- Rows count by weights that were passed with them"
    if "sensitive" in info:
        names = _markdown_list(info["sensitive"])
        yield f"- Sensitive attributes, never among the features: {names}"
    factors = [
        f"{_markdown(name)} ({'by a regression' if kind == 'numeric' else 'level by level'})"
        for name, kind in _factors(estimator).items()
    ]
    if factors:
        yield f"- Legitimate factors, given which groups are compared: {', '.join(factors)}"
    predicted = vars(estimator).get("targets_", {})
    positive = (
        f", the positive class is {_markdown(info['pos_label'])}" if "pos_label" in info else ""
    )
    if info.get("target") is not None and not predicted:
        yield f"- Target: {_markdown(info['target'])}{positive}"
    for name, classes in predicted.items():
        kind = "continuous" if isinstance(classes, str) else f"classes {_markdown_list(classes)}"
        yield f"- Target that the columns predict: {_markdown(name)}, {kind}{positive}"
    if model.encoder_ is not None:
        columns = model.encoder_.feature_names_in_
    else:
        columns = vars(estimator).get("feature_names_in_", ())
    yield f"- Columns: {_markdown_list(columns) if len(columns) else 'without names'}"
    counts = _counts_of(model)
    for name, levels in vars(estimator).get("groups_", {}).items():
        if isinstance(levels, str):
            yield f"- {_markdown(name)}: a number, not groups"
            continue
        rows_of = counts.get(name, {})
        shown = [
            _markdown(label) + (f" ({rows_of[label]} rows)" if label in rows_of else "")
            for label in levels[:MOST_LISTED]
        ]
        more = len(levels) - len(shown)
        others = f" and {more} more" if more else ""
        yield f"- Groups of {_markdown(name)}: {', '.join(shown)}{others}"
        if about_whole_numbers(name, levels):
            yield f"- {_markdown(about_whole_numbers(name, levels), LONGEST_NOTE)}"
    for note in info.get("group_notes", ()):
        yield f"- {_markdown(note, LONGEST_NOTE)}"
    for note in info.get("notices", ())[:MOST_LISTED]:
        yield f"- {_markdown(note, LONGEST_NOTE)}"
    features = model._map.features if isinstance(model._map, FeatureMap) else None
    features = features.columns if isinstance(features, RowsAndKernel) else features
    if isinstance(features, KernelColumns):
        yield (
            f"- **The file holds {features.n_features} rows of the training data** (rows that "
            f"others are compared with): protect it like the data."
        )


def _guarantees(model: FairTableTransformer) -> Iterator[str]:
    """Say what holds in the training data."""
    name, estimator = type(model.estimator_).__name__, model.estimator_
    if isinstance(estimator, PlainPCA):
        yield "Nothing: this method ignores the sensitive attributes. It is a baseline."
        return
    if getattr(estimator, "tradeoff", 0.0) > 0:
        yield (
            f"Nothing for the representation as a whole: with tradeoff = {estimator.tradeoff:g} "
            f"columns of the standard method were appended on purpose. The first "
            f"{estimator.n_components_} columns alone satisfy the constraint."
        )
        return
    if estimator._equal_means:
        gap = "`mean_gap_` standard deviations" if "mean_gap_" in vars(estimator) else "rounding"
        kinds = vars(estimator).get("groups_", {})
        everybody = getattr(estimator, "criterion", "demographic_parity") == "demographic_parity"
        within = "" if everybody else ", within classes of the target,"
        rows = "them" if everybody else "the rows of a class"
        numbers = [name for name, levels in kinds.items() if isinstance(levels, str)]
        factors = _factors(estimator)
        if factors:
            yield from _given(factors, list(kinds), gap)
        elif len(numbers) < len(kinds) or not kinds:
            yield (
                f"- In the training data, all groups{within} have the same mean in every column, "
                f"up to {gap}, so no linear model fitted to {rows} predicts the group better than "
                f"a constant."
            )
        if numbers and not factors:
            yield (
                f"- In the training data, no column is correlated with {_markdown_list(numbers)}, "
                f"up to {gap.split()[0]}: there is no linear relation with a number. Ranges of it, "
                f"such as low, middle and high, may differ in means."
            )
        if not everybody:
            target, yes = (model.info_.get(name) for name in ("target", "pos_label"))
            where = "within classes of the target"
            if estimator.criterion == "equal_opportunity" and yes is not None:
                where = f"among the rows whose {_markdown(target)} is {_markdown(yes)}"
            yield (
                f"- This holds {where}, and not for all people together: "
                f"{_markdown(estimator.criterion)}."
            )
        if name == "FairPLS" and estimator.match != "means":
            yield from _of_distributions(model)
        elif getattr(estimator, "match", "means") == "covariances":
            yield "- Group covariances were matched as well, up to `covariance_gap_`."
    else:
        yield f"- What {name} guarantees is described in the documentation of the class."
    yield "- The model is deterministic: the same row always gives the same numbers."


def _factors(estimator: Any) -> dict[str, str]:
    """Return the legitimate factors and their kinds, without the classes that a criterion gives."""
    factors = dict(vars(estimator).get("_factors", {}))
    if getattr(estimator, "criterion", "demographic_parity") != "demographic_parity":
        factors.pop("y", None)
    flags = set(map(name_of_missing, factors))  # of a number that some rows lack
    return {name: kind for name, kind in factors.items() if name not in flags}


def _given(factors: Mapping[str, str], attributes: list[str], gap: str) -> Iterator[str]:
    """Say what holds among people of equal factors, and who answers for these."""
    whose, named = _markdown_list(factors), _markdown_list(attributes)
    if "numeric" in factors.values():
        yield (
            f"- In the training data, no column is correlated with {named} beyond what {whose} "
            f"say, level by level and by straight lines, up to {gap}: no linear model predicts it "
            f"better from the factors and the columns than from the factors."
        )
    else:
        yield (
            f"- In the training data, among people with equal {whose}, all groups have the same "
            f"mean in every column, and numbers are uncorrelated with it, up to {gap}: no linear "
            f"model fitted to such people predicts {named} better than a constant."
        )
    yield (
        f"- **What {whose} say of {named} stays in the columns.** That they may count was decided "
        f"by people, who answer for it; nothing here measures whether they should."
    )


def _of_distributions(model: FairTableTransformer) -> Iterator[str]:
    """Say what fair PLS matches beyond means."""
    if model.estimator_.match == "covariances":
        yield "- Group variances of each column were brought closer, by `covariance_penalty_`."
        return
    everybody = model.estimator_.criterion == "demographic_parity"
    whose = "" if everybody else ", within classes of the target"
    if factors := _factors(model.estimator_):
        whose, everybody = f"{whose}, among people with equal {_markdown_list(factors)}", False
    yield (
        f"- In the training data, each column has nearly the same distribution in all "
        f"groups{whose}: at any threshold, the share of a group below it differs from that of all "
        f"other rows by at most `distribution_gap_`. (A numeric attribute has no groups: its "
        f"covariance with being below is as small.)"
    )
    if len(model.get_feature_names_out()) == 1 and everybody:
        yield (
            "- There is one column, so every threshold selects nearly the same share of all "
            "groups. If the distribution were exactly the same in all of them, no model, linear or "
            "not, could predict the group."
        )


def _caveats(model: FairTableTransformer) -> Iterator[str]:
    """Say what nobody should rely on."""
    if "distribution_gap_" not in vars(model.estimator_):
        more = getattr(model.estimator_, "match", "distributions") != "distributions"
        stronger = '; `match="distributions"` hides more' if more else ""
        yield f"- **{who_may_see(model.estimator_)}.** Measure the leakage{stronger}."
    elif len(model.get_feature_names_out()) > 1:
        yield (
            "- **Columns are matched together, but only against the models that were tried: others "
            "may still predict the groups.** Measure the leakage."
        )
    else:
        yield (
            "- **On new data the groups differ by more than `distribution_gap_`.** "
            "`fairpca.metrics.certified_gap(scores, sensitive_features)` of held-out data bounds "
            "the difference at any threshold (under another criterion than demographic parity, "
            "pass the rows of one class). A model that uses narrow ranges of the column may "
            "predict the groups better than a threshold. Measure the leakage."
        )
    if "targets_" in vars(model.estimator_):
        yield "- It keeps what predicts the target, and is of little use for other targets."
    yield "- On new data means are equal up to sampling error, which grows with the columns."
    small = [
        f"{_markdown(label)} of {_markdown(name)} ({count} rows)"
        for name, levels in _counts_of(model).items()
        for label, count in levels.items()
        if count < SMALL_GROUP
    ]
    known = f" Small here: {', '.join(small[:MOST_LISTED])}." if small else ""
    yield f"- Means of small groups are uncertain, and so is what was removed for them.{known}"
    yield "- If people, columns or their meaning drift, the guarantee ends: audit new data again."
    joint = getattr(model.estimator_, "intersectional", False)
    others = "" if joint else ", nor are combinations of those that were"
    yield f"- Attributes that were not declared are not protected{others}."
    yield "- A fair representation does not make a decision based on other columns fair."


def who_may_see(estimator: Any) -> str:
    """Say which models may still predict the groups of a fitted estimator."""
    match = getattr(estimator, "match", "means")
    if not estimator._equal_means or getattr(estimator, "tradeoff", 0.0) > 0:
        return "Models may still predict the groups"
    if match == "distributions":
        return "No sample proves that the groups are hidden from every model"
    if match == "covariances" and "covariance_gap_" in vars(estimator):
        return "Models that are neither linear nor quadratic may still predict the groups"
    return "Non-linear models may still predict the groups"


def _numbers(model: FairTableTransformer) -> Iterator[str]:
    learned = vars(model.estimator_)
    yield "| what | value |"
    yield "|---|---|"
    if "explained_variance_ratio_" in learned:
        kept = float(np.sum(to_numpy(learned["explained_variance_ratio_"])))
        yield f"| variance kept | {100 * kept:.1f} % |"
    for j, name in enumerate(learned.get("targets_", ())):
        shares = to_numpy(learned["explained_targets_"])[:MOST_LISTED, j].tolist()
        for column, share in zip(model.get_feature_names_out(), shares, strict=False):
            yield f"| share of {_markdown(name)} that {column} explains | {100 * share:.1f} % |"
    for name in (
        *("mean_gap_", "covariance_gap_", "distribution_gap_", "covariance_penalty_"),
        *("distribution_penalty_", "shrinkage_", "constraint_rank_", "n_directions_", "gamma_"),
    ):
        if is_number(learned.get(name)):
            yield f"| `{name}` | {_markdown_number(learned[name])} |"
    if is_number(model.info_.get("median_gap")):
        told = "largest distance of a group's median, in ranges of the middle half of the people"
        yield f"| {told} | {_markdown_number(model.info_['median_gap'])} |"
    for name, value in model.info_.items():
        if name not in KNOWN_FACTS:
            yield from _rows_of(str(name), value)


def _rows_of(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in list(value.items())[:MOST_LISTED]:
            yield from _rows_of(f"{name}, {key}", inner)
    elif isinstance(value, list | tuple):
        yield f"| {_markdown(name)} | {_markdown_list(value)} |"
    else:
        yield f"| {_markdown(name)} | {_markdown_number(value)} |"


def _parameters(estimator: Any) -> Iterator[str]:
    if not estimator.get_params(deep=False):
        yield "It has none."
        return
    yield "| parameter | value |"
    yield "|---|---|"
    for name, value in estimator.get_params(deep=False).items():
        yield f"| `{name}` | {_markdown(repr(value))} |"


def _use(model: FairTableTransformer) -> Iterator[str]:
    rows = "frame" if model.encoder_ is not None else "X"
    yield "```python"
    yield "from fairpca import load"
    yield ""
    yield 'model = load("model.fairpca")  # executes nothing; altered files raise an error'
    yield f"T = model.transform({rows})  # array of {len(model.get_feature_names_out())} column(s)"
    yield "```"


def _versions() -> Iterator[str]:
    yield f"- Written: {datetime.now(UTC):%Y-%m-%d} (UTC)"
    for name, version in library_versions().items():
        yield f"- {name} {_markdown(version)}"


def _counts_of(model: FairTableTransformer) -> Mapping[str, Mapping[Any, int]]:
    """Return how many rows each group had: from the moments, or as somebody counted them."""
    learned = vars(model.estimator_)
    moments, groups = learned.get("moments_"), learned.get("groups_", {})
    counts: dict[str, dict[Any, int]] = {}
    for a in () if moments is None else moments.attributes:
        if isinstance(a, LevelMoments) and a.name in groups:  # not a target's classes
            levels = counts.setdefault(a.name, dict.fromkeys(a.labels, 0))
            for label, count in zip(a.labels, a.count.tolist(), strict=True):
                levels[label] = levels.get(label, 0) + int(count)
    told = model.info_.get("groups")
    counted = isinstance(told, Mapping) and all(
        isinstance(levels, Mapping) and all(isinstance(n, int) for n in levels.values())
        for levels in told.values()
    )
    return counts or (dict(told or {}) if counted else {})


def _markdown(value: Any, longest: int = LONGEST) -> str:
    r"""Return a value so that Markdown and HTML show it as it is, on one line: never as markup.

    >>> print(_markdown("<b>*a*</b>"))
    &lt;b&gt;\*a\*&lt;/b&gt;
    """
    text = str(value)
    text = text if len(text) <= longest else text[:longest] + "..."
    text = "".join(c if c.isprintable() else " " for c in text)
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = re.sub(r"([\\`*_\[\]#|~$@])", r"\\\1", text)
    # no links by themselves
    return re.sub(r"(:)(?=//)|(?<=www)(\.)", r"\\\g<0>", text) or "(empty)"


def _markdown_list(values: str | Iterable[Any]) -> str:
    """Return values one after the other in Markdown; the number of those left out is given.

    >>> _markdown_list(["a", "b"]), _markdown_list(range(62))[-18:]
    ('a, b', '58, 59, and 2 more')
    """
    values = [values] if isinstance(values, str) else list(values)
    more = f", and {len(values) - MOST_LISTED} more" if len(values) > MOST_LISTED else ""
    return ", ".join(_markdown(v) for v in values[:MOST_LISTED]) + more


def _markdown_number(value: Any) -> str:
    """Return a number with the digits that matter, and anything else as text.

    >>> _markdown_number(0.123456), _markdown_number(7)
    ('0.1235', '7')
    """
    return f"{value:.4g}" if isinstance(value, float | np.floating) else _markdown(value)
