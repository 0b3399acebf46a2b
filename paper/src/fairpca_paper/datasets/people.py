"""Tables of people that are downloaded: Adult Income, Bank Marketing, German Credit and COMPAS."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from fairpca.datasets import Dataset

from .source import DataFolder, Derived, obtain, read_csv, source

# Names of the columns as in adult.names; the last is the label, which has no name there.
ADULT_COLUMNS = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
    *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week"),
    *("native-country", "income"),
)

BANK_ATTRIBUTES = {
    "age_group": Derived(
        ("age",),
        lambda table: (table["age"] > 40).map({False: "40 or younger", True: "older than 40"}),
    )
}

# Attribute 9 of german.doc.
SEX_OF_STATUS = {"A91": "male", "A92": "female", "A93": "male", "A94": "male", "A95": "female"}

GERMAN_ATTRIBUTES = {
    "age_group": Derived(
        ("age",),
        lambda table: (table["age"] >= 25).map({False: "younger than 25", True: "25 or older"}),
    ),
    "sex": Derived(("personal_status",), lambda table: table["personal_status"].map(SEX_OF_STATUS)),
}

# Attributes 1 to 20 of german.doc, and the label.
GERMAN_COLUMNS = (
    *("checking_account", "duration_months", "credit_history", "purpose", "credit_amount"),
    *("savings", "employed_since", "installment_rate", "personal_status", "other_debtors"),
    *("residence_since", "property", "age", "other_installment_plans", "housing"),
    *("existing_credits", "job", "dependents", "telephone", "foreign_worker", "risk"),
)


def load_adult(*, data: DataFolder = None, sensitive: Sequence[str] | None = None) -> Dataset:
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
    >>> from fairpca_paper.datasets import load_adult
    >>> adult = load_adult(sensitive=["sex"])  # doctest: +SKIP
    >>> adult  # doctest: +SKIP
    <Dataset adult: 48842 rows, 13 features, target 'over_50k', sensitive: sex>
    >>> adult.numeric_features().shape  # doctest: +SKIP
    (48842, 99)
    >>> adult.target.groupby(adult.sensitive["sex"], observed=True).mean().round(3).to_dict()
    ... # doctest: +SKIP
    {'Female': 0.109, 'Male': 0.304}
    """
    adult = source("adult")
    parts = [
        read_csv(
            obtain(file, data),
            header=None,
            names=list(ADULT_COLUMNS),
            skipinitialspace=True,
            skiprows=1 if file.name == "adult.test" else 0,  # "|1x3 Cross validator"
        )
        for file in adult.files
    ]
    table = pd.concat(parts, ignore_index=True)
    income = table.pop("income").str.rstrip(".")  # the labels of adult.test end in a dot
    return adult.people(table, (income == ">50K").astype(int).rename("over_50k"), sensitive)


def load_bank(
    *, data: DataFolder = None, sensitive: Sequence[str] | None = None, duration: bool = False
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
    >>> from fairpca_paper.datasets import load_bank
    >>> bank = load_bank()  # doctest: +SKIP
    >>> bank  # doctest: +SKIP
    <Dataset bank: 41188 rows, 18 features, target 'subscribed', sensitive: age_group>
    >>> bank.sensitive["age_group"].value_counts(normalize=True).round(3).to_dict()
    ... # doctest: +SKIP
    {'40 or younger': 0.577, 'older than 40': 0.423}
    """
    bank = source("bank")
    table = bank.read(data, sep=";")
    subscribed = table.pop("y") == "yes"
    if not duration:
        del table["duration"]
    target = subscribed.astype(int).rename("subscribed")
    return bank.people(table, target, sensitive, BANK_ATTRIBUTES)


def load_german(*, data: DataFolder = None, sensitive: Sequence[str] | None = None) -> Dataset:
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
    >>> from fairpca_paper.datasets import load_german
    >>> german = load_german(sensitive=["age_group"])  # doctest: +SKIP
    >>> german  # doctest: +SKIP
    <Dataset german: 1000 rows, 19 features, target 'good_risk', sensitive: age_group>
    >>> german.sensitive["age_group"].value_counts().to_dict()  # doctest: +SKIP
    {'25 or older': 851, 'younger than 25': 149}
    """
    german = source("german")
    table = german.read(data, sep=" ", header=None, names=list(GERMAN_COLUMNS))
    good = table.pop("risk") == 1  # 2 is bad
    target = good.astype(int).rename("good_risk")
    return german.people(table, target, sensitive, GERMAN_ATTRIBUTES)


def load_compas(*, data: DataFolder = None, sensitive: Sequence[str] | None = None) -> Dataset:
    """Load the COMPAS data: 6,172 defendants and whether they were arrested again.

    The task is to predict a new arrest within two years from what was known when COMPAS was
    asked.

    Parameters
    ----------
    data : path, optional
        Folder that holds ``compas/compas-scores-two-years.csv``. By default the folder in the
        environment variable `FAIRPCA_DATA`; where the file is not there, it is downloaded once,
        from ProPublica's repository.
    sensitive : sequence of str, default=("race", "sex")
        Columns that are sensitive attributes. All others are features.

    Returns
    -------
    Dataset
        6 features, 5 of them numeric; target `two_year_recid` (0 or 1); sensitive attributes
        `race` (six levels, two of them with fewer than 35 people) and `sex`.

    Raises
    ------
    MissingDataError, DamagedDataError, DownloadError
        If the file cannot be had, or is not the published one.

    Notes
    -----
    Rows are those of ProPublica's analysis, 6,172 of 7,214: the charge is from within 30 days of
    the score, it can lead to jail, and score and outcome are known.

    Which columns are left out, and why, is in ``sources.toml`` of this package. In short: the
    outcome and what came after the score, the score itself, identifiers, dates and copies.

    The label is a new arrest, not a new offence, so it also measures policing. And the
    table has a known flaw: everybody in it who was screened after 1 April 2014 (868 of the rows
    here) was arrested again, since the others were cut off two years before the data end. That
    raises the rate from 37 % to 46 %.

    The paper uses a subset of Lee et al., see `load_lee2022`.

    References
    ----------
    .. [1] Angwin, Larson, Mattu, Kirchner. "Machine Bias". ProPublica, 2016.

    Examples
    --------
    >>> from fairpca_paper.datasets import load_compas
    >>> compas = load_compas(sensitive=["race"])  # doctest: +SKIP
    >>> compas  # doctest: +SKIP
    <Dataset compas: 6172 rows, 7 features, target 'two_year_recid', sensitive: race>
    >>> compas.sensitive["race"].value_counts().head(2).to_dict()  # doctest: +SKIP
    {'African-American': 3175, 'Caucasian': 2103}
    """
    compas = source("compas")
    table = compas.read(data)
    in_the_analysis = (
        table["days_b_screening_arrest"].between(-30, 30)
        & (table["is_recid"] != -1)
        & (table["c_charge_degree"] != "O")  # ordinary traffic offences
        & (table["score_text"] != "N/A")
    )
    table = table[in_the_analysis].reset_index(drop=True)
    target = table["two_year_recid"].astype(int)
    return compas.people(table.drop(columns=list(compas.dropped)), target, sensitive)
