"""The documentation's page of all commands, made from what they declare, as their help is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import Enum
from inspect import Parameter, signature
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from typer.models import ArgumentInfo, CommandInfo, OptionInfo

from .app import _paragraphs, app

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

MARKUP = re.compile(r"\[/?(?:bold|dim)\]")


def command_line_page() -> str:
    """Return the page of all commands, in Markdown.

    Returns
    -------
    str
        A section for each command: what it does, its arguments and options, examples.

    Examples
    --------
    >>> page = command_line_page()
    >>> [line for line in page.splitlines() if line.startswith("## ")][:3]
    ['## fairpca audit', '## fairpca fit', '## fairpca transform']
    """
    return "\n".join([HEAD, *(_section(command) for command in app.registered_commands)]).rstrip()


def _section(command: CommandInfo) -> str:
    act = command.callback
    assert act is not None  # registered by the decorator, which has it
    rows = [_row(*declared) for declared in _declared(act)]
    lines = [f"## fairpca {act.__name__}", "", _paragraphs(act), ""]
    lines += ["| | |", "|---|---|", *rows, ""]
    if command.epilog:
        examples = [line.strip() for line in MARKUP.sub("", command.epilog).splitlines()]
        lines += [
            "```shell",
            *filter(lambda line: line.startswith("fairpca "), examples),
            "```",
            "",
        ]
    return "\n".join(lines)


def _declared(
    act: Callable[..., Any],
) -> Iterator[tuple[Parameter, Any, ArgumentInfo | OptionInfo]]:
    """Yield every parameter of a command, its type, and what it says about itself."""
    hints = get_type_hints(act, include_extras=True)
    for name, parameter in signature(act).parameters.items():
        kind, info = get_args(hints[name])
        yield parameter, kind, info


def _row(parameter: Parameter, kind: Any, info: ArgumentInfo | OptionInfo) -> str:
    names = _names(parameter.name, kind, info)
    said = (info.help or "").replace("|", "\\|") + _choices(_single(kind))
    return f"| {names} | {said}{_default(parameter, info)} |"


def _names(name: str, kind: Any, info: ArgumentInfo | OptionInfo) -> str:
    if isinstance(info, ArgumentInfo):
        return f"`{info.metavar or name.upper()}`"
    flag = f"--{name.replace('_', '-')}"
    is_switch = _single(kind) is bool
    unnamed = f"{flag}/--no-{flag[2:]}" if is_switch else flag
    # Without a default of its own, typer takes the first name for it until it reads the function.
    first = (info.default,) if isinstance(info.default, str) else ()
    written = (*first, *(info.param_decls or ())) or (unnamed,)
    given = [part for one in written for part in one.split("/")]  # "--header/--no-header"
    if not is_switch:
        given[0] += f" {info.metavar or VALUES.get(_single(kind), 'NAME')}"
    return ", ".join(f"`{one}`" for one in given)


def _single(kind: Any) -> Any:
    """Return the type of one value: of ``list[str] | None`` it is str."""
    if isinstance(kind, UnionType):
        kind = next(option for option in get_args(kind) if option is not NoneType)
    return get_args(kind)[0] if get_origin(kind) is list else kind


def _choices(kind: Any) -> str:
    if not issubclass(kind, Enum):
        return ""
    *others, last = (f"`{choice.value}`" for choice in kind)
    return f" {', '.join(others)} or {last}."


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
