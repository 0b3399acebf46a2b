"""The reproduction is a user of fairpca like any other: it sees public names only."""

from pathlib import Path

from public_imports import imports_of, private_imports

PAPER = Path(__file__).parent.parent / "src" / "fairpca_paper"
LIBRARY = PAPER.parent.parent.parent / "src" / "fairpca"


def test_the_reproduction_uses_public_names_of_fairpca_only():
    assert [one for path in PAPER.rglob("*.py") for one in private_imports(path)] == []


def test_fairpca_never_imports_the_reproduction():
    assert not [
        path.name
        for path in LIBRARY.rglob("*.py")
        for module, _ in imports_of(path)
        if module.split(".")[0] == "fairpca_paper"
    ]
