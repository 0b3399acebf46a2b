"""The audit as an object: plain, JSON-able, with a page and a view in notebooks."""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass
from typing import Any

from .._numerics import whole_file
from ._page.page import render_page
from ._page.summary import render_summary
from ._results import (
    Advice,
    CertifiedGap,
    Curve,
    Data,
    Downstream,
    Gap,
    Leak,
    Notice,
    Pictures,
    Representation,
    Settings,
    Spectrum,
    Summary,
    said,
)


@dataclass(frozen=True, repr=False)
class Audit:
    """What a table gives away about people, and what it costs to stop that.

    Made by `fairpca.audit`. All fields are plain values; the page "The JSON of an audit" documents
    each of them.

    Parameters
    ----------
    schema_version, fairpca_version, created, seconds, versions, settings
        How, when and by what it was made.
    data, notices
        The table, and what a person should look at in it.
    summary, advice
        The findings in plain words, and which setting to take.
    representations, leakage, gaps, spectra, pictures
        What was compared: what probes recognise, how differently groups are distributed, the
        variance of each component, and held-out rows in two dimensions.
    downstream, curves, certificates
        Models that predict the target, accuracy against fairness, and bounds that hold for every
        classifier on cells; the first two are empty without a target.

    See Also
    --------
    fairpca.auditing._page.render_page : The page of an audit that was kept as JSON.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from fairpca import audit
    >>> rng = np.random.default_rng(0)
    >>> people = pd.DataFrame({"sex": rng.choice(["f", "m"], size=200)})
    >>> people["height"] = rng.normal(170, 7, size=200) + 13 * (people["sex"] == "m")
    >>> people["age"] = rng.integers(18, 80, size=200)
    >>> found = audit(people, "sex", quick=True, n_jobs=1)
    >>> found.settings.sensitive, found.data.n_rows
    (['sex'], 200)
    >>> len(found.to_html()) < 6_000_000  # one page, to be opened in a browser
    True
    """

    schema_version: str = said("Version of this structure.")
    fairpca_version: str = said("Version of the package that made it.")
    created: str = said("When, in UTC, ISO 8601.")
    seconds: float = said("How long the audit took.")
    versions: dict[str, str] = said("Versions of Python and of the numerical libraries.")
    settings: Settings = said("How it was made.")
    data: Data = said("The table.")
    notices: list[Notice] = said("What a person should look at.")
    summary: Summary = said("The findings in plain words.")
    advice: Advice = said("Which setting to take.")
    representations: list[Representation] = said("What was compared.")
    leakage: list[Leak] = said("What probes recognise.")
    gaps: list[Gap] = said("How differently groups are distributed.")
    downstream: list[Downstream] = said("Models that predict the target; empty without one.")
    curves: list[Curve] = said("Accuracy against fairness; empty without a target.")
    certificates: list[CertifiedGap] = said("Bounds that hold for every classifier on cells.")
    spectra: list[Spectrum] = said("Variance explained by each component.")
    pictures: Pictures = said("Held-out rows in two dimensions.")

    def leakage_of(self, attribute: str) -> list[Leak]:
        """Return what probes recognise of one attribute.

        Parameters
        ----------
        attribute : str
            Name of the attribute.

        Returns
        -------
        list of Leak
            One for each representation and probe; none for an attribute that was not audited.
        """
        return [leak for leak in self.leakage if leak.attribute == attribute]

    def to_dict(self) -> dict[str, Any]:
        """Return plain dictionaries, lists, strings and numbers; NaN becomes None."""
        plain: dict[str, Any] = _plain(asdict(self))
        return plain

    def to_json(self, *, indent: int | None = 1) -> str:
        """Return the audit as JSON, of the schema that `fairpca.auditing.audit_schema` returns.

        Parameters
        ----------
        indent : int or None, default=1
            Blanks before each level; None for a single line.

        Returns
        -------
        str
            NaN becomes null.
        """
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the report as one self-contained page, and write it if a path is given.

        Parameters
        ----------
        path : path, optional
            Where to write the page; it is written whole or not at all.

        Returns
        -------
        html : str
            The page.
        """
        page = render_page(self.to_dict())
        if path is not None:
            with whole_file(path) as draft:
                draft.write_text(page, encoding="utf-8")
        return page

    def _repr_html_(self) -> str:
        return render_summary(self.to_dict())

    def __repr__(self) -> str:
        return f"<Audit of {self.data.name}: {self.summary.headline}>"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value
