"""The recipe on made-up reads."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm import parallel
from gpuasm.assembly import rehearsal
from gpuasm.assembly.warmup import warm_up
from gpuasm.parallel import for_each

USED_BY_A_BACTERIUM = {
    "_plain_keys", "_pair_keys", "_neighbours_plain", "_neighbours_pairs", "_force", "_spell_walks", "_lay", "_link",
    "_set", "_spell", "_mark_own", "_first_seed", "_rest_seed", "_measure", "_collect", "_mark_covered", "_thread",
    "_search", "_choose", "_spell_fragment", "_pack_word", "_mark_fitting",
    "_compare",
    "_go_back", "_correct",
}  # fmt: skip


@pytest.fixture
def bodies(monkeypatch):
    """The names of the bodies that were run."""
    found, run = set(), for_each.__call__

    def noted(self, n, *args):
        if n:
            found.add(self._body.__name__)
        return run(self, n, *args)

    monkeypatch.setattr(for_each, "__call__", noted)
    return found


def test_nearly_all_that_a_bacterium_needs_is_rehearsed(bodies):
    warm_up(np, should_stop=lambda: False)
    # The keys of windows are counted in another way on the CPU.
    assert USED_BY_A_BACTERIUM - {"_plain_keys", "_pair_keys"} - bodies == set()


@pytest.mark.parametrize("n", [1, 2, 40])
def test_it_ends_before_the_next_loop_when_it_is_enough(monkeypatch, n):
    asked, run = [], []
    monkeypatch.setattr(
        parallel, "run_chunks", lambda loop, n, *args, old=parallel.run_chunks: run.append(loop) or old(loop, n, *args)
    )

    def should_stop():
        asked.append(len(run))
        return len(asked) == n

    warm_up(np, should_stop=should_stop)
    assert len(asked) == n
    assert len(run) == asked[-1]  # nothing ran after it
    assert parallel._asked.before_loops is None


def test_the_reads_are_the_same_each_time():
    first, second = rehearsal._reads(), rehearsal._reads()
    assert np.array_equal(first.packed, second.packed)
    assert first.paired
    assert first.n_reads == first.n_segments == first.read[-1] + 1
