"""Python and commands to paste: the recommended option, and the same audit again."""

from __future__ import annotations

import shlex
from typing import Any

from ._audit_result import Audit
from ._representations import METHODS
from ._results import Data, Setting

ON_THE_COMMAND_LINE = {"scores": "score", "decisions": "decision"}
"""Options that are called otherwise there, where each is one of several."""


def python_recipe(audit: Audit, setting: Setting) -> str:
    """Return Python that fits the recommended model to all rows and saves it."""
    data, key = audit.data, setting.method
    given = {**_asked(audit, key), **METHODS[key].recipe, **_size(setting)}
    arguments = [f"    {name}={value!r}," for name, value in given.items()]
    exceeds = _exceeds(audit, key)
    table = _table(data, as_frame=bool(exceeds)) if data.source else _frame(data)
    return "\n".join(
        [
            "import fairpca.tables" if "fairpca.tables" in table else "import fairpca",
            "",
            *([f"table = {table}"] if exceeds and table != "table" else []),
            *([exceeds] if exceeds else []),
            "model = fairpca.fit_table(",
            f"    {'table' if exceeds else table},",
            *arguments,
            ")",
            'model.save("model.fairpca")',
            "representation = model.transform(new_rows)  # new_rows: a frame with the same columns",
            "",
        ]
    )


def shell_recipe(audit: Audit, setting: Setting) -> str:
    """Return the command that does the same; none where not all of it is in files."""
    key = setting.method
    if _exceeds(audit, key) or _vectors(audit.data) == "":
        return ""
    method = {name: value.replace("_", "-") for name, value in METHODS[key].recipe.items()}
    given = {**_reading(audit.data), **_asked(audit, key), **method, **_size(setting)}
    source = audit.data.source or "table.csv"
    return _command("fit", source, {**given, "out": "model.fairpca"})


def conditional_recipe(audit: Audit) -> str:
    """Return the command that fits fair PCA given the legitimate factors of an audit."""
    factors, kinds = audit.settings.given or [], audit.settings.sensitive_kinds or {}
    if _vectors(audit.data) == "":
        return ""
    asked = {**_reading(audit.data), **_asked(audit, "fair_pca")}
    of_factors = {name: kinds[name] for name in factors if name in kinds}
    asked["sensitive_kinds"] = {**asked.get("sensitive_kinds", {}), **of_factors}
    source = audit.data.source or "table.csv"
    return _command("fit", source, {**asked, "given": factors, "out": "model.fairpca"})


def audit_again(audit: Audit) -> str:
    """Return what makes this audit again: a command for a file, a call for a frame in memory."""
    settings, data = audit.settings, audit.data
    by_value = data.target is not None and settings.above is None
    given = _given(
        sensitive=settings.sensitive,
        probabilities={
            name: [*columns] if [*columns] == [*columns.values()] else columns
            for name, columns in (settings.probabilities or {}).items()
        },
        target=settings.target,
        pos_label=data.target.pos_label if data.target and by_value else None,
        above=settings.above,
        ignore=data.ignored,
        sensitive_kinds=settings.sensitive_kinds,
        scores=settings.scores,
        decisions=settings.decisions,
        person=settings.person,
        weight=settings.weight,
        given=settings.given,
        given_by=settings.given_by or None,
        missing=settings.missing,
        scale=None if settings.scale == "standard" else settings.scale,
        aim=settings.aim,
        max_gap=settings.max_gap,
        model=settings.model,
        confidence=settings.confidence,
        n_components=settings.n_components or None,
        seed=settings.seed,
        quick=settings.quick,
        alternatives=settings.alternatives,
        owner=data.owner or None,
        note=data.note or None,
    )
    if data.source and _vectors(data) != "" and _can_be_typed(settings.probabilities or {}):
        points = {"max_gap": f"{100 * settings.max_gap:g}"}
        return _command("audit", data.source, given | points | _reading(data))
    lines = [f"    {name}={value!r}," for name, value in given.items()]
    module, table = "fairpca", "frame"
    if data.source:  # and an array in memory
        module, table = "fairpca.tables", _table(data, as_frame=False)
    elif (file := _vectors(data)) is not None:
        lines.append(f"    vectors={repr(file) if file else 'vectors'},")
    return "\n".join([f"import {module}", "", "fairpca.audit(", f"    {table},", *lines, ")"])


def _can_be_typed(probabilities: dict[str, dict[str, str]]) -> bool:
    """Whether no name has a sign by which the command divides names."""
    names = [*probabilities, *(one for columns in probabilities.values() for one in columns)]
    columns = [one for columns in probabilities.values() for one in columns.values()]
    return not any(set(",:=") & {*name} for name in [*names, *columns])


