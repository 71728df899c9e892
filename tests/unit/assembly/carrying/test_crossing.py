"""Where reads lie on unitigs, beside a plain search for every k-mer."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.assembly.carrying.crossing import find_on_unitigs
from gpuasm.assembly.first_level import begin
from gpuasm.assembly.options import AssemblyOptions
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.oracles.kmers import reverse_complement
from tests.samples import simulated_genome, simulated_texts

K = 21


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_reads_lie_where_their_first_and_last_kmer_stands(seed):
    genome = simulated_genome(length=4000, repeats=4, repeat_length=90, seed=seed)
    texts = simulated_texts(genome, fold=8, length=100, error_rate=0.01, seed=seed)
    reads = Reads.from_strings(texts)
    level = begin(reads, AssemblyOptions(k=(K, 41)), Stages()).level
    laid = find_on_unitigs(reads, level)
    where = _places([level.graph.sequence(u) for u in range(level.graph.n)])
    n_crossing = 0
    for r, text in enumerate(texts):
        found = [(i, *where[text[i : i + K]]) for i in range(len(text) - K + 1) if text[i : i + K] in where]
        for own, oriented, base in ((0, laid.oriented, laid.base), (-1, laid.last_oriented, laid.last_base)):
            i, unitig, at = found[own] if found else (0, -1, 0)
            assert (int(oriented[r]), int(base[r])) == (unitig, at - i)
        n_crossing += int(laid.oriented[r] != laid.last_oriented[r])
    assert n_crossing > 0
    assert int(np.asarray(laid.contained).sum()) <= len(texts) - n_crossing


def _places(unitigs: list[str]) -> dict[str, tuple[int, int]]:
    """Return for every k-mer on either strand the oriented unitig, and where it stands on that."""
    both = [
        (2 * u + turned, reverse_complement(s) if turned else s) for u, s in enumerate(unitigs) for turned in (0, 1)
    ]
    return {text[i : i + K]: (o, i) for o, text in both for i in range(len(text) - K + 1)}
