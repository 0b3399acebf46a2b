"""What fuzzing found in parts of models: preprocessing and sparse rows that failed when used."""

import json

import numpy as np
import pytest
from fuzz.forged_models import Parts, put_together, taken_apart
from fuzz.seed_models import people, write_models

from fairpca.models import ModelFileError, fit_table, load
from fuzzing.forgeries import forge, put


@pytest.fixture(scope="module")
def table_model():
    return fit_table(people(), "sex", "approved", n_components=2)


@pytest.fixture
def table_file(table_model, tmp_path):
    table_model.save(tmp_path / "table.fairpca")
    return tmp_path / "table.fairpca"


@pytest.mark.parametrize(
    ("kind", "key", "value"),
    [
        ("NumberColumn", "fill", {"$float": "nan"}),
        ("NumberColumn", "name", ["age"]),
        ("NumberColumn", "boolean", 1.5),
        ("LevelColumn", "levels", {"$tuple": ["a", "a"]}),
        ("LevelColumn", "levels", {"$tuple": [1, 2]}),
        ("LevelColumn", "share", {"$float": "inf"}),
        ("DateColumn", "zone", "../../../etc/passwd"),
        ("DateColumn", "zone", "dateutil//etc/passwd"),
        ("DateColumn", "zone", "Nowhere/Land"),
        ("DateColumn", "zone", 3),
        ("DateColumn", "format", "%Q"),
        ("DateColumn", "fill", {"$tuple": [1.0]}),
        ("TextColumn", "vocabulary", {"$tuple": ["abc"] * 3}),
    ],
)
def test_preprocessing_that_would_fail_later_is_refused_now(table_file, kind, key, value):
    def change(header):
        encoders = header["encoder"]["fields"]["encoders_"]
        put(next(e for e in encoders if e["$record"] == kind), key, value)

    with pytest.raises(ModelFileError, match="preprocessing that cannot be restored"):
        load(forge(table_file, change))


def test_preprocessing_of_any_words_is_refused_in_one_line(table_file):
    def change(header):
        column = header["encoder"]["fields"]["columns_"][0]
        column["fields"]["x" * 10_000] = 1

    with pytest.raises(ModelFileError) as refused:
        load(forge(table_file, change))
    assert len(str(refused.value)) < 1000


@pytest.mark.parametrize("place", [0, 1, -1])
@pytest.mark.parametrize("value", [2**62, 2**32, -1, 2**31, -(2**63)])
def test_sparse_rows_that_end_nowhere_are_refused(tmp_path, place, value):
    path = tmp_path / "sparse.fairpca"
    write_models(tmp_path, ["sparse"])
    parts = taken_apart(path.read_bytes())
    found = parts.inner["learned"]["X_fit_"]["$csr"]["indptr"]["$array"]["tensor"]
    start, stop = parts.outer[found]["data_offsets"]
    dtype = {"I32": np.int32, "I64": np.int64}[parts.outer[found]["dtype"]]
    ends = np.frombuffer(parts.data[start:stop], dtype).astype(np.int64)
    ends[place] = value
    outer = {name: dict(one) for name, one in parts.outer.items()}
    size = len(parts.data)
    outer["ends"] = {**outer[found], "dtype": "I64", "data_offsets": [size, size + ends.nbytes]}
    inner = json.loads(json.dumps(parts.inner).replace(f'"tensor": "{found}"', '"tensor": "ends"'))
    path.write_bytes(put_together(Parts(outer, inner, parts.data + ends.tobytes())))
    with pytest.raises(ModelFileError, match="sparse rows whose parts do not fit"):
        load(path)


def test_a_scale_without_end_is_refused(table_file):
    parts = taken_apart(table_file.read_bytes())
    place = parts.inner["encoder"]["fields"]["scale_"]["$array"]["tensor"]
    place = parts.outer[place]["data_offsets"][0]
    data = bytearray(parts.data)
    data[place : place + 8] = np.float64(np.inf).tobytes()
    table_file.write_bytes(put_together(Parts(parts.outer, parts.inner, bytes(data))))
    with pytest.raises(ModelFileError, match="NaN or infinite"):
        load(table_file)
