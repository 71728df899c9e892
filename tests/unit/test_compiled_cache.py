"""Compiled loops where folders cannot be written, and where there is no room."""

from __future__ import annotations

import errno
import textwrap

import numpy as np
import pytest

from gpuasm import compiled_cache
from gpuasm.compiled_cache import has_folder, cached_dispatcher

PLAIN = {"nogil": True, "cache": True}


@pytest.fixture
def double(tmp_path):
    """A function of a module of its own, whose folder numba may write to."""
    file = tmp_path / "doubling.py"
    file.write_text(textwrap.dedent("def double(x):\n    return x + x\n"))
    scope = {"__name__": "doubling", "__file__": str(file)}
    exec(compile(file.read_text(), str(file), "exec"), scope)
    return scope["double"]


@pytest.fixture
def _read_only(monkeypatch):
    """No folder can be written."""

    def refuse(_self):
        raise OSError(errno.EROFS, "Read-only file system")

    for locator in compiled_cache.numba.core.caching.CacheImpl._locator_classes:
        monkeypatch.setattr(locator, "ensure_cache_path", refuse, raising=False)


def test_code_is_kept(double, tmp_path, monkeypatch):
    monkeypatch.delenv("GPUASM_CACHE_DIR", raising=False)
    compiled = cached_dispatcher(double, PLAIN)
    assert compiled(2) == 4
    assert [path.suffix for path in sorted((tmp_path / "__pycache__").rglob("*.nb?"))] == [".nbc", ".nbi"]
    assert has_folder()


def test_code_is_kept_where_the_user_says(double, tmp_path, monkeypatch):
    monkeypatch.setenv("GPUASM_CACHE_DIR", str(tmp_path / "chosen"))
    before = compiled_cache.numba.config.CACHE_DIR
    compiled = cached_dispatcher(double, PLAIN)
    assert compiled(2) == 4
    assert [path.suffix for path in sorted((tmp_path / "chosen" / "loops").rglob("*.nb?"))] == [".nbc", ".nbi"]
    assert before == compiled_cache.numba.config.CACHE_DIR


@pytest.mark.usefixtures("_read_only")
def test_where_no_folder_can_be_written_loops_are_compiled_anew(double):
    compiled = cached_dispatcher(double, PLAIN)
    assert compiled(2) == 4
    assert compiled.stats.cache_path is None
    assert not has_folder()


@pytest.mark.usefixtures("_read_only")
def test_a_run_that_keeps_no_code_says_so(run_cli, tmp_path):
    reads = tmp_path / "reads.fasta"
    reads.write_text(">a\n" + "ACGTTGCATG" * 4 + "\n")
    code, _, said = run_cli("count", reads, "-k", "7", "-o", tmp_path / "counts.tsv", "--device", "cpu")
    assert code == 0
    assert "each run compiles" in said
    assert "GPUASM_CACHE_DIR" in said


def test_a_full_disk_ends_no_loop(double, monkeypatch):
    compiled = cached_dispatcher(double, PLAIN)

    def refuse(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(type(compiled._cache), "_save_overload", refuse)
    assert compiled(np.int64(3)) == 6
