"""``gpuasm warmup``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gpuasm import compiled_cache, precompilation
from gpuasm.parallel import for_each
from gpuasm.precompilation import DeclaredLoop, declared_loops

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def _one_loop(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Only one loop is declared, and code is kept in a folder of the test's own."""
    loop = next(loop for loop in declared_loops() if loop.name == "_insert_all")
    monkeypatch.setattr(precompilation, "declared_loops", lambda: [loop])
    monkeypatch.setenv("GPUASM_CACHE_DIR", str(tmp_path))


@pytest.mark.usefixtures("_one_loop")
def test_loops_are_compiled_and_kept(run_cli: Run, tmp_path: Path) -> None:
    code, out, _ = run_cli("warmup", "--device", "cpu", "-t", "2")
    assert (code, out) == (0, "all loops are compiled\n")
    assert [path.name.split("-")[0] for path in tmp_path.rglob("*.nbi")] == ["hashing._insert_all"]
    kept = sorted(path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb?"))
    assert run_cli("warmup", "--device", "cpu", "-q")[0] == 0
    assert sorted(path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb?")) == kept


@pytest.mark.usefixtures("_one_loop")
def test_loop_that_cannot_be_compiled_is_named(run_cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    loop = DeclaredLoop("gpuasm.io.scan", "no_such_loop", ("int64",), ("cpu", "cpu"), lambda *_: None)
    monkeypatch.setattr(precompilation, "declared_loops", lambda: [loop])
    code, out, err = run_cli("warmup", "--device", "cpu")
    assert code == 1
    assert "gpuasm.io.scan.no_such_loop" in err
    assert out == ""


def test_missing_folder_is_an_error(run_cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_cache, "has_folder", lambda: False)
    code, _, err = run_cli("warmup", "--device", "cpu")
    assert code == 73
    assert "GPUASM_CACHE_DIR" in err


@pytest.mark.gpu
def test_ptx_is_kept_for_a_device(run_cli: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GPUASM_CACHE_DIR", str(tmp_path))
    assert run_cli("warmup", "--device", "cuda")[0] == 0
    n_bodies = sum(loop.kinds[1] == "ptx" for loop in declared_loops())
    assert len(list((tmp_path / "gpuasm").glob("*.ptx"))) >= n_bodies
    compiled: list[str] = []
    monkeypatch.setattr(for_each, "ptx", lambda body, *_: compiled.append(body.kernel_name))
    assert run_cli("selftest", "--device", "cuda:0")[0] == 0
    assert compiled == []
