"""What an encoder has learned as plain text and arrays, and back."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairpca._files import Packer, unplain
from fairpca.errors import ModelFileError, TableError
from fairpca.tables import NumberColumn, TableEncoder
from optional_libraries import pandas as pd
from people import messy


@pytest.fixture(scope="module")
def fitted():
    return TableEncoder().fit(messy())


def plain_and_arrays(encoder):
    packer = Packer()
    return packer.plain(encoder, "encoder"), packer.tensors


def test_plain_data_give_the_same_bytes_back(fitted):
    plain, arrays = plain_and_arrays(fitted)
    again = unplain(json.loads(json.dumps(plain)), arrays)
    new = messy(300, seed=5)
    assert again.transform(new).tobytes() == fitted.transform(new).tobytes()
    assert again.columns_ == fitted.columns_
    assert again.get_feature_names_out().tolist() == fitted.get_feature_names_out().tolist()
    assert json.dumps(plain_and_arrays(again)[0]) == json.dumps(plain)


def test_altered_plain_data_are_refused(fitted):
    plain, arrays = plain_and_arrays(fitted)
    fields = plain["fields"]
    fewer = {**plain, "fields": {**fields, "encoders_": fields["encoders_"][:-1]}}
    for changed in ({}, fewer):
        with pytest.raises(ModelFileError):
            unplain(changed, arrays)
    unknown = [{**fields["encoders_"][0], "$record": "os.system"}, *fields["encoders_"][1:]]
    with pytest.raises(ModelFileError):
        unplain({**plain, "fields": {**fields, "encoders_": unknown}}, arrays)
    for name in arrays:
        without = {key: array for key, array in arrays.items() if key != name}
        with pytest.raises(ModelFileError):
            unplain(plain, without)
    mean = fields["mean_"]["$array"]["tensor"]
    with pytest.raises(ModelFileError, match="infinite"):
        unplain(plain, {**arrays, mean: arrays[mean] * np.nan})
    scale = fields["scale_"]["$array"]["tensor"]
    with pytest.raises(ModelFileError, match="do not fit"):
        unplain(plain, {**arrays, scale: -arrays[scale]})


@given(
    st.lists(st.one_of(st.none(), st.text(max_size=6), st.integers(), st.floats(), st.booleans()))
)
def test_what_is_learned_about_a_column_of_anything_can_be_kept(values):
    frame = pd.DataFrame({"x": pd.Series(values, dtype=object), "i": range(len(values))})
    try:
        encoder = TableEncoder().fit(frame)
    except TableError:
        assert len(values) <= 1
        return
    plain, arrays = plain_and_arrays(encoder)
    again = unplain(json.loads(json.dumps(plain)), arrays)
    assert again.transform(frame).tobytes() == encoder.transform(frame).tobytes()


def test_numbers_of_older_files_are_plainly_written():
    packer = Packer()
    plain = packer.plain(NumberColumn("age", 1.0), "column")
    for name in ("decimal", "odd_is_missing"):
        del plain["fields"][name]
    assert unplain(plain, packer.tensors) == NumberColumn("age", 1.0)
    del plain["fields"]["indicator"]
    with pytest.raises(ModelFileError, match="do not fit together"):
        unplain(plain, packer.tensors)
