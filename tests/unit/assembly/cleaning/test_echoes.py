"""Echoes go from a community: against a plain search through texts, of copies that differ, read with errors."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.assembly import AssemblyOptions, assemble, next_level
from gpuasm.assembly.cleaning.echoes import DEEPER, without_echoes
from gpuasm.sequence.encoding import decode
from gpuasm.sequence.reads import Reads
from tests.oracles.kmers import reverse_complement
from tests.samples import simulated_pairs


def copies(*, n=24, seed=5):
    """A genome with copies of a repeat of 300 bases, each with its own choice at every twentieth base."""
    rng = np.random.default_rng(seed)
    repeat, parts = rng.integers(0, 4, 300).astype(np.uint8), []
    for _ in range(n):
        own = repeat.copy()
        own[10::20] = (own[10::20] + rng.integers(0, 2, own[10::20].size)) % 4
        parts += [rng.integers(0, 4, 500).astype(np.uint8), own]
    return np.concatenate(parts)


@pytest.fixture(scope="module")
def calls():
    """Every call of the rule in the assembly of a deep member with copies that differ, and a thin one."""
    found, thin = [], np.random.default_rng(6).integers(0, 4, 30_000).astype(np.uint8)
    options = {"length": 150, "insert": 350, "sd": 30, "error_rate": 0.006}
    texts = [text for g, fold in ((copies(), 60), (thin, 3.5)) for text in simulated_pairs(g, fold=fold, **options)]

    def kept(cleaned, unitigs, keys, before):
        result = without_echoes(cleaned, unitigs, keys, before)
        found.append((cleaned[0], before, result))
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(next_level, "without_echoes", kept)
        assembly = assemble(Reads.from_strings(texts, paired=True), AssemblyOptions(mode="meta"))
    return found, assembly


def texts_of(graph):
    return [decode(graph.bases[graph.start[u] : graph.start[u + 1]]) for u in range(graph.n)]


def echoes_of(graph, before):
    """The texts of all echoes, by the depth of the unitigs that the k-mers of before stand in."""
    k, k0, depth = graph.k, before.graph.k, {}
    for u, text in enumerate(texts_of(before.graph)):
        for i in range(len(text) - k0 + 1):
            kmer = text[i : i + k0]
            depth[min(kmer, reverse_complement(kmer))] = float(before.graph.depth[u])
    found = []
    for u, text in enumerate(texts_of(graph)):
        has_arcs = graph.arc_start[2 * u] < graph.arc_start[2 * u + 2]
        if has_arcs or graph.is_circular[u] or len(text) - k + 1 > k:
            continue
        ends = [text[i : i + k0] for i in range(len(text) - k + 1)]
        ends += [text[i + k - k0 : i + k] for i in range(len(text) - k + 1)]
        least = min(depth[min(end, reverse_complement(end))] for end in ends)
        if DEEPER * float(graph.depth[u]) <= least:
            found.append(text)
    return found


def test_what_goes_is_what_a_plain_search_says(calls):
    found, _ = calls
    n_gone = n_stay = 0
    for graph, before, (left, _, n) in found:
        gone = sorted(echoes_of(graph, before))
        assert sorted(texts_of(left) + gone) == sorted(texts_of(graph))
        assert n == len(gone)
        n_gone += n
        n_stay += int((np.diff(left.arc_start).reshape(-1, 2).sum(axis=1) == 0).sum())
    assert n_gone > 5
    assert n_stay > 20  # those of the thin member


def test_they_are_counted_at_each_k_but_the_first(calls):
    found, assembly = calls
    ks = [graph.k for graph, _, _ in found]
    assert ks == list(assembly.k[1:])
    assert [assembly.removed[k]["echoes"] for k in ks] == [n for _, _, (_, _, n) in found]


def test_an_isolate_has_islands_only():
    texts = simulated_pairs(copies(n=6), fold=30, length=150, insert=350, error_rate=0.006)
    reads = Reads.from_strings(texts, paired=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(next_level, "without_echoes", None)
        assert assemble(reads, AssemblyOptions(mode="isolate")).contigs
        assert assemble(reads, AssemblyOptions(mode="meta", without=("echoes",))).contigs
        with pytest.raises(TypeError):
            assemble(reads, AssemblyOptions(mode="meta"))
