"""The pages of the commands and of an audit's JSON, made from what the code declares.

``python tests/documentation/pages_from_code.py`` writes them. Typer can write a page of commands,
too, but in other words with every version of it.
"""

from pathlib import Path

from fairpca._cli import COMMANDS
from fairpca._cli.help_pages import described, paragraphs
from fairpca.auditing import audit_schema

DOCS = Path(__file__).parents[2] / "docs"

COMMAND_LINE = """# Command line

The commands need the extra `audit`: `pip install ".[audit]"`. `fairpca COMMAND -h` prints the
options of one, `fairpca --version` the version. Options of several commands stand at the end.

| exit status | meaning |
|--:|---|
| 0 | success; `gate`: within the limit; `compare`: nothing became worse beyond chance |
| 1 | `gate`: the limit is exceeded; `compare`: something became worse beyond chance |
| 2 | arguments, data or files were rejected; one line gives the reason and what to do |
| 3 | `gate`: undecided, too few people to say; `compare`: the audits cannot tell |
| 130, 143 | stopped by Ctrl-C or SIGTERM; no draft, process or copy of the data is left |

`audit --fail-above` ends as `gate` does. No command replaces a file without `--force`.

This page is made from the code: `python tests/documentation/pages_from_code.py`.
"""


def command_line_page():
    """Return the page of all commands: their own options, then those that they share."""
    having = {}
    for command in COMMANDS:
        for one in described(command):
            having.setdefault(one, []).append(command.__name__)
    shared = {one: tuple(names) for one, names in having.items() if one.names and len(names) > 1}
    sections = [_section(*command, shared) for command in COMMANDS.items()]
    for commands in dict.fromkeys(shared.values()):
        title = f"## Options of {', '.join(commands[:-1])} and {commands[-1]}"
        rows = [_row(one) for one, names in shared.items() if names == commands]
        sections.append("\n".join([title, "", "| | |", "|---|---|", *rows, ""]))
    return "\n".join([COMMAND_LINE, *sections]).rstrip()


def _section(command, examples, shared):
    rows = [_row(one) for one in described(command) if one not in shared]
    lines = [f"## fairpca {command.__name__}", "", "\n\n".join(paragraphs(command)), ""]
    lines += ["| | |", "|---|---|", *rows, ""]
    return "\n".join([*lines, "```shell", *examples, "```", ""] if examples else lines)


def _row(one):
    """Return how an option is typed and what it does, as cells of a table."""
    names = [f"`{name}`" for name in one.names] or [f"`{one.value}`"]
    if one.names and one.value:
        names[0] = f"`{one.names[0]} {one.value}`"
    notes = [", ".join(f"`{choice}`" for choice in one.choices)] if one.choices else []
    notes += [f"Default: {one.default}"] if one.default else []
    notes += ["**Required**"] if one.required else []
    words = ". ".join([one.text.replace("|", "\\|"), *notes])
    return f"| {', '.join(names)} | {words}. |"


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
