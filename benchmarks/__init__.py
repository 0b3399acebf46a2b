"""Speed and memory against what others would use. Start with ``python -m benchmarks``."""
