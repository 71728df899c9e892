"""``gpuasm devices``."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from gpuasm import arrays

Run = Callable[..., tuple[int, str, str]]

CUDA = {
    "device": "cuda:0",
    "name": "A card",
    "total_bytes": 80 << 30,
    "free_bytes": 79 << 30,
    "compute_capability": "9.0",
}


def test_a_machine_without_cuda(run_cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "device_properties", list)
    code, out, _ = run_cli("devices")
    assert code == 0
    assert out.splitlines()[1].startswith("cpu ")
    assert "No CUDA device" in out


def test_a_machine_with_cuda(run_cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "device_properties", lambda: [CUDA])
    _, out, _ = run_cli("devices")
    assert out.splitlines()[2].split() == ["cuda:0", "79.0", "GB", "-", "9.0", "A", "card"]
    assert "No CUDA device" not in out


def test_json(run_cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "device_properties", lambda: [CUDA])
    _, out, _ = run_cli("devices", "--json")
    cpu, cuda = json.loads(out)
    assert cuda == CUDA
    assert cpu["threads"] >= 1
    assert cpu["free_bytes"] > 0
