"""Mutation testing of the numerical core: whether its tests are able to fail.

``python -m mutation`` makes small changes to ``moments``, ``linalg``, ``solvers`` and ``groups``,
one at a time, and runs the tests that execute the changed line. A change that no test notices
survives: it is listed, with a reason, in ``docs/testing/mutation.md``.
"""
