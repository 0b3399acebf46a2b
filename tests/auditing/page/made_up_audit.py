"""Audits of the right shape with made-up numbers, to show what no real data would have."""

import copy
from functools import cache

import numpy as np

from fairpca import Audit
from fairpca.auditing._evidence import Evidence
from fairpca.auditing._results import (
    EXISTING,
    SCHEMA_VERSION,
    Advice,
    Attribute,
    CertifiedGap,
    Column,
    Comparison,
    Curve,
    CurvePoint,
    Data,
    DecisionImportance,
    Downstream,
    Estimate,
    Group,
    GroupRates,
    Leak,
    ModelNumbers,
    Notice,
    Option,
    Parity,
    ProxyImportance,
    Representation,
    Setting,
    Settings,
    Summary,
    Target,
    Weight,
)

SCRIPT = "<script>window.pwned=1;alert(1)</script>"
IMAGE = "</script><img src=x onerror=window.pwned=1;alert(1)>"
ENTITY = "<b>R&D</b> &amp; %{x} {{7*7}} \u2028 var(--text)"

METHODS = {
    "raw": ("Raw features", 57, 0.0),
    "pca": ("PCA", 15, 0.02),
    "fair_pca": ("Fair PCA", 15, 0.7),
    "fair_pca_covariances": ("Fair PCA, equal covariances", 7, 0.9),
    "fair_pca_distributions": ("Fair PCA, matched distributions", 15, 0.93),
    "fair_pca@7": ("Fair PCA, 7 components", 7, 0.72),
    "fair_kernel_pca": ("Fair kernel PCA", 15, 0.75),
    "leace": ("LEACE", 57, 0.6),
    "fair_pls": ("Fair PLS", 1, 0.95),
}
"""Key, name, columns, and how much of the leakage is gone."""

MODELS = ("linear", "boosting", "kernel")
LAMBDAS = [(step / 8) ** 3 for step in range(9)]
GROUPS = {"race": ["white", "black", "hispanic"], "sex": ["male", "female"]}
TARGETS = {
    "approve": Target("approve", "binary", "yes", 0.877, [], None, None),
    "lwage": Target("lwage", "number", None, None, [], 1.62, 0.53),
    "party": Target("party", "classes", None, None, ["left", "centre", "right"], None, None),
}


