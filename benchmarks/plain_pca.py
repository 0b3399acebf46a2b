"""Does fairness cost time? `fit` and `transform` against scikit-learn's PCA."""

from .data import made_rows
from .lines import OURS, Line


def contestant(line: Line, name: str):
    X, z = made_rows(max(line.n, 10 * line.k), line.d, line.dtype, line.spectrum)
    if name == OURS:
        from fairpca import FairPCA

        def fit():
            return FairPCA(line.k).fit(X, sensitive_features=z)
    else:
        from sklearn.decomposition import PCA

        solver = name.partition(" ")[2] or "auto"

        def fit():
            return PCA(line.k, svd_solver=solver, random_state=0).fit(X)

    if line.what == "fit":
        return fit
    fitted = fit()
    return lambda: fitted.transform(X[: line.n])
