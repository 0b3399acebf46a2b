"""Batches that saw fewer levels, no level at all, or no scatters."""

import numpy as np
import pytest

from fairpca._moments import accumulate
from fairpca.errors import UsageError
from fairpca.moments import collect_moments
from moments import made_rows

X = np.random.default_rng(3).normal(size=(8, 2))
W = np.array([1.0, 2.0, 0.5, 1.0, 3.0, 1.0, 0.25, 1.0])


def by_label(attribute):
    return {
        label: (attribute.count[g], attribute.weight[g], attribute.total[g])
        for g, label in enumerate(attribute.labels)
    }


@pytest.mark.parametrize("with_scatters", [False, True])
@pytest.mark.parametrize("order", [1, -1], ids=["first", "last"])
def test_a_batch_in_which_every_text_is_missing_has_the_missing_level(order, with_scatters):
    column = np.array([None] * 3 + ["a", "b", "a", None, "b"], dtype=object)
    options = {"missing_sensitive": "group", "with_scatters": with_scatters}
    parts = [
        collect_moments(X[rows], {"x": column[rows]}, sample_weight=W[rows], **options)
        for rows in (slice(0, 3), slice(3, 8))
    ]
    first, last = parts[::order]
    (together,) = (first + last).attributes
    (whole,) = collect_moments(X, {"x": column}, sample_weight=W, **options).attributes
    assert (together.name, together.integral_floats, together.optional) == ("x", False, False)
    expected = by_label(whole)
    assert by_label(together).keys() == expected.keys()
    for label, found in by_label(together).items():
        for a, b in zip(found, expected[label], strict=True):
            np.testing.assert_allclose(a, b, atol=1e-12)
    if not with_scatters:
        assert together.scatters is None
        return
    for g, label in enumerate(together.labels):
        np.testing.assert_allclose(
            together.scatters[g].dense().matrix,
            whole.scatters[whole.labels.index(label)].dense().matrix,
            atol=1e-12,
        )


def test_scatters_of_groups_are_lost_with_a_batch_that_has_none():
    some = collect_moments(X[:4], [0, 1, 0, 1], with_scatters=True)
    none = collect_moments(X[4:], [0, 1, 0, 1])
    assert (some + none).attributes[0].scatters is None
    assert (none + some).attributes[0].scatters is None


def test_levels_seen_in_one_batch_only_are_empty_in_the_other():
    first = collect_moments(X[:4], ["a", "b", "a", "b"], with_scatters=True)
    last = collect_moments(X[4:], ["c", "b", "c", "c"], with_scatters=True)
    (whole,) = (first + last).attributes
    assert whole.labels == ("a", "b", "c")
    assert whole.count.tolist() == [2, 3, 3]
    longer = first.attributes[0].with_labels(("c", "b", "a"))
    assert longer.count.tolist() == [0, 2, 2]
    assert longer.scatters[0] is None
    np.testing.assert_array_equal(longer.total[0], 0)
    np.testing.assert_array_equal(longer.total[2], first.attributes[0].total[0])
    scaled = longer.rescaled(np.array([2.0, 4.0]))
    assert scaled.scatters[0] is None
    np.testing.assert_allclose(
        scaled.scatters[1].dense().matrix,
        longer.scatters[1].dense().matrix / np.outer([2, 4], [2, 4]),
    )


def test_floats_are_numbers_as_soon_as_one_batch_says_so():
    first = collect_moments(X[:4], {"v": [0.0, 1.0, 1.0, 0.0]}, sample_weight=W[:4])
    last = collect_moments(X[4:], {"v": [0.5, 1.0, 2.25, 0.0]}, sample_weight=W[4:])
    values = np.array([0.0, 1.0, 1.0, 0.0, 0.5, 1.0, 2.25, 0.0])
    for together in (first + last, last + first):
        (v,) = together.attributes
        mean = np.average(values, weights=W)
        assert v.count == 8
        assert v.weight == pytest.approx(W.sum())
        assert v.value_mean == pytest.approx(mean)
        assert v.value_scatter == pytest.approx(W @ (values - mean) ** 2)
        np.testing.assert_allclose(v.cross, (W * (values - mean)) @ X, atol=1e-12)