def made_up_audit(
    groups=GROUPS,
    *,
    target="approve",
    table="loans",
    n_columns=41,
    own=(),
    verdict="recommended",
    seed=0,
):
    """Return an audit as a dictionary; `groups` maps attributes to the labels of their groups."""
    rng = np.random.default_rng(seed)
    aim = TARGETS.get(target, TARGETS["approve"]) if target else None
    methods = {key: one for key, one in METHODS.items() if target or key != "fair_pls"}
    named = dict(groups)
    if len(groups) > 1:
        first, second = list(groups)[:2]
        named[f"{first} × {second}"] = [f"{a} & {b}" for a in groups[first] for b in "AB"]
    attributes = [_attribute(name, labels) for name, labels in named.items()]
    singles = list(groups)
    compared = [
        Representation(key, _setting(key), name, "features" if key == "raw" else "method",
                       "A promise.", k, None if key == "fair_pls" else _near(0.9 - gone / 3), 0.02,
                       None, "")
        for key, (name, k, gone) in methods.items()
    ]  # fmt: skip
    compared += [
        Representation(
            one,
            _setting(one),
            one.replace(":", " "),
            one.split(":")[0],
            "",
            1,
            None,
            None,
            None,
            "",
        )
        for one in own
    ]
    gone_of = {key: gone for key, (_, _, gone) in methods.items()} | dict.fromkeys(own, 0.3)
    leakage = [
        _leak(key, name, probe, gone, rng)
        for key, gone in gone_of.items()
        for name in named
        for probe in MODELS
    ]
    downstream = [
        _downstream(key, model, gone, attributes, aim)
        for key, gone in gone_of.items()
        for model in ([EXISTING] if key in own else MODELS)
        if target
    ]
    sizes = methods | {one: (one.replace(":", " "), 0, 0.3) for one in own}
    options = [
        _option(key, lam, sizes, singles, aim, named, taken)
        for key, lam, taken in [
            ("raw", None, 0.0),
            *((one, None, 0.0) for one in own),
            ("fair_pca", LAMBDAS[2] if target else None, 0.05),
            ("fair_kernel_pca", None, 0.83),
            ("fair_pca_covariances", None, 0.12),
        ]
    ]
    taken = verdict in ("recommended", "tie")
    audit = Audit(
        SCHEMA_VERSION,
        "0.1.0",
        "2026-11-15T17:00:00+00:00",
        34.2,
        {"python": "3.11.7", "numpy": "2.4.6"},
        Settings(
            singles,
            target,
            None,
            "decide" if target else "hide",
            0.05,
            "any",
            15,
            7,
            20,
            20,
            8000,
            0.9,
            0,
            False,
            None,
            [one.split(":")[1] for one in own if one.startswith("score")],
            [one.split(":")[1] for one in own if one.startswith("decision")],
            None,
            None,
            [],
            "standard",
        ),
        Data(
            name=table,
            source=table,
            fingerprint="sha256:" + "0" * 64,
            n_rows=1989,
            n_rows_dropped=3,
            n_people=1989,
            n_features=n_columns,
            n_encoded=57,
            ignored=["id"],
            columns=[_column(f"column {i}", "feature", 3 * i) for i in range(n_columns)]
            + [_column(name, "sensitive") for name in groups],
            attributes=attributes,
            target=aim and Target(*[target, *list(vars(aim).values())[1:]]),
        ),
        [
            Notice("proxy", "warning", "min30", "race", 0.97, "The column 'min30' leaks race."),
            Notice("small_group", "info", "", "race", 3.0, "3 rows of 'other' are too few."),
        ],
        Summary(
            "From these columns a model predicts race; with fair kernel PCA it hardly does.",
            ["After fair kernel PCA decisions differ by 8 points instead of 23.", "So."],
        ),
        Advice(
            "decide" if target else "hide",
            verdict,
            "fair_kernel_pca" if taken else None,
            None,
            [options[-1].name] if verdict == "tie" else [],
            options if verdict != "no method helps" else options[:-1],
            ["The gap cannot be told from what you allow, and nothing that helps is better."],
            "from fairpca import FairKernelPCA\nFairKernelPCA(15)" if taken else "",
            "fairpca fit loans.csv --sensitive race --out model.fairpca" if taken else "",
            ["Not hidden from non-linear models: the best still has AUC 0.64."],
        ),
        compared,
        leakage,
        downstream,
        [
            Curve(
                "fair_pca",
                model,
                [
                    CurvePoint(
                        value,
                        _near(0.69 + 0.05 * value),
                        [_parity(one, 0.7 * (1 - value), aim, groups=False) for one in attributes],
                    )
                    for value in LAMBDAS
                ],
            )
            for model in ("linear", "kernel")
            if target
        ],
        [
            CertifiedGap("fair_pls", name, 990, 0.06, 0.16 if name in singles else 0.9, 0.9)
            for name in named
            if target
        ],
        [
            ProxyImportance(name, f"column {place}", _near(0.05 / (1 + place) ** 1.5, 0.006))
            for name in singles
            for place in range(min(10, n_columns))
        ],
        [
            DecisionImportance(
                f"column {place}",
                _near(0.12 / (1 + place), 0.01),
                [Weight("per unit", 0.03, 0.2), Weight("= yes", -0.4, -0.1)][: 1 + place % 2],
            )
            for place in range(min(8, n_columns))
            if target and taken
        ],
    )
    return audit.to_dict()


def hostile_audit():
    """Return an audit in which every name and value tries to be markup or a script."""
    audit = made_up_audit(
        {SCRIPT: [IMAGE, SCRIPT, ENTITY, "ü & ß"], "sex": ["male", ENTITY]},
        target=IMAGE,
        table=SCRIPT,
        own=(f"score:{SCRIPT}", f"decision:{ENTITY}"),
    )
    audit["data"]["columns"][3].update(name=SCRIPT, kind=IMAGE, note=ENTITY)
    audit["notices"][0].update(text=f"Look at {SCRIPT}.", column=IMAGE, severity=SCRIPT)
    audit["summary"] = {"headline": f"A model predicts {SCRIPT}.", "sentences": [IMAGE, ENTITY]}
    audit["advice"].update(reasons=[SCRIPT], code=f"# {IMAGE}", command=ENTITY, caveats=[IMAGE])
    audit["advice"]["options"][1]["name"] = SCRIPT
    audit["proxy_importance"][0]["column"] = audit["decision_importance"][1]["column"] = IMAGE
    audit["decision_importance"][0]["weights"][0]["level"] = SCRIPT
    for one in audit["representations"]:
        one["guarantee"], one["note"] = IMAGE, SCRIPT
    audit["representations"][1]["name"] = SCRIPT
    return audit


