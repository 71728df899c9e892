"""Declared loops and their compilation ahead of use: by helper processes, and without them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from gpuasm import precompilation
from gpuasm.parallel import compiled, for_each, signature_of, signatures, types_of
from gpuasm.precompilation import (
    DeclaredLoop,
    compile_all,
    compile_loop,
    compiling_in_background,
    declared_loops,
    wait_for_loop,
)
from tests.loops_in_use import signature_text

ROOT = Path(__file__).parents[2]
HASHING = ("gpuasm.primitives.hashing", "_insert_all")
STRANDS = ("gpuasm.primitives.strand_walks", "double_loop")
SCAN = ("gpuasm.io.scan", "scan_fastq")


@pytest.fixture
def loops(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[DeclaredLoop]:
    """The loops that helpers compile, into a folder of the test's own; a test adds to them."""
    found: list[DeclaredLoop] = []
    monkeypatch.setattr(precompilation, "declared_loops", lambda: list(found))
    monkeypatch.setenv("GPUASM_CACHE_DIR", str(tmp_path))
    return found


def declared(key: tuple[str, str]) -> DeclaredLoop:
    return next(loop for loop in declared_loops() if (loop.module, loop.name) == key)


def missing(module: str, name: str) -> DeclaredLoop:
    return DeclaredLoop(module, name, ("int64",), ("cpu", "cpu"), lambda *_: None)


def wait_until_begun(key: tuple[str, str]) -> bool:
    """Start the helpers by asking for another loop, and wait for a loop once a helper has begun it."""
    wait_for_loop("another", "loop")
    helpers = precompilation._now["helpers"]
    helpers._starter.join()
    while not (future := helpers._futures[key]).running() and not future.done():
        pass
    return wait_for_loop(*key)


def two_threads(**capability):
    return compiling_in_background(threads=2, memory=8 << 30, **capability)


def test_signatures_are_numba_types_in_normal_form():
    for loop in declared_loops():
        for signature in loop.signatures:
            assert signature_text(types_of(signature)) == signature


def test_signatures_have_a_type_for_each_argument():
    found = {(body.__module__, body.kernel_name): body for body in for_each.instances}
    bodies = [(loop, found[loop.module, loop.name]) for loop in declared_loops() if (loop.module, loop.name) in found]
    assert len(bodies) > 20
    for loop, body in bodies:
        assert {len(types_of(signature)) for signature in loop.signatures} == {len(body.names)}


