"""From tables with messy columns, in memory or on disk, to models that can be saved."""

from .fitting import fit_table

__all__ = ["fit_table"]
