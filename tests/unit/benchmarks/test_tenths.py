"""The benchmark of tenths: what the main thread of a command does."""

from __future__ import annotations

import importlib
import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


@pytest.fixture
def tenths(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("tenths")


def test_tenths_of_the_same_follow_as_one(tenths):
    seen = [(0.01, "a"), (0.02, "b"), (0.03, "b"), (0.11, "b"), (0.31, "c")]
    assert tenths.tenths_of(seen) == [
        {"from_s": 0.0, "tenths": 2, "what": "b"},
        {"from_s": 0.3, "tenths": 1, "what": "c"},
    ]


def test_a_stack_is_in_a_function_of_the_package_or_in_none(tenths):
    from gpuasm.threads import ordered_map, set_threads

    set_threads(1)
    try:
        found = list(ordered_map(lambda _: tenths.doing(inspect.currentframe()), [0]))
    finally:
        set_threads(None)
    assert found == ["threads"]
    assert tenths.doing(None) == "start of Python"


def test_a_command_is_watched_to_its_end(tmp_path):
    path = tmp_path / "figures.json"
    command = [sys.executable, str(BENCHMARKS / "tenths.py"), "--json", str(path), "--", "devices"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    assert "without being watched" in done.stdout
    (entry,) = json.loads(path.read_text())["entries"].values()
    assert entry["parameters"]["command"] == "devices"
    assert sum(row["tenths"] for row in entry["rows"]) >= 1
