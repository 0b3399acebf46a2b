"""Moments of rescaled, projected or reweighted rows are those of the rows before."""

from dataclasses import replace

import numpy as np
import pytest

from assertions import assert_same_moments
from fairpca._moments import LevelMoments
from fairpca.moments import collect_moments
from moments import made_rows

RNG = np.random.default_rng(5)
AGE = np.array([31.5, 44.0, 27.25, 60.0, 38.0, 51.0, 19.5])
SEX = np.array(["f", "m", "f", "f", "m", "m", "f"])
W = np.array([1.0, 2.0, 0.5, 1.0, 3.0, 1.0, 0.25])
SHAPES = {"tall": RNG.normal(3, 1, size=(7, 3)), "wide": RNG.normal(3, 1, size=(7, 11))}


def moments_of(X, weight=W, **options):
    columns = {"sex": SEX, "age": AGE}
    return collect_moments(X, columns, sample_weight=weight, with_scatters=True, **options)


@pytest.mark.parametrize("X", SHAPES.values(), ids=SHAPES)
def test_moments_of_divided_rows(X):
    scale = np.linspace(0.5, 4, X.shape[1])
    assert_same_moments(moments_of(X).rescaled(scale), moments_of(X / scale))
    twice = moments_of(X).rescaled(scale).rescaled(1 / scale)
    assert_same_moments(twice, moments_of(X))


@pytest.mark.parametrize("X", SHAPES.values(), ids=SHAPES)
def test_moments_of_projected_rows(X):
    B = RNG.normal(size=(X.shape[1], 2))
    assert_same_moments(moments_of(X).compressed(B), moments_of(X @ B))


@pytest.mark.parametrize("unit", [1e-3, 1 / W.sum(), 1e3])
@pytest.mark.parametrize("X", SHAPES.values(), ids=SHAPES)
def test_weights_have_no_units(X, unit):
    whole = moments_of(X, unit * W)
    assert_same_moments(whole, moments_of(X), weight=unit)
    parts = [
        collect_moments(
            X[rows],
            {"sex": SEX[rows], "age": AGE[rows]},
            sample_weight=unit * W[rows],
            with_scatters=True,
        )
        for rows in (slice(0, 2), slice(2, 7))
    ]
    assert_same_moments(sum(parts), whole)


