"""Contrasts in the space of the rows: what kernel methods see of the attributes."""

from __future__ import annotations

from .._rows import Rows
from ._attribute_moments import AttributeMoments
from ._design import Design


def attributes_over_rows(rows: Rows) -> tuple[AttributeMoments, ...]:
    r"""Return the attributes' moments with every row as a feature of its own.

    A kernel knows rows only through their products with each other, so a mean is a combination of
    rows. The ``contrasts()`` of the result are the coefficients of these combinations: the
    columns of the paper's :math:`Z` as rows of length n, times the roots of the weights. For
    groups of one and three of four rows: (0.75, -0.25, -0.25, -0.25), and the negative of it.

    Parameters
    ----------
    rows : Rows
        n rows with their attributes; the features are not looked at.

    Returns
    -------
    tuple of AttributeMoments
        In n dimensions, an entry for each attribute.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca._rows import Rows
    >>> from fairpca._attributes import Levels
    >>> from fairpca.moments import attributes_over_rows
    >>> sex = Levels("sex", labels=("f", "m"), codes=np.array([0, 1, 1, 1]))
    >>> (over_rows,) = attributes_over_rows(Rows(np.zeros((4, 2)), attributes=(sex,)))
    >>> over_rows.contrasts()[0]
    array([[ 0.75, -0.25, -0.25, -0.25],
           [-0.75,  0.25,  0.25,  0.25]])
    """
    design = Design(rows, "float64")
    return design.read(design.block(slice(0, rows.n_rows)).T, None)
