"""Audits of the right shape with made-up numbers, to show what no real data would have."""

import copy
from functools import cache

import numpy as np

from fairpca.auditing._audit_result import Audit, audit_from_plain
from fairpca.auditing._evidence import Evidence
from fairpca.auditing._page import render_page
from fairpca.auditing._results import (
    SCHEMA_VERSION,
    Advice,
    Attribute,
    CertifiedGap,
    Column,
    Curve,
    CurvePoint,
    Data,
    Downstream,
    Estimate,
    Gap,
    Group,
    GroupRates,
    Leak,
    Notice,
    Panel,
    PanelGroups,
    Parity,
    Pictures,
    Representation,
    Settings,
    Spectrum,
    Summary,
    Target,
)

SCRIPT = "<script>window.pwned=1;alert(1)</script>"
IMAGE = "</script><img src=x onerror=window.pwned=1;alert(1)>"
ENTITY = "<b>R&D</b> &amp; %{x} {{7*7}} \u2028 var(--text)"

REPRESENTATIONS = {
    "raw": ("Raw features", 0.0),
    "pca": ("PCA", 0.02),
    "fair_pca": ("Fair PCA", 0.8),
    "fair_pca_covariances": ("Fair PCA, equal covariances", 0.9),
    "fair_kernel_pca": ("Fair kernel PCA", 0.75),
    "leace": ("LEACE", 0.7),
    "fair_pls": ("Fair PLS", 0.95),
}
"""Key, name, and how much of the leakage is gone."""

PROBES = {"linear": 0.77, "boosting": 0.75, "kernel": 0.73}
LAMBDAS = [(step / 8) ** 3 for step in range(9)]
GROUPS = {"race": ["white", "black", "hispanic"], "sex": ["male", "female"]}


def made_up_audit(groups=GROUPS, *, target="approve", table="loans", n_columns=41, seed=0):
    """Return an audit as a dictionary; `groups` maps attributes to the labels of their groups."""
    rng = np.random.default_rng(seed)
    methods = {key: one for key, one in REPRESENTATIONS.items() if target or key != "fair_pls"}
    both = " × ".join(groups)
    named = dict(groups)
    if len(groups) > 1:
        named[both] = [f"{one} & {two}" for one in groups[both.split(" × ")[0]] for two in "AB"]
    attributes = [_attribute(name, labels) for name, labels in named.items()]
    audit = Audit(
        SCHEMA_VERSION,
        "0.1.0",
        "2026-11-15T17:00:00+00:00",
        34.2,
        {"python": "3.11.7", "numpy": "2.4.6"},
        Settings(list(groups), target, "decide", 0.05, 15, 4, 8000, 0.95, 0, False),
        Data(
            name=table,
            source=table,
            fingerprint="sha256:" + "0" * 64,
            n_rows=1989,
            n_rows_dropped=3,
            n_features=n_columns,
            n_encoded=57,
            ignored=["id"],
            columns=[_column(f"column {i}", "feature", 3 * i) for i in range(n_columns)]
            + [_column(name, "sensitive") for name in groups],
            attributes=attributes,
            target=Target(target, "yes", 0.877) if target else None,
        ),
        [
            Notice(
                "proxy", "warning", "min30", "race", 0.97, "The column 'min30' gives race away."
            ),
            Notice("small_group", "info", "", "race", 3.0, "3 rows of 'other' are too few."),
        ],
        Summary("From these columns a model guesses race.", ["After fair PCA it does not.", "So."]),
        Advice(
            "decide",
            "fair_pca",
            LAMBDAS[2] if target else None,
            ["The gap is within what you allow."],
            "from fairpca import FairPCA\nFairPCA(15)",
            "fairpca fit loans.csv --sensitive race --out model.fairpca",
            ["Equal means do not hide what a non-linear model can see."],
        ),
        [
            Representation(key, name, "A promise.", *size, 0.02, None)
            for key, (name, _) in methods.items()
            for size in [(1, None) if key == "fair_pls" else (15, _near(0.6))]
        ],
        [
            _leak(key, name, probe, auc, gone, rng)
            for key, (_, gone) in methods.items()
            for name in named
            for probe, auc in PROBES.items()
        ],
        [
            Gap(key, name, _near(1 - gone), _near(0.3), _near(0.07 * (1 - gone), 0.002), 0.01, 0.2)
            for key, (_, gone) in methods.items()
            for name in named
        ],
        [
            Downstream(key, model, _near(0.88 - gone / 50), _near(0.8), _parities(attributes, gone))
            for key, (_, gone) in methods.items()
            for model in PROBES
            if target
        ],
        [
            Curve(
                "fair_pca",
                model,
                [
                    CurvePoint(
                        value,
                        _near(0.86 + 0.02 * value),
                        _near(0.7),
                        _parities(attributes, 1 - value),
                    )
                    for value in LAMBDAS
                ],
            )
            for model in ("linear", "kernel")
            if target
        ],
        [
            CertifiedGap(key, name, 8, 990, 0.1, 0.21 if key != "raw" else 0.97, 0.95, None)
            for key in ("raw", "fair_pca")
            for name in named
        ],
        [
            Spectrum(key, sorted((rng.random(12) * 0.08).tolist(), reverse=True))
            for key in ("pca", "fair_pca")
        ],
        _pictures(attributes, rng),
    )
    return audit.to_dict()


