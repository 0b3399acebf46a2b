"""The JSON of audits: refused with `AuditError` in one line, or a page of it all.

Most changes break the schema. What follows it, with other numbers and words, is shown: the page is
made twice the same, has no more scripts than its own, and holds the audit as it was read.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

from fairpca import Audit, audit
from fairpca.errors import AuditError

from ..cases import EQUAL, REFUSED, VALID, Case, Failed, Target, assert_clear
from ..json_mutations import as_text, edited
from ..seed_models import people

SCRIPTS = 2
"""Elements of a page that scripts may stand in: the page's own, and one with data."""


class Audits(Target):
    """`fairpca.Audit.from_dict`, its page and its view in notebooks."""

    name = "audits"

    def prepare(self, folder: Path) -> None:
        """Audit some people, with a target and without."""
        table = people(200)[["age", "job", "sex"]].assign(paid=["yes", "no"] * 100)
        for name, target in (("decide", "paid"), ("hide", None)):
            found = audit(table, "sex", target, quick=True, n_jobs=1, n_components=2)
            (folder / f"{name}.json").write_text(found.to_json(), encoding="utf-8")

    def load_seeds(self, folder: Path) -> None:
        """Read the audits."""
        self.seeds = {
            path.stem: json.loads(path.read_text(encoding="utf-8"))
            for path in sorted(folder.glob("*.json"))
        }

    def warm_up(self, folder: Path) -> None:
        """Make the page of each of them once."""
        for name, plain in self.seeds.items():
            content = as_text(plain).encode()
            outcome = self.check(Case(self.name, content, "unchanged", {"seed": name}), folder)
            if outcome != EQUAL:
                raise Failed(f"the seed {name} is {outcome}")

    def case(self, rng: random.Random) -> Case:
        """Return an audit with a few edits."""
        name, other = rng.choice(list(self.seeds)), rng.choice(list(self.seeds.values()))
        tree, how = edited(rng, self.seeds[name], other)
        return Case(self.name, as_text(tree).encode(), how, {"seed": name})

    def check(self, case: Case, folder: Path) -> str:
        """Make the page and the summary."""
        plain = json.loads(case.content)
        try:
            found = Audit.from_dict(plain)
            page = found.to_html()
        except AuditError as error:
            assert_clear(error)
            if "\n" in str(error) or len(str(error)) > 2000:
                raise Failed(f"a refusal that is not one line: {str(error)[:300]!r}") from error
            return REFUSED
        if page != Audit.from_dict(plain).to_html() or page.count("<script") != SCRIPTS:
            raise Failed("another page the second time, or one with other scripts")
        if "<script" in found._repr_html_():
            raise Failed("a summary with a script")
        return EQUAL if plain == self.seeds[case.about["seed"]] else VALID
