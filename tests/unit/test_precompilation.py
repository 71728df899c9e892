"""Helpers that compile on a first run: what they are asked, what becomes of it, and what happens if one fails."""

from __future__ import annotations

import inspect
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from gpuasm import precompilation
from gpuasm.precompilation import CPU, CUDA, HOST, Loop, helped, is_compiled_by_helpers, loops_of_assemblies, noted_loops
from gpuasm.first_run_helper import compile_loop, loop_named, signature_text, types_of
from gpuasm.parallel import compiled, for_each

ROOT = Path(__file__).parents[2]
HASHING = ("gpuasm.primitives.hashing", "_insert_all")
SIGNATURE = "uint64[::1], int32[::1], uint64"


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Loop]:
    """Have two helpers compile what a test puts into this list, into a folder of the test's own."""
    loops: list[Loop] = []
    monkeypatch.setattr(precompilation, "loops_of_assemblies", lambda *kinds: [one for one in loops if one.kind in kinds])
    monkeypatch.setattr(precompilation, "_FEWEST_LOOPS", 1)
    monkeypatch.setenv("GPUASM_CACHE_DIR", str(tmp_path))
    return loops


def helped_by_two(*kinds: str):
    return helped(*kinds, threads=2, memory=8 << 30)


@pytest.mark.parametrize("kind", [CPU, HOST])
def test_each_loop_of_the_table_is_there_and_its_types_are_types(kind):
    for loop in loops_of_assemblies(kind):
        assert callable(loop_named(loop.module, loop.name))
        for signature in loop.signatures:
            assert signature_text(types_of(signature)) == signature


def test_each_loop_of_a_device_has_as_many_types_as_arguments():
    loops = loops_of_assemblies(CUDA)
    assert len(loops) > 20
    for loop in loops:
        body = loop_named(loop.module, loop.name)
        assert isinstance(body, for_each)
        n = len(inspect.signature(body).parameters) - 1  # the index comes first
        assert {len(signature.split()) for signature in loop.signatures} == {n}


def test_the_table_is_what_assemblies_use(tmp_path):
    """If this fails, run benchmarks/record_loops.py for both devices."""
    script, path = ROOT / "benchmarks" / "record_loops.py", tmp_path / "loops.tsv"
    subprocess.run([sys.executable, str(script), "-o", str(path)], check=True, capture_output=True)
    shipped = Path(precompilation.__file__).with_name("loops.tsv").read_text()
    assert set(path.read_text().splitlines()) == set(shipped.splitlines())


def test_types_are_written_as_numba_reads_them():
    text = "float64[:, ::1], Tuple((int64, boolean, )), Tuple((uint8[::1], int64[::1], )), Array(int64, 1, 'A', True, "
    assert signature_text(types_of(text + "aligned=True)")) == text + "aligned=True)"


def test_what_is_used_first_is_noted():
    @compiled()
    def doubled(x):
        return 2 * x

    with noted_loops() as noted:
        doubled(np.int64(2))
        doubled(np.int64(3))
    assert [(name, signature_text(tuple(types))) for _, name, types in noted] == [("doubled", "int64")]
    doubled(2.5)
    assert len(noted) == 1


def test_helpers_keep_on_disk_what_this_process_then_loads(table, tmp_path):
    table.append(Loop(CPU, *HASHING, [SIGNATURE]))
    with helped_by_two(CPU):
        assert is_compiled_by_helpers(*HASHING)
        assert is_compiled_by_helpers(*HASHING)  # at once
    assert [path.name.split("-")[0] for path in tmp_path.rglob("*.nbi")] == ["hashing._insert_all"]


def test_a_loop_that_is_not_on_disk_is_waited_for(table, monkeypatch):
    asked = []
    monkeypatch.setattr(precompilation, "is_compiled_by_helpers", lambda *place: asked.append(place) or False)

    @compiled()
    def tripled(x):
        return 3 * x

    assert tripled(np.int64(2)) == 6  # compiled here, as nobody helps
    assert asked == [(__name__, "tripled")]


def test_ptx_waits_until_the_device_is_known(table):
    known = loops_of_assemblies(CUDA)[0]
    place = known.module, known.name
    table.append(known)
    table.append(Loop(HOST, *HASHING, [SIGNATURE]))
    with helped_by_two(HOST, CUDA):
        assert is_compiled_by_helpers(*HASHING)
        assert not table[0].is_done.is_set()
        assert is_compiled_by_helpers(*place, cc=(9, 0))
        assert table[0].is_done.is_set()


def test_a_loop_that_nobody_listed_is_not_waited_for(table):
    table.append(Loop(CPU, *HASHING, [SIGNATURE]))
    with helped_by_two(CPU):
        assert not is_compiled_by_helpers("gpuasm.io.scan", "scan_fastq")


def test_what_cannot_be_compiled_is_left_to_who_needs_it(table, tmp_path):
    table.append(Loop(CPU, *HASHING, ["float64"]))
    table.append(Loop(CPU, "gpuasm.no_such_module", "f", ["int64"]))
    with helped_by_two(CPU):
        assert is_compiled_by_helpers(*HASHING)
        assert is_compiled_by_helpers("gpuasm.no_such_module", "f")
    assert not list(tmp_path.rglob("*.nbi"))


def test_helpers_that_die_leave_nobody_waiting(table, monkeypatch):
    dead = [sys.executable, "-c", "pass"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    monkeypatch.setattr(precompilation, "_started", lambda: subprocess.Popen(dead, text=True, **pipes))
    table.extend(Loop(CPU, "gpuasm.io.scan", name, ["int64"]) for name in "abcd")
    with helped_by_two(CPU):
        waiting = [threading.Thread(target=is_compiled_by_helpers, args=("gpuasm.io.scan", name)) for name in "dcba"]
        for thread in waiting:
            thread.start()
        for thread in waiting:
            thread.join(timeout=60)
        assert not any(thread.is_alive() for thread in waiting)


def test_where_no_process_can_be_started_nobody_waits(table, monkeypatch):
    def fails():
        raise OSError

    monkeypatch.setattr(precompilation, "_started", fails)
    table.append(Loop(CPU, *HASHING, [SIGNATURE]))
    with helped_by_two(CPU):
        assert not is_compiled_by_helpers(*HASHING)


@pytest.mark.parametrize(("threads", "memory"), [(1, 8 << 30), (8, 1 << 30)], ids=["one thread", "little memory"])
def test_alone_a_process_compiles_by_itself(table, threads, memory):
    table.append(Loop(CPU, *HASHING, [SIGNATURE]))
    with helped(CPU, threads=threads, memory=memory):
        assert not is_compiled_by_helpers(*HASHING)
    assert not is_compiled_by_helpers(*HASHING)


def test_a_helper_keeps_ptx_for_the_device_that_it_is_told(monkeypatch):
    kept = []
    monkeypatch.setattr(for_each, "keep_ptx", lambda loop, *what: kept.append((loop.kernel_name, *what)))
    compile_loop("gpuasm.assembly.graph.kmer_graph", "copy_vertex_loop", ["int32* int64", "int64* int64"], cc=[9, 0])
    types = [("int32*", "int64"), ("int64*", "int64")]
    assert kept == [("copy_vertex_loop", one, (9, 0)) for one in types]
