"""Arcs that reads contradict at the next k."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.assembly.first_level import begin
from gpuasm.assembly.next_level import climb
from gpuasm.assembly.options import AssemblyOptions
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.oracles.kmers import reverse_complement

SHARED = 23


def random_text(n: int, seed: int) -> str:
    return "".join(np.random.default_rng(seed).choice(list("ACGT"), n))


def two_places(*, fold: int) -> tuple[str, list[str]]:
    """Return the false turn between two places that share 23 bases, and reads: of the one place none goes further."""
    own, shared, other = random_text(600, 1), random_text(SHARED, 2), random_text(600, 3)
    before = random_text(600, 4)
    first, second = own + shared, before + shared + other
    reads = [second[i : i + 100] for i in range(0, len(second) - 99, 8)]
    reads += [first[i : i + 100] for i in range(0, len(first) - 99, 100 // fold)]
    return own[-5:] + shared + other[:1], reads + [first[-100:]] * 2


@pytest.mark.parametrize(("fold", "goes_on"), [(10, False), (2, True)])
def test_a_turn_that_deep_reads_do_not_take_ends_and_that_of_thin_ones_goes_on(fold: int, goes_on: bool):
    turn, texts = two_places(fold=fold)
    state = begin(Reads.from_strings(texts), AssemblyOptions(k=(21, 41)), Stages())
    assert any(state.level.graph.arc_start[1:] > state.level.graph.arc_start[:-1])
    graph = climb(state, 41, Stages()).level.graph
    spelled = [graph.sequence(u) for u in range(graph.n)]
    assert any(turn in one or reverse_complement(turn) in one for one in spelled) == goes_on


def test_what_reads_take_at_the_next_k_stays():
    turn, texts = two_places(fold=10)
    through = random_text(600, 1) + random_text(SHARED, 2) + random_text(600, 3)
    texts += [through[i : i + 100] for i in range(560, 600, 10)]
    state = begin(Reads.from_strings(texts), AssemblyOptions(k=(21, 41)), Stages())
    graph = climb(state, 41, Stages()).level.graph
    assert any(turn in one or reverse_complement(turn) in one for one in map(graph.sequence, range(graph.n)))
