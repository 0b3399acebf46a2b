"""Telephone calls of a Portuguese bank, and whether clients subscribed to a term deposit."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ._attributes import Derived, separate
from ._dataset import Dataset
from ._files import DataFile, obtain
from ._tables import read_csv

if TYPE_CHECKING:
    from pandas import DataFrame, Series

FILE = DataFile(
    folder="bank",
    name="bank-additional-full.csv",
    sha256="74adfc578bf77a7ff4bb1ba4a9f8709d9e3c6907342959c2c8416847e0afb4d8",
    url="https://archive.ics.uci.edu/ml/machine-learning-databases/00222/bank-additional.zip",
    zipped=True,
)

DESCRIPTION = (
    "Telephone calls of a Portuguese bank that sold term deposits, May 2008 to November 2010, in "
    "the order of their dates: the client, earlier calls, the state of the economy, and whether "
    "the client subscribed (11.3 %)."
)

CITATION = (
    'Moro, S., Cortez, P., & Rita, P. (2014). "A Data-Driven Approach to Predict the Success of '
    'Bank Telemarketing". Decision Support Systems, 62, 22-31. '
    "https://doi.org/10.1016/j.dss.2014.03.001"
)


def load_bank(
    *,
    data: str | os.PathLike[str] | None = None,
    sensitive: Sequence[str] | None = None,
    duration: bool = False,
) -> Dataset:
    """Load the Bank Marketing data: 41,188 clients who were called.

    The task is to predict who subscribes to a term deposit.

    Parameters
    ----------
    data : path, optional
        Folder that holds ``bank/bank-additional-full.csv``. By default the folder in the
        environment variable `FAIRPCA_DATA`; where the file is not there, it is downloaded once,
        from the UCI repository.
    sensitive : sequence of str, default=("age_group",)
        `age_group` or columns of the table. With `age_group`, the column `age` is no feature;
        ``["age"]`` makes the number itself sensitive.
    duration : bool, default=False
        Whether the duration of the call is a feature. It is known only when the outcome is, so
        this is for comparison with published numbers.

    Returns
    -------
    Dataset
        18 features, 8 of them numeric; target `subscribed` (0 or 1); sensitive attribute
        `age_group` ("40 or younger", "older than 40").

    Raises
    ------
    MissingDataError, DamagedDataError, DownloadError
        If the file cannot be had, or is not the published one.

    Notes
    -----
    "unknown" is a level of its own in six columns, as in the file. `pdays` (days since the client
    was last contacted) is 999 for 96 % of the rows. The documentation says that these clients
    never were contacted before, but `previous` counts earlier contacts for 4,110 of them.

    The paper says that each of its records has 20 features: the 19 features with
    ``duration=True``, and the age that its groups are made of.

    References
    ----------
    .. [1] Moro, Cortez, Rita. "A Data-Driven Approach to Predict the Success of Bank
       Telemarketing". Decision Support Systems 62, 2014.

    Examples
    --------
    >>> from fairpca.datasets import load_bank
    >>> bank = load_bank()  # doctest: +SKIP
    >>> bank  # doctest: +SKIP
    <Dataset bank: 41188 rows, 18 features, target 'subscribed', sensitive: age_group>
    >>> bank.sensitive["age_group"].value_counts(normalize=True).round(3).to_dict()
    ... # doctest: +SKIP
    {'40 or younger': 0.577, 'older than 40': 0.423}
    """
    table = read_csv(obtain(FILE, data), sep=";")
    subscribed = table.pop("y") == "yes"
    if not duration:
        del table["duration"]
    derived = {"age_group": Derived(("age",), _age_group)}
    features, attributes = separate(table, sensitive, ("age_group",), derived)
    return Dataset(
        name="bank",
        features=features,
        target=subscribed.astype(int).rename("subscribed"),
        sensitive=attributes,
        description=DESCRIPTION,
        citation=CITATION,
        licence="CC BY 4.0",
    )


def _age_group(table: DataFrame) -> Series:
    return (table["age"] > 40).map({False: "40 or younger", True: "older than 40"})
