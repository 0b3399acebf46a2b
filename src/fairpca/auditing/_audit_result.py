"""The audit as an object: its JSON, its page and its view in notebooks."""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass
from typing import Any

from .._files import whole_file
from ._results import (
    Advice,
    CertifiedGap,
    Curve,
    Data,
    DecisionImportance,
    Downstream,
    Leak,
    Notice,
    Number,
    ProxyImportance,
    Representation,
    Settings,
    Summary,
    doc,
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
    representations, leakage, proxy_importance
        What was compared, what probes recognise, and which columns tell it.
    downstream, curves, certificates, decision_importance
        Models that predict the target or exist, utility against fairness, bounds for every
        threshold on a single column, and the columns that decide.

    See Also
    --------
    fairpca.auditing.audit_schema : The schema of its JSON.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from fairpca import Audit, audit
    >>> rng = np.random.default_rng(0)
    >>> people = pd.DataFrame({"sex": rng.choice(["f", "m"], size=200)})
    >>> people["height"] = rng.normal(170, 7, size=200) + 13 * (people["sex"] == "m")
    >>> people["age"] = rng.integers(18, 80, size=200)
    >>> found = audit(people, "sex", quick=True, n_jobs=1)
    >>> found.settings.sensitive, found.data.n_rows
    (['sex'], 200)
    >>> len(found.to_html()) < 1_500_000  # one page, to be opened in a browser
    True
    >>> Audit.from_json(found.to_json()) == found
    True
    """

    schema_version: str = doc("Version of this structure.")
    fairpca_version: str = doc("Version of the package that made it.")
    created: str = doc("When, in UTC, ISO 8601.")
    seconds: Number = doc("How long the audit took.")
    versions: dict[str, str] = doc("Versions of Python and of the numerical libraries.")
    settings: Settings = doc("How it was made.")
    data: Data = doc("The table.")
    notices: list[Notice] = doc("What a person should look at.")
    summary: Summary = doc("The findings in plain words.")
    advice: Advice = doc("Which setting to take.")
    representations: list[Representation] = doc("What was compared.")
    leakage: list[Leak] = doc("What probes recognise.")
    downstream: list[Downstream] = doc("Models that predict the target, and models that exist.")
    curves: list[Curve] = doc("Utility against fairness; empty without a target.")
    certificates: list[CertifiedGap] = doc("Bounds for every threshold on a single column.")
    proxy_importance: list[ProxyImportance] = doc(
        "Columns that carry the attributes, by what is lost with them."
    )
    decision_importance: list[DecisionImportance] = doc(
        "Columns that decide, by how many decisions change with them."
    )

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
        return _plain(asdict(self))

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

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Audit:
        """Return an audit from what `to_dict` returned, perhaps in another version of the package.

        Parameters
        ----------
        plain : dict
            Plain dictionaries, lists, strings and numbers, of this version of the schema. What a
            newer one added is left out.

        Returns
        -------
        Audit
            The audit.

        Raises
        ------
        AuditError
            If it is not an audit, one of another version, or does not follow the schema; the
            message names the place.
        MissingExtraError
            If pydantic is not installed.
        """
        from ._schema import audit_from_plain  # which knows this class

        return audit_from_plain(plain)

    @classmethod
    def from_json(cls, text: str) -> Audit:
        """Return an audit from what `to_json` returned.

        Parameters
        ----------
        text : str
            JSON of an audit.

        Returns
        -------
        Audit
            The audit, as `from_dict` returns it, which refuses what that refuses.
        """
        from ._schema import parsed

        return cls.from_dict(parsed(text))

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
        from ._page import render_page  # which reads audits

        page = render_page(self)
        if path is not None:
            with whole_file(path) as draft:
                draft.write_text(page, encoding="utf-8", newline="\n")
        return page

    def _repr_html_(self) -> str:
        from ._page import render_summary

        return render_summary(self)

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
