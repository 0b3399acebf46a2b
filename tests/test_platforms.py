"""Other systems, as far as Linux can play them; Windows and macOS themselves run these tests, too.

Windows is played by taking away what only POSIX has, by refusing to replace or remove files that
are open, and by consoles that know few letters. What its system calls do is not known from that.
"""

import ast
import io
import json
import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from fairpca import FairPCA, load, save
from fairpca.__main__ import main
from fairpca._cli import terminal
from fairpca._numerics import threads, whole_files
from fairpca.models import fit_table, stream_transform
from fairpca.tables._files import find_files
from people import made_up_people

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "tests", "benchmarks", "examples", "docs", "paper")
LETTERS = "größe λ"
"""A name that ASCII has not, and of which cp1252 has one half."""


# What is written in the code


def files():
    return [p for f in FOLDERS for p in sorted((ROOT / f).rglob("*")) if "_build" not in p.parts]


@cache
def trees():
    return {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in files()
        if path.suffix == ".py" and path.parent.name not in ("gallery", "generated")
    }


def calls():
    for where, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                yield f"{where}:{node.lineno}", node


def is_text_without_encoding(call):
    """Whether a call opens, reads or writes a file as text, in the encoding of the system."""
    named, given = call.func, {word.arg: word.value for word in call.keywords}
    name = getattr(named, "attr", getattr(named, "id", ""))
    if "encoding" in given:
        return False
    if name in ("read_text", "write_text"):
        return len(call.args) < (1 if name == "read_text" else 2)
    if name not in ("open", "fdopen", "NamedTemporaryFile", "TextIOWrapper"):
        return False
    if name == "TextIOWrapper":
        return len(call.args) < 2
    of_path = name == "open" and isinstance(named, ast.Attribute)  # Path.open, and others' open
    place = 0 if of_path or name == "NamedTemporaryFile" else 1
    mode = call.args[place] if len(call.args) > place else given.get("mode")
    usual = "w+b" if name == "NamedTemporaryFile" else "r"
    mode = usual if mode is None else getattr(mode, "value", "b")
    return isinstance(mode, str) and set(mode) <= set("rwxat+")


def test_texts_are_read_and_written_in_an_encoding_that_is_named():
    for line in ("open(p)", "p.open('w')", "p.read_text()", "p.write_text('x')", "p.open()"):
        assert is_text_without_encoding(ast.parse(line).body[0].value), line
    for line in ("open(p, 'rb')", "pil.open(p)", "archive.open(name)", "p.open('ab')"):
        assert not is_text_without_encoding(ast.parse(line).body[0].value), line
    assert [where for where, call in calls() if is_text_without_encoding(call)] == []


OF_POSIX = {
    "os": "fork forkpty killpg mkfifo mknod chown lchown fchown fchmod getuid geteuid getgid "
    "getgroups setsid setpgid getpgid wait wait4 nice sync pread pwrite posix_spawn ttyname "
    "openpty sched_getaffinity sched_setaffinity getloadavg sysconf statvfs O_DIRECTORY O_NOFOLLOW "
    "O_CLOEXEC O_NONBLOCK O_SYNC register_at_fork WNOHANG WIFEXITED",
    "signal": "SIGKILL SIGHUP SIGPIPE SIGALRM SIGCHLD SIGUSR1 SIGUSR2 SIGQUIT SIGSTOP SIGCONT "
    "alarm setitimer getitimer pthread_sigmask pthread_kill sigwait pause siginterrupt",
    "time": "tzset clock_gettime",
}
OF_POSIX = {f"{module}.{name}" for module, names in OF_POSIX.items() for name in names.split()}
MODULES_OF_POSIX = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "posix"}

GUARDED = {
    ("src/fairpca/_numerics/threads.py", "os.register_at_fork"): 'hasattr(os, "register_at_fork")',
    ("src/fairpca/_numerics/whole_files.py", "os.chown"): 'sys.platform == "win32"',
    ("src/fairpca/_numerics/whole_files.py", "fcntl"): 'sys.platform == "win32"',
}
"""Where the package may use what only POSIX has, and what keeps others from there."""


def dotted(node):
    return f"{node.value.id}.{node.attr}" if isinstance(node.value, ast.Name) else ""


def test_the_package_needs_nothing_that_only_posix_has():
    found = set()
    for where, tree in trees().items():
        for node in ast.walk(tree) if where.startswith("src/") else ():
            if isinstance(node, ast.Attribute) and dotted(node) in OF_POSIX:
                found.add((where, dotted(node)))
            if isinstance(node, ast.Import | ast.ImportFrom):
                module = getattr(node, "module", None)
                names = {module} if module else {alias.name for alias in node.names}
                found |= {(where, name) for name in names & MODULES_OF_POSIX}
                found |= {(where, f"{module}.{a.name}") for a in node.names} & {
                    (where, name) for name in OF_POSIX
                }
    assert found == set(GUARDED)
    for (where, _), guard in GUARDED.items():
        assert guard in (ROOT / where).read_text(encoding="utf-8")


