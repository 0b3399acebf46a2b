"""Words of a dialect that readers do not know, and what the trade says instead.

``python tests/documentation/words.py [PATH ...]`` lists them with file and line, and `make lint`
runs it. What has a reason to stay is in `ALLOWED`.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

BANNED = {
    r"giv(?:e|es|en|ing) (?:\w+ )?away|gave (?:\w+ )?away": "leak, reveal",
    r"(?:un)?recogni[sz](?:e|es|ed|ing|able)\b": "predict, recover (an attribute)",
    r"told from chance": "significantly above chance",
    r"(?:be|are|is|was|were) told apart|tell(?:s)? (?:\w+ )?apart": "differ significantly",
    r"(?:the )?worst of (?:three|all|linear)|worst of the (?:three|models)": (
        "the largest gap across three model families"
    ),
    r"kinds? of models?\b": "model family",
    r"\bguess(?:es|ed|ing)?\b": "chance; predict",
    r"\bluck(?:y|ily)?\b|\bby lot\b": "chance, random",
    r"would be taken|been taken|\btaken \d": "selected in ... of resamples",
    r"what there is to choose from": "options",
    r"\bnothing need be done\b|\bnothing here helps\b": "no action needed; no tested method helps",
    r"rows like these|people like these|up to a number": (
        "on data from the same population; approximately"
    ),
    r"\balike rates|made alike|makes alike|are alike in\b": "equal; matched, equalised",
    r"rows (?:that were|it was|it is|they were) fitted to|fitted to on\b": "training data",
    r"\brows elsewhere\b": "held-out data; new data",
    r"\ba yes or no\b|\bthe yes\b": "binary target; positive class",
    r"a number as (?:the )?target": "continuous target; regression",
    r"whose row it is": "subject id",
    r"\bmodels? (?:on top|behind it)\b": "downstream model",
    r"other people's methods|(?<!fairpca\.)\bpeers?\b": "baselines",
    r"\bknobs?\b": "hyperparameter",
    r"\bmend(?:s|ed|ing)?\b": "fix",
    r"columns that carry|\bcarriers?\b|carried (?:most )?by\b": "proxies",
    r"\bdeciders?\b|columns that decide|which columns decide": "most influential features",
    r"\bseen here\b": "observed",
    r"what holds for every threshold": "certified bound",
    r"what to look at in the table": "data warnings",
    r"\bto be quoted\b": "plain-language findings",
    r"\brefus(?:e|es|ed|ing)\b|\brefusals?\b": "reject, raise an error",
    r"\bfound out\b": "auto-detected",
    r"\bthe json of an audit\b": "audit JSON schema",
    r"\bmade-up\b|\bmade up\b": "synthetic",
    r"\bscores? bends?\b": "non-linear score",
    r"\bsays? so\b": "state it",
    r"\bthe advice\b|\badvised\b": "the recommendation",
    r"what can be had|can be had": "is available",
    r"(?:cannot|can not|could not) hide what|do not hide what a non-linear": (
        "mean parity protects against linear models only"
    ),
    r"which is which": "which person belongs to the group",
    r"\bpromises?\b|\bpromising\b": "guarantee, or state what it does",
    r"not (?:those|the gap) of the audit": "one split for all pages, or name the question",
    r"\bcopies of rows\b": "duplicate rows",
    r"people with several rows": "repeated measures",
    r"\bnumbers? with fractions\b": "float; numeric",
    r"\bhand(?:s|ed|ing)? (?:on|over) (?:the |a )?(?:data|model)\b": "share, release",
    r"\bholes? in security\b|\bsecurity holes?\b": "vulnerability",
    r"of that machine, and of no other": "state the machine once",
    r"\bbest of (?:the )?three\b(?! model)": "the best of three model families",
}
"""A pattern, whatever the case, and what to write; a blank may be the end of a line."""

WRITE = list(BANNED.values())

READ = (
    "*.md",
    "changes/*.md",
    "docs/**/*.md",
    "docs/**/*.rst",
    "examples/**/*.py",
    "examples/**/*.rst",
    "src/**/*.py",
    "src/**/*.html",
    "src/**/*.j2",
    "src/**/*.js",
    "src/**/*.txt",
    "paper/**/*.py",
    "paper/*.md",
    "benchmarks/*.py",
)

MADE = ("docs/_build", "docs/gallery", "docs/reference/generated", "docs/reproduced")
"""Made by a build, or results of runs that stay as they were."""

ALLOWED = {
    "docs/reference/glossary.md": ".*",  # explains words
    "src/fairpca/models/_plans.py": "refused?",  # values that people write in a target
}
"""Paths, and what may stand there."""


def dialect(paths=()):
    """Yield file, line, what stands there and what to write."""
    wanted = [Path(path).resolve() for path in paths]
    joined = "|".join(f"({pattern})" for pattern in BANNED)
    every = re.compile(joined.replace(" ", r"(?:\s+(?:[>#*] )?)"), re.IGNORECASE)
    for path in sorted({path for pattern in READ for path in ROOT.glob(pattern)}):
        name = path.relative_to(ROOT).as_posix()
        below = not wanted or any(path == one or one in path.parents for one in wanted)
        if name.startswith(MADE) or not below:
            continue
        text = path.read_text(encoding="utf-8")
        for found in every.finditer(text):
            if not re.fullmatch(ALLOWED.get(name, "(?!)"), found[0]):
                line = 1 + text.count("\n", 0, found.start())
                yield name, line, " ".join(found[0].split()), WRITE[found.lastindex - 1]


if __name__ == "__main__":
    found = [
        f"{name}:{line}: {said!r}: write {write}"
        for name, line, said, write in dialect(sys.argv[1:])
    ]
    sys.stdout.write("\n".join([*found, f"{len(found)} words of the dialect\n"]))
    sys.exit(bool(found))
