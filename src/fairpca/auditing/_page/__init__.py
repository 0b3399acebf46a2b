"""One self-contained page from the plain dictionary of an audit."""

from .page import render_page, render_summary

__all__ = ["render_page", "render_summary"]
