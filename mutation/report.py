"""The page ``docs/testing/mutation.md``: scores, and every survivor with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby

from .explanations import KINDS, Explanation, explanations, fragment
from .outcomes import DEAD, Outcome

COLUMNS = ("killed", "timed out", "survived", "not tested")

INTRODUCTION = """\
# Mutation testing

Tests that pass say little unless they can fail. So we make small changes to the numerical core,
one at a time: a `<` becomes a `<=`, a plus becomes a minus, a number is one larger, an argument is
left out. Each changed version is a *mutant*. We run the tests that execute the changed line. If
one of them fails, the mutant is killed. The goal: nine of ten mutants are killed in every part,
and each survivor is known and has a reason.

Run it with `make mutation`, or `python -m mutation _moments/scatter.py` for one file. `--markdown`
writes this page. The reasons are in `mutation/explained.toml`, by the text of the line, so they
have to be given again when the line changes. They come from reading the code and are no proofs.
`mutation/README.md` says which changes are made and which are not.
"""


def of_part(outcomes: Iterable[Outcome], part: str) -> list[Outcome]:
    """Return the outcomes of a part such as "_moments" or "_moments/scatter.py"."""
    name = "fairpca." + part.removesuffix(".py").replace("/", ".")
    return [o for o in outcomes if o.module == name or o.module.startswith(name + ".")]


def table(outcomes: Sequence[Outcome], parts: Iterable[str]) -> str:
    """Return the scores of the parts as a Markdown table."""
    lines = [
        f"| part | mutants | {' | '.join(COLUMNS)} | killed or timed out |",
        "|---|" + "---:|" * (len(COLUMNS) + 2),
    ]
    for part in parts:
        count = Counter(o.outcome for o in of_part(outcomes, part))
        total = sum(count[kind] for kind in COLUMNS)
        score = 100 * sum(count[kind] for kind in DEAD) / max(total, 1)
        cells = " | ".join(str(count[kind]) for kind in COLUMNS)
        lines.append(f"| `{part}` | {total} | {cells} | {score:.1f} % |")
    return "\n".join(lines)


def page(outcomes: Sequence[Outcome], parts: Sequence[str], circumstances: Sequence[str]) -> str:
    """Return the whole page."""
    known = explanations()
    survivors = [o for o in outcomes if o.outcome in ("survived", "not tested")]
    kinds = Counter(known[o.key].kind if o.key in known else "unexplained" for o in survivors)
    files = sorted({o.module.removeprefix("fairpca.").replace(".", "/") + ".py" for o in outcomes})
    impossible = sum(o.outcome == "impossible" for o in outcomes)
    sections = [
        INTRODUCTION,
        "## Scores\n",
        table(outcomes, parts),
        "",
        *(f"- {line}." for line in circumstances),
        f"\nA mutant that reaches its time limit counts as killed. {impossible} more could not be "
        "put in place and are not counted. Survivors stay in the count, whatever their reason.",
        "\n## File by file\n",
        table(outcomes, files),
        "\n## Survivors\n",
        "| kind | survivors | what it means |\n|---|---:|---|",
        *(f"| {kind} | {kinds[kind]} | {KINDS[kind]} |" for kind in KINDS if kinds[kind]),
        f"| unexplained | {kinds['unexplained']} | No reason has been given yet. |",
        *_listed(survivors, known),
    ]
    return "\n".join(sections) + "\n"


def _listed(
    survivors: Iterable[Outcome], known: dict[tuple[str, str, str, str], Explanation]
) -> Iterable[str]:
    ordered = sorted(survivors, key=lambda o: (o.module, o.line, o.before, o.after))
    for module, of_module in groupby(ordered, key=lambda o: o.module):
        yield f"\n### {module}\n"
        for (function, before), same in groupby(of_module, key=lambda o: (o.function, o.before)):
            changes = list(same)
            shown = before if len(before) <= 160 else before[:157] + "..."
            yield f"- {f'`{function}`: ' if function else ''}{_code(shown)}"
            reasons = {o.key: known.get(o.key) for o in changes}
            for reason in dict.fromkeys(reasons.values()):
                texts = dict.fromkeys(
                    f"{_code(old)} → {_code(new)}"
                    for o in changes
                    if reasons[o.key] == reason
                    for old, new in [fragment(o)]
                )
                why = f"*{reason.kind}*: {reason.why}" if reason else "*unexplained*"
                yield f"  - {why} ({'; '.join(texts)})"


def _code(text: str) -> str:
    return f"`` {text} ``" if "`" in text else f"`{text}`"
