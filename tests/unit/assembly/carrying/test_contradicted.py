"""Arcs that reads contradict at the next k."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.assembly import next_level
from gpuasm.assembly.carrying.carrying import Text, next_text
from gpuasm.assembly.carrying.contradicted import contradicted_by_fragments, contradicted_flanks
from gpuasm.assembly.first_level import begin
from gpuasm.assembly.next_level import climb
from gpuasm.assembly.options import AssemblyOptions
from gpuasm.assembly.state import AssemblyState
from gpuasm.kmers.names import Dictionary
from gpuasm.kmers.tally import Tally, tally_kmers
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


def counted(texts: list[str]) -> tuple[AssemblyState, Text, Tally, Dictionary]:
    """Return the state at k = 21, and the text of k = 41 with its k-mers."""
    state = begin(Reads.from_strings(texts), AssemblyOptions(k=(21, 41)), Stages())
    text = next_text(state.crossing, state.names, state.level, k=41)
    tally = tally_kmers(text.reads, 41, text.names, k0=21)
    return state, text, tally, Dictionary.of(tally.keys, k=41, k0=21)


def contradicted(texts: list[str]) -> tuple[AssemblyState, np.ndarray]:
    """Return the state at k = 21 and which of its flanks to 41 are contradicted."""
    state, *made = counted(texts)
    return state, contradicted_flanks(*made, state.level.graph, windows_per_base=(100 - 41 + 1) / 100)


def takes(state: AssemblyState, turn: str) -> bool:
    """Tell whether a unitig of the graph at k = 41 takes a turn."""
    graph = climb(state, 41, Stages()).level.graph
    return any(turn in one or reverse_complement(turn) in one for one in map(graph.sequence, range(graph.n)))


def test_a_turn_that_no_read_takes_while_reads_take_another_ends():
    turn, texts = two_places(fold=10)
    state, given_up = contradicted(texts)
    assert given_up.tolist().count(True) == 1
    assert not takes(state, turn)


def test_what_thin_reads_miss_by_chance_goes_on():
    _, texts = two_places(fold=2)
    _, given_up = contradicted(texts)
    assert given_up.size == 2
    assert not given_up.any()


@pytest.mark.parametrize(("fold", "ends"), [(10, True), (16, False), (50, True)])
def test_in_a_deep_isolate_more_reads_must_be_missing(fold, ends):
    """10-fold, 5.9 windows are to be expected, and two are enough; 16-fold 9.8, of twelve; 50-fold 29.5."""
    _, texts = two_places(fold=fold)
    before, behind = random_text(600, 4) + random_text(SHARED, 2), random_text(600, 3)
    second = before + behind
    texts += [second[i : i + 100] for i in range(0, len(second) - 99, 100 // fold)]
    state, *made = counted(texts)
    assert contradicted(texts)[1].tolist().count(True) == 1
    assert next_level._contradicted(*made, state).tolist().count(True) == ends


def test_what_reads_take_at_the_next_k_stays():
    turn, texts = two_places(fold=10)
    through = random_text(600, 1) + random_text(SHARED, 2) + random_text(600, 3)
    state, given_up = contradicted(texts + [through[i : i + 100] for i in range(560, 600, 10)])
    assert not given_up.any()
    assert takes(state, turn)


def test_fragments_that_show_one_way_out_of_a_single_copy_contradict_the_others():
    state, text, tally, dictionary = counted(two_places(fold=10)[1])
    graph = state.level.graph
    _, by_reads = contradicted(two_places(fold=10)[1])
    single = np.ones(graph.n, bool)

    def given_up(is_single: np.ndarray, windows_per_base: float) -> np.ndarray:
        return contradicted_by_fragments(
            text, tally, dictionary, graph, is_single=is_single, windows_per_base=windows_per_base
        )

    assert np.array_equal(given_up(single, 0.1), by_reads)
    assert not given_up(~single, 0.1).any()  # a copy may go each way, and no pair of the other be joined
    assert not given_up(single, 10.0).any()  # far fewer go the other way than one copy should have
