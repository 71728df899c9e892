"""Folders of compiled code."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from gpuasm import cache_folders


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home, and no variable that names another folder."""
    for name in ("GPUASM_CACHE_DIR", "XDG_CACHE_HOME", "CUPY_CACHE_DIR"):
        monkeypatch.setenv(name, "")  # so that it is as it was afterwards, whatever a test sets
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    cache_folders.temporary_folder.cache_clear()
    yield tmp_path
    cache_folders.temporary_folder.cache_clear()


def test_in_the_users_cache(home, monkeypatch):
    assert cache_folders.ptx_folder() == home / ".cache" / "gpuasm"
    assert cache_folders.chosen_loop_folder() == ""
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "elsewhere"))
    assert cache_folders.ptx_folder() == home / "elsewhere" / "gpuasm"


def test_cupy_keeps_its_own_folder_if_it_can_be_written(home, monkeypatch):
    cache_folders.set_cupy_folder()
    assert cache_folders.os.environ["CUPY_CACHE_DIR"] == str(home / ".cupy" / "kernel_cache")
    monkeypatch.setenv("CUPY_CACHE_DIR", "as the user said")
    cache_folders.set_cupy_folder()
    assert cache_folders.os.environ["CUPY_CACHE_DIR"] == "as the user said"


def test_all_where_the_user_says(home, monkeypatch):
    monkeypatch.setenv("GPUASM_CACHE_DIR", str(home / "chosen"))
    cache_folders.set_cupy_folder()
    assert cache_folders.ptx_folder() == home / "chosen" / "gpuasm"
    assert cache_folders.chosen_loop_folder() == str(home / "chosen" / "loops")
    assert cache_folders.os.environ["CUPY_CACHE_DIR"] == str(home / "chosen" / "cupy")


@pytest.mark.parametrize("is_known", [True, False])
def test_a_folder_that_passes_where_home_cannot_be_written(home, monkeypatch, is_known):
    (home / "file").write_text("")
    monkeypatch.setenv("HOME", str(home / "file"))
    if not is_known:  # a container run as a number that no user has
        monkeypatch.setattr(cache_folders.os.path, "expanduser", lambda path: path)
    cache_folders.set_cupy_folder()
    passing = cache_folders.ptx_folder()
    assert passing.is_dir()
    assert str(passing) == cache_folders.os.environ["CUPY_CACHE_DIR"]
    assert passing != home


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    cache_folders.write_atomically(tmp_path / "a.ptx", "text")
    assert (tmp_path / "a.ptx").read_text() == "text"
    with pytest.raises(OSError, match="folder"):
        cache_folders.write_atomically(tmp_path / "no folder" / "a.ptx", "text")
    assert [path.name for path in Path(tmp_path).iterdir()] == ["a.ptx"]


def test_a_folder_without_room_is_none(home, monkeypatch):
    monkeypatch.setattr(cache_folders, "bytes", _no_room, raising=False)
    assert cache_folders.ptx_folder() != home / ".cache" / "gpuasm"


def _no_room(_):
    raise OSError(errno.ENOSPC, "No space left on device")