def many_groups_audit():
    """Return an audit with an attribute of twelve groups and a hundred columns."""
    return made_up_audit({"region": [f"region {i} of the north" for i in range(12)]}, n_columns=100)


def bare_audit():
    """Return an audit of one numeric attribute, without a target, with failures and gaps."""
    audit = made_up_audit({"age": ["42 or less", "more than 42"]}, target=None)
    audit["data"]["attributes"][0].update(kind="numeric", note="Cut at the median, 42.")
    failed = "fair_pca"
    for one in audit["representations"]:
        if one["key"] == failed:
            one.update(n_columns=None, variance_kept=None, fit_seconds=None, failure="Too wide.")
        if one["key"] == "fair_pca_covariances":
            one["note"] = "It reaches 7 of 15 components."
    audit["leakage"] = [one for one in audit["leakage"] if one["representation"] != failed]
    audit["advice"]["options"] = [
        one for one in audit["advice"]["options"] if one["representation"] != failed
    ]
    del audit["leakage"][0]
    audit["notices"] = []
    return audit


def wage_audit():
    """Return an audit of a continuous target."""
    return made_up_audit({"female": ["0", "1"]}, target="lwage", table="wages")


def classes_audit():
    """Return an audit of a target of several classes."""
    return made_up_audit(target="party", table="anes", verdict="no method helps")


def own_model_audit():
    """Return an audit of a score and a decision that exist."""
    return made_up_audit(own=("score:risk", "decision:granted"), verdict="tie")


def since_audit():
    """Return an audit with what changed: worse, better, gone, new, and not to be compared."""
    now = made_up_audit(own=("score:risk", "decision:granted"))
    before = copy.deepcopy(now)
    before.update(created="2026-10-15T17:00:00+00:00", fairpca_version="0.0.9")
    before["data"].update(fingerprint="sha256:1", n_rows=1800, n_people=900)
    before["data"]["columns"][3]["n_missing"] = 300
    del before["data"]["columns"][5]
    for parity in (p for one in before["downstream"] for p in one["parities"]):
        wider = 0.1 if parity["attribute"] == "sex" else -0.1
        parity["gap"] = {end: value - wider for end, value in parity["gap"].items()}
    return Audit.from_dict(now).since(Audit.from_dict(before)).to_dict()


def nothing_to_do_audit():
    """Return an audit that finds nothing to change."""
    return made_up_audit({"sex": ["male", "female"]}, verdict="no action needed")


def render_page(audit):
    """Return the page of an audit that is given as plain dictionaries."""
    return Audit.from_dict(audit).to_html()


def render_summary(audit):
    """Return what notebooks show of it."""
    return Audit.from_dict(audit)._repr_html_()


@cache
def page_of(make):
    """Return the page of one of these audits, which is made once."""
    return render_page(make())


def read(audit):
    """Return an audit, as plain dictionaries, as the page reads it."""
    return Evidence(Audit.from_dict(audit))


def with_changes(audit, **parts):
    """Return a copy of an audit with some of its parts replaced."""
    return {**copy.deepcopy(audit), **parts}