def hostile_audit():
    """Return an audit in which every name and value tries to be markup or a script."""
    audit = made_up_audit(
        {SCRIPT: [IMAGE, SCRIPT, ENTITY, "ü & ß"], "sex": ["male", ENTITY]},
        target=IMAGE,
        table=SCRIPT,
    )
    audit["data"]["columns"][3].update(name=SCRIPT, kind=IMAGE, note=ENTITY)
    audit["notices"][0].update(text=f"Look at {SCRIPT}.", column=IMAGE, severity=SCRIPT)
    audit["summary"] = {"headline": f"A model guesses {SCRIPT}.", "sentences": [IMAGE, ENTITY]}
    audit["advice"].update(reasons=[SCRIPT], code=f"# {IMAGE}", command=ENTITY, caveats=[IMAGE])
    for one in audit["representations"]:
        one["promise"] = IMAGE
    audit["representations"][1]["name"] = SCRIPT
    return audit


def many_groups_audit():
    """Return an audit with an attribute of twelve groups and a hundred columns."""
    return made_up_audit({"region": [f"region {i} of the north" for i in range(12)]}, n_columns=100)


def bare_audit():
    """Return an audit of one numeric attribute, without a target, with failures and gaps."""
    audit = made_up_audit({"age": ["42 or less", "more than 42"]}, target=None)
    audit["data"]["attributes"][0].update(kind="numeric", note="Cut at the median, 42.")
    failed = "fair_pca_covariances"
    for one in audit["representations"]:
        if one["key"] == failed:
            one.update(n_columns=None, variance_kept=None, fit_seconds=None, failure="Too wide.")
    for part in ("leakage", "gaps", "spectra", "certificates"):
        audit[part] = [one for one in audit[part] if one["representation"] != failed]
    audit["leakage"][0]["auc"] = {"value": None, "low": None, "high": None}
    audit["gaps"][0]["covariance_gap"] = None
    audit["notices"], audit["certificates"] = [], []
    audit["advice"].update(representation=None, tradeoff=None, reasons=[], code="", command="")
    return audit


@cache
def page_of(make):
    """Return the page of one of these audits, which is made once."""
    return render_page(make())


def read(audit):
    """Return an audit, as plain dictionaries, as the page reads it."""
    return Evidence(audit_from_plain(audit))


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


def _near(value, width=0.02):
    return Estimate(float(value), float(value - width), float(value + width))


def _column(name, role, n_missing=0):
    return Column(name, role, "numeric", n_missing, 100, int(role == "feature"), "")


def _attribute(name, labels):
    columns = name.split(" × ")
    kind = "intersection" if len(columns) > 1 else "levels"
    share = 1 / len(labels)
    groups = [Group(label, int(1989 * share), share, 0.8) for label in labels]
    return Attribute(name, columns, kind, groups, 15, "")


def _leak(key, name, probe, auc, gone, rng):
    hard = 1.0 if probe == "linear" else 0.6
    value = 0.5 + (auc - 0.5) * (1 - min(1, hard * gone)) + rng.normal() * 0.005
    above = bool(value > 0.54)
    return Leak(
        key, name, probe, _near(value, 0.03), 0.46, 0.54, 0.001 if above else 0.3, above, 0.001
    )


def _parities(attributes, gone):
    return [
        Parity(
            one.name,
            _near(0.03 + 0.2 * (1 - gone)),
            None if position else _near(0.1 * (1 - gone)),
            [
                GroupRates(
                    group.label,
                    group.n_rows,
                    _near(0.9 - 0.04 * place * (1 - gone)),
                    None if position else _near(0.9),
                    _near(0.85),
                )
                for place, group in enumerate(one.groups)
            ],
        )
        for position, one in enumerate(attributes)
    ]


def _pictures(attributes, rng, n=300):
    codes = [rng.integers(-1, len(one.groups), n) for one in attributes]
    panels = [
        Panel(key, np.round(rng.normal(size=n) * scale + shift * codes[0], 3).tolist(),
              np.round(rng.normal(size=n) * scale, 3).tolist())
        for key, scale, shift in (("pca", 1, 1), ("fair_pca", 1, 0), ("fair_kernel_pca", 0.1, 0))
    ]  # fmt: skip
    return Pictures(
        panels,
        [PanelGroups(one.name, c.tolist()) for one, c in zip(attributes, codes, strict=True)],
    )