def _given(**options: Any) -> dict[str, Any]:
    """Leave out what need not be said; a seed of 0 is given."""
    return {
        name: value
        for name, value in options.items()
        if value is not None and value is not False and value not in ([], {})
    }


def _asked(audit: Audit, key: str) -> dict[str, Any]:
    """Return what was asked, as far as fits know it; what was no feature is none there."""
    settings, target = audit.settings, audit.data.target
    factors = settings.given or []
    kinds = {n: k for n, k in (settings.sensitive_kinds or {}).items() if n not in factors}
    implied, probable = [], []  # of probabilities, the first follow from the others
    for first, *others in (a.columns for a in audit.data.attributes if a.kind == "probabilities"):
        implied.append(first)
        probable += others
    kinds |= dict.fromkeys(probable, "numeric")
    of_target = {name: kinds.pop(name) for name in [settings.target] if name in kinds}
    no_features = [*settings.scores, *settings.decisions, *filter(None, [settings.person])]
    fits_target = key == "fair_pls" and settings.above is None
    return _given(
        sensitive=[*settings.sensitive, *probable],
        target=settings.target,
        pos_label=target.pos_label if target and fits_target else None,
        ignore=[*audit.data.ignored, *no_features, *implied],
        weight=settings.weight,
        missing=settings.missing,
        scale=None if settings.scale == "standard" else settings.scale,
        sensitive_kinds=kinds,
        target_kinds=of_target if fits_target else None,
    )


def _exceeds(audit: Audit, key: str) -> str:
    """Return Python for a target that says whether a number exceeds a limit, where it matters."""
    name, above = audit.settings.target, audit.settings.above
    if above is None or key != "fair_pls":
        return ""
    column = f"table[{name!r}]"
    return f"table = table.assign(**{{{name!r}: ({column} > {above!r}).where({column}.notna())}})"


def _size(setting: Setting) -> dict[str, Any]:
    lam = float(f"{setting.tradeoff:g}") if setting.tradeoff else None
    k = setting.n_components if METHODS[setting.method].sized else None
    return _given(n_components=k, tradeoff=1 if lam == 1 else lam)


def _table(data: Data, *, as_frame: bool) -> str:
    """Return Python for the table: its path, or how a file is read that needs to be explained."""
    reading, given = data.reading, {}
    if reading is None and not as_frame:
        return repr(data.source)
    if reading is not None:
        header = {} if reading.header is None else {"header": reading.header}
        skipped, encoding = reading.skip_lines or None, reading.encoding
        given = {**_given(columns=reading.columns, skip_lines=skipped, encoding=encoding), **header}
    options = "".join(f", {name}={value!r}" for name, value in given.items())
    if (vectors := _vectors(data)) is not None:
        options += f", vectors={repr(vectors) if vectors else 'vectors'}"
    read = f"fairpca.tables.read_table({data.source!r}{options})"
    return f"{read}.frame" if as_frame else read


def _frame(data: Data) -> str:
    """Return Python for a table in memory, perhaps with vectors that were no column of it."""
    if _vectors(data) is None:
        return "table"
    *_, name = (one.name for one in data.columns if one.kind == "vector")
    return f"table.assign(**{{{name!r}: list(vectors)}})"


def _reading(data: Data) -> dict[str, Any]:
    """Return what had to be said about a text file, as options of the command."""
    reading = data.reading
    if reading is None:
        return {}
    return _given(
        columns=",".join(reading.columns) if reading.columns else None,
        header=reading.header is True,
        no_header=reading.header is False,
        skip_lines=reading.skip_lines or None,
        encoding=reading.encoding,
        vectors=reading.vectors or None,
    )


def _vectors(data: Data) -> str | None:
    """Return the file of vectors that were added; empty for an array, None where there is none."""
    return None if data.reading is None else data.reading.vectors


def _command(name: str, source: str, given: dict[str, Any]) -> str:
    words = ["fairpca", name, source]
    for kinds in ("sensitive_kinds", "target_kinds"):
        for column, kind in given.pop(kinds, {}).items():
            words += [f"--{kind}", column]
    for attribute, columns in given.pop("probabilities", {}).items():
        named = columns
        if isinstance(columns, dict):
            named = [f"{group}:{column}" for group, column in columns.items()]
        words += ["--probabilities", f"{attribute}={','.join(named)}"]
    for option, value in given.items():
        flag = "--" + ON_THE_COMMAND_LINE.get(option, option).replace("_", "-")
        for one in value if isinstance(value, list) else [value]:
            words += [flag] if one is True else [flag, str(one)]
    return shlex.join(words)
