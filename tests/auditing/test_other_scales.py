"""A score that is no prediction of the number is judged by rank; decisions stay in points."""

import html
import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from fairpca.auditing._asking import _as_ranked, _is_on_another_scale


@pytest.fixture(scope="module")
def wages():
    rng = np.random.default_rng(0)
    n = 500
    sex = rng.choice(["f", "m"], n)
    skill = rng.normal(size=n) + 0.4 * (sex == "m")
    wage = 10 + 3 * skill + 2 * rng.normal(size=n)
    return pd.DataFrame(
        {
            "sex": sex,
            "skill": skill,
            "luck": rng.normal(size=n),
            "points": 500 + 100 * (skill + 0.5 * rng.normal(size=n)),
            "hired": np.where(skill > 0.3, "yes", "no"),
            "wage": wage,
        }
    )


@pytest.fixture(scope="module")
def found(audited, wages):
    asked = {"scores": "points", "decisions": "hired", "n_components": 2}
    return audited(wages, "sex", "wage", **asked)


def test_a_score_in_points_is_judged_by_rank_and_that_is_said(found, wages):
    """Seen: R2 -54290, and '41.87 standard deviations'."""
    (option,) = [o for o in found.advice.options if o.representation == "score:points"]
    (of_score,) = [d for d in found.downstream if d.representation == "score:points"]
    assert 0 < option.gap.value < 1
    assert 0.3 < option.utility.value <= 1
    expected = spearmanr(wages["points"], wages["wage"])[0]
    assert of_score.rank_correlation.value == pytest.approx(expected, abs=1e-6)
    (notice,) = [n for n in found.notices if n.kind == "scale"]
    assert notice.severity == "warning"
    assert "'points' is not on the scale of 'wage'" in notice.text
    assert "reverse its sign" not in notice.text


def test_its_gap_is_that_of_wages_at_its_ranks(found, wages):
    (option,) = [o for o in found.advice.options if o.representation == "score:points"]
    at_rank = np.sort(wages["wage"])[wages["points"].rank(method="first").astype(int) - 1]
    means = pd.Series(at_rank).groupby(wages["sex"]).mean()
    gap = np.ptp(means) / wages["wage"].std(ddof=0)
    assert option.gap.value == pytest.approx(gap, abs=1e-6)


def test_a_prediction_on_the_right_scale_is_left_as_it_is(audited, wages):
    table = wages.drop(columns=["points", "hired"]).assign(guess=9 + 2 * wages["skill"])
    found = audited(table, "sex", "wage", scores="guess", n_components=2)
    (of_score,) = [d for d in found.downstream if d.representation == "score:guess"]
    wrong = np.mean((table["guess"] - table["wage"]) ** 2)
    assert of_score.utility.value == pytest.approx(1 - wrong / table["wage"].var(ddof=0))
    assert not [n for n in found.notices if n.kind == "scale"]


@pytest.mark.parametrize(
    ("score", "other"),
    [
        (lambda y, e: y + e, False),
        (lambda y, e: 0.2 * y + 8 + 0.2 * e, False),  # shrunk, as careful models do
        (lambda y, e: 2 * y.mean() - y, False),  # turned round, which its R2 shows
        (lambda y, e: 10 + e, False),  # knows nothing
        (lambda y, e: 100 * y, True),
        (lambda y, e: 1 / (1 + np.exp(-y)), True),
        (lambda y, e: (y - y.mean()) / 1e3 + y.mean(), True),  # a thousandth of the differences
        (lambda y, e: -500 * y + e, True),
    ],
)
def test_what_evidently_is_another_scale(score, other):
    rng = np.random.default_rng(0)
    y, e = rng.normal(10, 3, 400), rng.normal(0, 1, 400)
    assert _is_on_another_scale(score(y, e), y, np.ones(400)) is other


def test_ranks_count_by_weight_and_leave_out_what_is_unknown():
    y = np.array([1.0, 2.0, 3.0, 4.0])
    s = np.array([30.0, 10.0, np.nan, 20.0])
    assert _as_ranked(s, y, np.ones(4)).tolist()[:2] == [4.0, 1.0]
    assert np.isnan(_as_ranked(s, y, np.ones(4))[2])
    doubled = _as_ranked(np.repeat([5.0, 6.0, 7.0], [2, 1, 1]), y, np.ones(4))
    weighed = _as_ranked(np.array([5.0, 6.0, 7.0]), np.array([1.5, 3, 4]), np.array([2.0, 1, 1]))
    np.testing.assert_allclose(doubled[[0, 2, 3]], weighed)


def test_a_score_that_falls_where_the_number_rises_is_noticed(audited, wages):
    table = wages.drop(columns=["points", "hired"]).assign(risk=-100 * wages["skill"])
    found = audited(table, "sex", "wage", scores="risk", n_components=2)
    (notice,) = [n for n in found.notices if n.kind == "scale"]
    assert "falls where 'wage' rises: reverse its sign" in notice.text


def test_decisions_are_in_points_beside_predicted_numbers(found):
    """Seen: a gap of 23 points as '0.23 sd', and as a mark on an axis of deviations."""
    (option,) = [o for o in found.advice.options if o.representation == "decision:hired"]
    page = found.to_html()
    words = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())
    assert f"{100 * option.gap.value:.1f} points" in words
    assert f"{option.gap.value:.2f} sd" not in words
    (figure,) = re.findall(r"<title[^>]*>Options.*?</svg>", page, flags=re.DOTALL)[:1]
    assert "Decision 'hired'" not in html.unescape(figure)


def test_rows_left_out_stand_in_the_header_and_in_a_notice(audited, wages):
    """Seen: 44 % of the rows had no wage, and the header had the others."""
    table = wages.assign(wage=wages["wage"].where(np.arange(len(wages)) % 5 > 1))
    found = audited(table.drop(columns=["points", "hired"]), "sex", "wage", n_components=2)
    assert (found.data.n_rows, found.data.n_rows_dropped, found.data.n_rows_table) == (
        300,
        200,
        500,
    )
    (notice,) = [n for n in found.notices if n.kind == "missing_target"]
    assert notice.text.startswith("200 of 500 rows (40.0 %) have no 'wage' and are left out.")
    assert notice.severity == "warning"
    header = found.to_html().split("</header>")[0]
    words = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", header)).split())
    assert "200 of 500 (40 %) excluded: no wage" in words
