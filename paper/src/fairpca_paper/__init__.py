"""The paper's tables and figures, with the methods, data sets and measures only they need."""
