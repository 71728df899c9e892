"""Which values of k reads are taken to before fragments take their place."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.assembly.carrying.insert_sizes import InsertSizes
from gpuasm.assembly.carrying.mates import SpanningPairs
from gpuasm.assembly.fragment_levels import ladder_of_reads
from gpuasm.assembly.ladder import choose_k
from gpuasm.sequence.reads import Reads
from tests.graphs import graph_of

LENGTHS = np.bincount([150] * 100_000)
LADDER = choose_k(LENGTHS, first=21)


def taken(unitigs, *, is_one_organism=False, insert=400, ladder=LADDER):
    """The values of k for reads of 150 bases, of fragments of one length, over a graph of given depths."""
    graph, _ = graph_of([(f"u{i}", n_kmers, depth) for i, (n_kmers, depth) in enumerate(unitigs)], k=21)
    inserts = InsertSizes(np.bincount([insert] * 1000), bases_per_pair=300)
    spanning = SpanningPairs(Reads.from_strings([]), inserts, n_pairs=50_000)
    return ladder_of_reads(ladder, graph, spanning, lengths=LENGTHS, is_one_organism=is_one_organism)


def test_one_organism_goes_by_its_typical_depth():
    assert LADDER == (21, 41, 77, 113, 133, 141)
    assert taken([(9000, 60.0), (1000, 5.0)], is_one_organism=True) == (21, 41, 77, 113)
    assert taken([(9000, 20.0), (1000, 5.0)], is_one_organism=True) == (21, 41, 77)
    assert taken([(9000, 6.0)], is_one_organism=True) == (21,)


@pytest.mark.parametrize(
    ("thin", "last"),
    [((1000, 60.0), 113), ((1000, 20.0), 77), ((999, 20.0), 113), ((1000, 9.0), 41), ((1000, 4.0), 41)],
)
def test_a_community_goes_by_its_thin_members(thin, last):
    """At k = 77 a member at 9x has 4.4 windows a position, and loses junctions; of fragments it has 7."""
    assert taken([(9000, 60.0), thin])[-1] == last


@pytest.mark.parametrize("is_one_organism", [False, True])
def test_where_fragments_are_short_reads_go_all_the_way(is_one_organism):
    assert taken([(9000, 20.0), (1000, 5.0)], insert=160, is_one_organism=is_one_organism) == LADDER


def test_a_ladder_of_one_stays():
    assert taken([(9000, 60.0), (1000, 4.0)], ladder=(21,)) == (21,)
