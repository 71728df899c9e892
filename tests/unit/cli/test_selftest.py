"""``gpuasm selftest``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gpuasm.cli import selftest

Run = Callable[..., tuple[int, str, str]]


def test_passes_on_the_cpu(run_cli: Run) -> None:
    code, out, _ = run_cli("selftest", "--device", "cpu")
    assert code == 0
    lines = out.splitlines()
    assert len({line.split()[0] for line in lines[:3]}) == 1
    assert [line.partition("  ")[2].partition(":")[0] for line in lines[:3]] == [
        "cpu, 1 thread",
        "cpu, 2 threads",
        "cpu, 2 threads, reads in another order",
    ]
    assert lines[3].startswith("passed")


@pytest.mark.gpu
def test_passes_on_all_devices(run_cli: Run) -> None:
    code, out, _ = run_cli("selftest")
    assert code == 0
    assert "cuda:0, 2 threads" in out


def test_fails_when_the_contigs_differ(run_cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    sums = iter("abc")
    monkeypatch.setattr(selftest, "contigs_checksum", lambda _contigs: next(sums))
    code, out, err = run_cli("selftest", "--device", "cpu")
    assert code == 1
    assert "the contigs differ" in err
    assert "passed" not in out


def test_fails_when_little_is_assembled(run_cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "_GENOME_LENGTH", 80_000)
    simulated: Any = selftest._simulated_reads
    monkeypatch.setattr(
        selftest, "_simulated_reads", lambda *, shuffled: simulated(shuffled=shuffled).select(slice(400))
    )
    code, _, err = run_cli("selftest", "--device", "cpu")
    assert code == 1
    assert "bases were assembled" in err


def test_refuses_an_unknown_device(run_cli: Run) -> None:
    assert run_cli("selftest", "--device", "tpu")[0] == 69
