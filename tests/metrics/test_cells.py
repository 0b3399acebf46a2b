"""Cells of a representation: few, of a fair size, and fixed once fitted."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from fairpca.errors import MissingTargetError
from fairpca.metrics import Cells, certified_gap
from fairpca.metrics._cells import _fair_tree as fair_tree


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    T = rng.normal(size=(1000, 3))
    return T, (T[:, 0] + T[:, 1] ** 2 + 0.5 * rng.normal(size=1000) > 1).astype(int)


@pytest.mark.parametrize("with_target", [True, False])
@pytest.mark.parametrize("n_cells", [1, 2, 8])
def test_there_are_as_many_cells_as_asked_for_and_they_are_numbered(n_cells, with_target, rows):
    T, y = rows
    cells = Cells(n_cells).fit(T, y if with_target else None)
    assert set(cells.predict(T)) == set(range(n_cells))
    assert cells.n_cells_ == n_cells


def test_cells_chosen_with_a_target_keep_more_of_it(rows):
    T, y = rows
    train, test = slice(0, 500), slice(500, None)

    def accuracy(cells):
        seen, new = cells.predict(T[train]), cells.predict(T[test])
        majority = np.array([np.mean(y[train][seen == c]) > 0.5 for c in range(cells.n_cells_)])
        return np.mean(majority[new] == y[test])

    with_target = accuracy(Cells(8).fit(T[train], y[train]))
    assert with_target > accuracy(Cells(8).fit(T[train])) > 0.5
    assert with_target > 0.75


def test_no_cell_of_a_tree_is_tiny(rows):
    T, y = rows
    sizes = np.bincount(Cells(8).fit(T, y).predict(T))
    assert sizes.min() >= 0.1 * len(T) / 8


def test_equal_rows_make_fewer_cells():
    T = np.repeat([[0.0], [1.0]], 10, axis=0)
    assert Cells(8).fit(T).n_cells_ == 2
    assert Cells(8).fit(T, np.zeros(20)).n_cells_ == 1


def test_the_same_seed_gives_the_same_cells(rows):
    T, _ = rows
    first, second = (Cells(6, random_state=3).fit(T).predict(T) for _ in range(2))
    assert (first == second).all()


def test_what_is_not_fitted_or_no_number_is_refused(rows):
    with pytest.raises(NotFittedError):
        Cells().predict(rows[0])
    with pytest.raises(ValueError, match="n_cells=0"):
        Cells(0).fit(rows[0])
    with pytest.raises(ValueError, match="3 features"):
        Cells(2).fit(rows[0]).predict(rows[0][:, :2])


@pytest.fixture
def grouped():
    """The target depends on two columns, of which the first gives the groups away."""
    rng = np.random.default_rng(1)
    z = rng.integers(2, size=2000)
    T = rng.normal(size=(2000, 3))
    T[:, 0] += 1.5 * z
    return T, (T[:, 0] + T[:, 1] + 0.3 * rng.normal(size=2000) > 0.7).astype(int), z


def test_fair_cells_tell_less_about_the_groups_the_higher_the_price(grouped):
    T, y, z = grouped
    observed = [
        certified_gap(Cells(8, price=price).fit(T, y, sensitive=z).predict(T), z).observed
        for price in (0.0, 0.3, 3.0)
    ]
    plain = certified_gap(Cells(8).fit(T, y).predict(T), z).observed
    assert observed[0] == pytest.approx(plain, abs=0.1)
    assert observed[0] > 1.3 * observed[1] > 1.3 * observed[2]
    assert observed[2] < 0.1


def test_a_split_gains_impurity_less_the_price_of_distance(grouped):
    """One split, against all splits tried by hand."""
    T, y, z = grouped
    price = 0.2
    edges = np.quantile(T[:, 0], np.linspace(0, 1, 33)[1:-1])

    def cost(part):
        share = y[part].mean()
        distance = 0.5 * abs(part[z == 0].mean() - part[z == 1].mean())
        return part.mean() * 2 * share * (1 - share) + price * distance

    costs = [cost(T[:, 0] <= edge) + cost(T[:, 0] > edge) for edge in edges]
    tree = fair_tree(T[:, :1], y, z, max_leaves=2, min_rows=1, price=price)
    assert tree.leaves[0][0].threshold == pytest.approx(edges[np.argmin(costs)])
    assert [len(leaf) for leaf in tree.leaves] == [1, 1]


def test_every_row_is_in_one_leaf_and_leaves_are_not_tiny(grouped):
    T, y, z = grouped
    tree = fair_tree(T, y, z, max_leaves=6, min_rows=90, price=0.1)
    fits = np.zeros(len(T), dtype=int)
    for leaf in tree.leaves:
        fits += np.all([(T[:, s.column] <= s.threshold) == s.at_most for s in leaf], axis=0)
    assert (fits == 1).all()
    assert np.bincount(tree.apply(T)).min() >= 90


def test_a_price_too_high_leaves_one_cell(grouped):
    T, y, z = grouped
    cells = Cells(8, price=1e6).fit(T[:, :1], y, sensitive=z)
    assert cells.n_cells_ == 1
    assert set(cells.predict(T[:, :1])) == {0}


def test_columns_that_do_not_vary_are_never_split(grouped):
    _, y, z = grouped
    assert Cells(4).fit(np.ones((2000, 2)), y, sensitive=z).n_cells_ == 1


def test_fair_cells_need_a_target_and_a_price(grouped):
    T, y, z = grouped
    with pytest.raises(MissingTargetError, match="sensitive was given without y"):
        Cells().fit(T, sensitive=z)
    with pytest.raises(ValueError, match="price=-1"):
        Cells(price=-1).fit(T, y, sensitive=z)
