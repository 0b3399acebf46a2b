"""What is on the panels: the right numbers in the right places, and nothing else."""

import io

import numpy as np
import pytest

from fairpca_paper.experiments.figure_covariance import _numbers_below
from fairpca_paper.experiments.figure_faces import _picture_page as picture_page
from fairpca_paper.experiments.figure_faces import _PictureRow as PictureRow
from fairpca_paper.experiments.figure_faces import _side_by_side as side_by_side
from fairpca_paper.experiments.figure_runtime import _TimedFits as TimedFits
from fairpca_paper.experiments.figure_runtime import _timing_curves as timing_curves
from fairpca_paper.experiments.figure_synthetic import _grouped_boxes
from fairpca_paper.experiments.panels import (
    _ellipse,
    method_legend,
    scatter_groups,
)
from fairpca_paper.experiments.style import paper_figure, style_of


@pytest.fixture
def panel():
    with paper_figure(4, 3) as figure:
        yield figure.subplots()


def saved(figure, kind="png"):
    file = io.BytesIO()
    figure.savefig(file, format=kind)
    return file.getvalue()


def texts(axes):
    return [text.get_text() for text in axes.texts]


def test_drawing_and_saving_leave_matplotlib_as_it_was():
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    with paper_figure(2, 2) as figure:
        figure.subplots().plot([0, 1], [0, 1])
    saved(figure)
    assert dict(mpl.rcParams) == before


def test_text_in_pdf_files_stays_text():
    with paper_figure(2, 2) as figure:
        figure.subplots().set_title("words")
    pdf = saved(figure, "pdf")
    assert b"/Type42" in pdf or b"/TrueType" in pdf or b"CIDFontType2" in pdf
    assert b"/Type3" not in pdf


def test_bitmaps_have_200_dots_per_inch():
    with paper_figure(3, 2) as figure:
        figure.subplots()
    width, height = np.frombuffer(saved(figure)[16:24], dtype=">u4")
    assert (width, height) == (600, 400)


def test_boxes_stand_in_the_slot_of_their_method_whether_others_are_there_or_not(panel):
    methods = ["PCA", "INLP", "Fair PCA"]
    values = {
        "PCA": {20: [1.0, 2.0, 3.0]},
        "Fair PCA": {20: [4.0, 5.0, 6.0], 40: [5.0, np.nan, 7.0]},
    }
    _grouped_boxes(panel, values, methods, positions=[20, 40])
    boxes = {
        box.get_path().get_extents().intervalx.mean(): box.get_path().get_extents().intervaly
        for box in panel.patches
    }
    assert sorted(np.round(list(boxes), 3)) == [-0.287, 0.287, 1.287]
    # quartiles of 4, 5, 6 and of 5, 7
    assert [boxes[x].tolist() for x in sorted(boxes)][1:] == [[4.5, 5.5], [5.5, 6.5]]
    assert [label.get_text() for label in panel.get_xticklabels()] == ["20", "40"]


def test_curves_have_the_colour_and_line_of_their_method(panel):
    timing_curves(
        panel, {"Fair PCA": {1: TimedFits(3.0), 2: TimedFits(4.0)}}, ["Fair PCA"], limit=9.0
    )
    line = panel.lines[0]
    assert line.get_color() == style_of("Fair PCA").colour
    assert line.get_linestyle() == "-"
    np.testing.assert_array_equal(line.get_xydata(), [[1, 3], [2, 4]])


def test_a_method_that_was_stopped_ends_in_an_arrow_at_the_limit(panel):
    timings = {
        "RLACE": {
            20: TimedFits(1.0, 0.9, 1.3),
            40: TimedFits(10.0, 9, 11),
            60: TimedFits(60.0, stopped=True),
        },
        "Fair PCA": {20: TimedFits(0.01, 0.008, 0.02), 40: TimedFits(0.02), 60: TimedFits(0.03)},
    }
    timing_curves(panel, timings, ["RLACE", "Fair PCA"], limit=60.0)
    assert panel.get_yscale() == "log"
    ends = [line.get_xydata().tolist() for line in panel.lines if len(line.get_xdata()) == 1]
    assert ends == [[[60, 60.0]]]
    assert texts(panel).count("↑") == 1
    assert "stopped after 60 s" in texts(panel)
    assert [0.9, 1.3] in [np.round(bar, 9).tolist() for bar in error_bars(panel)]