@pytest.mark.parametrize("X", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("order", [1, -1], ids=["last", "first"])
def test_rows_without_weight_change_no_moment(X, order):
    nothing = collect_moments(
        X[:2] + 100,
        {"sex": SEX[:2], "age": AGE[:2] + 0.25},
        sample_weight=np.zeros(2),
        with_scatters=True,
    )
    first, last = [moments_of(X), nothing][::order]
    total = first + last
    assert total.n_rows == 7
    np.testing.assert_allclose(total.mean, moments_of(X).mean)
    np.testing.assert_allclose(
        total.scatter.dense().matrix, moments_of(X).scatter.dense().matrix, atol=1e-9
    )
    age = next(a for a in total.attributes if a.name == "age")
    assert age.value_mean == pytest.approx(np.average(AGE, weights=W))


def test_a_contrast_over_its_size_is_a_covariance_in_units_of_the_attribute():
    """Sizes are the norms of the centred columns that an attribute adds to the design."""
    moments = moments_of(SHAPES["tall"])
    for a in moments.attributes:
        columns = [label == SEX for label in a.labels] if isinstance(a, LevelMoments) else [AGE]
        rows, sizes = a.contrasts()
        for row, size, column in zip(rows, sizes, columns, strict=True):
            centred = column - np.average(column, weights=W)
            assert size == pytest.approx(np.sqrt(W @ centred**2))
            np.testing.assert_allclose(row, (W * centred) @ SHAPES["tall"], atol=1e-9)


@pytest.mark.parametrize("unit", [1e-3, 1.0])
def test_levels_that_turn_out_to_be_numbers_are_read_as_such(unit):
    values = np.array([0.0, 2.0, 1.0, 2.0, 0.0, 1.0, 2.0])
    X = SHAPES["tall"]
    levels = collect_moments(X, {"x": values}, sample_weight=unit * W).attributes[0]
    numbers = collect_moments(
        X, {"x": values}, sample_weight=unit * W, sensitive_kinds={"x": "numeric"}
    ).attributes[0]
    read = replace(levels, stratum="some").as_numeric()
    assert (read.name, read.stratum, read.count) == ("x", "some", 7)
    for field in ("weight", "value_mean", "value_scatter", "total", "cross"):
        np.testing.assert_allclose(getattr(read, field), getattr(numbers, field), atol=1e-9 * unit)


def test_no_levels_read_as_numbers_are_nothing():
    (levels,) = collect_moments(
        np.ones((2, 2)), {"x": [None, None]}, missing_sensitive="ignore"
    ).attributes
    nothing = levels.as_numeric()
    assert (nothing.count, nothing.weight, nothing.value_mean) == (0, 0.0, 0.0)


def test_an_unbiased_variance_divides_by_one_row_fewer():
    for n in (2, 3, 7):
        assert collect_moments(np.ones((n, 1)), AGE[:n]).degrees_of_freedom == pytest.approx(n - 1)
    one = collect_moments(np.ones((1, 1)), ["a"], sample_weight=[2.5])
    assert one.degrees_of_freedom == 2.5


def test_only_zero_can_be_added_besides_moments():
    moments = moments_of(SHAPES["tall"])
    assert 0 + moments is moments
    with pytest.raises(TypeError):
        1 + moments


def test_about_the_origin_there_is_no_mean():
    X = SHAPES["tall"]
    moved = moments_of(X).about_the_origin()
    np.testing.assert_array_equal(moved.mean, 0)
    np.testing.assert_allclose(moved.scatter.matrix, (X.T * W) @ X)


def test_rounding_of_many_blocks_averages_out():
    of = lambda n: replace(moments_of(SHAPES["tall"]), n_rows=n).rounding  # noqa: E731
    assert of(0) == of(1) == of(made_rows.BLOCK_ROWS)
    eps = np.finfo(float).eps
    last = of(made_rows.BLOCK_ROWS)
    for blocks in (4, 16, 10**6):
        assert eps < of(blocks * made_rows.BLOCK_ROWS) < last
        last = of(blocks * made_rows.BLOCK_ROWS)


def test_numbers_far_from_zero_are_rounded_more_coarsely():
    def rounding(values):
        (a,) = collect_moments(np.ones((len(values), 1)), {"v": values}).attributes
        return a.rounding

    steps = np.array([0.5, 1.5, 2.25, 3.0])
    assert rounding(steps + 1000) / rounding(steps + 10) == pytest.approx(85, rel=0.05)
    assert rounding(10 * (steps + 1000)) / rounding(steps + 1000) == pytest.approx(1)
    twice = np.concatenate([steps, steps]) + 1000
    assert rounding(twice) / rounding(steps + 1000) == pytest.approx(1)
    constant = collect_moments(
        np.ones((2, 1)), {"v": [7.5, 7.5]}, sensitive_kinds={"v": "numeric"}
    ).attributes[0]
    assert constant.value_scatter == 0
    assert constant.rounding == 0


def test_numbers_that_some_rows_lack_are_rescaled_and_projected_too():
    """Then the rows that have one are not centred, and their sum does not vanish."""
    X, age = SHAPES["tall"], np.where(np.arange(7) == 2, np.nan, AGE)
    scale, B = np.array([2.0, 4.0, 0.5]), RNG.normal(size=(3, 2))

    def of(rows):
        options = {"sample_weight": W, "missing_sensitive": "ignore"}
        return collect_moments(rows, {"age": age}, **options)

    for found, expected in (
        (of(X).rescaled(scale), of(X / scale)),
        (of(X).compressed(B), of(X @ B)),
    ):
        (a,), (b,) = found.attributes, expected.attributes
        assert np.abs(b.total).max() > 1e-3
        np.testing.assert_allclose(a.total, b.total)
        np.testing.assert_allclose(a.cross, b.cross)


def test_the_contrast_of_the_heaviest_level_is_left_to_the_others():
    z = np.array(["c", "a", "a", "b", "a", "c", "b"])
    (a,) = collect_moments(SHAPES["tall"], z, sample_weight=W).attributes
    heaviest = max(a.labels, key=lambda label: W[z == label].sum())
    rows, sizes = a.contrasts()
    others = [g for g, label in enumerate(a.labels) if label != heaviest]
    assert a.labels.index(heaviest) > 0 or others[0] > 0
    kept, kept_sizes = a.independent_contrasts()
    np.testing.assert_array_equal(kept, rows[others])
    np.testing.assert_array_equal(kept_sizes, sizes[others])
    reversed_labels = a.with_labels(a.labels[::-1])
    np.testing.assert_allclose(
        np.sort(reversed_labels.independent_contrasts()[1]), np.sort(kept_sizes)
    )
