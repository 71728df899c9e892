"""What goes on to the next k."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.assembly import assemble
from gpuasm.assembly.carrying.carrying import next_text, too_short_to_carry
from gpuasm.assembly.first_level import begin
from gpuasm.assembly.options import AssemblyOptions
from gpuasm.sequence.encoding import decode, unpack
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.graphs import graph_of
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


@pytest.mark.parametrize(
    ("k", "depth", "stays"),
    [
        (97, 21.0, True),  # two windows of 12
        (97, 20.9, False),  # one, and part of another
        (97, 12.0, False),
        (97, 3.0, True),  # less than a window is deep: a smaller k told it
        (31, 12.0, False),
        (31, 3.0, False),  # there is no smaller k
    ],
)
def test_short_unitigs_are_set_aside_but_for_single_reads(k, depth, stays):
    graph, number = graph_of([("own", 20, depth), ("linked", 20, 50.0), ("long", 300, depth)], "linked>long", k=k)
    kept = too_short_to_carry(graph, k + 30, window=12.0)
    assert (kept.n, kept.length.tolist()) == ((1, [k + 19]) if stays else (0, []))
    assert set(number) == {"own", "linked", "long"}


def test_thin_text_does_not_vanish_as_k_grows():
    """240 bases at 6x beside a plasmid at 260x: a window of large k counts as more than that."""
    plasmid, thin = random_text(3000, 1), random_text(240, 2)
    rng, texts = np.random.default_rng(3), []
    for text, n in ((plasmid * 2, 4000), (thin, 4)):
        for at in rng.integers(0, len(text) - 199, n).tolist():
            fragment = text[at : at + int(rng.integers(200, 290))]
            texts += [fragment[:100], reverse_complement(fragment[-100:])]
    texts += [thin[at : at + 100] for at in (0, 0, 70, 70, 140, 140)]
    found = assemble(Reads.from_strings(texts, paired=True), AssemblyOptions(mode="meta"))
    assert max(found.k) > 200
    assert any(contig.sequence in (thin, reverse_complement(thin)) for contig in found.contigs)