def test_declared_loops_are_those_that_assemblies_call(tmp_path):
    """If this fails, change the signatures of the loops that the difference names."""
    if "PYTEST_XDIST_WORKER" not in os.environ:  # conftest.py has compiled all before there are workers
        compile_all(threads=2, memory=8 << 30)
    command = [sys.executable, "-m", "tests.loops_in_use", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    in_use = {f"{name}({text})" for name, texts in json.loads(done.stdout.splitlines()[-1]).items() for text in texts}
    loops = [loop for loop in declared_loops() if loop.kinds[0] is not None]
    expected = {f"{loop.module}.{loop.name}({text})" for loop in loops for text in loop.signatures}
    assert in_use - expected == set()
    assert expected - in_use == set()


def test_types_are_written_as_numba_reads_them():
    text = "float64[:, ::1], Tuple((int64, boolean, )), Tuple((uint8[::1], int64[::1], )), Array(int64, 1, 'A', True, "
    assert signature_text(types_of(text + "aligned=True)")) == text + "aligned=True)"


def test_helper_compiles_what_this_process_then_loads(loops, tmp_path):
    loops.append(DECLARED[HASHING])
    with two_threads():
        assert wait_until_begun(HASHING)
        assert wait_for_loop(*HASHING)  # at once
    assert [path.name.split("-")[0] for path in tmp_path.rglob("*.nbi")] == ["hashing._insert_all"]


def test_compile_all_compiles_each_loop_and_names_failures(loops, tmp_path):
    loops += [DECLARED[HASHING], missing("gpuasm.no_such_module", "f"), missing("gpuasm.io.scan", "no_such_loop")]
    failed = compile_all(threads=2, memory=8 << 30)
    assert failed == ["gpuasm.no_such_module.f", "gpuasm.io.scan.no_such_loop"]
    assert [path.name.split("-")[0] for path in tmp_path.rglob("*.nbi")] == ["hashing._insert_all"]


def test_loop_that_is_not_on_disk_is_waited_for(monkeypatch, tmp_path):
    waited = []
    monkeypatch.setenv("GPUASM_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(precompilation, "wait_for_loop", lambda *key: waited.append(key) or False)

    @compiled()
    def tripled(x):
        return 3 * x

    assert tripled(np.int64(2)) == 6  # compiled here, as there are no helpers
    assert waited == [(__name__, "tripled")]


def test_device_run_compiles_host_loops_and_ptx(loops, monkeypatch):
    tasks = []
    monkeypatch.setattr(precompilation._Helpers, "_compile", lambda _, task: tasks.append(json.loads(task)) or True)
    loops += [DECLARED[HASHING], DECLARED[STRANDS]]
    assert compile_all(threads=2, memory=8 << 30) == []
    assert [task["name"] for task in tasks] == ["_insert_all"]  # the other is for devices only
    tasks.clear()
    assert compile_all(threads=1, memory=8 << 30, capability=(9, 0)) == []
    assert [(task["name"], task["capability"]) for task in tasks] == [("_insert_all", None), ("double_loop", [9, 0])]


def test_loop_that_no_helper_has_begun_is_left_to_the_caller(loops):
    loops += [DECLARED[SCAN], DECLARED[HASHING]]
    with two_threads():
        assert not wait_for_loop(*SCAN)  # the helpers are not there yet
        assert wait_until_begun(HASHING)
        helpers = precompilation._now["helpers"]
        assert SCAN not in helpers._futures
        assert not wait_for_loop("gpuasm.io.scan", "undeclared")


def test_helpers_that_end_leave_no_caller_waiting(loops, monkeypatch):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    monkeypatch.setattr(
        precompilation, "_started", lambda: subprocess.Popen([sys.executable, "-c", "pass"], text=True, **pipes)
    )
    loops += [missing("gpuasm.io.scan", name) for name in "abcd"]
    with two_threads():
        threads = [threading.Thread(target=wait_for_loop, args=("gpuasm.io.scan", name)) for name in "dcba"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=60)
        assert not any(thread.is_alive() for thread in threads)
        assert not wait_for_loop("gpuasm.io.scan", "a")


def test_without_a_process_no_caller_waits(loops, monkeypatch):
    def fail():
        raise OSError

    monkeypatch.setattr(precompilation, "_started", fail)
    loops.append(DECLARED[HASHING])
    with two_threads():
        assert not wait_until_begun(HASHING)


@pytest.mark.parametrize(("threads", "memory"), [(1, 8 << 30), (8, 1 << 29)], ids=["one thread", "little memory"])
def test_process_compiles_alone(loops, threads, memory):
    loops.append(DECLARED[HASHING])
    with compiling_in_background(threads=threads, memory=memory):
        assert not wait_for_loop(*HASHING)
    assert not wait_for_loop(*HASHING)


def test_helper_writes_ptx_for_its_capability(monkeypatch):
    written = []
    monkeypatch.setattr(for_each, "write_ptx", lambda loop, *what: written.append((loop.kernel_name, *what)))
    compile_loop(*STRANDS, capability=[9, 0])
    assert written == [("double_loop", ("int32*", "int32*", "int32*", "int32*"), (9, 0))]


def test_ptx_types_are_those_of_a_launch(monkeypatch):
    written = []
    monkeypatch.setattr(for_each, "write_ptx", lambda _, types, __: written.append(types))
    arrays = (np.zeros(2, bool), np.zeros(2, np.uint64), np.zeros(2, np.int32))
    numbers = (True, np.uint64(1), 7, 1.5)

    @for_each
    def body(i, a, b, c, d, e, f, g):
        pass

    for_each.instances.remove(body)
    body.precompile("boolean[::1], uint64[::1], int32[::1], boolean, uint64, int64, float64", (9, 0))
    assert written == [signature_of((*arrays, *numbers))]


def test_declaration_changes_no_loop(monkeypatch):
    monkeypatch.setattr(precompilation, "_declared", {})

    @signatures("int64", "float64")
    @compiled()
    def halved(x):
        return x / 2

    (loop,) = precompilation._declared.values()
    assert (loop.module, loop.name, loop.signatures) == (__name__, "halved", ("int64", "float64"))
    assert halved(4) == 2.0


DECLARED = {key: declared(key) for key in (HASHING, STRANDS, SCAN)}
