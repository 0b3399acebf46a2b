"""What holds for every table: provenance, types, and no attribute among the features."""

import re

import numpy as np
import pandas as pd
import pytest

from fairpca_paper.datasets import load_adult, load_bank, load_compas, load_german
from fairpca_paper.datasets.source import source

FILES = [file for name in ("adult", "bank", "compas", "german") for file in source(name).files]

LOADERS = {load.__name__: load for load in (load_adult, load_bank, load_compas, load_german)}


@pytest.fixture(scope="module", params=LOADERS)
def loaded(request, data_folder):
    return LOADERS[request.param](data=data_folder)


def test_the_target_is_zero_or_one_in_every_row(loaded):
    assert loaded.target.dtype == int
    assert set(loaded.target) == {0, 1}


def test_features_are_floats_and_sorted_categories_without_missing_values(loaded):
    for name, column in loaded.features.items():
        if column.dtype == "category":
            assert column.cat.categories.is_monotonic_increasing, name
            assert set(column) == set(column.cat.categories), name
        else:
            assert column.dtype == float, name
    assert not loaded.features.isna().any(axis=None)


def test_numeric_features_are_the_dummies_of_pandas(loaded):
    oracle = pd.get_dummies(loaded.features, drop_first=True).astype(float)
    pd.testing.assert_frame_equal(loaded.numeric_features(), oracle, check_column_type=False)


def test_attributes_are_categories_of_at_least_two_levels_and_no_features(loaded):
    for name, column in loaded.sensitive.items():
        assert column.dtype == "category"
        assert column.nunique() >= 2
        assert not column.isna().any()
        assert not any(name in feature for feature in loaded.numeric_features())


def test_no_feature_tells_an_attribute_or_the_target_outright(loaded):
    numbers = loaded.numeric_features().to_numpy()
    answers = pd.get_dummies(loaded.sensitive).assign(target=loaded.target).to_numpy(dtype=float)
    both = np.corrcoef(numbers, answers, rowvar=False)[: numbers.shape[1], numbers.shape[1] :]
    assert np.abs(both).max() < 0.95


def test_rows_are_numbered_from_zero(loaded):
    assert loaded.features.index.equals(pd.RangeIndex(len(loaded.target)))


FIRST = {
    "adult": ({"age": 39, "workclass": "State-gov", "capital-gain": 2174}, ["Male", "White"], 0),
    "bank": (
        {"job": "housemaid", "marital": "married", "education": "basic.4y"}
        | {"campaign": 1, "pdays": 999, "euribor3m": 4.857},
        ["older than 40"],
        0,
    ),
    "compas": (
        {"age": 69, "juv_fel_count": 0, "juv_misd_count": 0, "juv_other_count": 0}
        | {"priors_count": 0, "c_charge_degree": "F"},
        ["Other", "Male"],
        0,
    ),
    "german": (
        {"checking_account": "A11", "credit_history": "A34"}
        | {"duration_months": 6, "credit_amount": 1169, "dependents": 1},
        ["25 or older", "male"],
        1,
    ),
}


def test_the_first_person_is_the_first_line(loaded):
    features, attributes, target = FIRST[loaded.name]
    assert loaded.features.iloc[0][list(features)].to_dict() == features
    assert loaded.sensitive.iloc[0].tolist() == attributes
    assert loaded.target[0] == target


def test_provenance_is_told(loaded):
    assert len(loaded.description) > 100
    assert re.search(r"\((19|20)\d\d\)", loaded.citation)
    assert loaded.licence


@pytest.mark.parametrize("name", LOADERS)
def test_the_documented_default_is_the_default(name, data_folder):
    listed = re.search(r"sensitive : sequence of str, default=\(([^)]*)\)", LOADERS[name].__doc__)
    default = re.findall(r'"(\w+)"', listed[1])
    assert list(LOADERS[name](data=data_folder).sensitive) == default


@pytest.mark.parametrize("name", LOADERS)
def test_an_unknown_attribute_is_refused(name, data_folder):
    with pytest.raises(ValueError, match="'shoe_size', which these data do not have"):
        LOADERS[name](data=data_folder, sensitive=["shoe_size"])


@pytest.mark.parametrize("file", FILES, ids=str)
def test_files_come_over_https_from_their_publishers(file):
    publishers = ("https://archive.ics.uci.edu/", "https://raw.githubusercontent.com/propublica/")
    assert file.url.startswith(publishers)


@pytest.mark.parametrize("file", FILES, ids=str)
def test_checksums_are_those_of_the_inventory(file, data_folder):
    inventory = (data_folder / "SOURCES.md").read_text(encoding="utf-8")
    row = next(line for line in inventory.splitlines() if line.startswith(f"| {file} "))
    assert file.sha256 in row
