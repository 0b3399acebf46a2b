"""Defendants in Broward County, Florida, and whether they were arrested again."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ._dataset import Dataset
from ._source import source

# Every column of the table that is neither a feature nor an attribute, and why.
DROPPED_COLUMNS: dict[str, str] = {
    "two_year_recid": "the target",
    # The outcome in other words, or known only after it.
    "is_recid": "outcome: arrested again, at any time",
    "is_violent_recid": "outcome: arrested again for violence",
    "violent_recid": "outcome; empty in every row",
    "event": "outcome: whether a new arrest ended the time under observation",
    "start": "after the score: where the time under observation begins",
    "end": "outcome: where the time under observation ends, by a new arrest or without",
    "r_case_number": "outcome: the new arrest",
    "r_charge_degree": "outcome: the new arrest",
    "r_days_from_arrest": "outcome: the new arrest",
    "r_offense_date": "outcome: the new arrest",
    "r_charge_desc": "outcome: the new arrest",
    "r_jail_in": "outcome: the new arrest",
    "r_jail_out": "outcome: the new arrest",
    "vr_case_number": "outcome: the new arrest for violence",
    "vr_charge_degree": "outcome: the new arrest for violence",
    "vr_offense_date": "outcome: the new arrest for violence",
    "vr_charge_desc": "outcome: the new arrest for violence",
    "c_jail_out": "after the score for 89 %: the release from jail",
    "in_custody": "after the score for 70 % of those arrested again, and for 22 % of the others",
    "out_custody": "after the score: the end of that custody",
    # The prediction whose fairness is the question.
    "decile_score": "another model's prediction of the target",
    "decile_score.1": "copy of decile_score",
    "score_text": "another model's prediction of the target",
    "v_decile_score": "another model's prediction of violence",
    "v_score_text": "another model's prediction of violence",
    # Says who, when or how, not what for.
    "id": "identifier",
    "name": "identifier",
    "first": "identifier, and tells sex and origin",
    "last": "identifier, and tells sex and origin",
    "c_case_number": "identifier",
    "type_of_assessment": "constant",
    "v_type_of_assessment": "constant",
    "compas_screening_date": "date; leaks: all who were screened after 1 April 2014 and are in "
    "the table were arrested again",
    "screening_date": "copy of compas_screening_date",
    "v_screening_date": "copy of compas_screening_date",
    "c_jail_in": "date; leaks like compas_screening_date",
    "c_offense_date": "date; leaks like compas_screening_date",
    "c_arrest_date": "date; leaks like compas_screening_date",
    "days_b_screening_arrest": "how the charge was matched to the score",
    "c_days_from_compas": "how the charge was matched to the score",
    # Says nothing that another column does not say, or too finely.
    "dob": "copy: age",
    "age_cat": "copy: age in three bands",
    "priors_count.1": "copy of priors_count",
    "c_charge_desc": "free text with 389 values, most of them rare; c_charge_degree is its coarse "
    "form",
}


def load_compas(
    *, data: str | os.PathLike[str] | None = None, sensitive: Sequence[str] | None = None
) -> Dataset:
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

    Which columns are left out, and why, is in ``DROPPED_COLUMNS`` of this module. In short: the
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
    >>> from fairpca.datasets import load_compas
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
    return compas.people(table.drop(columns=list(DROPPED_COLUMNS)), target, sensitive)
