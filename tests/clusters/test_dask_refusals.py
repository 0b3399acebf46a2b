"""Dask collections whose rows cannot be paired, or not be used, are refused in plain words."""

import dask
import dask.array as da
import dask.bag
import numpy as np
import pytest
import sklearn

from clusters.lazy_people import lazy, lazy_frame, one_table, people
from fairpca import FairKernelPCA, FairPCA
from fairpca.errors import MissingGroupError, MissingTargetError, SingleGroupError, UsageError


def table():
    return one_table(*people())


def fit(X, s="race", y=None, w=None, **options):
    """Fit to the features, an attribute and what else is named of a table."""
    others = [c for c in ("race", "age", "y", "w") if c not in (s, y, w)]
    if hasattr(X, "columns"):
        X = X.drop(columns=others, errors="ignore")
    return FairPCA(2, **options).fit(X, y, sensitive_features=s, sample_weight=w)


@pytest.mark.parametrize("argument", ["sensitive_features", "y", "sample_weight"])
@pytest.mark.parametrize("of", [lazy, lazy_frame, np.asarray, lambda s: {"s": lazy(s)}, list])
def test_collections_of_their_own_are_refused_before_anything_is_computed(argument, of):
    X, s, _, _ = people()
    given = {"sensitive_features": "x0", argument: of(s["age"])}

    def refusing(*_, **__):
        raise AssertionError("computed")

    with (
        dask.config.set(scheduler=refusing),
        pytest.raises(UsageError, match=rf"{argument} is of type .*Make it a column of"),
    ):
        FairPCA(2).fit(lazy_frame(X), **given)


def test_columns_that_are_not_there_are_refused():
    with pytest.raises(UsageError, match=r"names \['rice'\].*Did you mean \['race'\]"):
        FairPCA(2).fit(lazy_frame(table()), sensitive_features="rice")
    with pytest.raises(UsageError, match=r"names \[14\], but X has the columns \[0, 1"):
        fit(lazy(people()[0]), 14)
    with pytest.raises(UsageError, match=r"y names 2 columns"):
        FairPCA(2).fit(lazy_frame(table()), ["y", "w"], sensitive_features="race")
    with pytest.raises(UsageError, match=r"\['race'\] of X are named twice"):
        fit(lazy_frame(table()), "race", "race")


def test_what_is_wrong_with_a_row_is_said_as_in_memory():
    given = table()
    given.iloc[120, 3] = np.inf
    with pytest.raises(ValueError, match="infinity") as caught:
        fit(lazy_frame(given))
    assert "partition 1 of 4" in caught.value.__notes__[0]
    with pytest.raises(MissingGroupError, match="'age' is missing"):
        fit(lazy_frame(table()), "age")
    with pytest.raises(SingleGroupError):
        fit(lazy_frame(table().assign(race="a")))
    with pytest.raises(MissingTargetError, match=r"requires y|there is no y"):
        fit(lazy_frame(table()), criterion="equalized_odds")
    with pytest.raises(ValueError, match="negative"):
        fit(lazy_frame(table().assign(w=-1.0)), w="w")
    with pytest.raises(MissingGroupError, match="plain PCA"):
        fit(lazy_frame(table()), None)


def test_a_refused_fit_leaves_the_estimator_as_it_was():
    X, s, _, _ = people()
    fair = FairPCA(2).fit(X, sensitive_features=s["race"])
    before = fair.components_.copy()
    with pytest.raises(MissingGroupError):
        fair.fit(lazy_frame(X.join(s["age"])), sensitive_features="age")
    np.testing.assert_array_equal(fair.components_, before)


def test_what_has_no_rows_and_columns_is_refused():
    X, s, _, _ = people()
    with pytest.raises(TypeError, match="X is a Dask Bag"):
        fit(dask.bag.from_sequence([1, 2]))
    with pytest.raises(ValueError, match="1 dimension"):
        FairPCA(1, sensitive_columns=[0]).fit(lazy(s["age"]))
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        fit(lazy(X)[:, da.arange(14) > 3], 0)


def test_exact_kernels_refuse_lazy_rows():
    X, s, _, _ = people()
    with pytest.raises(ValueError, match="approximation='nystroem'"):
        FairKernelPCA(2).fit(lazy_frame(X.join(s["race"])), sensitive_features="race")


def test_lazy_attributes_of_rows_in_memory_are_refused():
    X, s, _, _ = people()
    with pytest.raises(ValueError, match="sensitive_features is a Dask collection"):
        FairPCA(2).fit(X, sensitive_features=lazy(s["race"]))


def test_other_columns_are_refused_when_they_are_transformed():
    X, s, _, _ = people()
    fair = FairPCA(2).fit(X, sensitive_features=s["race"])
    with pytest.raises(ValueError, match="y0"):
        fair.transform(lazy_frame(X.rename(columns={"x0": "y0"})))


@pytest.mark.parametrize("of", [lazy, lazy_frame])
def test_lazy_results_are_not_made_a_frame_in_memory(of):
    X, s, _, _ = people()
    X = X if of is lazy_frame else X.to_numpy()
    fair = FairPCA(2).fit(X, sensitive_features=s["race"]).set_output(transform="pandas")
    with pytest.raises(ValueError, match="rows in memory only"):
        fair.transform(of(X))
    fair.set_output(transform="default")
    with sklearn.config_context(transform_output="pandas"):
        assert dask.is_dask_collection(fair.transform(of(X)))
        with pytest.raises(ValueError, match="'pandas', which would bring all rows"):
            FairPCA(2).fit(X, sensitive_features=s["race"]).transform(of(X))
