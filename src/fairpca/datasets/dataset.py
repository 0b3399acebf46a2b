"""A table ready for fair representation learning, with its provenance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame, Series


@dataclass(frozen=True, eq=False)
class Dataset:
    """Features, target and sensitive attributes of the same rows, kept apart.

    The attributes are never among the features: what a representation then tells about
    them, it tells through proxies.

    Parameters
    ----------
    name : str
        Short name, as in ``load_<name>``.
    features : DataFrame of shape (n, d)
        Numeric columns known when the decision was due; missing values are NaN.
    target : Series of length n
        The decision or outcome, 0 or 1.
    sensitive : DataFrame of shape (n, p)
        One categorical column per attribute; missing values are kept.
    description : str
        What a row is, where and when it was collected.
    citation : str
        What to cite when results on these data are published.
    licence : str
        Terms under which the data are distributed.

    Examples
    --------
    >>> import pandas as pd
    >>> loans = Dataset(
    ...     name="loans",
    ...     features=pd.DataFrame({"income": [30.0, 52.0]}),
    ...     target=pd.Series([0, 1], name="repaid"),
    ...     sensitive=pd.DataFrame({"sex": ["female", "male"]}),
    ...     description="Two made-up loans.",
    ...     citation="None.",
    ...     licence="Public domain",
    ... )
    >>> loans
    <Dataset loans: 2 rows, 1 features, target 'repaid', sensitive: sex>
    """

    name: str
    features: DataFrame
    target: Series
    sensitive: DataFrame
    description: str
    citation: str
    licence: str

    def __post_init__(self) -> None:
        rows = self.features.index
        if not (rows.equals(self.target.index) and rows.equals(self.sensitive.index)):
            raise ValueError(
                f"Dataset '{self.name}': features, target and sensitive must have the same "
                f"index, row by row; their lengths are {len(rows)}, {len(self.target)} and "
                f"{len(self.sensitive)}."
            )

    def __repr__(self) -> str:
        n, d = self.features.shape
        return (
            f"<Dataset {self.name}: {n} rows, {d} features, target '{self.target.name}', "
            f"sensitive: {', '.join(map(str, self.sensitive.columns))}>"
        )
