"""Joins of a molecule with its own other strand: which go, and what looks alike and stays."""

from __future__ import annotations

from itertools import pairwise

import pytest

from gpuasm.assembly import AssemblyOptions, assemble
from gpuasm.assembly.cleaning.fold_backs import find_fold_backs
from gpuasm.sequence.encoding import decode
from gpuasm.sequence.reads import Reads
from tests.graphs import K, all_near, graph_of, marked
from tests.oracles.kmers import reverse_complement
from tests.samples import simulated_genome, simulated_texts

DEPTH = 30.0
ARCS = "a>b b>c fold>b -fold>c"
"""What runs back along c goes on forwards along b: out of the left end of c, into the left end of b."""


def fold_backs(*, fold=(K - 12, 14.0), way=DEPTH, arcs=ARCS, nearby=DEPTH, between=(), **options):
    unitigs = [("a", 900, way), ("b", 110, way), ("c", 900, way), ("fold", *fold), *between]
    graph, number = graph_of(unitigs, arcs)
    return marked(find_fold_backs(graph, all_near(graph, nearby), **options), number)


@pytest.mark.parametrize(
    "arcs",
    [
        ARCS,
        "a>b b>c -fold>b fold>c",
        "a>b b>c a>fold b>-fold",  # the same at right ends
        "a>b b>c b>fold b>-fold",  # back from where it came
    ],
)
def test_a_molecule_that_folded_back_goes(arcs):
    assert fold_backs(arcs=arcs) == {"fold"}


@pytest.mark.parametrize(
    ("changed", "goes"),
    [
        ({"fold": (K - 1, 14.0)}, True),
        ({"fold": (K, 14.0)}, False),  # it has a base of its own
        ({"fold": (9, 15.0)}, True),
        ({"fold": (9, 15.1)}, False),  # more than half a copy
        ({"fold": (9, 14.0), "way": 27.0}, False),
        ({"fold": (9, 2.9), "way": 4.0}, True),
        ({"fold": (9, 2.9), "way": 4.0, "judges_few": False}, False),
        ({"fold": (9, 2.9), "way": 4.0, "nearby": 5.0}, False),
        ({"fold": (9, 3.1), "way": 4.0}, False),
        ({"fold": (9, 6.0), "strictness": 1 / 3}, False),
        ({"fold": (9, 4.9), "strictness": 1 / 3}, True),
        ({"fold": (9, 14.0), "keeps_variants": True}, False),
        ({"fold": (9, 2.9), "keeps_variants": True}, True),
    ],
)
def test_how_long_and_how_deep(changed, goes):
    assert ("fold" in fold_backs(**changed)) == goes


@pytest.mark.parametrize(
    "arcs",
    [
        "a>b b>c a>fold fold>c",  # a deletion: it goes on along the same strand
        "a>b b>c c>fold fold>b",  # a tandem copy
        "a>b b>c fold>b",
        "b>c fold>b -fold>c",  # the only way into b
        "a>b b>c fold>b -fold>c a>fold",
    ],
)
def test_what_is_no_fold_back_stays(arcs):
    assert fold_backs(arcs=arcs) == set()


@pytest.mark.parametrize(("n_between", "goes"), [(1, True), (2, True), (3, False)])
def test_its_ends_are_near_each_other(n_between, goes):
    names = ["b", *(f"m{i}" for i in range(n_between)), "c"]
    arcs = " ".join(["a>b fold>b -fold>c", *(f"{x}>{y}" for x, y in pairwise(names))])
    between = [(name, 40, DEPTH) for name in names[1:-1]]
    assert fold_backs(arcs=arcs, between=between) == ({"fold"} if goes else set())


def test_the_loop_of_a_hairpin_stays():
    """Of an inverted repeat with little between, both ends of the loop lead into the stem: there is no other way."""
    unitigs = [("p", 900, 30.0), ("q", 900, 30.0), ("stem", 300, 60.0), ("loop", 9, 30.0)]
    graph, number = graph_of(unitigs, "p>stem q>stem stem>loop stem>-loop")
    assert marked(find_fold_backs(graph, all_near(graph, 60.0)), number) == set()


def folded_texts(genome, at, back, *, times, length=100):
    """Return reads that run along one strand up to a place, and on along the other from ``back`` bases before it."""
    tail = reverse_complement(genome[at - back - length : at - back])
    return [genome[at - 20 - 10 * i : at] + tail[: length - 20 - 10 * i] for i in range(times)]


def test_molecules_that_folded_back_cut_no_contig():
    """Six that did, amid 24 reads: too many for an error, and contigs ended there."""
    genome = simulated_genome(length=6000, seed=8)
    texts = simulated_texts(genome, fold=24, length=100, error_rate=0.0, seed=2)
    genome = decode(genome)
    folded = folded_texts(genome, 2500, 60, times=6) + folded_texts(genome, 4300, 130, times=6)
    found, cut = (
        [contig.length for contig in assemble(Reads.from_strings(texts + folded), options).contigs]
        for options in (AssemblyOptions(k=(31,)), AssemblyOptions(k=(31,), without=("fold-backs",)))
    )
    assert len(found) == 1
    assert found[0] > 5900
    assert len(cut) > 1
