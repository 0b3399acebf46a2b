"""Python and commands, ready to be pasted: what was advised, and the same audit again."""

from __future__ import annotations

import shlex
from typing import Any

from ._audit_result import Audit
from ._results import Data

METHODS = {
    "fair_pca": {"method": "fair_pca"},
    "fair_pca_covariances": {"method": "fair_pca", "match": "covariances"},
    "fair_kernel_pca": {"method": "fair_kernel_pca"},
    "leace": {"method": "leace"},
    "fair_pls": {"method": "fair_pls"},
}
"""What `fairpca.fit_table` takes for each representation."""

OF_THEIR_OWN_SIZE = ("leace", "fair_pls")


def python_recipe(audit: Audit, key: str, k: int | None, tradeoff: float | None) -> str:
    """Return Python that fits the recommended model to all rows and saves it."""
    data = audit.data
    given = {**_asked(audit, key), **METHODS[key], **_size(key, k, tradeoff)}
    arguments = [f"    {name}={value!r}," for name, value in given.items()]
    return "\n".join(
        [
            "import fairpca.tables" if data.reading else "import fairpca",
            "",
            "model = fairpca.fit_table(",
            f"    {_table(data) if data.source else 'table'},",
            *arguments,
            ")",
            'model.save("model.fairpca")',
            "representation = model.transform(new_rows)  # new_rows: a frame with the same columns",
            "",
        ]
    )


def shell_recipe(audit: Audit, key: str, k: int | None, tradeoff: float | None) -> str:
    """Return the command that does the same."""
    method = {name: value.replace("_", "-") for name, value in METHODS[key].items()}
    given = {**_reading(audit.data), **_asked(audit, key), **method, **_size(key, k, tradeoff)}
    source = audit.data.source or "table.csv"
    return _command("fit", source, {**given, "out": "model.fairpca"})


def audit_again(audit: Audit) -> str:
    """Return what makes this audit again: a command for a file, a call for a frame in memory."""
    settings, data = audit.settings, audit.data
    given = _given(
        sensitive=settings.sensitive,
        target=data.target.name if data.target else None,
        positive=data.target.positive if data.target else None,
        ignore=data.ignored,
        sensitive_kinds=settings.sensitive_kinds,
        aim=settings.aim,
        max_gap=settings.max_gap,
        n_components=settings.n_components,
        seed=settings.seed,
        quick=settings.quick,
        **_reading(data),
    )
    if data.source:
        return _command("audit", data.source, given)
    lines = [f"    {name}={value!r}," for name, value in given.items()]
    return "\n".join(["import fairpca", "", "fairpca.audit(", "    frame,", *lines, ")"])


def _given(**options: Any) -> dict[str, Any]:
    """Leave out what need not be said; a seed of 0 is given."""
    return {
        name: value
        for name, value in options.items()
        if value is not None and value is not False and value != []
    }


def _asked(audit: Audit, key: str) -> dict[str, Any]:
    settings, target = audit.settings, audit.data.target
    return _given(
        sensitive=settings.sensitive,
        target=settings.target,
        positive=target.positive if target and key == "fair_pls" else None,
        ignore=audit.data.ignored,
        sensitive_kinds=settings.sensitive_kinds,
    )


def _size(key: str, k: int | None, tradeoff: float | None) -> dict[str, Any]:
    lam = float(f"{tradeoff:g}") if tradeoff else None
    return _given(
        n_components=None if key in OF_THEIR_OWN_SIZE else k, tradeoff=1 if lam == 1 else lam
    )


def _table(data: Data) -> str:
    """Return Python for the table: its path, or how a file is read that needs to be explained."""
    reading = data.reading
    if reading is None:
        return repr(data.source)
    header = {} if reading.header is None else {"header": reading.header}
    skipped, encoding = reading.skip_lines or None, reading.encoding
    given = {**_given(columns=reading.columns, skip_lines=skipped, encoding=encoding), **header}
    options = "".join(f", {name}={value!r}" for name, value in given.items())
    return f"fairpca.tables.read_table({data.source!r}{options})"


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
    )


def _command(name: str, source: str, given: dict[str, Any]) -> str:
    words = ["fairpca", name, source]
    for column, kind in given.pop("sensitive_kinds", {}).items():
        words += [f"--{kind}", column]
    for option, value in given.items():
        flag = "--" + option.replace("_", "-")
        for one in value if isinstance(value, list) else [value]:
            words += [flag] if one is True else [flag, str(one)]
    return shlex.join(words)
