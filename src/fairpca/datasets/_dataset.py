"""A table ready for fair representation learning, with its provenance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import UsageError, needing

if TYPE_CHECKING:
    from pandas import DataFrame, Series


@dataclass(frozen=True, eq=False)
class Dataset:
    """Features, target and sensitive attributes of the same rows, kept apart.

    The attributes are never among the features, so a representation leaks them through proxies
    only.

    Attributes
    ----------
    name : str
        Short name, as in ``load_<name>``.
    features : DataFrame of shape (n_samples, n_features)
        Columns known when the decision was due: numbers as floats, with NaN where missing, and
        everything else as categories, their levels sorted. `numeric_features` makes all of them
        floats.
    target : Series of shape (n_samples,), or None
        The decision or outcome, 0 or 1; None where the data have none (images).
    sensitive : DataFrame of shape (n_samples, n_attributes)
        One column per attribute, categories or floats; missing values are kept.
    description : str
        What a row is, where and when it was collected.
    citation : str
        What to cite when results on these data are published.
    licence : str
        Terms under which the data are distributed.
    title : str, default=""
        What a row is, where and when, in a few words.
    labels : dict of str to str, default={}
        What columns mean, for people: ``{"loanprc": "loan-to-price ratio"}``.
    feature_names : list of str
        The columns of `features`.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairpca.datasets import Dataset
    >>> loans = Dataset(
    ...     name="loans",
    ...     features=pd.DataFrame(
    ...         {"home": pd.Categorical(["rent", "own", "free"]), "income": [30.0, 52.0, 41.0]}
    ...     ),
    ...     target=pd.Series([0, 1, 1], name="repaid"),
    ...     sensitive=pd.DataFrame({"sex": ["female", "male", "female"]}),
    ...     description="Three synthetic loans.",
    ...     citation="None.",
    ...     licence="Public domain",
    ... )
    >>> loans
    <Dataset loans: 3 rows, 2 features, target 'repaid', sensitive: sex>
    >>> loans.numeric_features()
       income  home_own  home_rent
    0    30.0       0.0        1.0
    1    52.0       1.0        0.0
    2    41.0       0.0        0.0
    """

    name: str
    features: DataFrame
    target: Series | None
    sensitive: DataFrame
    description: str
    citation: str
    licence: str
    title: str = ""
    labels: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rows = self.features.index
        target = self.features if self.target is None else self.target
        if not (rows.equals(target.index) and rows.equals(self.sensitive.index)):
            raise UsageError(
                f"Dataset '{self.name}': features, target and sensitive must have the same "
                f"index, row by row; their lengths are {len(rows)}, {len(target)} and "
                f"{len(self.sensitive)}."
            )
        both = [name for name in self.sensitive if name in self.features]
        if both:
            raise UsageError(
                f"Dataset '{self.name}': {both} are among the features and the sensitive "
                f"attributes. Drop them from the features."
            )

    @property
    def feature_names(self) -> list[str]:
        """The columns of `features`."""
        return list(self.features)

    def of_rows(self, rows: Sequence[int]) -> Dataset:
        """Return the same data with some of the rows only.

        Parameters
        ----------
        rows : sequence of int
            Positions of the rows, such as one side of a split.

        Returns
        -------
        data : Dataset
            Features, target and sensitive attributes of these rows.
        """
        return replace(
            self,
            features=self.features.iloc[rows],
            target=None if self.target is None else self.target.iloc[rows],
            sensitive=self.sensitive.iloc[rows],
        )

    def numeric_features(self) -> DataFrame:
        """Return all features as floats, categories as indicators of their levels.

        Returns
        -------
        numbers : DataFrame of shape (n_samples, n_numeric_features)
            First the numeric columns, in their order; then, for each categorical column in its
            order, one column of 0 and 1 per level except the first, called ``column_level``. The
            first level is the row of zeros. Columns depend on the declared levels only, so
            that they are the same for every selection of rows. Where a category is missing, its
            indicators are NaN, and not the row of zeros of the first level.

        Notes
        -----
        Without missing categories, the values and the order are those of
        ``pandas.get_dummies(features, drop_first=True)``. Features that are floats already are
        not copied.
        """
        return _one_hot(self.features)

    def __repr__(self) -> str:
        n, d = self.features.shape
        target = "no target" if self.target is None else f"target '{self.target.name}'"
        return (
            f"<Dataset {self.name}: {n} rows, {d} features, {target}, "
            f"sensitive: {', '.join(map(str, self.sensitive.columns))}>"
        )


def import_pandas() -> Any:
    """Return the module, or say which extra installs it. Nothing else here imports pandas."""
    with needing("pandas", "data", "A data set"):
        import pandas
    return pandas


def _one_hot(table: DataFrame) -> DataFrame:
    is_numeric = import_pandas().api.types.is_numeric_dtype
    if all(dtype.kind == "f" for dtype in table.dtypes):
        return table.copy(deep=False)
    numeric = [name for name in table if is_numeric(table[name].dtype)]
    categorical = [name for name in table if name not in set(numeric)]
    for name in categorical:
        if table[name].dtype != "category":
            raise TypeError(
                f"Column '{name}' is neither numeric nor categorical: its type is "
                f"{table[name].dtype}. Convert it first: features['{name}'].astype('category')."
            )
    indicators = {name: table[name].cat.categories[1:] for name in categorical}
    names = [*numeric, *(f"{name}_{level}" for name in categorical for level in indicators[name])]
    values = np.empty((len(table), len(names)))
    values[:, : len(numeric)] = table[numeric].to_numpy(dtype=float)
    start = len(numeric)
    for name in categorical:
        codes = table[name].cat.codes.to_numpy()[:, None]
        stop = start + len(indicators[name])
        block = values[:, start:stop]
        block[:] = codes == np.arange(1, 1 + stop - start)
        block[codes[:, 0] < 0] = np.nan
        start = stop
    return import_pandas().DataFrame(values, columns=names, index=table.index, copy=False)
