"""Dask collections whose rows cannot be paired, or not be used, are refused in plain words."""

import dask
import dask.array as da
import dask.bag
import dask.dataframe as dd
import numpy as np
import pytest
import sklearn

from clusters.lazy_people import N, lazy, lazy_frame, people, unknown_chunks
from fairpca import FairKernelPCA, FairPCA
from fairpca.errors import (
    MissingGroupError,
    MissingTargetError,
    SingleGroupError,
    UnpairedRowsError,
)


def fit(X, s, y=None, w=None, **options):
    return FairPCA(2, **options).fit(X, y, sensitive_features=s, sample_weight=w)


@pytest.mark.parametrize("of", [lazy, np.asarray, lambda s: {"race": lazy(s)}])
def test_more_attributes_than_rows_are_refused_before_anything_is_computed(of):
    X, s, _, _ = people()

    def refusing(*_, **__):
        raise AssertionError("computed")

    with dask.config.set(scheduler=refusing), pytest.raises(UnpairedRowsError, match="200 rows"):
        fit(lazy(X)[:200], of(s["race"]))


def test_unknown_numbers_of_rows_that_differ_are_refused():
    X, s, _, w = people()
    with pytest.raises(UnpairedRowsError, match=r"X has 299 rows, but sample_weight has 300"):
        fit(lazy_frame(X[:-1]), lazy_frame(s["race"][:-1]), w=w)


def test_partitions_of_other_lengths_are_refused_with_their_number():
    X, s, _, _ = people()
    of_other_lengths = lazy(s["race"], (75, 70, 80, 75))
    with pytest.raises(UnpairedRowsError, match=r"75 rows, but that of .* has (70|80)") as caught:
        fit(unknown_chunks(X), of_other_lengths)
    assert "in partition" in caught.value.__notes__[0]


def test_a_frame_in_another_order_is_refused():
    X, s, _, _ = people()
    others = dd.from_pandas(s["race"][::-1], npartitions=4, sort=False)
    with pytest.raises(UnpairedRowsError, match=r"row labels of X and sensitive_features"):
        fit(lazy_frame(X), others)
    with pytest.raises(UnpairedRowsError, match=r"X and sensitive_features\['race'\]"):
        fit(lazy_frame(X), {"race": s["race"].sample(frac=1, random_state=0)})


def test_partitions_in_another_order_are_refused():
    X, s, y, _ = people()
    swapped = lazy_frame(s).partitions[[1, 0, 2, 3]]
    with pytest.raises(UnpairedRowsError, match=r"position 0 they are (75 and 0|0 and 75)"):
        fit(lazy_frame(X), swapped["race"])
    labels = lazy_frame(s.assign(y=y)["y"]).partitions[[1, 0, 2, 3]]
    with pytest.raises(UnpairedRowsError, match="row labels of X and y"):
        fit(lazy_frame(X), lazy_frame(s["race"]), labels, criterion="equal_opportunity")


def test_what_is_wrong_with_a_row_is_said_as_in_memory():
    X, s, _, _ = people()
    X.iloc[120, 3] = np.inf
    with pytest.raises(ValueError, match="infinity") as caught:
        fit(lazy(X), lazy(s["race"]))
    assert "partition 3 of 5" in caught.value.__notes__[0]
    X, s, _, w = people()
    with pytest.raises(MissingGroupError, match="'age' is missing"):
        fit(lazy(X), {"age": lazy(s["age"])})
    with pytest.raises(SingleGroupError):
        fit(lazy(X), lazy(np.ones(N)))
    with pytest.raises(MissingTargetError, match=r"requires y|there is no y"):
        fit(lazy(X), lazy(s["race"]), criterion="equalized_odds")
    with pytest.raises(ValueError, match="negative"):
        fit(lazy(X), lazy(s["race"]), w=lazy(-w))
    with pytest.raises(MissingGroupError, match="plain PCA"):
        fit(lazy(X), None)
    with pytest.raises(ValueError, match="is a name"):
        fit(lazy(X), "race")


def test_a_refused_fit_leaves_the_estimator_as_it_was():
    X, s, _, _ = people()
    fair = fit(X, s["race"])
    before = fair.components_.copy()
    with pytest.raises(UnpairedRowsError):
        fair.fit(lazy(X), sensitive_features=lazy(s["race"])[:-1])
    np.testing.assert_array_equal(fair.components_, before)


def test_what_has_no_rows_and_columns_is_refused():
    X, s, _, _ = people()
    with pytest.raises(TypeError, match="X is a Dask Bag"):
        fit(dask.bag.from_sequence([1, 2]), s["race"])
    with pytest.raises(TypeError, match="dict of columns"):
        fit(lazy(X), [lazy(s["race"]), lazy(s["age"])])
    with pytest.raises(ValueError, match="2D"):
        fit(lazy(s["age"]), lazy(s["race"]))
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        fit(lazy(X)[:, da.arange(14) > 3], lazy(s["race"]))


def test_exact_kernels_refuse_lazy_rows():
    X, s, _, _ = people()
    with pytest.raises(ValueError, match="approximation='nystroem'"):
        FairKernelPCA(2).fit(lazy(X), sensitive_features=lazy(s["race"]))


def test_lazy_attributes_of_rows_in_memory_are_refused():
    X, s, _, _ = people()
    with pytest.raises(ValueError, match="sensitive_features is a Dask collection"):
        fit(X, lazy(s["race"]))


def test_other_columns_are_refused_when_they_are_transformed():
    X, s, _, _ = people()
    fair = fit(X, s["race"])
    with pytest.raises(ValueError, match="y0"):
        fair.transform(lazy_frame(X.rename(columns={"x0": "y0"})))


@pytest.mark.parametrize("of", [lazy, lazy_frame])
def test_lazy_results_are_not_made_a_frame_in_memory(of):
    X, s, _, _ = people()
    X = X if of is lazy_frame else X.to_numpy()
    fair = fit(X, s["race"]).set_output(transform="pandas")
    with pytest.raises(ValueError, match="rows in memory only"):
        fair.transform(of(X))
    fair.set_output(transform="default")
    with sklearn.config_context(transform_output="pandas"):
        assert dask.is_dask_collection(fair.transform(of(X)))
        with pytest.raises(ValueError, match="'pandas', which would bring all rows"):
            fit(X, s["race"]).transform(of(X))