def to_six_digits(value):
    """Return an audit with its numbers as the page keeps them."""
    if isinstance(value, dict):
        return {name: to_six_digits(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [to_six_digits(entry) for entry in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _setting(key):
    """Return the setting of a key, which has components or a column at most."""
    method, _, column = key.partition(":")
    method, _, k = method.partition("@")
    return Setting(method, n_components=int(k) if k else None, column=column or None)


def _near(value, width=0.02):
    return Estimate(float(value), float(value - width), float(value + width))


def _column(name, role, n_missing=0):
    return Column(name, role, "numeric", n_missing, 100, int(role == "feature"), "")


def _attribute(name, labels):
    columns = name.split(" × ")
    kind = "intersection" if len(columns) > 1 else "levels"
    share = 1 / len(labels)
    groups = [Group(label, int(1989 * share), share, 0.8, int(1989 * share)) for label in labels]
    return Attribute(name, columns, kind, groups, 15, "")


def _leak(key, name, probe, gone, rng):
    hard = {"linear": 1.0, "boosting": 0.7, "kernel": 0.65}[probe]
    best = {"linear": 0.82, "boosting": 0.84, "kernel": 0.81}[probe]
    value = 0.5 + (best - 0.5) * (1 - min(1, hard * gone)) + rng.normal() * 0.005
    above = bool(value > 0.54)
    return Leak(key, name, probe, _near(value, 0.03), 0.54, above, 0.001 if above else 0.3, 0.001)


def _gap(gone, aim, model="linear"):
    """Return a gap; trees see more than linear models, whatever was made equal."""
    left = 1 - gone * (0.6 if model == "boosting" else 1.0)
    return _near((0.9 if aim and aim.kind == "number" else 0.2) * left + 0.03, 0.03)


def _parity(attribute, gone, aim, model="linear", *, groups=True, own=False):
    number, decided = aim.kind == "number", aim.kind == "binary"
    gap = _gap(gone, aim, model)
    return Parity(
        attribute.name,
        aim.classes[-1] if aim.classes else None,
        gap,
        None if number else _near(1 - gap.value, 0.05),
        _near(0.1 * (1 - gone)) if decided else None,
        _near(0.2 * (1 - gone)) if decided else None,
        _near(0.05) if decided else None,
        _near(0.3) if number or own else None,
        None if own else _near(0.5 + gap.value / 2, 0.02),
        [
            GroupRates(
                group.label,
                group.n_rows // 2,
                place < 10,
                None if number else _near(0.9 - gap.value * place / len(attribute.groups)),
                _near(0.95) if decided else None,
                _near(0.4) if decided else None,
                _near(0.9) if decided else None,
                _near(1.6 - gap.value * place) if number else _near(0.85) if own else None,
                _near(1.62) if number else _near(0.87) if own else None,
            )
            for place, group in enumerate(attribute.groups)
            if groups
        ],
        min(10, len(attribute.groups)),
        len(attribute.groups),
    )


def _utility(gone, model, aim):
    best = 0.4 if aim.kind == "number" else 0.79
    return _near(best - gone / 12 - {"linear": 0, "boosting": 0.01, "kernel": 0.02}.get(model, 0))


def _downstream(key, model, gone, attributes, aim):
    own = model == EXISTING
    return Downstream(
        key,
        model,
        None if key.startswith("decision") else _utility(gone, model, aim),
        _near(0.6) if aim.kind == "number" else None,
        _near(0.88) if aim.kind == "binary" else None,
        [_parity(one, gone, aim, model, own=own) for one in attributes],
    )


def _comparison(labels):
    left = [GroupRates(one, 30, False, _near(0.6, 0.2), *[None] * 5) for one in labels[10:]]
    return Comparison(min(10, len(labels)), len(labels), left)


def _option(key, tradeoff, methods, singles, aim, named, taken):
    name, k, gone = methods[key]
    own = ":" in key
    gone = gone * (0.6 if tradeoff else 1.0)
    lam = f", lambda {tradeoff:.2g}" if tradeoff else ""
    gap = _gap(gone, aim, "boosting") if aim else None
    joint = list(named)[-1] if len(named) > len(singles) else None
    return Option(
        representation=key,
        name=f"{name}, {k} components{lam}" if key != "raw" and not own else name,
        n_columns=k,
        tradeoff=tradeoff,
        gap=gap,
        gap_attribute=singles[0] if aim else None,
        gap_model=EXISTING if own else "boosting" if aim else None,
        gap_groups=_comparison(named[singles[0]]) if aim else None,
        utility=None
        if key.startswith("decision")
        else _utility(gone, "linear", aim)
        if aim
        else _near(0.9 - gone / 3),
        utility_model=EXISTING if own else "linear" if aim else None,
        leak=_near(0.84 - 0.25 * gone, 0.03),
        leak_attribute=singles[0],
        leak_probe="boosting",
        leak_above_chance=gone < 0.9,
        ratio=None if not aim or aim.kind == "number" else _near(1 - gap.value, 0.05),
        joint_gap=_near(gap.value + 0.05, 0.04) if aim and joint else None,
        joint_attribute=joint if aim else None,
        joint_groups=_comparison(named[joint]) if aim and joint else None,
        reduction=None if not aim or key == "raw" else _near(0.2 * gone, 0.03),
        models=[
            ModelNumbers(model, _utility(gone, model, aim), _gap(gone, aim, model), singles[0])
            for model in ([EXISTING] if own else MODELS)
            if aim
        ],
        eligible=gone > 0.7,
        selection_frequency=taken,
    )
