"""Models on disk: saved without pickle, checked when loaded, exported."""

from .cards import model_card
from .errors import ExportError, ModelFileError, UnsavableModelError
from .fair_model import FairModel
from .pipelines import load_pipeline, save_pipeline
from .saving import load, read_header, save
from .to_onnx import export_onnx
from .to_torch import as_torch_module, export_torch, torch_files

__all__ = [
    "ExportError",
    "FairModel",
    "ModelFileError",
    "UnsavableModelError",
    "as_torch_module",
    "export_onnx",
    "export_torch",
    "load",
    "load_pipeline",
    "model_card",
    "read_header",
    "save",
    "save_pipeline",
    "torch_files",
]
