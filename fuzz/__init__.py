"""Fuzzing: files and arguments that nobody meant to make, by the thousand.

``python -m fuzz`` runs every target for some time; see `fuzz.__main__`. What each target promises
is said in `fuzz.targets`. Nothing here is part of the package.
"""
