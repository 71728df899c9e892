"""What goes on to the next k."""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.carrying.carrying import next_text
from gpuasm.assembly.first_level import begin
from gpuasm.assembly.options import AssemblyOptions
from gpuasm.sequence.encoding import decode, unpack
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.oracles.kmers import reverse_complement


def random_text(n: int, seed: int) -> str:
    return "".join(np.random.default_rng(seed).choice(list("ACGT"), n))


def test_a_turn_into_a_unitig_too_short_to_be_carried_stays():
    """Three copies of a repeat; behind two of them 20 bases agree, so that a short unitig follows the repeat."""
    repeat, few = random_text(200, 1), random_text(20, 2)
    after = [few + "A" + random_text(500, 3), few + "C" + random_text(500, 4), random_text(500, 5)]
    assert after[2][0] != few[0]
    genome = "".join(random_text(500, 10 + i) + repeat + tail for i, tail in enumerate(after))
    reads = Reads.from_strings([genome[i : i + 100] for i in range(0, len(genome) - 99, 2)])
    state = begin(reads, AssemblyOptions(k=(31, 61)), Stages())
    short = [u for u in range(state.level.graph.n) if state.level.graph.length[u] < 61]
    assert short
    text = next_text(state.crossing.select(np.empty(0, np.int64)), state.names, state.level, k=61).reads
    spelled = {decode(unpack(text.words, int(s), int(n))) for s, n in zip(text.start, text.length, strict=True)}
    spelled |= {reverse_complement(one) for one in spelled}
    for turn in (repeat + few, repeat + after[2][:1]):
        assert any(turn[-61:] in one for one in spelled)
