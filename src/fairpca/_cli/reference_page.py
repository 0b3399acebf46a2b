"""The documentation's page of all commands, made from what they declare, as their help is.

Typer can write such a page, too, but in other words with every version of it.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from inspect import Parameter, signature
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from typer.models import ArgumentInfo, OptionInfo

from .app import COMMANDS, paragraphs

HEAD = """# Command line

The extra `audit` brings what these commands need: `pip install '.[audit]'`; `reproduce` needs
the extra of its name. `fairpca COMMAND --help` says the same in a terminal.

The exit status is 0 when all went well, 2 when arguments, data or files were refused (one line
says why, and what to do), 1 when a part of `reproduce` failed, 130 after an interruption. `audit`,
`fit`, `transform` and `export` replace no file unless `--force` is given. `fairpca --version` says
which version this is.

This page is made from the code:
`python -m fairpca._cli.reference_page > docs/reference/command_line.md`.
"""

VALUES = {str: "TEXT", int: "NUMBER", float: "NUMBER", Path: "PATH"}
"""What stands for a value in a usage line."""


def command_line_page() -> str:
    """Return the page of all commands, in Markdown."""
    return "\n".join([HEAD, *(_section(*one) for one in COMMANDS.items())]).rstrip()


def _section(command: Callable[..., None], examples: list[str]) -> str:
    lines = [f"## fairpca {command.__name__}", "", paragraphs(command), "", "| | |", "|---|---|"]
    lines += [*_rows(command), ""]
    if examples:
        lines += ["```shell", *examples, "```", ""]
    return "\n".join(lines)


def _rows(command: Callable[..., Any]) -> list[str]:
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


def _single(kind: Any) -> Any:
    """Return the type of one value: of ``list[str] | None`` it is str."""
    if isinstance(kind, UnionType):
        kind = next(option for option in get_args(kind) if option is not NoneType)
    return get_args(kind)[0] if get_origin(kind) is list else kind


def _names(name: str, kind: Any, info: ArgumentInfo | OptionInfo) -> str:
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


def _default(parameter: Parameter, info: ArgumentInfo | OptionInfo) -> str:
    value = parameter.default
    if value is Parameter.empty:
        return " **Required.**"
    if isinstance(info.show_default, str):
        return f" Default: {info.show_default}."
    if value is None or isinstance(value, bool):
        return ""
    return f" Default: `{value.value if isinstance(value, Enum) else value}`."


if __name__ == "__main__":
    print(command_line_page())  # noqa: T201  (it is what was asked for)
