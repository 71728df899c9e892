"""Dead-end variants: dead ends nearly identical to a sibling branch are removed from a population."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuasm.assembly import AssemblyOptions, assemble
from gpuasm.assembly.coverage.sample_mode import ISOLATE, Mode
from gpuasm.assembly.parameters import SIMPLIFICATION
from gpuasm.assembly.simplification.engine import clean
from gpuasm.assembly.simplification.sibling_branches import find_dead_end_variants
from gpuasm.sequence.encoding import decode, encode
from gpuasm.sequence.reads import Reads
from tests.graphs import K, graph_of, marked
from tests.oracles.kmers import reverse_complement
from tests.samples import simulated_genome

TEXT = decode(simulated_genome(length=3000, seed=2))
OTHER = {"A": "C", "C": "G", "G": "T", "T": "A"}
POPULATION = Mode("meta", "a test", is_population=True)
FORK = "left>a left>b"


def graph_with(texts, *, depth=(), arcs=FORK, before=900):
    """Return a graph of ``left``, the first bases of TEXT, and of the given branches after it."""
    depths = dict.fromkeys(texts, 60.0) | {"left": 60.0} | dict(depth)
    sequences = {"left": TEXT[:before]} | {name: TEXT[before - K + 1 : before] + own for name, own in texts.items()}
    graph, number = graph_of([(name, len(own) - K + 1, depths[name]) for name, own in sequences.items()], arcs)
    return replace(graph, bases=encode("".join(sequences.values()))), number


def changed(text, *places):
    return "".join(OTHER[base] if i in places else base for i, base in enumerate(text))


NEXT = TEXT[900:1000]


@pytest.mark.parametrize(
    ("a", "b", "depth", "removed"),
    [
        (NEXT[:60], changed(NEXT, 0), {}, {"a"}),  # the shorter, of equal depth
        (NEXT[:60], changed(NEXT, 0), {"a": 900.0}, {"a"}),  # whatever the depth
        (NEXT, changed(NEXT, 0)[:60], {}, {"b"}),
        (NEXT, changed(NEXT, 0), {"b": 61.0}, {"a"}),
        (NEXT, changed(NEXT, 0), {}, {"b"}),  # of equals that of the lower number is kept
        (NEXT[:60], changed(NEXT, *range(0, 66, 10)), {}, {"a"}),  # one at the branch, and one in ten
        (NEXT[:60], changed(NEXT, *range(0, 60, 7)), {}, set()),
        (NEXT[1:60], NEXT, {}, {"a"}),  # a base is missing
        (NEXT[:5], changed(NEXT, 0), {}, {"a"}),
        (NEXT[:60], TEXT[1500:1600], {}, set()),
    ],
)
def test_one_of_two_dead_ends_is_removed(a, b, depth, removed):
    graph, number = graph_with({"a": a, "b": b}, depth=depth)
    assert marked(find_dead_end_variants(graph), number) == removed


def test_dead_end_is_compared_with_a_branch_and_its_continuation():
    """Branch b has 30 bases, then c or d: the one of higher depth is its continuation."""
    follows = {"c": changed(NEXT, 0)[30:], "d": TEXT[2000:2100]}
    for higher, removed in (("c", {"a"}), ("d", set())):
        texts = {"a": NEXT[:80], "b": changed(NEXT, 0)[:30], **follows}
        graph, number = graph_with(texts, depth={higher: 80.0}, arcs=f"{FORK} b>c b>d")
        assert marked(find_dead_end_variants(graph), number) & {"a"} == removed


@pytest.mark.parametrize(
    "arcs",
    ["left>a left>b a>out", "left>b", "left>a", "left>a left>b out>-a"],
)
def test_continuing_and_single_branches_are_kept(arcs):
    graph, number = graph_with({"a": NEXT[:60], "b": changed(NEXT, 0), "out": TEXT[2000:2300]}, arcs=arcs)
    assert "a" not in marked(find_dead_end_variants(graph), number)


@pytest.mark.parametrize(("factor", "removed"), [(0.8, {"a"}), (1.2, set())])
def test_long_dead_ends_are_kept(factor, removed):
    follows, n = TEXT[900:2300], int(factor * SIMPLIFICATION.variant_max_kmers)
    graph, number = graph_with({"a": follows[:n], "b": changed(follows, 0, 500)})
    assert marked(find_dead_end_variants(graph), number) == removed


@pytest.mark.parametrize(
    ("mode", "without", "n_removed"),
    [
        (POPULATION, (), 1),
        (POPULATION, ("bubbles",), 0),
        (replace(POPULATION, keeps_variants=True), (), 0),
        (replace(POPULATION, is_population=False), (), 0),
        (ISOLATE, (), 0),
    ],
)
def test_dead_ends_are_merged_in_populations_only(mode, without, n_removed):
    graph, _ = graph_with({"a": NEXT[:60], "b": changed(NEXT, 0)})
    assert clean(graph, mode=mode, without=without)[2].dead_end_variants == n_removed


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_result_does_not_depend_on_strands(seed):
    rng = np.random.default_rng(seed)
    length = rng.integers(20, 90, 3)
    texts = [changed(NEXT, 0, *rng.integers(0, 100, rng.integers(0, 12)).tolist())[:n] for n in length.tolist()]
    sequences = [TEXT[:900], *(TEXT[900 - K + 1 : 900] + own for own in texts)]
    reverse, depths = rng.random(4) < 0.5, rng.integers(1, 5, 4) * 10.0
    found = []
    for flips in (np.zeros(4, bool), reverse):
        sign = ["-" if flip else "" for flip in flips]
        arcs = " ".join(f"{sign[0]}u0>{sign[i]}u{i}" for i in (1, 2, 3))
        graph, number = graph_of([(f"u{i}", len(own) - K + 1, depths[i]) for i, own in enumerate(sequences)], arcs)
        own = [reverse_complement(text) if flip else text for text, flip in zip(sequences, flips, strict=True)]
        found.append(marked(find_dead_end_variants(replace(graph, bases=encode("".join(own)))), number))
    assert found[0] == found[1]


def test_population_of_dead_end_variants_makes_one_contig():
    """Return reads of a whole variant, and of random stretches of 29 others that differ in one base of 40."""
    rng, texts = np.random.default_rng(2), []
    for number in range(30):
        begin, end = sorted(rng.integers(0, 3001, 2).tolist()) if number else (0, 3000)
        if end - begin < 300:
            continue
        own = changed(TEXT, *rng.integers(0, 3000, 75).tolist())[begin:end] if number else TEXT
        fold = int(rng.integers(10, 200)) if number else 300
        starts = rng.integers(0, len(own) - 149, fold * len(own) // 150)
        texts += [own[at : at + 150] for at in starts.tolist()]
    reads = Reads.from_strings([reverse_complement(own) if i % 2 else own for i, own in enumerate(texts)])
    found = assemble(reads, AssemblyOptions(min_contig_length=300))
    apart = assemble(reads, AssemblyOptions(min_contig_length=300, without=("bubbles",)))
    assert found.mode.is_population
    assert [contig.length for contig in found.contigs] == [3000]
    assert sum(own["dead_end_variants"] for own in found.removed.values()) > 0
    assert len(apart.contigs) > 5
    assert apart.contigs[0].length < 2000
