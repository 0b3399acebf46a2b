"""Other systems, as far as Linux can play them; Windows and macOS run these tests, too."""

import io
import os
import re
import subprocess
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from fairpca import FairPCA, fit_table
from fairpca.__main__ import main
from fairpca.io import CSVRows
from fairpca.models import transform_file
from people import made_up_people

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "tests", "benchmarks", "examples", "docs", "paper")
LETTERS = "größe λ"
"""A name that ASCII has not, and of which cp1252 has one half."""


# What is written in the code


def files():
    made = {"_build", "gallery", "gallery_pages", "generated"}  # by make docs
    every = (path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")))
    return [path for path in every if not made.intersection(path.parts)]


OF_POSIX = re.compile(
    r"os\.(fork|killpg|mkfifo|f?chown|fchmod|get\w*[ug]id|setsid|wait|nice|p(read|write)|statvfs|"
    r"sched_\w+|O_(DIRECTORY|NOFOLLOW|NONBLOCK)|register_at_fork)\b|signal\.(SIG(KILL|ALRM|CHLD|"
    r"USR1|USR2)|alarm|setitimer|pthread_\w+)\b|^\s*(import|from) (fcntl|resource|pwd|termios)\b",
    re.MULTILINE,
)


def test_the_package_needs_nothing_that_only_posix_has():
    assert OF_POSIX.search("    os.fork()")
    found = {
        path.name: [match.group() for match in OF_POSIX.finditer(path.read_text(encoding="utf-8"))]
        for path in (ROOT / "src").rglob("*.py")
    }
    assert {name: names for name, names in found.items() if names} == {}


def test_names_of_files_fit_every_file_system():
    names = [path.relative_to(ROOT).as_posix() for path in files()]
    assert [name for name, n in Counter(map(str.lower, names)).items() if n > 1] == []
    devices = {"con", "prn", "aux", "nul", *(f"{d}{i}" for d in ("com", "lpt") for i in range(10))}
    for name in names:
        for part in name.split("/"):
            assert part.partition(".")[0].lower() not in devices, name
            assert not set(part) & set('<>:"\\|?*'), name
            assert not part.endswith((".", " ")), name


# What happens when it runs


@pytest.fixture
def people(tmp_path):
    """A table in a folder whose name has blanks and letters of all kinds."""
    folder = tmp_path / f"meine Daten {LETTERS}"
    folder.mkdir()
    table = made_up_people(n=120).rename(columns={"luck": LETTERS})[["sex", "height", LETTERS]]
    table["town"] = np.resize(["North", "Süd λ"], len(table))
    path = folder / f"Leute {LETTERS}.csv"
    table.to_csv(path, index=False)
    return path


def test_line_ends_of_windows_change_nothing(people):
    windows = people.with_name("crlf.csv")
    windows.write_bytes(people.read_bytes().replace(b"\n", b"\r\n"))
    one, other = (fit_table(path, "sex") for path in (people, windows))
    np.testing.assert_array_equal(one.estimator_.components_, other.estimator_.components_)
    for path in (people, windows):
        transform_file(one, path, path.with_suffix(".out.csv"), keep=["town"])
    first, second = (path.with_suffix(".out.csv").read_bytes() for path in (people, windows))
    assert first == second
    assert b"\r" not in first


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_consoles_that_lack_letters_are_written_to(people, monkeypatch, encoding):
    model = people.with_suffix(".fairpca")
    for arguments in (
        ["--help"],
        ["fit", "--help"],
        ["fit", people, "-s", "sex", "--out", model],
        ["inspect", model],
        ["transform", model, people, "--out", people.with_suffix(".parquet")],
    ):
        written = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding))
        monkeypatch.setattr(sys, "argv", ["fairpca", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        sys.stdout.flush()
        assert not ended.value.code
        assert len(written.getvalue()) > 20


def test_processes_that_start_anew_fit_alike(people):
    X, z = np.random.default_rng(0).normal(size=(60, 4)), np.resize(["a", "b", "c"], 60)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        fair = pool.submit(FairPCA(2).fit, X, sensitive_features=z).result()
        model = pool.submit(fit_table, people, "sex").result()
    np.testing.assert_allclose(
        fair.components_, FairPCA(2).fit(X, sensitive_features=z).components_, atol=1e-12
    )
    there = fit_table(people, "sex").estimator_.components_
    np.testing.assert_allclose(model.estimator_.components_, there, atol=1e-12)


def test_files_without_numbers_are_told_apart(tmp_path, monkeypatch):
    for name in ("1.csv", "2.csv"):
        (tmp_path / name).write_bytes(b"a,b\n1,2\n")
    status = Path.stat

    def without_number(self, **how):
        found = list(status(self, **how))
        found[1] = 0
        return os.stat_result(found)

    monkeypatch.setattr(Path, "stat", without_number)
    assert repr(CSVRows(tmp_path, sensitive="b")) == "<CSVRows: 2 files, 1 features>"


ELSEWHERE = """
import locale, sys, time
import numpy as np
from fairpca import fit_table, load, save
from fairpca.models import transform_file

for name in ("de_DE.UTF-8", "tr_TR.UTF-8", "fr_FR.UTF-8", "C"):
    try:
        locale.setlocale(locale.LC_ALL, name)
        break
    except locale.Error:
        pass
save(fit_table("people.csv", "sex"), "model.fairpca")
transform_file(load("model.fairpca"), "people.csv", "out.csv", keep=["town"])
print(name, sys.stdout.encoding, *load("model.fairpca").estimator_.components_.ravel().tolist())
"""


def test_the_main_jobs_work_in_another_locale(people, tmp_path):
    """Without UTF-8 as the usual encoding; with commas in numbers where such a locale is known."""
    people = people.rename(tmp_path / "people.csv")  # in such a locale names of files are ASCII
    environment = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "TZ": "Asia/Tokyo"}
    usual = "error::EncodingWarning:fairpca"
    done = subprocess.run(
        [sys.executable, "-X", "warn_default_encoding", "-W", usual, "-c", ELSEWHERE],
        cwd=people.parent,
        env={**os.environ, **environment, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr[-3000:]
    _, encoding, *numbers = done.stdout.split()
    assert encoding != "utf-8" or sys.platform == "darwin"
    here = fit_table(people, "sex")
    np.testing.assert_allclose(
        np.array(numbers, dtype=float), here.estimator_.components_.ravel(), atol=1e-12
    )
    transform_file(here, people, people.with_name("here.csv"), keep=["town"])
    assert people.with_name("out.csv").read_bytes() == people.with_name("here.csv").read_bytes()
