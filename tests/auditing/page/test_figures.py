"""Figures as SVG: marks lie where the numbers of the audit are, and text stays text."""

import re
from xml.etree import ElementTree

import pytest

from auditing.page.made_up_audit import (
    SCRIPT,
    bare_audit,
    hostile_audit,
    made_up_audit,
    many_groups_audit,
    own_model_audit,
    read,
    wage_audit,
)
from fairpca.auditing._page.drawing import _Scale, text_width
from fairpca.auditing._page.figures import page_figures


def drawn(figure, size="wide"):
    """Return the drawing of a figure as elements."""
    return ElementTree.fromstring(figure.drawings[size])


def marks(figure, look="mark"):
    """Return where the marks of a drawing are, in the order in which they are drawn."""
    wanted = set(look.split())
    return [
        tuple(float(number) for number in re.findall(r"[-\d.]+", one.get("transform")))
        for one in drawn(figure).iter("path")
        if wanted <= set(one.get("class").split()) and one.get("transform")
    ]


def on_one_line(places, values):
    """Return whether places are a straight line of values, as on an axis."""
    (first, last), (low, high) = (min(places), max(places)), (min(values), max(values))
    scaled = [first + (value - low) / (high - low) * (last - first) for value in values]
    return sorted(places) == pytest.approx(sorted(scaled), abs=0.11)


def test_every_auc_is_a_mark_where_it_is():
    audit = made_up_audit()
    figures = page_figures(read(audit))["leakage"]
    for figure, attribute in zip(figures, audit["data"]["attributes"], strict=True):
        leaks = [one for one in audit["leakage"] if one["attribute"] == attribute["name"]]
        places = marks(figure)
        assert len(places) == len(leaks)
        assert len({y for _, y in places}) == len(leaks)
        assert on_one_line([x for x, _ in places], [one["auc"]["value"] for one in leaks])


def test_chance_is_one_sided_and_a_mark_is_beyond_it_exactly_if_it_is_above_chance():
    audit = made_up_audit()
    figure = page_figures(read(audit))["leakage"][0]
    (bars,) = [one for one in drawn(figure).iter("path") if one.get("class") == "chance"]
    ends = re.findall(r"M([\d.]+) ([\d.]+)L([\d.]+) [\d.]+", bars.get("d"))
    reach = {float(y): (float(start), float(end)) for start, y, end in ends}
    assert len({start for start, _ in reach.values()}) == 1
    above = {
        one["auc"]["value"]: one["above_chance"]
        for one in audit["leakage"]
        if one["attribute"] == "race"
    }
    beyond = sorted(x > reach[y][1] for x, y in marks(figure))
    assert beyond == sorted(above.values())
    assert 0 < sum(beyond) < len(beyond)


def test_options_lie_by_gap_and_utility_and_the_limit_is_drawn():
    audit = made_up_audit()
    (figure,) = page_figures(read(audit))["options"]
    options = audit["advice"]["options"]
    places = marks(figure)
    assert on_one_line([x for x, _ in places], [one["gap"]["value"] for one in options])
    assert on_one_line([-y for _, y in places], [one["utility"]["value"] for one in options])
    assert len(marks(figure, "mark recommended")) == len(marks(figure, "mark raw")) == 1
    assert [one.get("class") for one in drawn(figure).iter("path")].count("limit") == 1
    assert [entry.words for entry in figure.key] == [
        "recommended",
        "another option",
        "all columns",
        "your limit",
    ]


def test_a_decision_without_utility_lies_below_all_others():
    (figure,) = page_figures(read(own_model_audit()))["options"]
    own = marks(figure, "mark own")
    assert len(own) == 2
    assert max(own, key=lambda at: at[1]) == max(marks(figure), key=lambda at: at[1])


def test_without_a_target_leakage_lies_against_what_is_kept():
    audit = bare_audit()
    (figure,) = page_figures(read(audit))["options"]
    leaks = [one["leak"]["value"] for one in audit["advice"]["options"]]
    assert on_one_line([x for x, _ in marks(figure)], leaks)
    assert "limit" not in figure.drawings["wide"]


@pytest.mark.parametrize("size", ["wide", "narrow"])
@pytest.mark.parametrize("make", [made_up_audit, many_groups_audit, bare_audit, wage_audit])
def test_marks_and_texts_are_inside_the_drawing(make, size):
    for figures in page_figures(read(make())).values():
        for figure in figures:
            root = drawn(figure, size)
            width, height = (float(end) for end in root.get("viewBox").split()[2:])
            for one in root.iter("text"):
                assert 0 <= float(one.get("x")) <= width
                assert 0 <= float(one.get("y")) <= height


def test_no_text_of_the_data_becomes_an_element():
    for figures in page_figures(read(hostile_audit())).values():
        for figure in figures:
            elements = {one.tag for one in drawn(figure).iter()}
            assert elements <= {"svg", "title", "desc", "path", "rect", "text"}
            assert SCRIPT not in figure.drawings["wide"]


@pytest.mark.parametrize(("low", "high"), [(0, 27), (0.4551, 0.8823), (-0.002, 0.0031), (3, 3)])
def test_ticks_are_few_round_and_inside(low, high):
    ticks = _Scale(low, high, 0, 100).ticks(6)
    assert 1 <= len(ticks) <= 13
    assert all(low - 1e-9 <= value <= high + 1e-9 for value, _ in ticks)
    assert len({text for _, text in ticks}) == len(ticks)


def test_wide_characters_are_given_more_room():
    assert text_width("収入の合計") > 1.5 * text_width("abcde")