def test_how_processes_start_is_never_left_to_the_system():
    """Linux forked until Python 3.13, then a server forks; macOS and Windows start anew."""
    starting = {"Process", "Pool", "Queue", "Manager", "Pipe", "Value", "Array", "Lock", "Event"}
    for where, call in calls():
        if isinstance(call.func, ast.Attribute):
            module, _, name = dotted(call.func).partition(".")
            assert module not in ("multiprocessing", "mp") or name not in starting, where
            if name == "get_context":
                assert call.args, where
        if getattr(call.func, "id", getattr(call.func, "attr", "")) == "ProcessPoolExecutor":
            assert "mp_context" in {word.arg for word in call.keywords}, where


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


def on_windows(monkeypatch):
    monkeypatch.setattr(whole_files, "sys", type("sys", (), {"platform": "win32"}))


def test_line_ends_of_windows_change_nothing(people):
    windows = people.with_name("crlf.csv")
    windows.write_bytes(people.read_bytes().replace(b"\n", b"\r\n"))
    one, other = (fit_table(path, "sex") for path in (people, windows))
    np.testing.assert_array_equal(one.estimator.components_, other.estimator.components_)
    for path in (people, windows):
        stream_transform(one, path, path.with_suffix(".out.csv"), keep=["town"])
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
    there = fit_table(people, "sex").estimator.components_
    np.testing.assert_allclose(model.estimator.components_, there, atol=1e-12)


def test_without_a_blas_that_is_known_everything_is_the_same(monkeypatch):
    """As on macOS, whose Accelerate has its threads to itself."""
    X, z = np.random.default_rng(0).normal(size=(5000, 30)), np.resize(["a", "b", "c"], 5000)
    known = FairPCA(2).fit(X, sensitive_features=z)
    monkeypatch.setattr(threads, "_blas", lambda: threads.ThreadpoolController().select(prefix=""))
    assert threads.blas_threads() == 1
    with threads.limited_threads(1), threads.one_thread():
        fair = FairPCA(2).fit(X, sensitive_features=z)
    np.testing.assert_allclose(np.abs(fair.components_ @ known.components_.T), np.eye(2), atol=1e-9)


def test_a_file_that_another_program_has_open_is_replaced_when_it_is_free(tmp_path, monkeypatch):
    on_windows(monkeypatch)
    path, replace, waits = tmp_path / "model.fairpca", Path.replace, []
    path.write_bytes(b"old")
    monkeypatch.setattr(whole_files.time, "sleep", waits.append)

    def refuse(draft, to, *, times=3):
        if len(waits) < times:
            raise PermissionError(13, "is used by another process", str(to))
        return replace(draft, to)

    monkeypatch.setattr(Path, "replace", refuse)
    save(FairPCA(1).fit(np.eye(6), sensitive_features=[*"aabbcc"]), path)
    assert len(waits) == 3
    assert load(path).n_components_ == 1
    whole = path.read_bytes()
    monkeypatch.setattr(Path, "replace", lambda *to: refuse(*to, times=np.inf))
    with pytest.raises(PermissionError):
        save(load(path), path)
    assert path.read_bytes() == whole
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_drafts_that_are_left_are_closed_before_they_are_removed(tmp_path, monkeypatch):
    on_windows(monkeypatch)
    left = tmp_path / ".a.csv.fairpca-0123abcd"
    left.write_bytes(b"half")
    opening, unlink, streams = Path.open, Path.unlink, []
    monkeypatch.setattr(Path, "open", lambda *how: streams.append(opening(*how)) or streams[-1])

    def unlinked(path):
        assert all(stream.closed for stream in streams)
        unlink(path)

    monkeypatch.setattr(Path, "unlink", unlinked)
    whole_files.remove_drafts(tmp_path / "a.csv")
    assert left.exists()  # it may be somebody's: there are no locks
    os.utime(left, (0, 0))
    whole_files.remove_drafts(tmp_path / "a.csv")
    assert not left.exists()


def test_a_drive_that_is_not_there_is_told(monkeypatch):
    monkeypatch.setattr(Path, "exists", lambda _: False)
    monkeypatch.setattr(Path, "is_dir", lambda _: False)
    with pytest.raises(terminal.Refusal, match="not a folder you may write to"):
        terminal.check_outputs(Path("Z:/report.html"), force=False)


def test_files_without_numbers_are_told_apart(tmp_path, monkeypatch):
    for name in ("1.csv", "2.csv"):
        (tmp_path / name).write_bytes(b"a,b\n1,2\n")
    status = Path.stat

    def without_number(self, **how):
        found = list(status(self, **how))
        found[1] = 0
        return os.stat_result(found)

    monkeypatch.setattr(Path, "stat", without_number)
    assert len(find_files(tmp_path)) == 2


