"""Erasers inside torch models: hooks, fits layer by layer, folded weights, leakage of layers."""

from ._erase import as_module, erased, fold
from ._layer_leakage import LayerLeakage, ModelLeakage, layer_leakage
from ._scrub import scrub

__all__ = [
    "LayerLeakage",
    "ModelLeakage",
    "as_module",
    "erased",
    "fold",
    "layer_leakage",
    "scrub",
]
