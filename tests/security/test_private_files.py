"""Drafts are nobody's business, and vanish; files belong to who may read them."""

import os
import stat

import numpy as np
import pytest

from fairpca import FairPCA
from fairpca._numerics.whole_files import whole_file
from fairpca.models import load, save


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def umask():
    """Set the mask of new files for one test."""
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


def test_a_draft_is_private_while_it_is_written(tmp_path, umask):
    umask(0)
    with whole_file(tmp_path / "model.fairpca") as draft:
        draft.write_text("people")
        assert mode(draft) == 0o600
        assert draft.parent == tmp_path  # so that it can take its place in one step


@pytest.mark.parametrize(("mask", "expected"), [(0o022, 0o644), (0o077, 0o600), (0o027, 0o640)])
def test_a_new_file_is_as_private_as_the_user_wants_new_files(tmp_path, umask, mask, expected):
    umask(mask)
    with whole_file(tmp_path / "report.html") as draft:
        draft.write_text("people")
    assert mode(tmp_path / "report.html") == expected
    assert os.umask(mask) == mask  # not changed in passing


def test_a_private_file_stays_private_when_it_is_replaced(tmp_path, umask):
    path = tmp_path / "model.fairpca"
    path.write_text("old")
    path.chmod(0o600)
    rng = np.random.default_rng(0)
    fair = FairPCA(1).fit(rng.normal(size=(9, 3)), sensitive_features=np.arange(9) % 2)
    save(fair, path)
    assert mode(path) == 0o600
    assert load(path).n_components_ == 1


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, MemoryError])
def test_a_draft_vanishes_when_the_work_fails(tmp_path, error):
    path = tmp_path / "model.fairpca"
    path.write_text("old")

    def work():
        with whole_file(path) as draft:
            draft.write_text("half")
            raise error

    with pytest.raises(error):
        work()
    assert [p.name for p in tmp_path.iterdir()] == ["model.fairpca"]
    assert path.read_text() == "old"


def test_a_device_or_a_pipe_is_never_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="device or a pipe"), whole_file(pipe):
        raise AssertionError("nothing is to be written")
    assert [p.name for p in tmp_path.iterdir()] == ["pipe"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_link_is_replaced_and_not_followed(tmp_path):
    secret, link = tmp_path / "secret", tmp_path / "out.csv"
    secret.write_text("old")
    link.symlink_to(secret)
    with whole_file(link) as draft:
        draft.write_text("new")
    assert secret.read_text() == "old"
    assert link.read_text() == "new"
    assert not link.is_symlink()


@pytest.mark.parametrize("name", ["n" * 251 + ".csv", "😀" * 60 + ".csv"])
def test_a_name_may_be_as_long_as_the_file_system_has_it(tmp_path, name):
    with whole_file(tmp_path / name) as draft:
        draft.write_text("whole")
    assert [path.name for path in tmp_path.iterdir()] == [name]
