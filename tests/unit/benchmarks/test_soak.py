"""The soak of many runs in one process."""

from __future__ import annotations

import pytest

from benchmarks import soak


def test_few_runs_hold_their_threads_and_memory(tmp_path):
    held = list(soak.soak(3, tmp_path, kinds=("check", "count")))
    assert [number for number, *_ in held] == [1, 2, 3]
    assert held[2][2] == held[1][2]
    assert held[2][1] - held[1][1] < 64 << 20


def test_growth_compares_the_last_runs_with_those_that_settled():
    memory = [*range(soak.SETTLED), 100, 101, 102, 103, 104, *([150] * 20)]
    assert soak.growth(memory) == 48


def test_a_command_that_fails_ends_the_soak(tmp_path):
    with pytest.raises(RuntimeError, match="exit code"):
        list(soak.soak(1, tmp_path, kinds=("graph",)))
