"""What is said where a kernel is no product of features."""

from __future__ import annotations

from ..errors import IndefiniteKernelWarning, warn_user

NEGATIVE = 1e-5
"""Negative eigenvalues up to this share of the largest are rounding, as in scikit-learn."""


def warn_of_negative_directions(smallest: float, largest: float) -> None:
    """Warn with the size of a kernel's negative part.

    Parameters
    ----------
    smallest, largest : float
        The smallest eigenvalue, below zero, and the largest.

    Examples
    --------
    >>> import warnings
    >>> from fairpca.kernels import warn_of_negative_directions
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     warn_of_negative_directions(-0.5, 2.0)
    >>> str(told[0].message).split(",")[0]
    'The kernel is not positive semi-definite: it has an eigenvalue of -0.5'
    """
    warn_user(
        f"The kernel is not positive semi-definite: it has an eigenvalue of {smallest:.3g}, "
        f"{-smallest / largest:.2g} times the largest in size. Such directions have no variance "
        f"and were left out, as in scikit-learn's KernelPCA; the groups have the same mean in the "
        f"others.",
        IndefiniteKernelWarning,
    )
