"""Adults in the United States census of 1994, and whether they earn more than $50,000."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ._attributes import separate
from ._dataset import Dataset
from ._files import DataFile, obtain
from ._tables import import_pandas, read_csv

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult"
FILES = (
    DataFile(
        folder="adult",
        name="adult.data",
        sha256="5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
        url=f"{UCI}/adult.data",
    ),
    DataFile(
        folder="adult",
        name="adult.test",
        sha256="a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
        url=f"{UCI}/adult.test",
    ),
)

# Names of the columns as in adult.names; the last is the label, which has no name there.
COLUMNS = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
    *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week"),
    *("native-country", "income"),
)

DESCRIPTION = (
    "Adults in the United States, from the Current Population Survey of 1994: age, education, "
    "work, family and origin, and whether the person's income exceeded $50,000 a year (23.9 %)."
)

CITATION = (
    "Becker, B., & Kohavi, R. (1996). Adult. UCI Machine Learning Repository. "
    "https://doi.org/10.24432/C5XW20"
)


def load_adult(
    *, data: str | os.PathLike[str] | None = None, sensitive: Sequence[str] | None = None
) -> Dataset:
    """Load the Adult Income data: 48,842 people of the United States census of 1994.

    The task is to predict an income of more than $50,000 a year. Rows are those of ``adult.data``
    followed by those of ``adult.test``, in the order of the files.

    Parameters
    ----------
    data : path, optional
        Folder that holds ``adult/adult.data`` and ``adult/adult.test``. By default the folder in
        the environment variable `FAIRPCA_DATA`; files that are not there are downloaded once,
        from the UCI repository.
    sensitive : sequence of str, default=("sex", "race")
        Columns that are sensitive attributes. All others are features.

    Returns
    -------
    Dataset
        12 features, 6 of them numeric; target `over_50k` (0 or 1); sensitive attributes `sex`
        ("Female", "Male") and `race` (five levels).

    Raises
    ------
    MissingDataError, DamagedDataError, DownloadError
        If a file cannot be had, or is not the published one.

    See Also
    --------
    load_lee2022 : The subset behind the paper's tables.

    Notes
    -----
    "?" stands for unknown in `workclass`, `occupation` and `native-country`. It is a level of
    its own: who did not say where they work is not like everybody else. Where it has to be a
    missing value, use ``features["occupation"].cat.remove_categories("?")``.

    `fnlwgt` is the number of people in the population that the row stands for, not a property
    of the person. It is kept, as in most published experiments; drop it in new ones, or use it as
    `sample_weight`. `education-num` is a numeric copy of `education`.

    Proxies stay, since coping with them is the purpose of this package: `relationship` has the
    levels "Husband" and "Wife".

    The paper's comparison with reductions uses ``load_adult(sensitive=["sex"])`` and
    ``numeric_features()``, 99 columns. Its tables use a subset of Lee et al., see `load_lee2022`.

    References
    ----------
    .. [1] Becker, Kohavi. "Adult". UCI Machine Learning Repository, 1996.

    Examples
    --------
    >>> from fairpca.datasets import load_adult
    >>> adult = load_adult(sensitive=["sex"])  # doctest: +SKIP
    >>> adult  # doctest: +SKIP
    <Dataset adult: 48842 rows, 13 features, target 'over_50k', sensitive: sex>
    >>> adult.numeric_features().shape  # doctest: +SKIP
    (48842, 99)
    >>> adult.target.groupby(adult.sensitive["sex"], observed=True).mean().round(3).to_dict()
    ... # doctest: +SKIP
    {'Female': 0.109, 'Male': 0.304}
    """
    parts = [
        read_csv(
            obtain(file, data),
            header=None,
            names=list(COLUMNS),
            skipinitialspace=True,
            skiprows=1 if file.name == "adult.test" else 0,  # "|1x3 Cross validator"
        )
        for file in FILES
    ]
    table = import_pandas().concat(parts, ignore_index=True)
    income = table.pop("income").str.rstrip(".")  # the labels of adult.test end in a dot
    features, attributes = separate(table, sensitive, ("sex", "race"))
    return Dataset(
        name="adult",
        features=features,
        target=(income == ">50K").astype(int).rename("over_50k"),
        sensitive=attributes,
        description=DESCRIPTION,
        citation=CITATION,
        licence="CC BY 4.0",
    )
