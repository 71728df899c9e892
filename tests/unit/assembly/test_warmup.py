"""The warm-up of an assembly."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm import parallel
from gpuasm.assembly import warmup
from gpuasm.assembly.warmup import warm_up
from gpuasm.cli.warmup import _SAMPLES
from gpuasm.parallel import for_each
from gpuasm.precompilation import declared_loops

USED_BY_A_BACTERIUM = 23
"""How many bodies an assembly of a bacterium uses on the CPU."""


@pytest.fixture
def bodies(monkeypatch):
    """The modules and names of the bodies that were run."""
    found, run = set(), for_each.__call__

    def note(self, n, *args):
        if n:
            found.add((self.__module__, self.kernel_name))
        return run(self, n, *args)

    monkeypatch.setattr(for_each, "__call__", note)
    return found


def test_warm_up_runs_what_a_bacterium_needs(bodies):
    warm_up(np, should_stop=lambda: False)
    assert bodies <= {(loop.module, loop.name) for loop in declared_loops()}
    assert len(bodies) >= USED_BY_A_BACTERIUM


@pytest.mark.parametrize(("mode", "depth"), _SAMPLES)
def test_samples_of_the_warmup_use_declared_loops(bodies, mode, depth):
    warm_up(np, should_stop=lambda: False, mode=mode, depth=depth)
    assert bodies
    assert bodies <= {(loop.module, loop.name) for loop in declared_loops()}


@pytest.mark.parametrize("n", [1, 2, 40])
def test_warm_up_stops_before_the_next_loop(monkeypatch, n):
    checks, run = [], []
    monkeypatch.setattr(
        parallel, "run_chunks", lambda loop, n, *args, old=parallel.run_chunks: run.append(loop) or old(loop, n, *args)
    )

    def should_stop():
        checks.append(len(run))
        return len(checks) == n

    warm_up(np, should_stop=should_stop)
    assert len(checks) == n
    assert len(run) == checks[-1]  # nothing ran after it
    assert parallel._hooks.before_loops is None


def test_warm_up_simulates_the_same_reads_each_time():
    first, second = warmup._reads(28), warmup._reads(28)
    assert np.array_equal(first.packed, second.packed)
    assert first.paired
    assert first.n_reads == first.n_segments == first.read[-1] + 1
