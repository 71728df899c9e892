"""Compiled loops: code on disk is valid only while all files that it was made of are unchanged."""

from __future__ import annotations

import errno
import inspect
import os
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import gpuasm.assembly.pipeline  # noqa: F401 - defines bodies
from gpuasm import parallel
from gpuasm.parallel import for_each
from gpuasm.threads import in_background, ordered_map, run_chunks, set_threads

_FAR = """
from gpuasm.parallel import inlined

@inlined
def far():
    return {value}
"""
_NEAR = """
from far import far
from gpuasm.parallel import inlined

@inlined
def near():
    return far()
"""
_CALLER = """
import numpy as np
from near import near
from gpuasm.parallel import compiled, for_each

@compiled()
def call():
    return near()

@for_each
def fill(i, out):
    out[i] = near()

out = np.zeros(3, np.int64)
fill(3, out)
print(call(), *out, sum(call.stats.cache_hits.values()))
"""


@pytest.fixture
def run(tmp_path):
    def run():
        # Bytecode of the modules must not be stale: files written within one second have the same time.
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([".", *sys.path]), "PYTHONDONTWRITEBYTECODE": "1"}
        environment.pop("NUMBA_CACHE_DIR", None)
        done = subprocess.run(
            [sys.executable, "caller.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    (tmp_path / "far.py").write_text(_FAR.format(value=1))
    (tmp_path / "near.py").write_text(_NEAR)
    (tmp_path / "caller.py").write_text(_CALLER)
    return run


def test_machine_code_is_invalid_after_a_change_of_a_helpers_helper(run, tmp_path):
    assert run() == ["1", "1", "1", "1", "0"]
    assert run() == ["1", "1", "1", "1", "1"]  # from disk
    Path(tmp_path / "far.py").write_text(_FAR.format(value=22))
    assert run() == ["22", "22", "22", "22", "0"]


def test_background_work_ends_with_the_block():
    seen = []
    may_end = threading.Event()
    with in_background(lambda: (may_end.wait(10), seen.append(threading.current_thread().name))):
        assert seen == []
        may_end.set()
    assert seen
    assert seen[0] != threading.current_thread().name


def test_background_error_is_raised_after_the_block():
    done = []
    with pytest.raises(ZeroDivisionError), in_background(lambda: 1 / 0):
        done.append(1)
    assert done == [1]


def test_machine_code_from_disk_loads_without_the_compiler(run, tmp_path):
    with (tmp_path / "caller.py").open("a") as file:
        file.write("import sys\nprint('numba.np.arraymath' in sys.modules)\n")
        file.write("from other import total\nprint(total(np.arange(5.0)), total.stats.cache_hits.total())\n")
    other = "from gpuasm.parallel import compiled\n\n@compiled()\ndef total(values):\n    return values.sum(){more}\n"
    (tmp_path / "other.py").write_text(other.format(more=""))
    assert run() == ["1", "1", "1", "1", "0", "True", "10.0", "0"]
    assert run() == ["1", "1", "1", "1", "1", "False", "10.0", "1"]
    (tmp_path / "other.py").write_text(other.format(more=" + 2.5"))
    assert run() == ["1", "1", "1", "1", "1", "False", "12.5", "0"]


def test_masked_arrays_are_imported_before_there_are_threads():
    """The import of numpy.ma reads numpy's table of types, which the import of cupy in another thread may change."""
    code = "import gpuasm.parallel, sys; sys.exit('numpy.ma' not in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_error_is_raised_after_begun_items_have_ended():
    has_begun, ended = threading.Event(), []

    def work(item):
        if item == 0:
            has_begun.wait(10)
            raise ValueError
        has_begun.set()
        time.sleep(0.2)
        ended.append(item)

    set_threads(2)
    try:
        with pytest.raises(ValueError):  # noqa: PT011
            list(ordered_map(work, range(5)))
        assert ended
        before = list(ended)
        time.sleep(0.3)
        assert ended == before
    finally:
        set_threads(None)


@pytest.mark.parametrize(("threads", "n"), [(1, 5000), (2, 5000), (16, 100_003), (3, 1023), (4, 1024)])
def test_chunks_cover_the_range_once(threads, n):
    seen = np.zeros(n, np.int64)

    def loop(first, last):
        seen[first:last] += 1

    set_threads(threads)
    try:
        run_chunks(loop, n)
    finally:
        set_threads(None)
    assert (seen == 1).all()


def test_no_chunk_begins_after_an_error():
    begun, failed = [], threading.Event()

    def loop(first, _last):
        begun.append(first)
        if first == 0:
            failed.set()
            raise ValueError("first")
        failed.wait(10)
        time.sleep(0.01)

    set_threads(2)
    try:
        with pytest.raises(ValueError, match="first"):
            run_chunks(loop, 1 << 20)
        assert len(begun) <= 3
    finally:
        set_threads(None)


def test_loop_has_the_source_of_its_body():
    """Numba reads the source of cached functions; from Python 3.13 on a wrong line is an error."""
    own = [body for body in for_each.instances if body.__module__.startswith("gpuasm.assembly.")]
    assert len(own) > 20
    for body in own:
        source = inspect.getsource(body.cpu_loop.py_func)
        assert source == inspect.getsource(body._body)
        assert source.startswith(("@for_each", "@signatures("))


class _Rows(NamedTuple):
    value: np.ndarray
    factor: int


def _scale(i, rows: _Rows, out):
    out[i] = rows.factor * rows.value[i]


def test_parameter_takes_a_tuple_of_arrays():
    kernel = for_each(_scale)
    for_each.instances.remove(kernel)
    out = np.zeros(3, np.int64)
    kernel(3, _Rows(np.arange(3), 5), out)
    assert out.tolist() == [0, 5, 10]
    assert kernel.names == ["rows_value", "rows_factor", "out"]
    pytest.importorskip("numba_cuda")  # numba has another one, which needs a driver
    assert ".entry" in kernel.ptx(("int64*", "int64", "int64*"), (8, 0))


def test_order_of_the_fields_is_part_of_the_code_on_disk():
    kernel, other = for_each(_scale), for_each(_scale)
    del for_each.instances[-2:]
    other.groups = {"rows": NamedTuple("_Rows", [("factor", int), ("value", np.ndarray)]), "out": None}
    signature = ("int64*", "int64", "int64*")
    assert kernel._key(signature, (8, 0)) != other._key(signature, (8, 0))
    loops = kernel.cpu_loop.py_func, other.cpu_loop.py_func
    assert parallel.compiled_constants(loops[0]) != parallel.compiled_constants(loops[1])


def test_kernel_is_loaded_although_its_folder_is_full(monkeypatch, tmp_path):
    written = parallel.write_atomically

    def refuse_own_folder(path, text):
        if path.parent == tmp_path:
            raise OSError(errno.ENOSPC, "No space left on device")
        written(path, text)

    body = next(body for body in for_each.instances if body.__module__.startswith("gpuasm.assembly."))
    monkeypatch.setattr(body, "ptx", lambda *_: "text of the kernel")
    monkeypatch.setattr(parallel, "ptx_folder", lambda: tmp_path)
    monkeypatch.setattr(parallel, "write_atomically", refuse_own_folder)
    monkeypatch.setattr(parallel.arrays, "compute_capability", lambda: (9, 0))
    monkeypatch.setattr(parallel.arrays, "cuda_function_from_ptx", lambda path, _: (path, Path(path).read_text()))
    path, text = body._load(("int64*",))
    assert text == "text of the kernel"
    assert Path(path).parent != tmp_path
    monkeypatch.setattr(parallel, "write_atomically", written)
    assert body._load(("int64*",)) == (str(tmp_path / Path(path).name), "text of the kernel")


def test_errors_that_the_compiler_keeps_hold_no_arrays_of_callers(monkeypatch, tmp_path):
    kept = []

    def compile_with_errors(*_):
        try:
            int("no number")
        except ValueError as error:
            kept.append(error)
        return "text of the kernel"

    def launch():
        columns = np.zeros(3)
        references.append(weakref.ref(columns))
        body._load(("int64*",))

    references: list[weakref.ref[np.ndarray]] = []
    body = next(body for body in for_each.instances if body.__module__.startswith("gpuasm.assembly."))
    monkeypatch.setattr(body, "ptx", compile_with_errors)
    monkeypatch.setattr(parallel, "ptx_folder", lambda: tmp_path)
    monkeypatch.setattr(parallel.arrays, "compute_capability", lambda: (9, 0))
    monkeypatch.setattr(parallel.arrays, "cuda_function_from_ptx", lambda *_: None)
    launch()
    assert len(kept) == 1
    assert references[0]() is None


def test_a_kernel_is_loaded_once_for_each_device(monkeypatch):
    @for_each
    def body(i, out):
        out[i] = i

    loaded, launched, here = [], [], threading.local()

    def load(_):
        loaded.append(here.device)
        return lambda *_: launched.append(here.device)

    def work(device):
        here.device = device
        for _ in range(50):
            body._launch(3, (np.zeros(3, np.int64),))

    monkeypatch.setattr(body, "_load", load)
    monkeypatch.setattr(parallel.arrays, "current_device", lambda: here.device)
    workers = [threading.Thread(target=work, args=(device,)) for device in (0, 1, 1, 0)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for_each.instances.remove(body)
    assert sorted(loaded) == [0, 1]
    assert sorted(launched) == [0] * 100 + [1] * 100