AS_ON_WINDOWS = """
import json, os, signal, sys, time
from pathlib import Path

import joblib, numpy, pandas, pyarrow.csv, pyarrow.feather, pyarrow.parquet, rich.progress, typer
import jinja2, safetensors, scipy.linalg, sklearn.ensemble, sklearn.svm, typer.rich_utils
import multiprocessing.pool, tempfile, concurrent.futures.process, joblib.externals.loky
import sklearn.linear_model, sklearn.kernel_approximation, sklearn.model_selection, sklearn.tree

names, package, home = json.loads(sys.argv[1])
for module, name in (name.split(".") for name in names):
    if hasattr(sys.modules[module], name):
        delattr(sys.modules[module], name)
sys.modules.update(dict.fromkeys(("fcntl", "resource", "pwd", "grp", "termios")))

def held(path):
    # Windows lets nobody rename, replace or remove a file that is open or mapped.
    real = os.path.realpath(path)
    open_now = (f"/proc/self/fd/{n}" for n in os.listdir("/proc/self/fd"))
    mapped = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    return real in mapped or any(os.path.realpath(n) == real for n in open_now)

def careful(act):
    def acting(*paths, dir_fd=None, **how):
        where = "" if dir_fd is None else os.path.realpath(f"/proc/self/fd/{dir_fd}")
        for path in paths:
            if held(os.path.join(where, os.fsdecode(path))):
                raise PermissionError(13, "is open (WinError 32)", os.fsdecode(path))
        return act(*paths, **how, **({} if dir_fd is None else {"dir_fd": dir_fd}))
    return acting

if os.path.exists("/proc/self/fd"):
    os.supports_fd, os.supports_dir_fd = set(), set()
    for name in ("replace", "rename", "unlink", "remove"):
        setattr(os, name, careful(getattr(os, name)))

def watch(event, arguments):
    if event == "open" and isinstance(arguments[0], str):
        mode, flags = arguments[1] or "", arguments[2] or 0
        writes = set(mode) & set("wxa+") or flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if writes and os.path.realpath(arguments[0]).startswith((package, home)):
            raise AssertionError(f"{arguments[0]} was opened for writing")

sys.addaudithook(watch)

from fairpca import FairPCA, ParquetRows
from fairpca.__main__ import main
from fairpca._numerics import whole_files
from fairpca.tables import read_table

whole_files.sys = type("sys", (), {"platform": "win32"})

def fairpca(*words):
    sys.argv = ["fairpca", *words]
    try:
        main()
    except SystemExit as ended:
        assert not ended.code, (words, ended.code)

table = sys.argv[2]
data = pandas.read_csv(table)
data.to_parquet("parts.parquet", row_group_size=20)
data.to_feather("plain.feather", compression="uncompressed")
fairpca("fit", table, "-s", "sex", "--out", "model.fairpca", "-q")
for source in (table, "parts.parquet", "plain.feather"):
    for out in ("out.csv", "out.csv.gz", "out.parquet", "out.feather"):
        fairpca("transform", "model.fairpca", source, "--out", out, "-q", "--force")
read = pandas.read_feather("out.feather")
fairpca("fit", "parts.parquet", "-s", "sex", "--out", "model.fairpca", "--force", "-q",
        "--jobs", "2")
fairpca("audit", "plain.feather", "-s", "sex", "--quick", "--jobs", "1", "--json", "found.json",
        "--out", "report.html", "-q")
fairpca("inspect", "model.fairpca")

kept = read_table("plain.feather")
os.remove("plain.feather")
print("done:", *sorted(os.listdir()))
"""


def test_the_main_jobs_work_without_what_windows_lacks(people, tmp_path):
    """In a home with letters and blanks, to which, as to the package, nothing is written."""
    home = tmp_path / f"Zuhause {LETTERS}"
    home.mkdir()
    environment = {**os.environ, "HOME": str(home), "PYTHONIOENCODING": "cp1252"}
    environment |= {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"}
    told = json.dumps([sorted(OF_POSIX), str(Path(whole_files.__file__).parents[1]), str(home)])
    done = subprocess.run(
        [sys.executable, "-c", AS_ON_WINDOWS, told, people.name],
        cwd=people.parent,
        env=environment,
        capture_output=True,
        encoding="cp1252",
    )
    assert done.returncode == 0, done.stderr[-3000:]
    for name in ("found.json", "model.md", "out.csv.gz", "out.feather", "report.html"):
        assert name in done.stdout
    assert ".fairpca-" not in done.stdout  # no draft is left
    assert list(home.iterdir()) == []
    assert b"\r" not in people.with_name("report.html").read_bytes()


ELSEWHERE = """
import locale, sys, time
import numpy as np
from fairpca import load, save
from fairpca.models import fit_table, stream_transform

for name in ("de_DE.UTF-8", "tr_TR.UTF-8", "fr_FR.UTF-8", "C"):
    try:
        locale.setlocale(locale.LC_ALL, name)
        break
    except locale.Error:
        pass
save(fit_table("people.csv", "sex"), "model.fairpca")
stream_transform(load("model.fairpca"), "people.csv", "out.csv", keep=["town"])
print(name, sys.stdout.encoding, *load("model.fairpca").estimator.components_.ravel().tolist())
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
        np.array(numbers, dtype=float), here.estimator.components_.ravel(), atol=1e-12
    )
    stream_transform(here, people, people.with_name("here.csv"), keep=["town"])
    assert people.with_name("out.csv").read_bytes() == people.with_name("here.csv").read_bytes()
