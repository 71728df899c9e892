"""Similar ends: of ways that end, those go that say nearly what another way says; only in a population."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuasm.assembly import AssemblyOptions, assemble
from gpuasm.assembly.coverage.sample_mode import ISOLATE, Mode
from gpuasm.assembly.simplification.dead_end_variants import find_dead_end_variants
from gpuasm.assembly.simplification.engine import clean
from gpuasm.assembly.simplification.superbubbles import LONGEST
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
    """A graph of ``left``, which says the first bases of TEXT, and what is given to follow it."""
    deep = dict.fromkeys(texts, 60.0) | {"left": 60.0} | dict(depth)
    spelled = {"left": TEXT[:before]} | {name: TEXT[before - K + 1 : before] + own for name, own in texts.items()}
    graph, number = graph_of([(name, len(own) - K + 1, deep[name]) for name, own in spelled.items()], arcs)
    return replace(graph, bases=encode("".join(spelled.values()))), number


def changed(text, *places):
    return "".join(OTHER[base] if i in places else base for i, base in enumerate(text))


NEXT = TEXT[900:1000]


@pytest.mark.parametrize(
    ("a", "b", "depth", "goes"),
    [
        (NEXT[:60], changed(NEXT, 0), {}, {"a"}),  # the shorter, of equal depth
        (NEXT[:60], changed(NEXT, 0), {"a": 900.0}, {"a"}),  # or however deep
        (NEXT, changed(NEXT, 0)[:60], {}, {"b"}),
        (NEXT, changed(NEXT, 0), {"b": 61.0}, {"a"}),
        (NEXT, changed(NEXT, 0), {}, {"b"}),  # of equals the one with the lesser number stays
        (NEXT[:60], changed(NEXT, *range(0, 66, 10)), {}, {"a"}),  # one where they part, and one in ten
        (NEXT[:60], changed(NEXT, *range(0, 60, 7)), {}, set()),
        (NEXT[1:60], NEXT, {}, {"a"}),  # a base is missing
        (NEXT[:5], changed(NEXT, 0), {}, {"a"}),
        (NEXT[:60], TEXT[1500:1600], {}, set()),
    ],
)
def test_which_of_two_ends_goes(a, b, depth, goes):
    graph, number = graph_with({"a": a, "b": b}, depth=depth)
    assert marked(find_dead_end_variants(graph), number) == goes


def test_an_end_beside_what_leads_on_goes_though_it_is_longer_than_the_first_piece():
    """Way b is 30 bases, then c or d: the deeper one is what b goes on with."""
    follows = {"c": changed(NEXT, 0)[30:], "d": TEXT[2000:2100]}
    for deeper, goes in (("c", {"a"}), ("d", set())):
        texts = {"a": NEXT[:80], "b": changed(NEXT, 0)[:30], **follows}
        graph, number = graph_with(texts, depth={deeper: 80.0}, arcs=f"{FORK} b>c b>d")
        assert marked(find_dead_end_variants(graph), number) & {"a"} == goes


@pytest.mark.parametrize(
    "arcs",
    ["left>a left>b a>out", "left>b", "left>a", "left>a left>b out>-a"],
)
def test_what_leads_on_or_nowhere_stays(arcs):
    graph, number = graph_with({"a": NEXT[:60], "b": changed(NEXT, 0), "out": TEXT[2000:2300]}, arcs=arcs)
    assert "a" not in marked(find_dead_end_variants(graph), number)


@pytest.mark.parametrize(("n", "goes"), [(LONGEST, {"a"}), (LONGEST + 1, set())])
def test_long_ends_may_be_haplotypes(n, goes):
    follows = TEXT[900:2300]
    graph, number = graph_with({"a": follows[:n], "b": changed(follows, 0, 500)})
    assert marked(find_dead_end_variants(graph), number) == goes


@pytest.mark.parametrize(
    ("mode", "without", "goes"),
    [
        (POPULATION, (), 1),
        (POPULATION, ("dead-end-variants",), 0),
        (replace(POPULATION, keeps_variants=True), (), 0),
        (replace(POPULATION, is_population=False), (), 0),
        (ISOLATE, (), 0),
    ],
)
def test_only_in_a_population_whose_variants_are_merged(mode, without, goes):
    graph, _ = graph_with({"a": NEXT[:60], "b": changed(NEXT, 0)})
    assert clean(graph, mode=mode, without=without)[2].dead_end_variants == goes


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_same_on_either_strand(seed):
    """Every unitig may stand in the graph on either strand: what goes is the same."""
    rng = np.random.default_rng(seed)
    length = rng.integers(20, 90, 3)
    texts = [changed(NEXT, 0, *rng.integers(0, 100, rng.integers(0, 12)).tolist())[:n] for n in length.tolist()]
    spelled = [TEXT[:900], *(TEXT[900 - K + 1 : 900] + own for own in texts)]
    turned, deep = rng.random(4) < 0.5, rng.integers(1, 5, 4) * 10.0
    found = []
    for flips in (np.zeros(4, bool), turned):
        sign = ["-" if flip else "" for flip in flips]
        arcs = " ".join(f"{sign[0]}u0>{sign[i]}u{i}" for i in (1, 2, 3))
        graph, number = graph_of([(f"u{i}", len(own) - K + 1, deep[i]) for i, own in enumerate(spelled)], arcs)
        own = [reverse_complement(text) if flip else text for text, flip in zip(spelled, flips, strict=True)]
        found.append(marked(find_dead_end_variants(replace(graph, bases=encode("".join(own)))), number))
    assert found[0] == found[1]


def test_a_population_whose_variants_end_makes_one_contig():
    """One variant whole, and 29 others, with a difference in 40 bases each, from anywhere to anywhere."""
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
    apart = assemble(reads, AssemblyOptions(min_contig_length=300, without=("dead-end-variants",)))
    assert found.mode.is_population
    assert [contig.length for contig in found.contigs] == [3000]
    assert sum(own["dead_end_variants"] for own in found.removed.values()) > 0
    assert len(apart.contigs) > 5
    assert apart.contigs[0].length < 1500
