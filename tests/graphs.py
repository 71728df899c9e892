"""Unitig graphs made by hand: names, k-mers, depths and arcs; bases only where a test needs them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from hypothesis import strategies as st

from gpuasm.assembly.graph.unitig_graph import UnitigGraph, sorted_arcs

K = 31


def graph_of(
    unitigs: Iterable[tuple[str, int, float]], arcs: str = "", *, circles: str = "", k: int = K, unit: int = 32
) -> tuple[UnitigGraph, dict[str, int]]:
    """Make a graph whose unitigs hold no sequence that means anything, for rules that look at depth and arcs only.

    Parameters
    ----------
    unitigs
        Name, number of k-mers and depth of each.
    arcs
        "a>b" joins the end of a to the beginning of b, "-b" is b read backwards, "a>b:3" was seen three times (else
        as often as the shallower of the two is deep); twins are added.
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
    for word in arcs.split():
        ends, _, seen = word.partition(":")
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
    """Return the names of what a rule has marked."""
    return {name for name, u in number.items() if mask[u]}


def all_near(graph: UnitigGraph, depth: float) -> np.ndarray:
    """Return one local depth for every unitig."""
    return np.full(graph.n, depth)


@st.composite
def small_graphs(
    draw: st.DrawFn, *, around: str = "", least: int = 1, depths: Sequence[int] = (5, 10, 20, 40, 41)
) -> UnitigGraph:
    """Draw a graph of seven unitigs at most, of 100 k-mers each, with some arcs and any others.

    Parameters
    ----------
    around
        Arcs that each graph has.
    least
        Unitigs that it has at least, named from a on.
    depths
        One of these is each one's.
    """
    names = "abcdefg"[: draw(st.integers(least, 7))]
    unitigs = [(name, 100, float(draw(st.sampled_from(depths)))) for name in names]
    end = st.tuples(st.sampled_from(("", "-")), st.sampled_from(names)).map("".join)
    arcs = draw(st.lists(st.tuples(end, end).map(">".join), max_size=2 if around else 12))
    graph, _ = graph_of(unitigs, " ".join([around, *arcs]))
    for u in range(graph.n):
        if every := draw(st.sampled_from((0, 0, 0, 0, 0, 0, 30, 9))):  # one base in so many is another one
            graph.bases[graph.start[u] : graph.start[u + 1] : every] = 1
    return graph
