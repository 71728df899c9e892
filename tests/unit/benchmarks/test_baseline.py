"""The times of all commands compared with those of an earlier checkout."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from gpuasm.cli import SECTIONS

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


@pytest.fixture
def baseline(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("baseline")


def test_rows_have_medians_and_their_ratio(baseline):
    taken = {"check": {"base": [1.0, 2.0, 9.0], "new": [1.0, 1.0, 5.0]}}
    assert baseline.rows(taken) == [
        {"command": "check", "turns": 3, "base_s": 2.0, "new_s": 1.0, "ratio": 0.5, "base_least_s": 1.0,
         "new_least_s": 1.0}
    ]  # fmt: skip


def test_commands_exist(baseline):
    known = {name for section in SECTIONS.values() for name in section}
    assert {arguments.split()[0] for arguments in baseline.COMMANDS.values()} - {"--version"} <= known
