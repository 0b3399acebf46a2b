"""What fuzzing found in model files: each was once loaded, or ended in somebody else's error."""

import json
import tracemalloc

import numpy as np
import pytest

from cli.commands import run_command
from fairpca import FairPCA, FairTableTransformer, fit_table, load, save
from fairpca.errors import ModelFileError
from fairpca.models import model_card
from fuzzing.forged_models import Parts, put_together, taken_apart
from fuzzing.forgeries import forge, put
from fuzzing.seed_models import people, rows, write_models


@pytest.fixture
def model_file(tmp_path):
    X, sex, _ = rows()
    fair = FairPCA(2).fit(X, sensitive_features={"sex": sex})
    save(fair, tmp_path / "model.fairpca", moments=True)
    return tmp_path / "model.fairpca"


@pytest.fixture(scope="module")
def table_model():
    return fit_table(people(), "sex", "approved", n_components=2)


def test_a_small_file_that_names_one_array_a_thousand_times_is_refused(model_file):
    parts = taken_apart(model_file.read_bytes())
    size, start = 2**20, len(parts.data)
    big = {"dtype": "F64", "shape": [size // 8], "data_offsets": [start, start + size]}
    one = {"$array": {"tensor": "big", "order": "C", "flipped": []}}
    inner = {**parts.inner, "info": {"$dict": [["x", [one] * 1000]]}}
    model_file.write_bytes(
        put_together(Parts({**parts.outer, "big": big}, inner, parts.data + bytes(size)))
    )
    tracemalloc.start()
    with pytest.raises(ModelFileError, match="more often than any model"):
        load(model_file)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**28  # a thousand copies are 2**30


def nested(depth):
    value = "x"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("created", nested(300)),
        ("created", None),
        ("versions", {"fairpca": "1", "numpy": nested(300)}),
        ("left_out", [nested(300)]),
        ("left_out", 3),
        ("created", "half a character: \ud800"),
        ("info", {"$dict": [["data", "\udcff"]]}),
    ],
)
def test_facts_that_cannot_be_shown_are_refused(model_file, name, value):
    forge(model_file, lambda header: header.update({name: value}))
    with pytest.raises(ModelFileError, match="header is not that of a model"):
        load(model_file)
    for options in ([], ["--json"]):
        code, output = run_command(["inspect", str(model_file), *options])
        assert code == 2
        assert "Traceback" not in output


def test_labels_of_groups_that_are_lists_are_refused(model_file):
    forge(model_file, lambda h: put(h["learned"]["groups_"], "sex", [["f"], ["m"]]))
    with pytest.raises(ModelFileError, match="'groups_'"):
        load(model_file)


def test_labels_of_moments_that_are_lists_are_refused(model_file):
    def change(header):
        attribute = header["learned"]["moments_"]["fields"]["attributes"]["$tuple"][0]
        attribute["fields"]["labels"] = {"$tuple": [["f"], ["m"]]}

    with pytest.raises(ModelFileError, match="do not fit together"):
        load(forge(model_file, change))


def test_a_model_that_does_not_name_its_groups_has_a_card(model_file):
    model = load(forge(model_file, lambda h: h["learned"].pop("groups_")))
    assert model_card(model).startswith("# Model card: FairPCA")


def test_a_parameter_of_any_length_is_refused_in_one_line(model_file):
    array = taken_apart(model_file.read_bytes()).inner["learned"]["components_"]
    for value in ([0] * 10_000, array):
        forge(model_file, lambda h, value=value: h["parameters"].update(match=value))
        with pytest.raises(ModelFileError, match="parameter of FairPCA") as refused:
            load(model_file)
        assert len(str(refused.value)) < 1000
        assert "\n" not in str(refused.value)


def test_a_parameter_of_many_arrays_is_refused_before_it_is_shown(model_file):
    parts = taken_apart(model_file.read_bytes())
    start, size = len(parts.data), 2**16
    outer = {
        **parts.outer,
        "big": {"dtype": "U8", "shape": [size], "data_offsets": [start, start + size]},
        "long": {"dtype": "I64", "shape": [1], "data_offsets": [start + size, start + size + 8]},
    }
    text = {"$texts": {"lengths": "long", "bytes": "big"}}
    parameters = {**parts.inner["parameters"], "tradeoff": [text] * 1000}
    data = parts.data + b"x" * size + size.to_bytes(8, "little")
    inner = {**parts.inner, "parameters": parameters}
    model_file.write_bytes(put_together(Parts(outer, inner, data)))
    with pytest.raises(ModelFileError, match="more often than any model"):
        load(model_file)


def test_a_device_that_is_no_name_is_refused(model_file):
    forge(model_file, lambda h: h["parameters"].update(device=[0] * 1000))
    with pytest.raises(ModelFileError, match="no name of one"):
        load(model_file)


def test_facts_of_any_kind_are_shown_as_json(table_model, tmp_path):
    info = {"data": "\x1b[31m\x9b\u202e", "by": {(1, "a"): np.inf, None: [2.5, float("nan")]}}
    FairTableTransformer.of(table_model.encoder_, table_model.estimator_, info).save(
        tmp_path / "x.fairpca"
    )
    code, output = run_command(["inspect", str(tmp_path / "x.fairpca"), "--json"])
    assert code == 0
    assert output.isascii()
    assert json.loads(output)["info"]["by"] == {"(1, 'a')": "inf", "None": [2.5, "nan"]}
    code, output = run_command(["inspect", str(tmp_path / "x.fairpca")])
    assert code == 0
    assert not set("\x1b\x9b\u202e") & set(output)


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
