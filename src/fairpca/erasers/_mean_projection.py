"""Mean projection: remove the directions between group means."""

from __future__ import annotations

from typing import Any

from .._moments import GroupMoments
from ._projections import Eraser, learned_by_an_eraser, mean_projection


class MeanProjection(Eraser):
    r"""Remove the directions between group means, and leave all others as they are.

    Afterwards every group of every attribute has the same mean, and numeric attributes are
    uncorrelated with all features, so no linear model trained on these rows predicts an attribute
    better than a constant does. The result has the columns of the input: the rows themselves,
    moved as little as an orthogonal projection can. `LEACE` moves them less; `fairpca.FairPCA` also
    chooses the k directions to keep. **Non-linear models may still predict the attributes.**

    Attributes
    ----------
    n_directions_ : int
        How many directions were removed: at most the number of groups less one per attribute.
    components_ : ndarray of shape (n_features, n_features)
        The projection: row j has the weights of the centred features in column j of the result; 0
        where nothing of the feature is left but rounding, so that the column is the mean.
    mean_ : ndarray of shape (n_features,)
        Mean of all rows, which the projection leaves where it is.
    groups_ : dict
        The levels of each attribute, or "numeric".
    moments_ : GroupMoments
        The moments of all rows seen, for `partial_fit` and `fit_moments`. They are not kept after
        `fit` to more than 4096 features, or to wide or sparse rows.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names; only where all of them are strings.
    n_samples_seen_ : int
        Number of rows with positive weight.

    See Also
    --------
    SAL : Removes the same directions, or fewer.
    LEACE : Has the same guarantee, and changes rows least.

    References
    ----------
    .. [1] Haghighatkhah, Fokkens, Sommerauer, Speckmann, Verbeek. "Better hit the nail on the
       head than beat around the bush: removing protected attributes with a single projection".
       EMNLP 2022; Haghighatkhah, Meulemans, Speckmann, Urhausen, Verbeek. "Obstructing
       classification via projection". MFCS 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.erasers import MeanProjection
    >>> sex = np.array(["f", "f", "m", "m"])
    >>> X = np.array([[0.0, 1.0], [0.0, 3.0], [4.0, 1.0], [4.0, 3.0]])
    >>> MeanProjection().fit_transform(X, sensitive_features=sex)
    array([[2., 1.],
           [2., 3.],
           [2., 1.],
           [2., 3.]])
    """

    _equal_means = True

    def _solve(self, moments: GroupMoments) -> dict[str, Any]:
        return learned_by_an_eraser(mean_projection(moments), moments)
