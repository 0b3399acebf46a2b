"""Loans of a German bank in the 1970s, and whether they were paid back."""

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
    folder="german",
    name="german.data",
    sha256="b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
    url="https://archive.ics.uci.edu/ml/machine-learning-databases/statlog/german/german.data",
)

# Attributes 1 to 20 of german.doc, and the label.
COLUMNS = (
    *("checking_account", "duration_months", "credit_history", "purpose", "credit_amount"),
    *("savings", "employed_since", "installment_rate", "personal_status", "other_debtors"),
    *("residence_since", "property", "age", "other_installment_plans", "housing"),
    *("existing_credits", "job", "dependents", "telephone", "foreign_worker", "risk"),
)

# Attribute 9 of german.doc.
SEX_OF_STATUS = {"A91": "male", "A92": "female", "A93": "male", "A94": "male", "A95": "female"}

DESCRIPTION = (
    "Loans of a bank in southern Germany, 1973 to 1975: what was known about the applicant, and "
    "whether the loan was paid back as agreed (70 %; bad loans were sampled more often than they "
    "occurred)."
)

CITATION = (
    "Hofmann, H. (1994). Statlog (German Credit Data). UCI Machine Learning Repository. "
    "https://doi.org/10.24432/C5NC77"
)


def load_german(
    *, data: str | os.PathLike[str] | None = None, sensitive: Sequence[str] | None = None
) -> Dataset:
    """Load the German Credit data: 1,000 loans of the 1970s.

    The task is to predict whether the applicant was a good credit risk.

    Parameters
    ----------
    data : path, optional
        Folder that holds ``german/german.data``. By default the folder in the environment
        variable `FAIRPCA_DATA`; where the file is not there, it is downloaded once, from the UCI
        repository.
    sensitive : sequence of str, default=("age_group", "sex")
        `age_group`, `sex` or columns of the table. With `age_group`, the column `age` is no
        feature; with `sex`, `personal_status` is none.

    Returns
    -------
    Dataset
        18 features, 6 of them numeric; target `good_risk` (0 or 1); sensitive attributes
        `age_group` ("25 or older", "younger than 25") and `sex` ("female", "male").

    Raises
    ------
    MissingDataError, DamagedDataError, DownloadError
        If the file cannot be had, or is not the published one.

    Notes
    -----
    The age groups are those of the paper's experiments (85.1 % are 25 or older). Others cut one
    year later; ``sensitive=["age"]`` leaves the cut to you.

    Do not read much into `sex`. It follows the documentation that comes with the data, but that
    documentation is wrong in places [2]_: single men and women who are not single seem to
    share a code, so that sex cannot be recovered. For the same reason the levels of the
    categorical columns are the codes of the file (A11, A12, ...), not the meanings ascribed to
    them; the attribute `foreign_worker` is probably coded the wrong way round.

    The paper counts bad risks as positive, and uses the splits of Lee et al., see `load_lee2022`.

    References
    ----------
    .. [1] Hofmann. "Statlog (German Credit Data)". UCI Machine Learning Repository, 1994.
    .. [2] Grömping. "South German Credit Data: Correcting a Widely Used Data Set". Report 4/2019,
       Reports in Mathematics, Physics and Chemistry, Beuth University of Applied Sciences Berlin.

    Examples
    --------
    >>> from fairpca.datasets import load_german
    >>> german = load_german(sensitive=["age_group"])  # doctest: +SKIP
    >>> german  # doctest: +SKIP
    <Dataset german: 1000 rows, 19 features, target 'good_risk', sensitive: age_group>
    >>> german.sensitive["age_group"].value_counts().to_dict()  # doctest: +SKIP
    {'25 or older': 851, 'younger than 25': 149}
    """
    table = read_csv(obtain(FILE, data), sep=" ", header=None, names=list(COLUMNS))
    risk = table.pop("risk")  # 1 is good, 2 is bad
    derived = {
        "age_group": Derived(("age",), _age_group),
        "sex": Derived(("personal_status",), _sex),
    }
    features, attributes = separate(table, sensitive, ("age_group", "sex"), derived)
    return Dataset(
        name="german",
        features=features,
        target=(risk == 1).astype(int).rename("good_risk"),
        sensitive=attributes,
        description=DESCRIPTION,
        citation=CITATION,
        licence="CC BY 4.0",
    )


def _age_group(table: DataFrame) -> Series:
    return (table["age"] >= 25).map({False: "younger than 25", True: "25 or older"})


def _sex(table: DataFrame) -> Series:
    return table["personal_status"].map(SEX_OF_STATUS)
