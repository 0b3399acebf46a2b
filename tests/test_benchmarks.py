"""The benchmark measures what it says and loses nothing. No test asserts a time."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))

from benchmarks import __main__ as command
from benchmarks import compare, growth, publish, timing
from benchmarks.lines import ALONE, ALTERNATING, OURS, Line, lines
from benchmarks.results import Row, Run, use_cores
from benchmarks.table import COLUMNS, aligned, cells, noise, printed

BRIEF = timing.Pace(rounds=2, seconds=0.0, least=1)
FIT = Line("plain_pca", "fit", ("PCA auto", "PCA randomized"), 60, 5, 2)


@pytest.mark.parametrize("mode", [ALONE, ALTERNATING])
def test_a_row_has_numbers_of_all_contestants_and_the_noise_of_its_ratio(mode):
    row = timing.measured(FIT, mode, BRIEF)
    assert row.note == ""
    assert set(row.contestants) == {OURS, *FIT.against}
    assert row.against in FIT.against
    assert 0 < row.low <= row.ratio <= row.high
    assert row.cores >= 1
    assert row.threads >= 1


@pytest.mark.parametrize(
    "line",
    [
        replace(FIT, what="transform", against=("PCA",), n=1),
        Line("kernels", "exact kernel fit", ("KernelPCA dense",), 60, 5, 2),
        Line("kernels", "fair PLS of covariances", ("Nystroem + Ridge",), 500, 5, 1),
        Line("methods", "fit, paper", ("Algorithm 1",), 60, 5, 2),
        Line("methods", "Fair PCA-S", ("match='means'",), 60, 8, 2),
        Line("methods", "equal covariances", (), 200, 8, 2, once=True),
        Line("measures", "selection rate gap", ("NumPy alone",), 60),
        Line("measures", "leakage", ("cross_val_score",), 100, 3),
        Line("measures", "import the package", ("scikit-learn",)),
    ],
    ids=lambda line: line.what,
)
def test_lines_of_every_kind_have_rows(line):
    row = timing.measured(line, ALTERNATING, BRIEF)
    assert row.note == ""
    assert row.ours > 0
    assert (row.ratio is None) == (not line.against)


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux tells")
def test_memory_is_measured_in_megabytes():
    line = replace(FIT, question="measures", what="memory of a fit", n=20_000, unit="MB")
    row = timing.measured(line, ALONE, BRIEF)
    assert row.note == ""
    assert row.ours >= 0


def test_data_that_cannot_be_had_are_a_row(monkeypatch, tmp_path):
    monkeypatch.setenv("FAIRPCA_DATA", str(tmp_path))
    line = Line("methods", "a point of a curve", ("Algorithm 1 + lbfgs",), once=True)
    row = timing.measured(line, ALONE, BRIEF)
    assert row.ours is None
    assert "Error" in row.note
    assert row.note in " ".join(printed(row).split())


def test_a_contestant_who_fails_is_a_note_and_the_others_stay():
    row = timing.measured(replace(FIT, against=("PCA wrong", "PCA full")), ALONE, BRIEF)
    assert "PCA wrong: InvalidParameterError" in row.note
    assert row.against == "PCA full"
    assert row.ratio > 0


def test_nobody_waits_forever():
    row = timing.measured(FIT, ALONE, BRIEF, patience=0.01)
    assert "no answer" in row.note


def run_of(*rows):
    return Run("2026-01-02T03:04:05", "a machine", 2, "abc", {"Python": "3"}, False, 1.0, [*rows])


def row_of(ratio, low=None, high=None, **more):
    row = Row.of(replace(FIT, **more), ALONE)
    row.ours, row.theirs, row.ratio, row.rounds = 0.1 * ratio, 0.1, ratio, 5
    row.low, row.high = low or 0.98 * ratio, high or 1.02 * ratio
    return row


def test_an_interrupt_keeps_the_rows_that_were_measured(monkeypatch, tmp_path, capsys):
    found = iter([row_of(0.8)])

    def one_then_interrupt(*_):
        try:
            return next(found)
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr(command, "measured", one_then_interrupt)
    path = tmp_path / "run.json"
    command.finish(run_of(), [(FIT, ALONE), (FIT, ALTERNATING)], path, 100.0)
    assert Run.read(path).rows == [row_of(0.8)]
    assert "Interrupted" in capsys.readouterr().out


def test_rows_without_time_left_say_so(tmp_path, capsys):
    command.finish(run_of(), [(FIT, ALONE)], tmp_path / "run.json", 0.0)
    assert "left out: the 0 s are over" in capsys.readouterr().out
    assert Run.read(tmp_path / "run.json").rows[0].ours is None


def test_what_is_kept_is_what_is_read(tmp_path):
    row = timing.measured(FIT, ALTERNATING, BRIEF)
    run = run_of(row, row_of(0.5))
    run.write(tmp_path / "deep" / "run.json")
    assert Run.read(tmp_path / "deep" / "run.json") == run
    (tmp_path / "other.json").write_text("{}", encoding="utf-8")
    with pytest.raises(SystemExit, match="not a run"):
        Run.read(tmp_path / "other.json")


def test_a_planted_slowdown_is_found_and_noise_is_not():
    old = run_of(row_of(0.8), row_of(1.0, n=70), row_of(0.5, 0.4, 0.7, n=80), row_of(2.0, n=90))
    new = run_of(row_of(1.2), row_of(1.03, n=70), row_of(0.65, 0.5, 0.9, n=80), row_of(1.0, n=90))
    slower, faster = sorted(compare.compare(old, new), reverse=True)
    assert slower[0] == pytest.approx(1.5)
    assert "fit, 60 x 5, k 2" in slower[1]
    assert "0.80 (0.78-0.82) -> 1.20 (1.18-1.22), slower" in slower[1]
    assert faster[0] == pytest.approx(0.5)
    assert list(compare.compare(old, old)) == []


def test_seconds_are_compared_on_the_same_machine_only_and_lost_numbers_are_told():
    def alone(seconds):
        row = Row.of(replace(FIT, against=()), ALONE)
        row.ours, row.low, row.high = seconds, 0.9 * seconds, 1.1 * seconds
        return row

    old, new = run_of(alone(1.0)), run_of(alone(2.0))
    assert [change for change, _ in compare.compare(old, new)] == [2.0]
    assert list(compare.compare(old, replace(new, machine="another"))) == []
    lost = Row.of(FIT, ALONE).without_numbers("no answer")
    ((change, text),) = compare.compare(run_of(row_of(1.0)), run_of(lost))
    assert change == float("inf")
    assert "no answer" in text


def test_runs_without_a_common_row_are_said_to_be_so():
    assert "Nothing to compare" in list(compare.told(run_of(row_of(1.0)), run_of()))[-1]


@pytest.mark.parametrize("cores", [2, 16])
def test_every_line_fits_into_a_hundred_columns_and_is_asked_once(cores):
    every = [(line, mode) for line in lines(cores) for mode in line.modes]
    rows = [row_of(0.8), *(Row.of(line, mode) for line, mode in every)]
    rows[0].against = "PCA covariance_eigh"
    assert all(len(text) <= COLUMNS for row in rows for text in printed(row).splitlines())
    assert len({row.key for row in rows}) == len(rows)
    assert len(f"{aligned(cells(rows[0]))} {noise(rows[0])}") == COLUMNS
    assert {FIT.what, "transform", "exact kernel fit", "leakage"} <= {
        line.what for line, _ in every
    }


def test_more_cores_than_there_are_cannot_be_asked_for():
    with pytest.raises(SystemExit, match="Ask for as many or fewer"):
        use_cores(10**6)


def test_tables_of_the_documentation_are_what_the_kept_runs_say():
    tables = publish.tables()
    assert {path.stem for path in tables} >= {"two-cores", "growth"}
    for path, text in tables.items():
        assert path.read_text(encoding="utf-8") == text, "python -m benchmarks.publish"


def test_levels_of_growth_differ_in_one_direction_and_a_fit_of_them_exists(tmp_path):
    from fairpca import FairPCA

    shape = growth.Shape(rows=400, features=6, components=2, levels=40)
    X, Z = growth.rows_of(shape)
    assert X.shape == (400, 6)
    assert FairPCA(5).fit(X, sensitive_features=Z.astype(str)).components_.shape == (5, 6)
    rates = growth.Rates(1e-3, 1e-7, 1e-9, 1e-10, 1e-9, 1e-9, 2.0, 2)
    point = growth.Point("levels", shape, rates.fit(shape), 1.0, 0.9, 1.1)
    grown = growth.Growth({**vars(run_of()), "rows": []}, rates, [point])
    grown.write(tmp_path / "growth.json")
    assert growth.Growth.read(tmp_path / "growth.json") == grown
    assert "a surprise" in growth.told(point)
    assert "| levels | 40 |" in growth.markdown(grown)
