"""Pairs of reads from a linear genome, and the first graph of such pairs, for rules that join mates."""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.coverage.sample_mode import Mode
from gpuasm.assembly.iteration.first_graph import build_first_graph
from gpuasm.assembly.options import AssemblyOptions
from gpuasm.assembly.state import AssemblyState
from gpuasm.sequence.encoding import decode, unpack
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.oracles.kmers import reverse_complement

LENGTH = 100
MEMBER = Mode("meta", "requested")


def random_text(length: int, seed: int) -> str:
    return decode(np.random.default_rng(seed).integers(0, 4, length).astype(np.uint8))


def pairs_of(
    genome: str, *, fold: float = 60, mean: int = 300, sd: int = 20, seed: int = 1, errors: float = 0.0
) -> Reads:
    """Return pairs without errors, or with a few; fragments are spread evenly over a linear genome."""
    rng, texts = np.random.default_rng(seed), []
    for _ in range(int(fold * len(genome) / (2 * LENGTH))):
        size = int(np.clip(rng.normal(mean, sd), LENGTH, len(genome)))
        start = int(rng.integers(0, len(genome) - size + 1))
        fragment = genome[start : start + size]
        mates = [fragment[:LENGTH], reverse_complement(fragment)[:LENGTH]]
        mates = ["".join(rng.choice(list("ACGT")) if rng.random() < errors else b for b in mate) for mate in mates]
        texts += mates if rng.random() < 0.5 else mates[::-1]
    return Reads.from_strings(texts, paired=True)


def first_state(reads: Reads) -> AssemblyState:
    return build_first_graph(reads, AssemblyOptions(), Stages())


def texts_of(reads: Reads) -> list[str]:
    return [decode(unpack(reads.packed, int(s), int(n))) for s, n in zip(reads.start, reads.length, strict=True)]


def pairs_around_gap(genome: str, *, end: int, begin: int, across: bool, insert: int = 250) -> list[str]:
    """Return pairs every five bases with reads before ``end`` or from ``begin`` on; ``across``: or one on each side."""
    texts = []
    for start in range(0, len(genome) - insert + 1, 5):
        spans = (start, start + LENGTH), (start + insert - LENGTH, start + insert)
        sides = [0 if last <= end else 1 for _, last in spans]
        inside = all(last <= end or first >= begin for first, last in spans)
        if inside and (across or sides[0] == sides[1]):
            texts += [genome[slice(*spans[0])], reverse_complement(genome[slice(*spans[1])])]
    return texts
