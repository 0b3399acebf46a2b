"""Synthetic data of the paper: two groups whose difference is known."""

from __future__ import annotations

import numpy as np
from scipy.linalg import block_diag, eigvalsh, toeplitz
from scipy.signal import lfilter

from ..errors import UsageError

RandomState = int | np.random.Generator | None

BLOCK = 200
"""Length of a series; the hidden features of a row are five of them."""
SERIES = {1: (0.99, 0.98, 0.97, 0.98, 0.95), 0: (0.95, 0.98, 0.97, 0.98, 0.99)}
"""How strongly each value of a series depends on the one before, by group."""
SHIFT = 2.0
"""Distance between the groups' means, in units of the difference of their covariances."""

STRETCH = np.array([[1.0, 0.0, 10.0], [1.0, 10.0, 10.0], [0.0, 10.0, 0.0]])
"""What mixes three features of one group in the authors' program for the paper's Figure 1."""


def make_two_gaussians(
    d: int = 20, *, n_per_group: int = 240, random_state: RandomState = None
) -> tuple[np.ndarray, np.ndarray]:
    r"""Draw two Gaussian groups that differ in mean and in covariance, in any dimension.

    The data of the paper's Figures 2 and 3 and of Section 8.2 of Lee et al. (2022): a linear
    model predicts the group without an error, whatever the dimension.

    Parameters
    ----------
    d : int, default=20
        Number of features.
    n_per_group : int, default=240
        Number of rows of each group.
    random_state : int, Generator or None, default=None
        Seeds the rows, and the two matrices that mix the hidden features.

    Returns
    -------
    X : ndarray of shape (2 * n_per_group, d)
        Rows, those of group 1 first.
    z : ndarray of shape (2 * n_per_group,)
        Groups, 1 or 0.

    Notes
    -----
    A row is :math:`A_z^\top h`. The 1000 hidden features h are five stationary series of length
    200, :math:`h_t = r h_{t-1} + e_t` with standard normal e; the groups have r of 0.99 and 0.95
    the other way round. They are divided by the root of the spectral norm of the difference of
    the groups' covariances, and the mean of group 0 is at distance 2 from that of group 1.
    :math:`A_z` is a standard normal 1000 x d matrix of each group's own, so that the features of
    both groups have covariances of their own too.

    References
    ----------
    .. [1] Lee, Kim, Olfat, Hasegawa-Johnson, Yoo. "Fast and efficient MMD-based fair PCA via
       optimization over Stiefel manifold". AAAI 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.datasets import make_two_gaussians
    >>> X, z = make_two_gaussians(d=20, random_state=0)
    >>> X.shape, np.bincount(z).tolist()
    ((480, 20), [240, 240])
    """
    _check_sizes(d=d, n_per_group=n_per_group)
    rng = np.random.default_rng(random_state)
    unit = np.sqrt(_largest_difference())
    groups = []
    for group, dependence in SERIES.items():
        hidden = _series(dependence, n_per_group, rng) / unit
        if group == 0:
            hidden += SHIFT / np.sqrt(hidden.shape[1])
        groups.append(hidden @ rng.normal(size=(hidden.shape[1], d)))
    return np.concatenate(groups), np.repeat(list(SERIES), n_per_group)


def make_covariance_mixture(
    n_per_group: int = 500, *, d: int = 10, random_state: RandomState = None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw two Gaussian groups with the same mean and very different covariances.

    The data of the paper's Figure 1. Equal means hide nothing here: they are equal to begin with.

    Parameters
    ----------
    n_per_group : int, default=500
        Number of rows of each group.
    d : int, default=10
        Number of features, at least 3.
    random_state : int, Generator or None, default=None
        Seeds the rows.

    Returns
    -------
    X : ndarray of shape (2 * n_per_group, d)
        Rows. Those of group 0 come first and are standard normal; in group 1 the first three
        features are mixed and stretched, up to seventeen times.
    z : ndarray of shape (2 * n_per_group,)
        Groups, 0 or 1.

    Examples
    --------
    >>> from fairpca.datasets import make_covariance_mixture
    >>> X, z = make_covariance_mixture(random_state=0)
    >>> spread = [X[z == g].std(axis=0) for g in (0, 1)]
    >>> bool(spread[0].max() < 1.2), bool(spread[1].max() > 12)
    (True, True)
    """
    _check_sizes(n_per_group=n_per_group)
    if d < len(STRETCH):
        raise UsageError(
            f"d={d} was given, but {len(STRETCH)} features differ between the groups, so at "
            f"least {len(STRETCH)} are needed. The paper has d=10."
        )
    rng = np.random.default_rng(random_state)
    X = rng.normal(size=(2 * n_per_group, d))
    X[n_per_group:] @= block_diag(STRETCH, np.eye(d - len(STRETCH)))
    return X, np.repeat([0, 1], n_per_group)


def make_circle(
    n_per_group: int = 200, *, noise: float = 0.0, random_state: RandomState = None
) -> tuple[np.ndarray, np.ndarray]:
    """Put one group on a circle and the other in its centre.

    The example of the paper's Appendix A: means are equal along every line through the plane, and
    still some non-linear model predicts the group from it, so no projection hides the groups.

    Parameters
    ----------
    n_per_group : int, default=200
        Number of points of each group.
    noise : float, default=0.0
        Standard deviation of Gaussian noise; the circle has radius 1.
    random_state : int, Generator or None, default=None
        Seeds the noise.

    Returns
    -------
    X : ndarray of shape (2 * n_per_group, 2)
        Points: group 0 in the centre, then group 1 at equal distances on the circle.
    z : ndarray of shape (2 * n_per_group,)
        Groups, 0 or 1.

    Examples
    --------
    >>> from fairpca.datasets import make_circle
    >>> X, z = make_circle(4)
    >>> X[z == 1].round()
    array([[ 1.,  0.],
           [ 0.,  1.],
           [-1.,  0.],
           [-0., -1.]])
    """
    _check_sizes(n_per_group=n_per_group)
    angle = 2 * np.pi * np.arange(n_per_group) / n_per_group
    X = np.zeros((2 * n_per_group, 2))
    X[n_per_group:] = np.column_stack([np.cos(angle), np.sin(angle)])
    X += noise * np.random.default_rng(random_state).normal(size=X.shape)
    return X, np.repeat([0, 1], n_per_group)


def _series(dependence: tuple[float, ...], n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw n rows of stationary series side by side, an array of shape (n, 5 * BLOCK)."""
    blocks = []
    for r in dependence:
        steps = rng.normal(size=(n, BLOCK))
        steps[:, 0] /= np.sqrt(1 - r**2)  # the variance that all later values have, too
        blocks.append(lfilter([1.0], [1.0, -r], steps, axis=1))
    return np.concatenate(blocks, axis=1)


def _largest_difference() -> float:
    """Return the spectral norm of the difference of the groups' hidden covariances."""
    gaps = (
        _covariance(r) - _covariance(s)
        for r, s in zip(SERIES[0], SERIES[1], strict=True)
        if r != s  # blocks without a difference have norm zero
    )
    return max(float(np.abs(eigvalsh(gap)).max()) for gap in gaps)


def _covariance(r: float) -> np.ndarray:
    return toeplitz(r ** np.arange(BLOCK)) / (1 - r**2)


def _check_sizes(**sizes: int) -> None:
    for name, size in sizes.items():
        if size < 1:
            raise UsageError(f"{name}={size} leaves nothing to draw. Pass an integer of 1 or more.")
