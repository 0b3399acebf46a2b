"""The audit as an object: its JSON, its page and its view in notebooks."""

from __future__ import annotations

import json
import math
import os
import re
from dataclasses import asdict, dataclass, replace
from typing import Any

from .._files import whole_file
from ._results import (
    EXISTING,
    Advice,
    Alternative,
    CertifiedGap,
    Changes,
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
    """What a table reveals about sensitive attributes, and what it costs to remove that.

    Made by `fairpca.audit`. All fields are plain values; the page "Audit JSON schema" documents
    each of them.

    Parameters
    ----------
    schema_version, fairpca_version, created, seconds, versions, settings
        How, when and by what it was made.
    data, notices
        The table, and its data warnings.
    summary, advice
        The findings in plain words, and the recommended option.
    representations, leakage, proxy_importance
        What was compared, how well probes predict each attribute, and its proxies.
    downstream, curves, certificates, decision_importance
        Downstream and existing models, the fairness-accuracy trade-off, certified bounds, and the
        most influential features.
    alternatives : list of Alternative, optional
        Plain methods beside ours, each with whether it needs the attribute to decide; None where
        they were not asked for.
    factors : list of Leak, optional
        What probes predict from the legitimate factors alone, which may be proxies; None without
        any.
    leakage_given : list of Leak, optional
        What a linear probe predicts from the recommended option among people whose factors are
        equal; None in quick audits.
    changes
        What changed since an earlier audit, if `since` was asked for it.

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

    schema_version: str = doc("Version of this schema.")
    fairpca_version: str = doc("Version of fairpca.")
    created: str = doc("UTC, ISO 8601.")
    seconds: Number = doc("Duration.")
    versions: dict[str, str] = doc("Of Python and libraries.")
    settings: Settings = doc("Its options.")
    data: Data = doc("The table.")
    notices: list[Notice] = doc("Data warnings.")
    summary: Summary = doc("Plain-language findings.")
    advice: Advice = doc("The recommendation.")
    representations: list[Representation] = doc("What was compared.")
    leakage: list[Leak] = doc("What probes predict.")
    downstream: list[Downstream] = doc("Downstream and existing models.")
    curves: list[Curve] = doc("Fairness-accuracy trade-off.")
    certificates: list[CertifiedGap] = doc("Certified bounds.")
    proxy_importance: list[ProxyImportance] = doc("Proxies.")
    decision_importance: list[DecisionImportance] = doc("Most influential features.")
    alternatives: list[Alternative] | None = doc("Plain alternatives, where asked for.", None)
    factors: list[Leak] | None = doc(
        "What probes predict from the legitimate factors alone: these may be proxies.", None
    )
    leakage_given: list[Leak] | None = doc(
        "What a linear probe predicts among people of equal factors, from the recommended option, "
        "else from the raw features; null in quick audits.",
        None,
    )
    changes: Changes | None = doc("What changed since an earlier audit.", None)

    def leakage_of(self, attribute: str) -> list[Leak]:
        """Return how well probes predict one attribute.

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

    def since(self, before: Audit | str | os.PathLike[str]) -> Audit:
        """Return this audit with what changed since an earlier one, beyond chance.

        Parameters
        ----------
        before : Audit or path
            An earlier audit of other people, or the JSON file of one.

        Returns
        -------
        Audit
            The same numbers, and `changes`: each number of both audits with its difference, z score
            and verdict. Its page has a section for them.

        Raises
        ------
        AuditError
            If no attribute is in both audits, or the file is no audit.
        TypeError
            If it is neither an audit nor a path, such as the JSON itself.

        Notes
        -----
        The difference is divided by its standard error, from both confidence intervals. Of all
        numbers that can be worse (gaps, ratios, leakage, accuracy) the p-values are adjusted by
        Holm's method: the chance that any of them is wrongly called worse or better is at most one
        minus the confidence of the audit, 5 % by default. People who are in both audits make z
        scores too small.

        Examples
        --------
        >>> import numpy as np
        >>> import pandas as pd
        >>> from fairpca import audit
        >>> def month(share_of_women, seed):
        ...     rng = np.random.default_rng(seed)
        ...     people = pd.DataFrame({"sex": rng.choice(["f", "m"], size=1000)})
        ...     share = np.where(people["sex"] == "f", share_of_women, 0.5)
        ...     people["granted"] = np.where(rng.random(1000) < share, "yes", "no")
        ...     return audit(people, "sex", decisions="granted", n_jobs=1)
        >>> found = month(0.2, seed=1).since(month(0.45, seed=0))
        >>> found.changes.verdict
        'worse'
        >>> gap = found.changes.numbers[0]
        >>> gap.kind, gap.attribute, gap.verdict
        ('gap', 'sex', 'worse')
        """
        from ._schema import audit_from_file
        from ._since import changes_since  # which reads audits

        is_text = isinstance(before, str) and before.lstrip().startswith("{")
        if is_text or not isinstance(before, Audit | str | os.PathLike):
            raise TypeError(
                f"The earlier audit is a {'text of JSON' if is_text else type(before).__name__}, "
                f"but must be an Audit or the path of its JSON file. Make one of it with "
                f"Audit.from_json(text) or Audit.from_dict(plain)."
            )
        earlier = before if isinstance(before, Audit) else audit_from_file(before)
        return replace(self, changes=changes_since(earlier, self))

    def to_dict(self) -> dict[str, Any]:
        """Return plain dictionaries, lists, strings and numbers; NaN becomes None."""
        return _plain(asdict(self))

    def to_metrics(self) -> dict[str, float]:
        """Return the main numbers in one flat dictionary, for trackers of experiments.

        Returns
        -------
        dict of str to float
            ``n_rows`` and, of the raw features, of each existing score and decision and of what is
            recommended, those of ``gap``, ``joint_gap`` (intersections), ``ratio``, ``utility`` and
            ``leakage`` that were measured, with their intervals: ``"raw/gap"``, ``"raw/gap_low"``,
            ``"raw/gap_high"``, ``"decision/granted/ratio"``, ``"recommended/utility"``. Names have
            letters, digits, blanks and ``_-./`` only.

        See Also
        --------
        Audit.to_dict : All numbers.
        Audit.since : What changed since an earlier audit, beyond chance.

        Examples
        --------
        >>> import numpy as np
        >>> import pandas as pd
        >>> from fairpca import audit
        >>> rng = np.random.default_rng(0)
        >>> people = pd.DataFrame({"sex": rng.choice(["f", "m"], size=200)})
        >>> people["granted"] = np.where(rng.random(200) < 0.5, "yes", "no")
        >>> found = audit(people, "sex", decisions="granted", n_jobs=1).to_metrics()
        >>> [name for name in found if not name.endswith(("_low", "_high"))]
        ['n_rows', 'decision/granted/gap', 'decision/granted/ratio', 'decision/granted/leakage']
        """
        chosen = self.advice.option
        named = {
            one.representation.replace(":", "/", 1): one
            for one in self.advice.options
            if one.representation == "raw" or any(m.model == EXISTING for m in one.models)
        }
        named |= {} if chosen is None else {"recommended": chosen}
        found = {"n_rows": float(self.data.n_rows)}
        for name, option in named.items():
            for kind in ("gap", "joint_gap", "ratio", "utility", "leak"):
                estimate, key = getattr(option, kind), f"{name}/{_SPOKEN.get(kind, kind)}"
                if estimate is not None and math.isfinite(estimate.value):
                    ends = {f"{key}_low": estimate.low, f"{key}_high": estimate.high}
                    found |= {key: estimate.value, **ends}
        return {re.sub(r"[^\w. /-]", "_", name): value for name, value in found.items()}

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
            The audit, as `from_dict` returns it; the errors are the same.
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


_SPOKEN = {"leak": "leakage"}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value
