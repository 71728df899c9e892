"""The soak of many runs in one process."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import pytest

from benchmarks import soak


@pytest.fixture
def module(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(soak.__file__).parent))
    return importlib.import_module


def test_few_runs_hold_their_threads_and_memory(tmp_path):
    held = list(soak.soak(3, tmp_path, kinds=("check", "count")))
    assert [number for number, *_ in held] == [1, 2, 3]
    assert held[2][2] == held[1][2]
    assert held[2][1] - held[1][1] < 64 << 20


def test_growth_compares_the_last_runs_with_those_that_settled():
    memory = [*range(soak.SETTLED), 100, 101, 102, 103, 104, *([150] * 20)]
    assert soak.growth(memory) == 48


def test_figures_of_a_soak():
    memory, threads = [*range(soak.SETTLED), *([100 << 20] * 5), 300 << 20, *([150 << 20] * 5)], [4] * 20 + [6]
    assert soak.figures(memory, threads) == {
        "runs": 21, "commands": 252, "settled_mb": 100.0, "growth_mb": 50.0, "most_mb": 300.0, "threads_more": 2,
    }  # fmt: skip


def test_a_command_that_fails_ends_the_soak(tmp_path):
    with pytest.raises(RuntimeError, match="exit code"):
        list(soak.soak(1, tmp_path, kinds=("report",)))


def test_figures_of_a_workflow(module):
    held = [(n, (100 << 20) + (n << 18)) for n in (4, 9, 11, 14, 20)]
    jobs = [50.0] * 10 + [60.0] * 5 + [60.0, 60.0, 63.0, 63.0, 63.0]
    assert module("workflow_soak").figures(held, jobs) == {
        "samples": 20, "settled_mb": 102.8, "growth_mb": 2.2, "most_mb": 105.0, "job_settled_mb": 60.0,
        "job_growth_mb": 3.0,
    }  # fmt: skip


def test_memory_of_a_batch_is_that_of_its_50th_and_last_sample(module):
    mib = 1 << 20
    held = [*range(0, 50 * mib, mib), *([150 * mib] * 20)]
    assert module("batch").held_by_worker(held) == {"settled_mb": 44.5, "growth_mb": 105.5}
    assert module("batch").held_by_worker([]) == {"settled_mb": 0.0, "growth_mb": 0.0}
    assert os.getpid() in module("batch").children_of(os.getppid())
    assert module("batch").resident_of(os.getpid()) > mib
    assert module("batch").resident_of(1 << 30) == 0


def test_the_table_of_signals_and_soaks(module):
    about = {"date": "2026-01-01", "machine": {"device": {}, "cpu": "CPU", "cpus": 2}}
    signals = [
        {"signal": name, "command": command, "signals": 10, "within_two_seconds": 4, "twice": 2, "by_python": 1,
         "most_seconds": seconds, "wrong": 0}
        for name, command, seconds in (("SIGINT", "count", 0.5), ("SIGINT", "bin", 0.75), ("SIGKILL", "workflow", 1))
    ]  # fmt: skip
    growth = {"settled_mb": 300, "growth_mb": 1.5, "job_settled_mb": 90, "job_growth_mb": 0}
    results = [
        {"benchmark": "signals", "rows": signals, **about},
        {"benchmark": "soak", "rows": [{"runs": 500, "commands": 6000, **growth}], **about},
        {"benchmark": "workflow_soak", "rows": [{"samples": 400, **growth}], **about},
        {"benchmark": "batch", "rows": [{"samples": 500, "settled_mb": 200, "growth_mb": 2}], **about},
    ]
    lines = module("damage_tables").endurance(results).splitlines()
    assert lines[0] == "2026-01-01; CPU, 2 cores:"
    assert lines[4:] == [
        "| SIGINT to 2 commands | 20 | 8 | 4 | 2 | 0.75 | 0 |  |  |",
        "| SIGKILL to the workflow | 10 | 4 | 2 | 1 | 1.00 | 0 |  |  |",
        "| commands in one process | 6,000 |  |  |  |  |  | 300.00 | 1.50 |",
        "| samples in one workflow: Snakemake | 400 |  |  |  |  |  | 300.00 | 1.50 |",
        "| samples in one workflow: largest job | 400 |  |  |  |  |  | 90.00 | 0.00 |",
        "| samples in one batch: a worker | 500 |  |  |  |  |  | 200.00 | 2.00 |",
    ]
    assert module("damage_tables").endurance([]) == ""
