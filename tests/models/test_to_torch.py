"""Exported modules give what `transform` gives, with and without this package."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest
from safetensors import safe_open

from fairpca import FairKernelPCA, FairPCA, FairTableTransformer
from fairpca.errors import ExportError
from fairpca.models import export_torch
from fairpca.tables import TableEncoder
from people import people
from registry import ESTIMATORS, fitted, small_rows

NEEDS_TORCH = 'torch is an optional library of several hundred MB: pip install "fairpca[torch]"'


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason=NEEDS_TORCH)


@pytest.fixture
def module_of(torch, tmp_path):
    """Return the module that the written files make."""

    def module_of(model):
        code, numbers = export_torch(model, tmp_path / "model.py")
        spec = importlib.util.spec_from_file_location("model", code)
        written = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(written)
        return written.FairModule.load(numbers)

    return module_of


def test_two_files_are_written_without_torch(tmp_path):
    code, tensors = export_torch(fitted("rbf kernel"), tmp_path / "model.py")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model.py", "model.safetensors"]
    assert "class FairModule(nn.Module)" in code.read_text(encoding="utf-8")
    with safe_open(tensors, framework="np") as file:
        assert file.get_tensor("rows").shape == (6, 120)
        assert "fairkernelpca0" in file.metadata()["fairpca"]


@pytest.mark.parametrize("name", ["model", "model.py", "model.safetensors", "model.pt"])
def test_either_name_will_do(name, tmp_path):
    paths = export_torch(fitted("fair pca"), tmp_path / name)
    assert [p.name for p in paths] == ["model.py", "model.safetensors"]


def test_the_code_does_not_depend_on_the_model(tmp_path):
    rng = np.random.default_rng(0)
    frame = people()[0][["age", "job"]].rename(columns={"age": "'''\nimport os"})
    encoder = TableEncoder().fit(frame)
    fair = FairPCA(2).fit(encoder.transform(frame), sensitive_features=rng.choice(["f", "m"], 400))
    hostile, _ = export_torch(FairTableTransformer.of(encoder, fair), tmp_path / "hostile.py")
    plain, _ = export_torch(fitted("fair pca"), tmp_path / "plain.py")
    assert hostile.read_bytes() == plain.read_bytes()


def test_a_name_that_cannot_be_imported_is_refused(tmp_path):
    with pytest.raises(ExportError, match="cannot be imported"):
        export_torch(fitted("fair pca"), tmp_path / "my model.py")
    assert not list(tmp_path.iterdir())


def test_a_function_cannot_be_exported(tmp_path):
    X, sex, _ = small_rows()
    model = FairKernelPCA(2, kernel=lambda a, b: float(a @ b)).fit(X, sensitive_features=sex)
    with pytest.raises(ExportError, match="function in Python"):
        export_torch(model, tmp_path / "model.py")


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_module_gives_what_transform_gives(name, torch, module_of):
    model, X = fitted(name), small_rows(50, seed=1)[0]
    expected = model.transform(X)
    size = max(1.0, np.abs(expected).max())
    module = module_of(model)
    T = module(torch.from_numpy(X))
    assert T.dtype == torch.float64
    np.testing.assert_allclose(T.numpy(), expected, atol=1e-9 * size, rtol=0)
    T = module(torch.from_numpy(X.astype(np.float32)))
    assert T.dtype == torch.float32
    np.testing.assert_allclose(T.numpy(), expected, atol=1e-5 * size, rtol=0)


@pytest.mark.parametrize("name", ["fair pca", "leace", "nystroem", "random features"])
def test_buffers_may_be_single_precision(name, torch, module_of):
    model, X = fitted(name), small_rows(50, seed=1)[0]
    module = module_of(model).float()
    assert {b.dtype for b in module.buffers()} == {torch.float32}
    T = module(torch.from_numpy(X)).numpy()
    # Combinations of kernel values cancel: three digits are left of seven.
    np.testing.assert_allclose(T, model.transform(X), atol=2e-3, rtol=0)


def test_gradients_flow_to_the_rows(torch, module_of):
    X = torch.from_numpy(small_rows(5, seed=1)[0]).requires_grad_()
    module = module_of(fitted("rbf kernel"))
    assert list(module.parameters()) == []
    assert torch.autograd.gradcheck(module, (X,))


def test_an_encoded_table_goes_in(torch, module_of):
    frame, sex = people()
    encoder = TableEncoder().fit(frame)
    encoded = encoder.transform(frame)
    model = FairTableTransformer.of(encoder, FairPCA(3).fit(encoded, sensitive_features=sex))
    module = module_of(model)
    assert module.settings["input_names"] == list(encoder.get_feature_names_out())
    T = module(torch.from_numpy(encoded)).numpy()
    np.testing.assert_allclose(T, model.transform(frame), atol=1e-9)


@pytest.mark.parametrize(
    "name", ["with a trade-off", "leace", "rbf kernel", "laplacian kernel", "fair pls, kernel"]
)
def test_the_files_work_without_this_package(name, torch, tmp_path):
    model, X = fitted(name), small_rows(50, seed=1)[0]
    export_torch(model, tmp_path / "model.py")
    np.save(tmp_path / "X.npy", X)
    program = (
        "import sys, numpy as np, torch\n"
        "from model import FairModule\n"
        "module = FairModule.load('model.safetensors')\n"
        "np.save('T.npy', module(torch.from_numpy(np.load('X.npy'))).numpy())\n"
        "assert 'fairpca' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
    np.testing.assert_allclose(np.load(tmp_path / "T.npy"), model.transform(X), atol=1e-9)
