"""The disk cache of compiled loops: its folders, bad disks, and the private parts of numba that it uses."""

from __future__ import annotations

import errno
import importlib.util
import os
import subprocess
import sys
import textwrap
import time
from functools import partial
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.caching import CacheImpl
from numba.core.runtime import nrt

from gpuasm import compiled_cache, precompilation
from gpuasm.compiled_cache import cached_dispatcher, has_folder

ROOT = Path(__file__).parents[2]


@pytest.fixture
def double(tmp_path):
    """A function of a module of its own, in a folder that numba may write."""
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

    for locator in CacheImpl._locator_classes:
        monkeypatch.setattr(locator, "ensure_cache_path", refuse, raising=False)


def cache_files(folder):
    return [path.suffix for path in sorted(folder.rglob("*.nb?"))]


def test_code_is_kept_next_to_the_source(double, tmp_path, monkeypatch):
    monkeypatch.delenv("GPUASM_CACHE_DIR", raising=False)
    compiled = cached_dispatcher(double)
    assert compiled(2) == 4
    assert cache_files(tmp_path / "__pycache__") == [".nbc", ".nbi"]
    assert has_folder()


def test_code_is_kept_in_the_chosen_folder(double, tmp_path, monkeypatch):
    monkeypatch.setenv("GPUASM_CACHE_DIR", str(tmp_path / "chosen"))
    before = numba.config.CACHE_DIR
    compiled = cached_dispatcher(double)
    assert compiled(2) == 4
    assert cache_files(tmp_path / "chosen" / "loops") == [".nbc", ".nbi"]
    assert before == numba.config.CACHE_DIR


def test_code_is_loaded_from_disk(double):
    assert cached_dispatcher(double)(2) == 4
    second = cached_dispatcher(double)
    assert second(2) == 4
    assert second.stats.cache_hits.total() == 1


def test_code_from_disk_needs_no_compiler(tmp_path, monkeypatch):
    """Numba compiles a part of its allocator first, which code from disk contains."""
    file = tmp_path / "filling.py"
    file.write_text("def fill(n):\n    return np.ones(n)\n")
    scope = {"__name__": "filling", "__file__": str(file), "np": np}
    exec(compile(file.read_text(), str(file), "exec"), scope)
    assert cached_dispatcher(scope["fill"])(3).sum() == 3
    monkeypatch.setattr(type(nrt.rtsys), "initialize", lambda *_: pytest.fail("the allocator is compiled"))
    second = cached_dispatcher(scope["fill"])
    assert second(3).sum() == 3
    assert second.stats.cache_hits.total() == 1


def test_a_thread_may_only_load(double):
    with compiled_cache._only_loading(), pytest.raises(compiled_cache._NotOnDiskError):
        cached_dispatcher(double)(2)
    assert cached_dispatcher(double)(2) == 4
    with compiled_cache._only_loading():
        assert cached_dispatcher(double)(2) == 4


def test_code_from_disk_is_read_for_the_compiler_when_a_caller_is_compiled(double, monkeypatch):
    assert cached_dispatcher(double)(2) == 4
    read, parse = [], compiled_cache.binding.parse_bitcode
    monkeypatch.setattr(compiled_cache.binding, "parse_bitcode", lambda code: read.append(code) or parse(code))
    second = cached_dispatcher(double)
    assert second(2) == 4
    assert second.stats.cache_hits.total() == 1
    assert not read
    assert numba.njit(lambda x: second(x) + second(x + 1))(2) == 10
    assert len(read) == 1
    assert not vars(second.targetctx.codegen()).get("unserialize_library")


_LOADING = """
import sys
import numba, numpy as np
from gpuasm.compiled_cache import NOT_IMPORTED, cached_dispatcher
from running import total

loop = cached_dispatcher(total)
assert loop(np.ones(3)) == 6
is_loaded = loop.stats.cache_hits.total() == 1
assert is_loaded != ("scipy.linalg" in sys.modules), sorted(sys.modules)
assert is_loaded != any(name in sys.modules for name in NOT_IMPORTED), sorted(sys.modules)
assert numba.njit(lambda x: np.dot(x, x))(np.ones(3)) == 3
assert "scipy.linalg" in sys.modules
print(is_loaded)
"""


