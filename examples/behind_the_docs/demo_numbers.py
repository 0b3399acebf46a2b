"""Write the numbers of the demo that pages quote, and the parts of pages that are made of them.

``python examples/behind_the_docs/demo_numbers.py`` audits the loan applications as ``make demo``
does, and ``... demo_numbers.py demo/audit.json`` takes what that wrote. Either writes
``docs/data/demo.json``; a test compares every page with it.
"""

import json
import re
import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
NUMBERS = DOCS / "data" / "demo.json"
DIGITS = 6  # more than any page shows, so that nothing is rounded twice
SHOWN = {
    "raw": "all columns",
    "pca": "PCA",
    "fair_pca": "FairPCA",
    "fair_pca_distributions": 'FairPCA, `match="distributions"`',
    "fair_pls": "FairPLS",
}
README, START = DOCS.parent / "README.md", DOCS / "start.md"
FIRST = "| held-out mortgage applicants |"
PRINTED = "pca      linear "


def main(path=None):
    if path is None:
        from fairpca import audit

        found = audit("loanapp").to_dict()
    else:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    numbers = quoted(found)
    text = json.dumps(numbers, indent=1, ensure_ascii=False)
    text = re.sub(r"\[\s+([^][{}]*?)\s+\]", lambda m: f"[{' '.join(m[1].split())}]", text)
    NUMBERS.write_text(text + "\n", encoding="utf-8")
    for page, first, part in parts(numbers):
        text = page.read_text(encoding="utf-8")
        start = text.index(f"\n{first}") + 1
        end = min(text.find(stop, start) % len(text) for stop in ("\n\n", "\n```"))
        page.write_text(text[:start] + part + text[end:], encoding="utf-8")


def parts(numbers):
    """Return the paragraphs that consist of numbers of the demo: page, beginning and text."""
    return [
        (README, FIRST, table(numbers)),
        (START, PRINTED, printed(numbers)),
    ]


def quoted(audit):
    """Return what pages say of the demo, out of the plain dictionaries of its audit."""
    settings, data, advice = audit["settings"], audit["data"], audit["advice"]
    return {
        "made_by": "examples/behind_the_docs/demo_numbers.py",
        "people": data["n_people"],
        "features": data["n_features"],
        "splits": settings["n_splits"],
        "decision_splits": settings["n_decision_splits"],
        "max_gap": settings["max_gap"],
        "chance": round(max(leak["chance"] for leak in audit["leakage"]), DIGITS),
        "seed": settings["seed"],
        "verdict": advice["verdict"],
        "recommended": advice["representation"],
        "ties": advice["ties"],
        "headline": audit["summary"]["headline"],
        "reasons": advice["reasons"],
        "options": [_option(option) for option in advice["options"]],
        "representations": {
            one["key"]: _representation(audit, one)
            for one in audit["representations"]
            if not one["failure"]
        },
    }


def _option(option):
    """Return an option of the audit: largest gap, best model, how often it is selected."""
    numbers = {name: _interval(option[name]) for name in ("gap", "utility", "leak", "ratio")}
    words = ("representation", "name", "n_columns", "gap_attribute", "selection_frequency")
    return {name: option[name] for name in words} | numbers


def _representation(audit, one):
    """Return what probes predict from a representation, and what models on it decide."""
    models = [d for d in audit["downstream"] if d["representation"] == one["key"]]
    predicted = {}
    for leak in audit["leakage"]:
        if leak["representation"] == one["key"]:
            predicted.setdefault(leak["attribute"], {})[leak["probe"]] = _interval(leak["auc"])
    return {
        "name": one["name"],
        "n_columns": one["n_columns"],
        "variance_kept": one["variance_kept"] and _interval(one["variance_kept"]),
        "predicted": predicted,
        "utility": {d["model"]: _interval(d["utility"]) for d in models},
        "gap": {
            d["model"]: {p["attribute"]: _interval(p["gap"]) for p in d["parities"]} for d in models
        },
    }


def _interval(estimate):
    """Return value, lower and upper end."""
    return [round(estimate[end], DIGITS) for end in ("value", "low", "high")]


def table(numbers):
    """Return the table of the README, in Markdown; every row is of the best or worst model."""
    shown = [numbers["representations"][key] for key in SHOWN]
    rows = {
        f"AUC for predicting {attribute} (0.50 is chance)": [
            f"{max(auc for auc, _, _ in one['predicted'][attribute].values()):.2f}" for one in shown
        ]
        for attribute in ("race", "sex")
    }
    rows["approval gap between races, percentage points"] = [
        f"{100 * max(gaps['race'][0] for gaps in one['gap'].values()):.0f}" for one in shown
    ]
    rows["AUC for predicting approval"] = [
        f"{max(auc for auc, _, _ in one['utility'].values()):.2f}" for one in shown
    ]
    head = [f"{FIRST} {' | '.join(SHOWN.values())} |", "|---|" + "--:|" * len(SHOWN)]
    return "\n".join([*head, *(f"| {what} | {' | '.join(row)} |" for what, row in rows.items())])


def printed(numbers):
    """Return what the code of the first page prints."""
    lines = []
    for key in ("pca", "fair_pca", "fair_pls"):
        one = numbers["representations"][key]
        for model, gaps in one["gap"].items():
            value, low, high = (100 * end for end in gaps["race"])
            lines.append(
                f"{key:9}{model:9} approval rates differ by {value:4.1f} points ({low:.1f} to "
                f"{high:.1f}), agreement with the lenders {one['utility'][model][0]:.2f}"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    main(*sys.argv[1:])
