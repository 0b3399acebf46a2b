import pytest
from typer.testing import CliRunner

from fairpca._cli import app


@pytest.fixture
def command(monkeypatch, tmp_path):
    """Run the command line in an empty folder, on a wide terminal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return lambda *arguments: CliRunner().invoke(app, list(map(str, arguments)))
