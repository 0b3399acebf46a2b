"""Exported graphs, run by onnxruntime, give what `transform` gives."""

import json

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
import scipy.sparse

from fairpca import FairKernelPCA, FairPCA, FairPLS, FairTableTransformer
from fairpca.errors import ExistingFileError, ExportError
from fairpca.models import export_onnx
from fairpca.tables import TableEncoder
from people import people
from registry import ESTIMATORS, fitted, small_rows

CLOSE = 1e-5


def run(path, inputs):
    """Return the output of a graph."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(["T"], inputs)[0]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.onnx"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_graph_gives_what_transform_gives(name, dtype, path):
    model = fitted(name)
    export_onnx(model, path, dtype=dtype)
    X = small_rows(50, seed=1)[0].astype(dtype)
    T = run(path, {"X": X})
    assert T.dtype == dtype
    expected = model.transform(X.astype(float))
    atol = CLOSE if dtype == "float32" else 1e-9
    np.testing.assert_allclose(T, expected, atol=atol * max(1.0, np.abs(expected).max()), rtol=0)


def test_rows_far_from_the_origin_keep_their_digits(path):
    X, sex, _ = small_rows()
    model = FairPCA(2).fit(X + 1e6, sensitive_features=sex)
    export_onnx(model, path, dtype="float64")
    np.testing.assert_allclose(run(path, {"X": X + 1e6}), model.transform(X + 1e6), atol=1e-8)


def test_given_kernel_values_and_sparse_training_rows(path):
    X, sex, _ = small_rows()
    model = FairKernelPCA(2, kernel="precomputed").fit(X @ X.T, sensitive_features=sex)
    export_onnx(model, path, dtype="float64")
    np.testing.assert_allclose(run(path, {"X": X @ X.T}), model.transform(X @ X.T), atol=CLOSE)
    model = FairKernelPCA(2).fit(scipy.sparse.csr_array(X), sensitive_features=sex)
    with pytest.raises(ExistingFileError, match="overwrite=True"):
        export_onnx(model, path, dtype="float64")
    export_onnx(model, path, dtype="float64", overwrite=True)
    np.testing.assert_allclose(run(path, {"X": X}), model.transform(X), atol=CLOSE)


def test_a_row_of_zeros_has_a_cosine(path):
    export_onnx(fitted("cosine kernel"), path, dtype="float64")
    X = np.zeros((1, 6))
    np.testing.assert_allclose(
        run(path, {"X": X}), fitted("cosine kernel").transform(X), atol=CLOSE
    )


def of_numbers_and_categories(estimator):
    frame, sex = people()
    frame = frame.drop(columns=["born", "note"]).assign(
        grade=pd.Categorical(np.random.default_rng(1).choice(["1", "2", "10"], len(frame)))
    )
    encoder = TableEncoder().fit(frame)
    fair = estimator.fit(encoder.transform(frame), frame["age"] > 40, sensitive_features=sex)
    return FairTableTransformer.of(encoder, fair), frame


def inputs_of(path, frame, dtype):
    """Return the columns as the metadata of the graph asks for them."""
    described = json.loads({p.key: p.value for p in onnx.load(path).metadata_props}["inputs"])
    inputs = {}
    for name, fact in described.items():
        column = frame[fact["column"]]
        if fact["type"] == "string":
            values = np.array(["" if pd.isna(v) else v for v in column], dtype=object)
        else:
            values = column.to_numpy(dtype)
        inputs[name] = values[:, None]
    return inputs


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "estimator",
    [
        FairPCA(3),
        FairKernelPCA(3, approximation="nystroem", n_landmarks=40, random_state=0),
        FairPLS(kernel="rbf", n_landmarks=40, random_state=0),
    ],
)
def test_the_graph_starts_at_the_columns_of_the_table(estimator, dtype, path):
    model, _ = of_numbers_and_categories(estimator)
    export_onnx(model, path, dtype=dtype)
    _, frame = of_numbers_and_categories(estimator)
    new = frame.sample(60, random_state=0).reset_index(drop=True).astype({"grade": object})
    new.loc[0, "job"] = "astronaut"
    new.loc[1, "job"] = None
    new.loc[2, "town"] = "?"
    new.loc[3, "age"] = np.inf
    new.loc[4, "age"] = np.nan
    new.loc[5, "grade"] = "3"
    T = run(path, inputs_of(path, new, dtype))
    np.testing.assert_allclose(T, model.transform(new), atol=CLOSE)


def test_the_map_alone_starts_at_encoded_rows(path):
    frame, sex = people()
    encoder = TableEncoder().fit(frame)
    model = FairTableTransformer.of(
        encoder, FairPCA(3).fit(encoder.transform(frame), sensitive_features=sex)
    )
    with pytest.raises(ExportError, match="'born', 'note'"):
        export_onnx(model, path)
    assert not path.exists()
    export_onnx(model, path, preprocessing=False, dtype="float64")
    T = run(path, {"X": encoder.transform(frame)})
    np.testing.assert_allclose(T, model.transform(frame), atol=CLOSE)


def test_names_of_columns_cannot_break_the_graph(path):
    rng = np.random.default_rng(0)
    names = ["", "T", "X", "constant", "sub", "<script>", "ü\n", "concat"]
    frame = pd.DataFrame(rng.normal(size=(200, len(names))), columns=names)
    encoder = TableEncoder().fit(frame)
    sex = rng.choice(["f", "m"], 200)
    model = FairTableTransformer.of(
        encoder, FairPCA(3).fit(encoder.transform(frame), sensitive_features=sex)
    )
    export_onnx(model, path, dtype="float64")
    T = run(path, inputs_of(path, frame, "float64"))
    np.testing.assert_allclose(T, model.transform(frame), atol=CLOSE)


def test_the_file_says_what_it_is(path):
    export_onnx(fitted("fair pca"), path)
    props = {p.key: p.value for p in onnx.load(path).metadata_props}
    assert props["class"] == "FairPCA"
    assert json.loads(props["output_names"]) == ["fairpca0", "fairpca1"]


def test_a_function_cannot_be_exported(path):
    X, sex, _ = small_rows()
    model = FairKernelPCA(2, kernel=lambda a, b: float(a @ b)).fit(X, sensitive_features=sex)
    with pytest.raises(ExportError, match="function in Python"):
        export_onnx(model, path)


def test_sparse_rows_that_are_too_many_numbers_cannot_be_exported(path, monkeypatch):
    monkeypatch.setattr("fairpca.models._map_parts.MAX_DENSE", 1000)
    X, sex, _ = small_rows()
    model = FairKernelPCA(2).fit(scipy.sparse.csr_array(X), sensitive_features=sex)
    with pytest.raises(ExportError, match="sparse rows"):
        export_onnx(model, path)


def test_a_graph_that_the_format_cannot_hold_is_refused(path, monkeypatch):
    monkeypatch.setattr("fairpca.models._onnx.MAX_PROTOBUF", 100)
    with pytest.raises(ExportError, match="at most 2"):
        export_onnx(fitted("rbf kernel"), path)
    assert not path.exists()


def test_another_precision_is_refused(path):
    with pytest.raises(ExportError, match="float16"):
        export_onnx(fitted("fair pca"), path, dtype="float16")
