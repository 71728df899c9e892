"""Terminal repeats: which are found, and that each contig gets a whole copy."""

from __future__ import annotations

import pytest

from gpuasm.assembly import assemble
from gpuasm.assembly.paths.repeats import find_terminal_repeats
from gpuasm.sequence.encoding import decode, reverse_complement
from gpuasm.sequence.reads import Reads
from tests.graphs import graph_of
from tests.samples import simulated_genome, simulated_pairs

UNITIGS = {"a": (900, 20.0), "b": (700, 20.0), "r": (500, 40.0), "x": (900, 20.0)}


@pytest.mark.parametrize(
    ("arcs", "changed", "is_found"),
    [
        ("a>r b>r", {}, True),
        ("-r>-a -r>-b", {}, True),
        ("a>-r -b>-r", {}, True),
        ("a>r b>r", {"r": (500, 34.0)}, True),
        ("a>r b>r", {"r": (500, 22.0)}, False),  # one copy: one of the two has lost its own edge
        ("a>r b>r", {"r": (500, 60.0)}, False),  # three copies
        ("a>r b>r", {"r": (20, 40.0)}, False),
        ("a>r b>r", {"b": (20, 20.0)}, False),
        ("a>r b>r r>x", {}, False),
        ("a>r b>r b>x", {}, False),
        ("a>r", {}, False),
        ("a>r -a>r", {}, True),
    ],
)
def test_terminal_repeats_are_found(arcs, changed, is_found):
    unitigs = UNITIGS | changed
    graph, number = graph_of([(name, *own) for name, own in unitigs.items()], arcs)
    expected = [2 * number["r"] + ("-r" in arcs and "-r>" not in arcs)] if is_found else []
    assert find_terminal_repeats(graph).tolist() == expected


def test_inverted_ends_of_a_linear_genome_are_both_whole():
    genome = simulated_genome(length=12_000, seed=4)
    genome[-2000:] = reverse_complement(genome[:2000])
    pairs = Reads.from_strings(simulated_pairs(genome, fold=60), paired=True)
    contigs = [contig.sequence for contig in assemble(pairs).contigs]
    text = decode(genome)
    assert len(contigs) == 1
    assert len(contigs[0]) > 11_900
    assert contigs[0] in text or decode(reverse_complement(genome)).find(contigs[0]) >= 0
