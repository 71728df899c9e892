"""The benchmark of forecasts: peaks of a process, and the table of them."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


@pytest.fixture
def modules(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return {name: importlib.import_module(name) for name in ("forecasts", "forecast_tables")}


def test_forecasts_are_compared_with_peaks(modules):
    mib = 1 << 20
    row = {
        "reads": "a_b", "bases": 2_500_000, "host_bytes": 100 * mib, "device_bytes": 0, "disk_bytes": 4 * mib,
        "plan": {"host_bytes": 110 * mib, "device_bytes": 0, "disk_bytes": 3 * mib},
    }  # fmt: skip
    result = {
        "benchmark": "forecasts", "key": "x", "date": "2026-01-01", "parameters": {"device": "cpu"}, "rows": [row],
        "machine": {"cpu": "a CPU", "cpus": 2, "device": {}},
    }  # fmt: skip
    last = modules["forecast_tables"].forecasts([result]).splitlines()[-1]
    cells = [cell.strip() for cell in last.strip("|").split("|")]
    assert cells[:7] == ["a b", "2.50", "a CPU, 2 cores", "cpu", "", "110.0", "100.0"]
    assert cells[7:] == ["+10%", "", "", "", "3.0", "4.0", "-25%"]


def test_peaks_without_forecasts_are_shown(modules):
    row = {"reads": "a", "bases": 10**9, "host_bytes": 1 << 30, "device_bytes": 1 << 29, "plan": {}, "wall_s": 61.4}
    cells = modules["forecast_tables"]._cells(
        {"machine": {"cpu": "a CPU", "cpus": 2, "device": {}}, "parameters": {"device": "cuda"}}, row
    )
    assert cells == ["a", "1,000.00", "a CPU, 2 cores", "cuda", "61", "", "1,024.0", "", "", "512.0", "", "", "", ""]


def test_growth_is_for_each_gb_and_leaves_short_stages_out(modules):
    stages = [{"name": name, "wall_s": s} for name, s in (("clean graph", 1.5), ("clean graph", 0.5), ("b", 0.1))]
    row = {"reads": "m40", "bases": 4 * 10**8, "host_bytes": 10**9, "device_bytes": 0, "plan": {}, "wall_s": 10.0}
    result = {
        "benchmark": "forecasts", "key": "x", "date": "2026-01-01", "parameters": {"device": "cpu"},
        "rows": [{**row, "stages": stages}, {**row, "reads": "another", "stages": stages}],
        "machine": {"cpu": "a CPU", "cpus": 2, "device": {}},
    }  # fmt: skip
    lines = [line for line in modules["forecast_tables"].growth([result]).splitlines() if line.startswith("| ")]
    assert lines == [
        "| for each Gb | m40 |", "| --- | ---: |", "| wall s | 25.00 |", "| clean graph, s | 5.00 |",
        "| host GB | 2.50 |", "| device GB | 0.00 |",
    ]  # fmt: skip


def test_peaks_include_children_and_files_that_are_gone(modules, tmp_path):
    child = "import time; kept = bytearray(60 << 20); time.sleep(1)"
    parent = (
        "import pathlib, subprocess, sys, time\n"
        f"process = subprocess.Popen([sys.executable, '-c', {child!r}])\n"
        "path = pathlib.Path('large'); path.write_bytes(b'x' * (3 << 20)); time.sleep(0.4); path.unlink()\n"
        "process.wait()"
    )
    process = subprocess.Popen([sys.executable, "-c", parent], cwd=tmp_path)
    peaks = modules["forecasts"].Peaks(process.pid, tmp_path)
    process.wait(timeout=60)
    peaks.end()
    assert peaks.host > 60 << 20
    assert peaks.disk >= 3 << 20
    assert modules["forecasts"].disk_of_folder(tmp_path) == 0
    assert set(modules["forecasts"].tree(os.getpid())) >= {os.getpid()}
