"""From a table to a model that is handed over: fitted, saved without pickle, checked, exported."""

from ._cards import model_card, who_may_see
from ._defaults import (
    COVARIANCE_TOLERANCE,
    approximation_for,
    component_fallbacks,
    fit_available_components,
    usual_components,
)
from ._onnx import export_onnx
from ._plans import (
    FEWEST_ROWS,
    MOST_GROUPS,
    AttributePlan,
    Measured,
    about_the_yes,
    as_table,
    binary_target,
    measure_attribute,
    numbers_of,
    one_decision,
    plan_factor,
    plan_target,
    roles_in,
    weights_of,
)
from ._skops import trusted_types
from ._table_transformer import FairTableTransformer, fit_table, inspect_model, load, save
from ._torch import export_torch, torch_files
from ._transform_file import transform_file

__all__ = [
    "export_onnx",
    "export_torch",
    "inspect_model",
    "model_card",
    "transform_file",
    "trusted_types",
]
