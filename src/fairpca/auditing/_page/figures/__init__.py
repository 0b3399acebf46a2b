"""Plots as plain dictionaries of plotly's traces and layouts, one file per plot.

A colour is the name of a variable of the page's style sheet, as in ``var(--series-1)``; the page
replaces it, so that plots follow the light and the dark theme. Axes, fonts and margins that all
plots share are set there too.
"""

from .components import component_figures
from .leakage import leakage_figures
from .tradeoff import rate_figures, tradeoff_figures
from .variance import variance_figures

__all__ = [
    "component_figures",
    "leakage_figures",
    "rate_figures",
    "tradeoff_figures",
    "variance_figures",
]
