"""What `fairpca fit` prints about a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .failures import printable

if TYPE_CHECKING:
    from ..models import FairModel


def facts_of(model: FairModel) -> list[str]:
    """Return what was fitted to what, and what is left to see, a line each."""
    estimator = model.estimator
    n_columns = len(model.output_names)
    files = f" of {model.info['n_files']:,} files" if model.info.get("n_files", 1) > 1 else ""
    n_rows = model.info["n_rows"]
    lines = [f"{type(estimator).__name__}: {n_columns} columns from {n_rows:,} rows{files}"]
    sampled = model.info.get("sample_rows", n_rows)
    if sampled < n_rows:
        lines.append(f"the columns were learned from a sample of {sampled:,} of {n_rows:,} rows")
    unknown = model.info.get("unknown_levels", {})
    if unknown:
        listed = ", ".join(f"{name} ({rows:,} rows)" for name, rows in unknown.items())
        lines.append(f"levels that were not in the sample count as unknown: {printable(listed)}")
    lines += [printable(note) for note in model.info.get("group_notes", [])]
    if hasattr(estimator, "explained_variance_ratio_"):
        kept = float(sum(estimator.explained_variance_ratio_))
        lines.append(f"variance kept: {kept:.1%}")
    if hasattr(estimator, "mean_gap_"):
        gap = estimator.mean_gap_
        lines.append(f"largest difference of group means left: {gap:.1e} standard deviations")
    if hasattr(estimator, "covariance_gap_"):
        gap = estimator.covariance_gap_
        lines.append(f"largest relative difference of covariances left: {gap:.2g}")
    lines.append(
        "Equal means do not hide what a non-linear model can see: run fairpca audit on the table."
    )
    return lines
