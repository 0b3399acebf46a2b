"""The numbers behind the plots, as tables: what remains without colours, scripts or eyes."""

from .columns import column_table, representation_table
from .decisions import curve_tables, group_tables, parity_tables
from .distributions import certificate_tables, gap_tables, variance_table
from .leakage import leakage_tables
from .reproduction import audit_again, fact_table, setting_table

__all__ = [
    "audit_again",
    "certificate_tables",
    "column_table",
    "curve_tables",
    "fact_table",
    "gap_tables",
    "group_tables",
    "leakage_tables",
    "parity_tables",
    "representation_table",
    "setting_table",
    "variance_table",
]
