"""From a table to a model that is handed over: fitted, saved without pickle, checked, exported."""

from ..errors import ExportError, ModelFileError, UnsavableModelError
from ._cards import model_card
from ._defaults import (
    COVARIANCE_TOLERANCE,
    approximation_for,
    component_fallbacks,
    fit_available_components,
    usual_components,
)
from ._fair_model import FairModel, fit_table, load, read_header, save
from ._onnx import export_onnx
from ._pipelines import load_pipeline, save_pipeline
from ._streaming import stream_transform
from ._torch import export_torch, torch_files

__all__ = [
    "ExportError",
    "FairModel",
    "ModelFileError",
    "UnsavableModelError",
    "export_onnx",
    "export_torch",
    "fit_table",
    "load",
    "load_pipeline",
    "model_card",
    "read_header",
    "save",
    "save_pipeline",
    "stream_transform",
]
