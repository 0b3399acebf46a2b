"""Plots as dictionaries: they show the numbers of the audit, and text stays text."""

import json

import pytest

from fairpca.auditing._page.figures import evidence_figures
from fairpca.auditing._page.tradeoff_figures import decision_figures
from report.made_up_audit import (
    ENTITY,
    LAMBDAS,
    SCRIPT,
    bare_audit,
    hostile_audit,
    made_up_audit,
    many_groups_audit,
    read,
)


def every_figure(evidence):
    """Return every figure of the page."""
    named = evidence_figures(evidence) | decision_figures(evidence)
    return [figure for figures in named.values() for figure in figures]


def texts(value, key=""):
    """Yield every string that plotly may show."""
    if isinstance(value, dict):
        for name, entry in value.items():
            yield from texts(entry, name)
    elif isinstance(value, list):
        for entry in value:
            yield from texts(entry, key)
    elif isinstance(value, str) and key != "legendgroup":
        yield value


def test_every_auc_is_a_dot_with_its_interval():
    audit = made_up_audit()
    for figure, attribute in zip(
        evidence_figures(read(audit))["leakage"], audit["data"]["attributes"], strict=True
    ):
        leaks = [one for one in audit["leakage"] if one["attribute"] == attribute["name"]]
        _, *probes = figure.data
        drawn = [x for trace in probes for x in trace["x"]]
        assert sorted(drawn) == sorted(one["auc"]["value"] for one in leaks)
        for trace in probes:
            reach = [x + up for x, up in zip(trace["x"], trace["error_x"]["array"], strict=True)]
            highs = {round(one["auc"]["high"], 9) for one in leaks}
            assert {round(high, 9) for high in reach} <= highs


def test_the_band_of_chance_lies_behind_each_dot():
    evidence = read(made_up_audit())
    chance, *probes = evidence_figures(evidence)["leakage"][0].data
    assert set(chance["y"]) - {None} == {y for trace in probes for y in trace["y"]}
    assert set(chance["x"]) - {None} == {0.46, 0.54}


def test_a_curve_has_a_point_for_each_lambda():
    audit = made_up_audit()
    figure = decision_figures(read(audit))["tradeoff"][0]
    line = figure.data[-2]
    parities = [point["parities"][0] for point in audit["curves"][0]["points"]]
    assert line["x"] == pytest.approx([100 * one["dp_gap"]["value"] for one in parities])
    assert len(line["x"]) == len(LAMBDAS)
    assert len(figure.data) == len(audit["representations"]) + 2


def test_a_point_without_a_number_is_left_out():
    audit = made_up_audit()
    audit["curves"][0]["points"][3]["accuracy"] = {"value": None, "low": None, "high": None}
    line = decision_figures(read(audit))["tradeoff"][0].data[-2]
    assert len(line["x"]) == len(LAMBDAS) - 1


def test_panels_of_one_scale_share_their_axes_and_others_do_not():
    pca, fair, kernel, *_ = evidence_figures(read(made_up_audit()))["components"]
    assert pca.layout["xaxis"]["range"] == fair.layout["xaxis"]["range"]
    assert kernel.layout["xaxis"]["range"][1] < pca.layout["xaxis"]["range"][1] / 4


def test_panels_without_spread_or_numbers_still_have_axes():
    audit = made_up_audit()
    panels = audit["pictures"]["panels"]
    panels[0]["x"] = [0.0] * len(panels[0]["x"])
    panels[1]["y"] = [None] * len(panels[1]["y"])
    for figure in evidence_figures(read(audit))["components"]:
        for axis in ("xaxis", "yaxis"):
            low, high = figure.layout[axis]["range"]
            assert low < high


def test_the_finding_of_a_panel_is_the_distance_of_the_means():
    audit = made_up_audit({"sex": ["male", "female"]})
    picture = audit["pictures"]["panels"][0]
    codes = [place % 2 for place in range(len(picture["x"]))]
    audit["pictures"]["groups"][0]["codes"] = codes
    picture["x"] = [float(2 * code) for code in codes]
    picture["y"] = [float(1 - 2 * (place // 2 % 2)) for place in range(len(codes))]
    finding = evidence_figures(read(audit))["components"][0].finding
    assert "at most 2.00 standard deviations apart" in finding


def test_twelve_groups_have_twelve_different_marks():
    figure = evidence_figures(read(many_groups_audit()))["components"][0]
    assert len({(one["colour"], one["symbol"]) for one in figure.key}) == 12


def test_no_text_of_a_plot_holds_markup_from_the_data():
    for figure in every_figure(read(hostile_audit())):
        for text in texts([figure.data, figure.layout]):
            assert "<" not in text.replace("<br>", "")
            assert SCRIPT not in text
            assert ENTITY not in text
            assert "hovertemplate" not in text


@pytest.mark.parametrize("make", [made_up_audit, many_groups_audit, bare_audit])
def test_plots_are_plain_json(make):
    for figure in every_figure(read(make())):
        json.dumps([figure.data, figure.layout, figure.key], allow_nan=False)
        assert all("hovertemplate" not in trace for trace in figure.data)
