"""Unitig graphs for tests: made by hand of names, k-mers, depths and arcs, or of reads; and checks of graphs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from hypothesis import strategies as st

from gpuasm.assembly.graph.compaction import SourceUnitigs
from gpuasm.assembly.graph.unitig_graph import UnitigGraph, sorted_arcs
from gpuasm.assembly.graph.unitigs import unitigs_of_reads
from gpuasm.sequence.reads import Reads
from tests.oracles import kmers as kmer_oracle

K = 31


def graph_of(
    unitigs: Iterable[tuple[str, int, float]], arcs: str = "", *, circles: str = "", k: int = K, unit: int = 32
) -> tuple[UnitigGraph, dict[str, int]]:
    """Make a graph without meaningful sequence, for rules that use depth and arcs only.

    Parameters
    ----------
    unitigs
        Name, number of k-mers and depth of each.
    arcs
        "a>b" joins the end of a to the beginning of b, "-b" is b reverse-complemented, "a>b:3" has a count of three
        (by default the lower depth of the two); twins are added.
    circles
        Names of the circular ones.

    Returns
    -------
    The graph, and the number of each name.
    """
    names, n_kmers, depth = zip(*unitigs, strict=True)
    number = {name: u for u, name in enumerate(names)}

    def oriented(text: str) -> int:
        return 2 * number[text.lstrip("-")] + text.startswith("-")

    rows = {}
    for arc in arcs.split():
        ends, _, seen = arc.partition(":")
        source, target = map(oriented, ends.split(">"))
        times = float(seen) if seen else min(depth[source >> 1], depth[target >> 1])
        rows[source, target] = rows[target ^ 1, source ^ 1] = round(times * unit)
    source, target = np.array(sorted(rows), np.int64).reshape(-1, 2).T
    count = np.array([rows[key] for key in sorted(rows)], np.int64)
    start = np.concatenate([[0], np.cumsum(np.array(n_kmers) + k - 1)])
    return UnitigGraph(
        k,
        np.zeros(start[-1], np.uint8),
        start,
        np.round(np.array(n_kmers) * np.array(depth) * unit).astype(np.int64),
        np.array([name in circles.split() for name in names]),
        *sorted_arcs(source, target, count, n_rows=2 * len(names)),
        unit,
    ), number


def marked(mask: np.ndarray, number: dict[str, int]) -> set[str]:
    """Return the names of the marked unitigs."""
    return {name for name, u in number.items() if mask[u]}


def all_near(graph: UnitigGraph, depth: float) -> np.ndarray:
    """Return the same local depth for each unitig."""
    return np.full(graph.n, depth)


@st.composite
def small_graphs(
    draw: st.DrawFn, *, around: str = "", least: int = 1, depths: Sequence[int] = (5, 10, 20, 40, 41)
) -> UnitigGraph:
    """Draw a graph of at most seven unitigs of 100 k-mers each, with the given and any other arcs.

    Parameters
    ----------
    around
        Arcs of each graph.
    least
        Fewest unitigs, named from a on.
    depths
        Depths to choose from.
    """
    names = "abcdefg"[: draw(st.integers(least, 7))]
    unitigs = [(name, 100, float(draw(st.sampled_from(depths)))) for name in names]
    end = st.tuples(st.sampled_from(("", "-")), st.sampled_from(names)).map("".join)
    arcs = draw(st.lists(st.tuples(end, end).map(">".join), max_size=2 if around else 12))
    graph, _ = graph_of(unitigs, " ".join([around, *arcs]))
    for u in range(graph.n):
        if every := draw(st.sampled_from((0, 0, 0, 0, 0, 0, 30, 9))):  # one base in so many differs
            graph.bases[graph.start[u] : graph.start[u + 1] : every] = 1
    return graph


def observed_graph(texts: list[str], k: int, min_count: int = 1) -> UnitigGraph:
    """Build the unitig graph of the k-mers and edges of some texts."""
    return unitigs_of_reads(Reads.from_strings(texts), k, min_count=min_count, observed=True)


def text_of(graph: UnitigGraph, oriented: int) -> str:
    """Return the sequence of an oriented unitig."""
    text = graph.sequence(oriented >> 1)
    return kmer_oracle.reverse_complement(text) if oriented & 1 else text


def kmers_of(graph: UnitigGraph, chosen: Iterable[int] | None = None) -> set[str]:
    """Return the canonical k-mers of all unitigs, or of the chosen ones."""
    numbers = range(graph.n) if chosen is None else chosen
    return {
        kmer_oracle.canonical(graph.sequence(u)[i : i + graph.k]) for u in numbers for i in range(int(graph.n_kmers[u]))
    }


def assert_consists_of_sources(sources: SourceUnitigs, earlier: UnitigGraph, later: UnitigGraph) -> None:
    """Assert that each unitig is the sequence of its source unitigs, end to end."""
    k = earlier.k
    assert sources.start.size == later.n + 1
    assert np.unique(sources.oriented >> 1).size == sources.oriented.size
    for u in range(later.n):
        parts = [text_of(earlier, p) for p in sources.oriented[sources.start[u] : sources.start[u + 1]].tolist()]
        text = parts[0]
        for part in parts[1:]:
            assert text[1 - k :] == part[: k - 1]
            text += part[k - 1 :]
        assert text == later.sequence(u)
        used = sources.oriented[sources.start[u] : sources.start[u + 1]] >> 1
        assert later.count[u] == earlier.count[used].sum()


def assert_arcs_overlap(graph: UnitigGraph) -> None:
    """Assert that arcs join unitigs that overlap, are sorted, and have twins of the same count."""
    arcs = list(zip(graph.arc_from.tolist(), graph.arc_to.tolist(), strict=True))
    seen = dict(zip(arcs, graph.arc_count.tolist(), strict=True))
    for a, b in arcs:
        assert text_of(graph, a)[1 - graph.k :] == text_of(graph, b)[: graph.k - 1]
        assert seen[b ^ 1, a ^ 1] == seen[a, b]
    assert arcs == sorted(arcs)
