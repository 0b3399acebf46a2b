"""Maps as torch modules; torch itself is not needed for them."""

from __future__ import annotations

import json
import os
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from .._files import keep_existing, library_versions, pack, whole_file
from ..errors import ExportError
from ._estimator_state import n_columns
from ._map_parts import map_parts
from ._table_transformer import fitted_model

SOURCE = Path(__file__).with_name("torch_module.txt")
"""The module's code, which is written beside the tensors."""


def export_torch(
    model: Any, path: str | os.PathLike[str], *, overwrite: bool = False
) -> tuple[Path, Path]:
    """Write the map of a fitted model as two files that torch needs no fairpca for.

    Parameters
    ----------
    model : estimator or FairTableTransformer
        Linear maps, and kernel maps with the built-in kernels, exact or approximate. Of a
        `fairpca.FairTableTransformer` the map of encoded rows is written; its preprocessing stays
        in Python.
    path : path
        One of the two, such as ``model.py`` or ``model.safetensors``.
    overwrite : bool, default=False
        Whether files of these names are replaced; else they are kept.

    Returns
    -------
    code : Path
        ``model.py``, a short class to read, the same for all models.
    tensors : Path
        ``model.safetensors``, the numbers, and the names of the columns.

    Raises
    ------
    ExistingFileError
        If there is a file of one of these names, which is not to be replaced.

    See Also
    --------
    export_onnx : For other runtimes.

    Notes
    -----
    No pickle is written and torch is not needed for writing. To load::

        from model import FairModule

        module = FairModule.load("model.safetensors")

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from fairpca import FairPCA
    >>> from fairpca.models import export_torch
    >>> rng = np.random.default_rng(0)
    >>> X, sex = rng.normal(size=(60, 4)), rng.choice(["f", "m"], size=60)
    >>> fair = FairPCA(2).fit(X, sensitive_features=sex)
    >>> [p.name for p in export_torch(fair, f"{tempfile.mkdtemp()}/model.py")]
    ['model.py', 'model.safetensors']
    """
    code, numbers = torch_files(path)
    tensors, settings = _parts(model)
    content = pack(tensors, {"fairpca": json.dumps(settings, ensure_ascii=False)})
    keep_existing(code, numbers, overwrite=overwrite)
    with whole_file(numbers) as draft, whole_file(code) as draft_of_code:
        draft.write_bytes(content)
        draft_of_code.write_bytes(SOURCE.read_bytes())
    return code, numbers


def torch_files(path: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Return the two files, code and tensors, that `export_torch` writes for a path."""
    path = Path(path)
    stem = path.with_suffix("") if path.suffix in (".py", ".safetensors", ".pt") else path
    if not stem.name.isidentifier():
        raise ExportError(
            f"{stem.name!r} cannot be imported as a module of Python, which the code is. Use a "
            f"name of letters, digits and underscores, such as 'model.py'."
        )
    return stem.with_name(f"{stem.name}.py"), stem.with_name(f"{stem.name}.safetensors")


def _parts(model: Any) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return the buffers and the settings of the module."""
    model = fitted_model(model)
    tensors: dict[str, np.ndarray] = {}
    settings: dict[str, Any] = {}
    parts = map_parts(model._map)
    for field in fields(parts):
        value = getattr(parts, field.name)
        if field.name in ("kind", "gamma", "degree", "unit_rows", "beside"):
            settings[field.name] = value
        elif value is not None:
            tensors[field.name] = np.atleast_1d(np.asarray(value, dtype=float))
    if model.encoder_ is not None:
        names = model.encoder_.get_feature_names_out()
    else:
        names = vars(model.estimator_).get("feature_names_in_", ())
    settings["input_names"] = [str(name) for name in names]
    settings["n_inputs"] = n_columns(model._map)
    settings["output_names"] = model.get_feature_names_out().tolist()
    settings["class"] = type(model.estimator_).__name__
    settings["version"] = library_versions()["fairpca"]
    return tensors, settings
