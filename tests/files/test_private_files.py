"""Drafts are nobody's business, and vanish; files belong to who may read them."""

import os
import stat

import numpy as np
import pytest

from fairpca import FairPCA, load, save
from fairpca._files.whole_files import whole_file
from systems import links, long_names, posix


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def umask():
    """Set the mask of new files for one test."""
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


@posix
def test_a_draft_is_private_while_it_is_written(tmp_path, umask):
    umask(0)
    with whole_file(tmp_path / "model.fairpca") as draft:
        draft.write_text("people", encoding="utf-8")
        assert mode(draft) == 0o600
        assert draft.parent == tmp_path  # so that it can take its place in one step


@posix
@pytest.mark.parametrize(("mask", "expected"), [(0o022, 0o644), (0o077, 0o600), (0o027, 0o640)])
def test_a_new_file_is_as_private_as_the_user_wants_new_files(tmp_path, umask, mask, expected):
    umask(mask)
    with whole_file(tmp_path / "report.html") as draft:
        draft.write_text("people", encoding="utf-8")
    assert mode(tmp_path / "report.html") == expected
    assert os.umask(mask) == mask  # not changed in passing


@posix
def test_a_private_file_stays_private_when_it_is_replaced(tmp_path, umask):
    path = tmp_path / "model.fairpca"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o600)
    rng = np.random.default_rng(0)
    fair = FairPCA(1).fit(rng.normal(size=(9, 3)), sensitive_features=np.arange(9) % 2)
    save(fair, path, overwrite=True)
    assert mode(path) == 0o600
    assert load(path).n_components_ == 1


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, MemoryError])
def test_a_draft_vanishes_when_the_work_fails(tmp_path, error):
    path = tmp_path / "model.fairpca"
    path.write_text("old", encoding="utf-8")

    def work():
        with whole_file(path) as draft:
            draft.write_text("half", encoding="utf-8")
            raise error

    with pytest.raises(error):
        work()
    assert [p.name for p in tmp_path.iterdir()] == ["model.fairpca"]
    assert path.read_text(encoding="utf-8") == "old"


@posix
def test_a_device_or_a_pipe_is_never_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="device or a pipe"), whole_file(pipe):
        raise AssertionError("nothing is to be written")
    assert [p.name for p in tmp_path.iterdir()] == ["pipe"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@links
@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_and_the_file_it_points_to_is_written(tmp_path, there):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    file, link = folder / "file.csv", tmp_path / "out.csv"
    link.symlink_to(file)
    if there:
        file.write_text("old", encoding="utf-8")
        file.chmod(0o600)
    with whole_file(link) as draft:
        assert draft.parent == folder  # in one step, also where that is another disk
        draft.write_text("new", encoding="utf-8")
    assert link.is_symlink()
    assert file.read_text(encoding="utf-8") == "new"
    assert [path.name for path in folder.iterdir()] == ["file.csv"]
    assert not there or mode(file) == 0o600


@links
def test_a_link_to_itself_is_refused(tmp_path):
    link = tmp_path / "out.csv"
    link.symlink_to(link)
    with pytest.raises(OSError, match="link to itself"), whole_file(link):
        raise AssertionError("nothing is to be written")


@posix
def test_a_file_is_on_disk_before_it_replaces_another_and_its_folder_after(tmp_path, monkeypatch):
    path, steps = tmp_path / "model.fairpca", []
    path.write_text("old", encoding="utf-8")
    sync, kinds = os.fsync, {True: "folder", False: "file"}

    def record(handle):
        steps.append(
            (kinds[stat.S_ISDIR(os.fstat(handle).st_mode)], path.read_text(encoding="utf-8"))
        )
        sync(handle)

    monkeypatch.setattr(os, "fsync", record)
    with whole_file(path) as draft:
        draft.write_text("new", encoding="utf-8")
    assert steps == [("file", "old"), ("folder", "new")]


@pytest.mark.skipif(not hasattr(os, "getgroups"), reason="there are no groups here")
def test_a_file_is_never_shown_to_another_group(tmp_path, monkeypatch):
    path = tmp_path / "people.csv"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o640)
    status, group = os.stat, os.getgid() + 1  # of the file, and not of the user

    def of_another_group(self, **how):
        found = list(status(self, **how))
        found[5] = group if self == path else found[5]
        return os.stat_result(found)

    monkeypatch.setattr(type(path), "stat", of_another_group)
    with whole_file(path) as draft:
        draft.write_text("new", encoding="utf-8")
    assert stat.S_IMODE(status(path).st_mode) == 0o600


@long_names
@pytest.mark.parametrize("name", ["n" * 251 + ".csv", "😀" * 60 + ".csv"])
def test_a_name_may_be_as_long_as_the_file_system_has_it(tmp_path, name):
    with whole_file(tmp_path / name) as draft:
        draft.write_text("whole", encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == [name]
