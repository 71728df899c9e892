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
        monkeypatch.setenv(name, "")  # restored after the test, whatever it sets
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    cache_folders.temporary_folder.cache_clear()
    yield tmp_path
    cache_folders.temporary_folder.cache_clear()


def test_folders_are_in_the_users_cache(home, monkeypatch):
    assert cache_folders.ptx_folder() == home / ".cache" / "gpuasm"
    assert cache_folders.chosen_loop_folder() == ""
    assert cache_folders.own_loop_folder() == str(home / ".cache" / "gpuasm" / "loops")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "elsewhere"))
    assert cache_folders.ptx_folder() == home / "elsewhere" / "gpuasm"


def test_cupy_keeps_its_own_folder_if_it_is_usable(home, monkeypatch):
    cache_folders.set_cupy_folder()
    assert cache_folders.os.environ["CUPY_CACHE_DIR"] == str(home / ".cupy" / "kernel_cache")
    monkeypatch.setenv("CUPY_CACHE_DIR", "set by the user")
    cache_folders.set_cupy_folder()
    assert cache_folders.os.environ["CUPY_CACHE_DIR"] == "set by the user"


def test_all_folders_are_in_the_chosen_one(home, monkeypatch):
    monkeypatch.setenv("GPUASM_CACHE_DIR", str(home / "chosen"))
    cache_folders.set_cupy_folder()
    assert cache_folders.ptx_folder() == home / "chosen" / "gpuasm"
    assert cache_folders.chosen_loop_folder() == str(home / "chosen" / "loops")
    assert cache_folders.os.environ["CUPY_CACHE_DIR"] == str(home / "chosen" / "cupy")


@pytest.mark.parametrize("is_known", [True, False])
def test_folder_is_temporary_where_home_cannot_be_written(home, monkeypatch, is_known):
    (home / "file").write_text("")
    monkeypatch.setenv("HOME", str(home / "file"))
    if not is_known:  # a container whose user has no name
        monkeypatch.setattr(cache_folders.os.path, "expanduser", lambda path: path)
    cache_folders.set_cupy_folder()
    temporary = cache_folders.ptx_folder()
    assert temporary.is_dir()
    assert cache_folders.os.environ["CUPY_CACHE_DIR"] == str(temporary / "cupy")
    assert temporary != home
    assert cache_folders.own_loop_folder() == ""


@pytest.mark.parametrize("mode", [0o775, 0o777, 0o722])
def test_folder_that_others_may_write_is_not_used(home, monkeypatch, mode):
    chosen = home / "chosen"
    monkeypatch.setenv("GPUASM_CACHE_DIR", str(chosen))
    for name in ("gpuasm", "loops", "cupy"):
        (chosen / name).mkdir(parents=True)
        (chosen / name).chmod(mode)
    cache_folders.set_cupy_folder()
    assert cache_folders.chosen_loop_folder() == ""
    assert cache_folders.ptx_folder() == cache_folders.temporary_folder()
    assert chosen not in Path(cache_folders.os.environ["CUPY_CACHE_DIR"]).parents


def test_folder_of_another_user_is_not_used(home, monkeypatch):
    assert cache_folders.is_private(home)
    monkeypatch.setattr(cache_folders.os, "geteuid", lambda: home.stat().st_uid + 1)
    assert not cache_folders.is_private(home)


def test_chosen_folder_is_private_itself(home, monkeypatch):
    """In a folder that others may write, they could put another one in the place of a private one."""
    chosen = home / "chosen"
    monkeypatch.setenv("GPUASM_CACHE_DIR", str(chosen))
    assert cache_folders.chosen_loop_folder() == str(chosen / "loops")
    cache_folders._is_usable.cache_clear()
    chosen.chmod(0o777)
    assert cache_folders.chosen_loop_folder() == ""
    assert cache_folders.ptx_folder() == home / ".cache" / "gpuasm"
    assert cache_folders.is_chosen_refused()
    cache_folders.set_cupy_folder()
    assert chosen not in Path(cache_folders.os.environ["CUPY_CACHE_DIR"]).parents


def test_cupys_own_folder_is_not_used_if_others_may_write_it(home, monkeypatch):
    monkeypatch.setenv("CUPY_CACHE_DIR", str(home))
    home.chmod(0o777)
    cache_folders.set_cupy_folder()
    assert cache_folders.os.environ["CUPY_CACHE_DIR"] != str(home)


@pytest.mark.parametrize("kind", ["home", "variable"])
def test_matplotlib_gets_a_folder_if_it_cannot_write_its_own(home, monkeypatch, kind):
    monkeypatch.delenv("MPLCONFIGDIR", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    cache_folders.set_matplotlib_folder()
    assert "MPLCONFIGDIR" not in cache_folders.os.environ
    (home / "file").write_text("")  # root may write to folders without permission
    monkeypatch.setenv("HOME" if kind == "home" else "MPLCONFIGDIR", str(home / "file"))
    cache_folders.set_matplotlib_folder()
    assert cache_folders.os.environ["MPLCONFIGDIR"] == str(cache_folders.temporary_folder())


def test_new_folders_are_private_whatever_the_umask(home):
    before = cache_folders.os.umask(0)
    try:
        assert cache_folders.is_private(cache_folders.own_loop_folder())
    finally:
        cache_folders.os.umask(before)


def test_file_is_written_whole_or_not_at_all(tmp_path):
    cache_folders.write_atomically(tmp_path / "a.ptx", "text")
    assert (tmp_path / "a.ptx").read_text() == "text"
    with pytest.raises(OSError, match="folder"):
        cache_folders.write_atomically(tmp_path / "no folder" / "a.ptx", "text")
    assert [path.name for path in Path(tmp_path).iterdir()] == ["a.ptx"]


def test_folder_without_room_is_not_used(home, monkeypatch):
    monkeypatch.setattr(cache_folders, "bytes", _no_room, raising=False)
    assert cache_folders.ptx_folder() != home / ".cache" / "gpuasm"


def _no_room(_):
    raise OSError(errno.ENOSPC, "No space left on device")