def test_batches_of_one_row_add_up_to_the_numbers_of_all():
    values = np.random.default_rng(4).normal(50, 5, 8)
    one = [collect_moments(X[i : i + 1], {"v": values[i : i + 1]}) for i in range(8)]
    (v,) = sum(one).attributes
    assert v.count == 8
    assert v.value_scatter == pytest.approx(8 * np.var(values))
    np.testing.assert_allclose(v.cross, (values - values.mean()) @ X, atol=1e-11)
    (integers,) = sum(
        collect_moments(X[i : i + 1], {"v": [float(i % 3)]}) for i in range(8)
    ).attributes
    assert integers.integral_floats
    (mixed,) = (
        collect_moments(X[:2], {"v": [0.0, 1.0]}) + collect_moments(X[2:4], {"v": [0, 1]})
    ).attributes
    assert not mixed.integral_floats


@pytest.mark.parametrize("complete", [True, False], ids=["all known", "some missing"])
def test_a_level_without_rows_has_no_scatter_and_adds_nothing(complete):
    """As a level that does not occur among the rows of one class."""
    codes = np.array([0, 2, 0, 2, 2, 0, 0, 2 if complete else -1])
    column = made_rows.levels("x", ("a", "none", "b"), codes)
    moments = accumulate(made_rows.rows(X + 50, W, column), with_scatters=True)
    centred = X - np.average(X, axis=0, weights=W)
    np.testing.assert_allclose(moments.scatter.matrix, (centred.T * W) @ centred, atol=1e-10)
    (found,) = moments.attributes
    assert found.scatters[1] is None
    for g in (0, 2):
        rows, w = X[codes == g], W[codes == g]
        own = rows - np.average(rows, axis=0, weights=w)
        np.testing.assert_allclose(found.scatters[g].matrix, (own.T * w) @ own, atol=1e-10)


@pytest.mark.parametrize("first", [[None, None, None, None], [1.5, None, 2.5, None]])
def test_numbers_and_whether_they_are_missing_stay_two_attributes(first):
    column = np.array([*first, 3.25, None, 0.5, 4.0], dtype=object)
    of = lambda rows: collect_moments(  # noqa: E731
        X[rows], {"v": column[rows]}, sample_weight=W[rows], missing_sensitive="group"
    )
    whole = {a.name: a for a in of(slice(0, 8)).attributes}
    for together in (of(slice(0, 4)) + of(slice(4, 8)), of(slice(4, 8)) + of(slice(0, 4))):
        found = {a.name: a for a in together.attributes}
        assert found.keys() == whole.keys() == {"v", "v is missing"}
        assert found["v"].value_mean == pytest.approx(whole["v"].value_mean)
        np.testing.assert_allclose(found["v"].cross, whole["v"].cross, atol=1e-12)
        assert by_label(found["v is missing"])[True][0] == by_label(whole["v is missing"])[True][0]


Y = np.array([1, 1, 1, 0, 2, 0, 1, 2])
Z = np.array([0, 1, 0, 1, 0, 1, 0, 1])


def with_targets(rows, y):
    return collect_moments(X[rows], Z[rows], y=y[rows], sample_weight=W[rows], with_targets=True)


@pytest.mark.parametrize("order", [1, -1], ids=["first", "last"])
def test_classes_are_in_their_order_whichever_batch_came_first(order):
    first, last = [with_targets(rows, Y) for rows in (slice(0, 3), slice(3, 8))][::order]
    (together,), (whole,) = (first + last).targets, with_targets(slice(None), Y).targets
    assert together.labels == whole.labels == (0, 1, 2)
    np.testing.assert_array_equal(together.count, whole.count)
    np.testing.assert_allclose(together.weight, whole.weight)
    np.testing.assert_allclose(together.total, whole.total, atol=1e-12)


def test_targets_are_numbers_as_soon_as_one_batch_says_so():
    y = np.array([0.0, 1.0, 1.0, 0.0, 0.5, 1.0, 2.25, 0.0])
    (together,) = (with_targets(slice(0, 4), y) + with_targets(slice(4, 8), y)).targets
    (whole,) = with_targets(slice(None), y).targets
    assert together.value_scatter == pytest.approx(whole.value_scatter)
    np.testing.assert_allclose(together.cross, whole.cross, atol=1e-12)


def test_batches_that_know_other_targets_are_not_added():
    known, unknown = with_targets(slice(0, 4), Y), collect_moments(X[4:], Z[4:])
    for a, b in ((known, unknown), (unknown, known)):
        with pytest.raises(UsageError, match=r"targets .*cannot be added.*Pass y with the same"):
            a + b
    with pytest.raises(UsageError, match=r"'y' is numeric in one batch .*\(a target: in target_k"):
        known + with_targets(slice(4, 8), X[:, 0])
