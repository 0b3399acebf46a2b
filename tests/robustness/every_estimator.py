"""Every estimator of the package, in all its settings, and what each promises."""

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from fairpca import FairKernelPCA, FairPCA, peers


@dataclass(frozen=True)
class Promise:
    """What holds after a fit that was not refused.

    Parameters
    ----------
    make : callable
        Returns the estimator.
    fair : bool
        Whether all groups have the same mean, and numeric attributes are uncorrelated, on the
        rows of the fit.
    orthonormal : bool
        Whether the rows of `components_` are orthonormal.
    options : dict
        Its parameters.
    """

    make: object
    fair: bool = False
    orthonormal: bool = False
    options: dict = field(default_factory=dict)

    def made(self):
        return self.make(**self.options)


def linear(*args, **options):
    return Promise(partial(FairPCA, *args), fair=True, orthonormal=True, options=options)


def kernel(*args, **options):
    return Promise(partial(FairKernelPCA, *args), fair=True, options={"random_state": 0, **options})


def peer(name, *args, fair=False, orthonormal=False, **options):
    return Promise(partial(getattr(peers, name), *args), fair, orthonormal, options)


SPECTRAL = {"match": "covariances", "covariance_method": "spectral"}
FEW_LANDMARKS = {"n_landmarks": 6}

ESTIMATORS = {
    "all components": linear(),
    "one component": linear(1),
    "two components": linear(2),
    "half of the variance": linear(0.5),
    "no component": linear(0),
    "scaled": linear(scale=True),
    "iterative": linear(1, solver="iterative"),
    "trade-off": linear(1, tradeoff=0.5),
    "equal opportunity": linear(criterion="equal_opportunity"),
    "equalized odds": linear(1, criterion="equalized_odds"),
    "joint groups": linear(intersectional=True, missing_sensitive="ignore"),
    "missing as a group": linear(missing_sensitive="group"),
    "missing ignored": linear(1, missing_sensitive="ignore", scale=True),
    "equal covariances": linear(1, match="covariances"),
    "two of equal covariances": linear(2, match="covariances", covariance_tol=0.1),
    "spectral covariances": linear(1, **SPECTRAL),
    "all spectral covariances": linear(covariance_directions=1.0, **SPECTRAL),
    "rbf": kernel(1),
    "all of rbf": kernel(),
    "laplacian": kernel(2, kernel="laplacian", missing_sensitive="group"),
    "linear kernel": kernel(1, kernel="linear", missing_sensitive="ignore"),
    "cosine": kernel(1, kernel="cosine", tradeoff=0.5),
    "poly": kernel(1, kernel="poly", degree=2, criterion="equalized_odds"),
    "sigmoid": kernel(1, kernel="sigmoid", gamma=0.01, criterion="equal_opportunity"),
    "uncentred": kernel(1, center=False),
    "nystroem": kernel(1, approximation="nystroem", **FEW_LANDMARKS),
    "random features": kernel(1, approximation="random_features", **FEW_LANDMARKS),
    "pca": peer("PCA", orthonormal=True),
    "kernel pca": peer("KernelPCA", 1),
    "leace": peer("LEACE", fair=True),
    "mean projection": peer("MeanProjection", fair=True),
    "sal": peer("SAL", fair=True),
    "one direction of sal": peer("SAL", 1),
    "splince": peer("SPLINCE", "possible", fair=True),
    "splince, all of y": peer("SPLINCE", fair=True),
    "oracle leace": peer("OracleLEACE", fair=True),
    "kernel sal": peer("KernelSAL", n_components=1, fair=True),
    "inlp": peer("INLP", orthonormal=True),
    "one component of inlp": peer("INLP", 1, keep="variance", orthonormal=True),
    "rlace": peer("RLACE", max_iter=20, evaluate_every=10),
    "fpca": peer("FPCA", 1, max_iter=200),
    "mbf pca": peer("MbFPCA", 1, max_iter=5, n_init=1),
    "balanced pca": peer("BalancedPCA", 1),
    "samadi": peer("SamadiPCA", 1),
}


def rows_that_count(estimator, data):
    """Return the mask of rows that a criterion and the weights leave."""
    kept = np.ones(len(data.rows), bool) if data.weight is None else data.weight > 0
    if getattr(estimator, "criterion", "") == "equal_opportunity":
        kept &= data.y == 1
    return kept


def compared(estimator, data):
    """Yield pairs (mask of rows, codes or values) in which no difference may be left."""
    kept = rows_that_count(estimator, data)
    truths = [c.truth for c in data.columns.values()]
    levels = [t for t in truths if t.dtype.kind != "f"]
    numbers = [t for t in truths if t.dtype.kind == "f"]
    missing = getattr(estimator, "missing_sensitive", "error")
    if missing == "group":
        levels = [t - t.min() for t in levels]
    if getattr(estimator, "intersectional", False) and len(levels) > 1:
        known = np.all([t >= 0 for t in levels], axis=0)
        joint = np.unique(np.array(levels).T, axis=0, return_inverse=True)[1].ravel()
        levels = [np.where(known, joint, -1)]
    strata = [np.ones(len(kept), bool)]
    if getattr(estimator, "criterion", "") == "equalized_odds":
        strata = [data.y == c for c in np.unique(data.y[kept])]
    for t in [*levels, *numbers]:
        for stratum in strata:
            counts = kept & stratum & ((t >= 0) if t.dtype.kind != "f" else np.isfinite(t))
            yield counts, t
