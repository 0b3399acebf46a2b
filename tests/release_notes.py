"""What CHANGELOG.md says of the version in this checkout; refuses a tag that is not its tag.

Run from anywhere, with the tag; the notes are printed. Links to files become links to the address
of the tagged files, where one is given::

    python tests/release_notes.py v0.1.0 [ADDRESS]
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def notes_of(version: str, changelog: str) -> str:
    """Return the section of a version, without its heading; "" where there is none."""
    heading = rf"^## \[?{re.escape(version)}(?![\w.])[^\n]*\n"
    found = re.search(rf"(?ms){heading}(?P<section>.*?)(?=^## |\Z)", changelog)
    return found["section"].strip() if found else ""


def main(tag: str = "", address: str = "", root: Path = ROOT) -> str:
    """Return the notes of a tag; raise SystemExit if it cannot be released."""
    source = (root / "src" / "fairpca" / "__init__.py").read_text(encoding="utf-8")
    (version,) = re.findall(r'^__version__ = "(.+)"$', source, re.MULTILINE)
    if tag != f"v{version}":
        raise SystemExit(f"the tag is {tag!r}, but the version is {version}: tag it v{version}")
    notes = notes_of(version, (root / "CHANGELOG.md").read_text(encoding="utf-8"))
    if not notes:
        raise SystemExit(f"CHANGELOG.md has no section '## {version}', or nothing in it")
    return re.sub(r"\]\((?!\w+:|#)", lambda _: f"]({address}", notes)


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(f"{main(*sys.argv[1:])}\n")