def test_code_from_disk_needs_no_linear_algebra(tmp_path):
    (tmp_path / "running.py").write_text("import numpy as np\n\n\ndef total(x):\n    return np.cumsum(x).sum()\n")
    own = {"PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)]), "GPUASM_CACHE_DIR": str(tmp_path / "cache")}
    command, found = [sys.executable, "-c", _LOADING], []
    for _ in range(2):
        ended = subprocess.run(command, env={**os.environ, **own}, check=True, capture_output=True, text=True)
        found.append(ended.stdout)
    assert found == ["False\n", "True\n"]


@pytest.mark.parametrize("module", compiled_cache.NOT_IMPORTED)
def test_modules_that_are_not_imported_add_no_symbols(module):
    """If this fails, numba has changed: code from disk that calls such a symbol ends the process."""
    assert "add_symbol" not in Path(importlib.util.find_spec(module).origin).read_text()


def test_the_allocator_has_the_names_that_numba_gives_it(monkeypatch):
    """If this fails, numba has changed: code from disk that calls a name without a function ends the process."""
    named = []
    monkeypatch.setattr(nrt.ll, "add_symbol", lambda name, address: named.append((name, address)))
    monkeypatch.setattr(nrt.nrtdynmod, "compile_nrt_functions", lambda _: None)
    type(nrt.rtsys)().initialize(None)
    expected, named = sorted(named), []
    compiled_cache._register_allocator.__wrapped__()
    assert sorted(named) == expected


def test_changed_constant_of_another_module_is_compiled_anew(tmp_path):
    file = tmp_path / "scaling.py"
    file.write_text("def helper(x):\n    return x * RATIO\n\n\ndef scale(x):\n    return helper(x)\n")
    found = []
    for ratio in (3, 3, 5):
        scope = {"__name__": "scaling", "__file__": str(file), "RATIO": ratio}
        exec(compile(file.read_text(), str(file), "exec"), scope)
        scope["helper"] = numba.njit(scope["helper"])
        compiled = cached_dispatcher(scope["scale"])
        found.append((compiled(2), compiled.stats.cache_hits.total()))
    assert found == [(6, 0), (6, 1), (10, 0)]


def test_folder_that_others_may_write_is_not_used(double, tmp_path, monkeypatch):
    monkeypatch.delenv("GPUASM_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    tmp_path.chmod(0o755)
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__").chmod(0o777)
    assert cached_dispatcher(double)(2) == 4
    assert cache_files(tmp_path / "__pycache__") == []
    assert cache_files(tmp_path / "cache" / "gpuasm" / "loops") == [".nbc", ".nbi"]


@pytest.mark.usefixtures("_read_only")
def test_without_a_folder_loops_are_compiled_by_each_process(double):
    compiled = cached_dispatcher(double)
    assert compiled(2) == 4
    assert compiled.stats.cache_path is None
    assert not has_folder()


@pytest.mark.usefixtures("_read_only")
def test_run_without_a_folder_warns(run_cli, tmp_path):
    reads = tmp_path / "reads.fasta"
    reads.write_text(">a\n" + "ACGTTGCATG" * 4 + "\n")
    code, _, messages = run_cli("count", reads, "-k", "7", "-o", tmp_path / "counts.tsv", "--device", "cpu")
    assert code == 0
    assert "each run compiles" in messages
    assert "GPUASM_CACHE_DIR" in messages


def test_full_disk_ends_no_loop(double, monkeypatch):
    compiled = cached_dispatcher(double)

    def refuse(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(compiled_cache._LoopCache, "_save_overload", refuse)
    assert compiled(np.int64(3)) == 6


def test_folder_is_searched_when_code_is_needed(double, monkeypatch):
    """A command imports many loops and calls few; a folder for each takes time."""
    searched = []
    search = compiled_cache._cache_of
    monkeypatch.setattr(compiled_cache, "_cache_of", lambda function: searched.append(function) or search(function))
    compiled = cached_dispatcher(double)
    assert not searched
    compiled(2)
    compiled(2.0)
    assert searched == [double]


def test_code_of_a_source_changed_since_its_import_is_not_kept(double, tmp_path):
    """The disk would hold the older code with the newer time."""
    compiled = cached_dispatcher(double)
    later = time.time_ns() + 10**9
    os.utime(tmp_path / "doubling.py", ns=(later, later))
    assert compiled(2) == 4
    assert cache_files(tmp_path) == []


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("content", [b"", b"cut", b"\x80\x05N."])
def test_damaged_file_is_replaced(double, tmp_path, suffix, content):
    assert cached_dispatcher(double)(2) == 4
    (file,) = (tmp_path / "__pycache__").rglob(f"*{suffix}")
    file.write_bytes(content)
    assert cached_dispatcher(double)(2) == 4
    third = cached_dispatcher(double)
    assert third(2) == 4
    assert third.stats.cache_hits.total() == 1


def test_numba_has_the_private_parts_in_use(double):
    """If this fails, numba has changed: adapt gpuasm.compiled_cache, which names what each part does."""
    dispatcher = numba.njit(double, cache=True)
    function_cache = numba.core.caching.FunctionCache
    assert type(dispatcher._cache) is function_cache, "numba has another cache than FunctionCache in Dispatcher._cache"
    assert type(numba.njit(double)._cache) is numba.core.caching.NullCache, "numba has no NullCache without cache=True"
    for name in ("load_overload", "save_overload", "_load_overload", "flush"):
        assert callable(getattr(function_cache, name, None)), f"numba has no FunctionCache.{name}"
    assert hasattr(dispatcher._cache._cache_file, "_source_stamp"), "numba's cache files have no _source_stamp"
    assert numba.core.runtime._nrt_python.c_helpers, "numba has no _nrt_python.c_helpers"


def test_numba_calls_the_private_parts_in_use(double, monkeypatch):
    """If this fails, numba has changed: it loads or saves code in another way."""
    calls = []
    for name in ("load_overload", "save_overload", "_load_overload"):
        method = getattr(compiled_cache._LoopCache, name)
        monkeypatch.setattr(
            compiled_cache._LoopCache, name, lambda *a, own=method, name=name: calls.append(name) or own(*a)
        )
    cached_dispatcher(double)(2)
    assert calls == ["load_overload", "_load_overload", "save_overload"]


def test_each_private_part_is_documented():
    names = {name.rpartition(".")[2] for name in compiled_cache.PRIVATE_PARTS}
    assert names == {
        "FunctionCache", "NullCache", "c_helpers", "_cache", "load_overload", "save_overload", "_load_overload",
        "flush", "_source_stamp", "_nrt", "_rebuild_env", "unserialize_library", "_set_compiled_object",
        "_finalize_final_module", "_get_module_for_linking", "_shared_module", "_load_defined_symbols",
    }  # fmt: skip


@pytest.mark.parametrize(("on_device", "expected"), [(False, ["a", "b", "c"]), (True, ["a", "c"])])
def test_loops_are_loaded_ahead_up_to_the_first_that_is_not_on_disk(monkeypatch, on_device, expected):
    loaded = []

    def load(name, *_):
        loaded.append(name)
        if name == "c":
            raise compiled_cache._NotOnDiskError

    kinds = {"a": ("cpu", "cpu"), "b": ("cpu", "ptx"), "c": ("cpu", "cpu"), "d": ("cpu", "cpu")}
    loops = [precompilation.DeclaredLoop("m", n, ("int64",), k, partial(load, n)) for n, k in kinds.items()]
    monkeypatch.setattr(precompilation, "declared_loops", lambda: loops)
    monkeypatch.setattr(compiled_cache, "has_folder", lambda: False)
    compiled_cache.load_ahead(on_device=on_device)
    assert loaded == []
    monkeypatch.setattr(compiled_cache, "has_folder", lambda: True)
    compiled_cache.load_ahead(on_device=on_device)
    assert loaded == expected
