"""The pages of the commands and of an audit's JSON, made from what the code declares.

``python tests/documentation/pages_from_code.py`` writes them. Typer can write a page of commands,
too, but in other words with every version of it.
"""

from enum import Enum
from inspect import Parameter, signature
from pathlib import Path
from types import NoneType, UnionType
from typing import get_args, get_origin, get_type_hints

from typer.models import ArgumentInfo

from fairpca._cli import COMMANDS, _paragraphs
from fairpca.auditing import audit_schema

DOCS = Path(__file__).parents[2] / "docs"

COMMAND_LINE = """# Command line

Install the extra `audit` for these commands: `pip install ".[audit]"`. `fairpca
COMMAND --help` says the same in a terminal, and `fairpca --version` prints the version.

| exit status | meaning |
|--:|---|
| 0 | success |
| 2 | arguments, data or files were refused; one line says why, and what to do |
| 130, 143 | stopped by Ctrl-C or SIGTERM; no draft, no process and no row of people is left |

`audit`, `fit`, `transform` and `export` replace no file unless `--force` is given.

This page is made from the code: `python tests/documentation/pages_from_code.py`.
"""

VALUES = {str: "TEXT", int: "NUMBER", float: "NUMBER", Path: "PATH"}
"""What stands for a value in a usage line."""


def command_line_page():
    """Return the page of all commands, in Markdown."""
    return "\n".join([COMMAND_LINE, *(_section(*one) for one in COMMANDS.items())]).rstrip()


def _section(command, examples):
    lines = [f"## fairpca {command.__name__}", "", _paragraphs(command), "", "| | |", "|---|---|"]
    lines += [*_rows(command), ""]
    if examples:
        lines += ["```shell", *examples, "```", ""]
    return "\n".join(lines)


def _rows(command):
    """Return a row for every parameter of a command."""
    hints = get_type_hints(command, include_extras=True)
    rows = []
    for parameter in signature(command).parameters.values():
        kind, info = get_args(hints[parameter.name])
        kind = _single(kind)
        words = (info.help or "").replace("|", "\\|")
        if issubclass(kind, Enum):
            *others, last = (f"`{choice.value}`" for choice in kind)
            words += f" {', '.join(others)} or {last}."
        rows.append(
            f"| {_names(parameter.name, kind, info)} | {words}{_default(parameter, info)} |"
        )
    return rows


def _single(kind):
    """Return the type of one value: of ``list[str] | None`` it is str."""
    if isinstance(kind, UnionType):
        kind = next(option for option in get_args(kind) if option is not NoneType)
    return get_args(kind)[0] if get_origin(kind) is list else kind


def _names(name, kind, info):
    if isinstance(info, ArgumentInfo):
        return f"`{info.metavar or name.upper()}`"
    flag = f"--{name.replace('_', '-')}"
    unnamed = f"{flag}/--no-{flag[2:]}" if kind is bool else flag
    # Without a default of its own, typer takes the first name for it until it reads the function.
    first = (info.default,) if isinstance(info.default, str) else ()
    written = (*first, *(info.param_decls or ())) or (unnamed,)
    given = [part for one in written for part in one.split("/")]  # "--header/--no-header"
    if kind is not bool:
        given[0] += f" {info.metavar or VALUES.get(kind, 'NAME')}"
    return ", ".join(f"`{one}`" for one in given)


def _default(parameter, info):
    value = parameter.default
    if value is Parameter.empty:
        return " **Required.**"
    if isinstance(info.show_default, str):
        return f" Default: {info.show_default}."
    if value is None or isinstance(value, bool):
        return ""
    return f" Default: `{value.value if isinstance(value, Enum) else value}`."


SCHEMA = """# Audit JSON schema

Schema version {version}. `fairpca audit --json FILE` and `Audit.to_json()` write it;
`fairpca.auditing.audit_schema()` returns it as JSON Schema (draft 2020-12). A new first number of
the version breaks readers, a new second one adds fields. What was not measured is null.

This page is made from the code: `python tests/documentation/pages_from_code.py`."""


def schema_page():
    """Return the schema of an audit as a page for people, in Markdown."""
    schema = audit_schema()
    version, what = schema["description"].removeprefix("Version ").split(". ", 1)
    lines = [SCHEMA.format(version=version)]
    for name, part in {"Audit": {**schema, "description": what}, **schema["$defs"]}.items():
        lines += ["", f"## {name}", "", part["description"], ""]
        lines += ["field|type|meaning", "---|---|---"]
        for field, entry in part["properties"].items():
            lines.append(f"`{field}` | {_spoken(entry)} | {entry['description']}")
    return "\n".join(lines)


def _spoken(entry):
    if "$ref" in entry:
        name = entry["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in entry:
        return "/".join(map(_spoken, entry["anyOf"]))
    if entry["type"] == "array":
        return f"{_spoken(entry['items'])}[]"
    if entry["type"] == "object":
        return f"object of {_spoken(entry['additionalProperties'])}"
    return entry["type"] if isinstance(entry["type"], str) else entry["type"][0]


PAGES = {"reference/command_line.md": command_line_page, "reference/audit_schema.md": schema_page}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (DOCS / name).write_text(page() + "\n", encoding="utf-8")
