"""Fair representations: remove what models read of groups of people, keep the rest.

Which models depends on the method, so measure what is left with `fairpca.metrics.leakage`.
"""

from lazy_loader import attach_stub

__version__ = "0.1.0"

# Names and where they live are in __init__.pyi (SPEC 1); each is imported when it is first used.
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
