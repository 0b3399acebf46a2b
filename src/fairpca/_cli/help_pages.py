"""Help of a command: its options in panels, read from what its function declares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from inspect import Parameter, cleandoc, signature
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from rich.console import Console
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text
from typer.core import TyperCommand, TyperGroup
from typer.models import ArgumentInfo

Command = Callable[..., None]

ARGUMENTS, COLUMNS, FILES, METHOD = "Arguments", "Columns", "Reading the file", "Method"
PEOPLE, POLICY = "People", "Policy"
RECOMMENDATION, OUTPUT, COMPUTE, TERMINAL = "Recommendation", "Output", "Compute", "Terminal"
ORDER = [ARGUMENTS, PEOPLE, COLUMNS, METHOD, RECOMMENDATION, POLICY, FILES]
ORDER += [OUTPUT, COMPUTE, TERMINAL]
"""Panels of options, and how they follow each other."""

HELP_NAMES = ["-h", "--help"]
VALUES = {str: "TEXT", int: "NUMBER", float: "NUMBER", Path: "FILE"}
"""What stands for a value where an option names nothing better."""


@dataclass(frozen=True)
class Described:
    """An option or argument in words; `value` is empty for a switch, and `names` has all names."""

    names: tuple[str, ...]
    value: str
    text: str
    choices: tuple[str, ...]
    default: str
    required: bool
    panel: str

    @property
    def usage(self) -> str:
        """Return how it is typed: the short name, then the long one, or both ends of a switch."""
        if self.panel == ARGUMENTS:
            return self.value
        long = [name for name in self.names if name.startswith("--")]
        short = next((f"{name}, " for name in self.names if name not in long), "    ")
        is_pair = not self.value and len(long) > 1
        return f"{short}{'/'.join(long) if is_pair else long[0]} {self.value}".rstrip()

    @property
    def note(self) -> str:
        """Return the choices that the text does not have, the default, and if it is required."""
        parts = [", ".join(self.choices)] if self.choices else []
        parts += [f"default: {self.default}"] if self.default else []
        return "; ".join([*parts, "required"] if self.required else parts)


def described(command: Command) -> list[Described]:
    """Return the options and arguments of a command in the order of its function."""
    hints = get_type_hints(command, include_extras=True)
    found = []
    for parameter in signature(command).parameters.values():
        full, info = get_args(hints[parameter.name])
        kind, text = _single(full), info.help or ""
        choices = tuple(one.value for one in kind) if issubclass(kind, Enum) else ()
        is_argument = isinstance(info, ArgumentInfo)
        value = "" if kind is bool else info.metavar or VALUES.get(kind, "NAME")
        several = "..." if is_argument and get_origin(full) is list else ""
        found.append(
            Described(
                names=() if is_argument else _names(parameter.name, kind, info),
                value=value + several,
                text=text,
                choices=() if all(f"{one}:" in text for one in choices) else choices,
                default=_default(parameter, info),
                required=parameter.default is Parameter.empty,
                panel=ARGUMENTS if is_argument else info.rich_help_panel,
            )
        )
    return found


def _single(kind: Any) -> type:
    """Return the type of one value: of ``list[str] | None`` it is str."""
    if isinstance(kind, UnionType):
        kind = next(option for option in get_args(kind) if option is not NoneType)
    return get_args(kind)[0] if get_origin(kind) is list else kind


def _names(name: str, kind: type, info: Any) -> tuple[str, ...]:
    flag = f"--{name.replace('_', '-')}"
    # Without a default of its own, typer takes the first name for it until it reads the function.
    first = (info.default,) if isinstance(info.default, str) else ()
    written = (*first, *(info.param_decls or ())) or (flag,)
    return tuple(part for one in written for part in one.split("/"))  # "--header/--no-header"


def _default(parameter: Parameter, info: Any) -> str:
    value = parameter.default
    if isinstance(info.show_default, str):
        return info.show_default
    if value is Parameter.empty or value in (None, "") or isinstance(value, bool):
        return ""
    if isinstance(value, Enum):
        return str(value.value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def paragraphs(command: Command) -> list[str]:
    """Return what a command says about itself, the lines of a paragraph joined."""
    return [" ".join(part.split()) for part in cleandoc(command.__doc__ or "").split("\n\n")]


def with_help(command: Command, examples: Sequence[str]) -> type[TyperCommand]:
    """Return the class of a command whose help has its options in panels."""

    class WithHelp(TyperCommand):
        def get_usage(self, ctx: Any) -> str:
            arguments = [
                one.value if one.required else f"[{one.value}]"
                for one in described(command)
                if one.panel == ARGUMENTS
            ]
            return " ".join(["Usage:", ctx.command_path, "[OPTIONS]", *arguments])

        def format_help(self, ctx: Any, formatter: Any) -> None:
            options = described(command)
            show_help = Described(tuple(HELP_NAMES), "", "Show this help", (), "", False, TERMINAL)
            console = Console()
            _print_about(console, self.get_usage(ctx), paragraphs(command))
            usages = {one: one.usage for one in (*options, show_help)}
            width = max(map(len, usages.values()))
            for title in ORDER:
                rows = [
                    (usage, _with_note(one.text, one.note))
                    for one, usage in usages.items()
                    if one.panel == title
                ]
                _print_panel(console, title, rows, width)
            if examples:
                console.print(Text("\n Examples", style="bold"))
            for example in examples:  # a line each, however long: they are copied
                told, mark, remark = example.partition("#")
                line = Text(f"   {told}").append(mark + remark, style="dim")
                console.print(line, soft_wrap=True)
            console.print()

    return WithHelp


class WithCommands(TyperGroup):
    """The program, whose help lists the commands."""

    def get_usage(self, ctx: Any) -> str:
        """Return how a command is called."""
        return f"Usage: {ctx.command_path} COMMAND ..."

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print what the program does, its commands and its options."""
        console = Console()
        _print_about(console, self.get_usage(ctx), [self.help or ""])
        commands = [
            (name, Text((command.help or "").split("\n\n")[0]))
            for name, command in self.commands.items()
        ]
        _print_panel(console, "Commands", commands, max(len(name) for name in self.commands))
        rows = [
            (", ".join(HELP_NAMES), Text("Show this help, or after COMMAND its options")),
            ("    --version", Text("Show the version")),
        ]
        _print_panel(console, "Options", rows, max(len(name) for name, _ in rows))


def _print_about(console: Console, usage: str, told: Sequence[str]) -> None:
    console.print(Padding(Text(usage, style="bold"), (1, 1)))
    for number, paragraph in enumerate(told):
        style = "dim" if number else ""
        console.print(Padding(Text(paragraph, style=style), (0, 1, 1, 1)))


def _print_panel(
    console: Console, title: str, rows: Iterable[tuple[str, Text]], width: int
) -> None:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0), expand=True)
    table.add_column(width=width, no_wrap=True, style="cyan")
    table.add_column(ratio=1)
    for usage, text in rows:
        table.add_row(Text(usage), text)
    if table.row_count:
        console.print(Panel(table, title=title, title_align="left", border_style="dim"))


def _with_note(text: str, note: str) -> Text:
    return Text(text).append(f" [{note}]" if note else "", style="dim")
