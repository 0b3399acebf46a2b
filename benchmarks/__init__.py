"""Speed and memory, always as ratios in one run. Start with ``python -m benchmarks``."""