def error_bars(axes):
    return [
        sorted(segment[:, 1])
        for collection in axes.collections
        for segment in collection.get_segments()
    ]


def test_methods_stopped_at_the_same_place_stand_side_by_side(panel):
    stop = {40: TimedFits(5.0, stopped=True)}
    done = {20: TimedFits(0.1), 40: TimedFits(0.2)}
    timings = {"FPCA (0, 0.01)": stop, "FPCA (0.1, 0.01)": stop, "PCA": done}
    timing_curves(panel, timings, list(timings), limit=5.0)
    ends = [line.get_xdata()[0] for line in panel.lines if line.get_markerfacecolor() == "white"]
    assert len(ends) == len(set(ends)) == 2


@pytest.mark.parametrize(("stops", "side"), [([20, 60], "right"), ([100], "left"), ([60], "left")])
def test_the_limit_is_named_where_no_arrow_is_near(stops, side, panel):
    done = {20: TimedFits(0.1), 100: TimedFits(0.2)}
    timings = {f"method {x}": {x: TimedFits(5.0, stopped=True)} for x in stops} | {"PCA": done}
    timing_curves(panel, timings, list(timings), limit=5.0)
    (name,) = [text for text in panel.texts if text.get_text().startswith("stopped")]
    assert name.get_horizontalalignment() == side


def test_without_a_stop_there_is_no_limit(panel):
    timing_curves(panel, {"PCA": {20: TimedFits(0.1)}}, ["PCA"], limit=5.0)
    assert texts(panel) == []


def test_nothing_to_draw_is_drawn_as_an_empty_panel(panel):
    timing_curves(panel, {}, ["PCA"], limit=5.0)
    _grouped_boxes(panel, {}, [], [])
    saved(panel.figure)
    assert not panel.patches


def test_ellipses_are_two_standard_deviations_away_from_the_mean():
    rng = np.random.default_rng(0)
    T = rng.normal(size=(500, 2)) @ [[3.0, 1.0], [0.0, 0.5]] + [10, -4]
    away = _ellipse(T) - T.mean(axis=0)[:, None]
    squared = np.einsum("in,ij,jn->n", away, np.linalg.inv(np.cov(T.T)), away)
    np.testing.assert_allclose(squared, 4.0)


def test_scatter_shows_every_row_in_the_colour_of_its_group(panel):
    import matplotlib.colors

    T, group = np.arange(20.0).reshape(10, 2), np.arange(10) % 2
    scatter_groups(panel, T, group, ellipses=False)
    (dots,) = panel.collections
    places = dots.get_offsets()
    assert sorted(places[:, 0]) == T[:, 0].tolist()
    colours = {matplotlib.colors.to_hex(c).upper() for c in dots.get_facecolors()}
    assert len(colours) == 2


def test_numbers_below_a_panel_are_labelled_once(panel):
    _numbers_below(panel, {"variance": "50 %", "AUC": "0.97"}, label=True)
    assert texts(panel) == ["50 %", "variance", "0.97", "AUC"]


@pytest.mark.parametrize("boxes", [True, False])
def test_the_legend_reads_row_by_row(boxes):
    names = ["PCA", "INLP", "RLACE", "Fair PCA", "Fair Kernel PCA"]
    with paper_figure(6, 2) as figure:
        figure.subplots()
        method_legend(figure, names, columns=2, boxes=boxes)
    (legend,) = figure.legends
    # matplotlib fills columns from the top: three entries, then two
    shown = [text.get_text() for text in legend.get_texts()]
    assert shown == ["PCA", "RLACE", "Fair Kernel PCA", "INLP", "Fair PCA"]


def test_pictures_stand_side_by_side_between_white_gaps():
    pictures = np.stack([np.full((20, 20), 0.25), np.full((20, 20), 7.0)])
    wide = side_by_side(pictures)
    assert (wide[:, :20] == 0.25).all()
    assert (wide[:, 20:] == 1).all()  # the gap, and a picture brighter than white


def test_a_page_of_pictures_fits_its_figure():
    row = PictureRow(np.zeros((3, 8, 8)), "original", "64 pixels", "a remark\nin two lines")
    figure = picture_page([row, row], ["a", "b", "c"], "one line\nand another")
    saved(figure)
    page = figure.bbox
    for axes in figure.axes:
        for text in axes.texts:
            extent = text.get_window_extent()
            assert page.x0 <= extent.x0
            assert extent.x1 <= page.x1
            assert extent.y1 <= page.y1
