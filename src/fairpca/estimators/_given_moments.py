"""`fit_moments`: fits of estimators whose moments can be collected without them."""

from __future__ import annotations

from typing import Self

from ..errors import UsageError
from ..moments import GroupMoments
from ._inputs import unchanged_on_error
from ._moment_fits import FitsFromMoments
from ._rows_to_moments import check_sizes


class FitsGivenMoments(FitsFromMoments):
    """Mixin: the moments of the plain features are all the estimator needs."""

    def fit_moments(self, moments: GroupMoments) -> Self:
        """Learn the fair representation of rows known only through their moments.

        Parameters
        ----------
        moments : GroupMoments
            From `fairpca.collect_moments`, possibly the sum over many batches or machines. The
            criterion and the treatment of missing attributes were applied when they were
            collected.

        Returns
        -------
        self
        """
        if not isinstance(moments, GroupMoments):
            raise TypeError(
                f"fit_moments takes GroupMoments, not {type(moments).__name__}. Make them with "
                f"fairpca.collect_moments, or use fit for rows."
            )
        self._check_parameters()
        untied = any(a.stratum is None for a in moments.attributes)
        if self.criterion != "demographic_parity" and untied:
            raise UsageError(
                f"criterion={self.criterion!r}, but these moments were collected for demographic "
                f"parity, over all rows. Collect them with collect_moments(..., y=y, "
                f"criterion={self.criterion!r})."
            )
        if self.sensitive_columns is not None:
            raise UsageError(
                "sensitive_columns names columns of X, but moments have features only. Leave it "
                "out here, and in collect_moments name the attributes."
            )
        with unchanged_on_error(self):
            self._forget(all_of_it=True)
            self.__dict__.pop("feature_names_in_", None)
            self._learn(moments)
            self._keep(moments)
            self.n_features_in_ = moments.n_features
        return self

    def _learn(self, moments: GroupMoments) -> None:
        check_sizes(moments)
        super()._learn(moments)
