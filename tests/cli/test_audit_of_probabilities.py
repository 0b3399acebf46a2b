"""``fairpca audit --probabilities``: what it prints, writes and rejects."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest

from cli.refusals import assert_refused
from fairpca import Audit, audit
from fairpca.auditing._recipes import audit_again

GIVEN = "race=white:p_white,black:p_black"


def decided(n=1200, seed=0, gap=0.3):
    """Decisions of two groups by their probabilities, and a column that nobody asks for."""
    rng = np.random.default_rng(seed)
    p = rng.beta(0.5, 0.7, size=n).round(4)
    granted = np.where(rng.random(n) < 0.5 + gap * (p - 0.5), "yes", "no")
    return pd.DataFrame({"p_white": p, "p_black": 1 - p, "granted": granted, "town": "a"})


@pytest.fixture
def loans(tmp_path):
    decided().to_csv(tmp_path / "loans.csv", index=False)
    return "loans.csv"


def audited(command, *more, given=GIVEN):
    asked = ["--decision", "granted", "--ignore", "town", "--quick", "-j", "1"]
    return command("audit", "loans.csv", "--probabilities", given, *asked, *more)


def test_the_command_is_the_call(command, loans, tmp_path):
    shown = audited(command, "--json", "audit.json")
    assert shown.exit_code == 0, shown.output
    told = json.loads((tmp_path / "audit.json").read_text())
    columns = {"white": "p_white", "black": "p_black"}
    found = audit(
        loans,
        decisions="granted",
        ignore=["town"],
        probabilities={"race": columns},
        quick=True,
        n_jobs=1,
    )
    assert told["settings"]["probabilities"] == {"race": columns}
    assert told["downstream"] == found.to_dict()["downstream"]
    assert "Limit not met, as far as probabilities tell" in (tmp_path / "report.html").read_text()


def test_the_terminal_says_that_groups_are_probabilities(command, loans):
    shown = audited(command)
    assert "limit not met, as far as probabilities tell" in shown.output
    assert "Gap possible" in shown.output
    plain = " ".join(shown.output.split())
    assert "calibrated and decisions do not depend on the group beyond them" in plain
    assert "where they do, gaps are usually too small" in plain
    assert "expected numbers" in plain


def test_the_same_audit_again(command, loans, tmp_path):
    """The command on the page repeats it."""
    audited(command, "--json", "audit.json")
    again = audit_again(Audit.from_json((tmp_path / "audit.json").read_text()))
    assert f"--probabilities {GIVEN}" in again
    words = [*shlex.split(again)[1:], "--json", "again.json", "--out", "again.html", "-j", "1"]
    assert command(*words).exit_code == 0
    one, other = (
        json.loads((tmp_path / name).read_text())["downstream"]
        for name in ("audit.json", "again.json")
    )
    assert one == other


def test_columns_whose_names_cannot_be_typed_are_repeated_in_python(command, tmp_path):
    decided().rename(columns={"p_white": "p, white"}).to_csv(tmp_path / "loans.csv", index=False)
    given = {"race": ["p, white", "p_black"]}
    found = audit("loans.csv", decisions="granted", probabilities=given, ignore=["town"],
                  quick=True, n_jobs=1)  # fmt: skip
    again = audit_again(found)
    assert f"probabilities={given!r}" in again
    compile(again, "again", "exec")
    assert "'loans.csv'" in again


def test_audits_of_two_months_are_compared_and_drawn(command, tmp_path):
    for month, (seed, gap) in {"before": (1, 0.0), "now": (2, 0.8)}.items():
        decided(seed=seed, gap=gap).to_csv(tmp_path / "loans.csv", index=False)
        shown = audited(command, "--json", f"{month}.json", "--out", f"{month}.html")
        assert shown.exit_code == 0, shown.output
    assert command("compare", "before.json", "now.json").exit_code == 1
    drawn = command("report", "now.json", "--since", "before.json", "--out", "both.html")
    assert drawn.exit_code == 0, drawn.output
    page = (tmp_path / "both.html").read_text()
    assert "Groups of race are probabilities" in page
    assert "Worse since" in page
    since = audited(command, "--since", "before.json", "--out", "since.html")
    assert "Worse since" in since.output
    other = audited(
        command, "--since", "before.json", "--out", "x.html", given=GIVEN.replace("race", "sex")
    )
    assert_refused(other, "no sensitive attribute is in both", absent=["x.html"])


REFUSED = {
    "race": "does not say which columns",
    "race=": "does not say which columns",
    "=p_white,p_black": "does not say which columns",
    "race=p_white,,p_black": "does not say which columns",
    "race=white:,p_black": "does not say which columns",
    "race=p_white": "at least two groups",
    "race=p_white,p_white": "twice",
    "race=a:p_white,b:p_white": "'p_white' twice",
    "race=a:p_white,a:p_black": "twice",
    "race=p_white,p_blak": "Did you mean 'p_black'",
    "race=p_white,granted": "named twice, as decision and as probability",
    "granted=p_white,p_black": "has a column 'granted', too, with the role 'decision'",
}


@pytest.mark.parametrize("given", REFUSED)
def test_what_cannot_be_is_one_line(command, loans, given):
    assert_refused(audited(command, given=given), REFUSED[given], absent=["report.html"])


def test_an_attribute_named_twice_is_one_line(command, loans):
    twice = audited(command, "--probabilities", GIVEN)
    assert_refused(twice, "names an attribute or a group twice", absent=["report.html"])
    both = audited(command, "--sensitive", "race")
    assert_refused(both, "named twice, as sensitive and with", absent=["report.html"])
    both = audited(command, "--sensitive", "p_white")
    assert_refused(both, "as sensitive and as probability", absent=["report.html"])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"p_white": 1.5}, "probabilities are from 0 to 1"),
        ({"p_white": -0.5}, "probabilities are from 0 to 1"),
        ({"p_white": 0.9, "p_black": 0.9}, "come to 1.8"),
        ({"p_white": None}, "Probabilities of 'race' are missing in 1200 of 1200 rows"),
        ({"p_white": "high"}, "has to be numbers, but it holds 'high'"),
    ],
)
def test_what_are_no_probabilities_is_one_line(command, tmp_path, changed, message):
    decided().assign(**changed).to_csv(tmp_path / "loans.csv", index=False)
    assert_refused(audited(command), message, absent=["report.html"])
