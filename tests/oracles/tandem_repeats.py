"""Tandem repeats, slowly: cycles by walking arcs, numbers of copies by the densities of normal distributions."""

from __future__ import annotations

import math

from gpuasm.assembly.graph.unitig_graph import UnitigGraph


def normal_density(x: float, mean: float, sd: float) -> float:
    return math.exp(-((x - mean) ** 2) / (2 * sd * sd)) / (sd * math.sqrt(2 * math.pi))


def copies(depth, one_copy, *, length, period, read_length, uneven, most=10):
    """Return the number of copies whose density is a thousand times that of each other, 0 where there is none.

    Densities that are too small for a float count as equal.
    """
    density = {}
    for n in range(1, most + 2):
        covered = len({base for copy in range(n) for base in range(copy * period, copy * period + length)})
        variance = (n * one_copy) ** 2 * (read_length / (one_copy * covered) + uneven)
        density[n] = normal_density(depth, n * one_copy, math.sqrt(variance))
    for n in range(1, most + 1):
        if density[n] > 0 and all(density[n] >= 1000 * density[m] for m in density if m != n):
            return n
    return 0


def cycles(graph: UnitigGraph) -> set[tuple[int, int, int, int]]:
    """Return before, repeat, between and after of each cycle with one entry and one exit, on either strand."""
    leads = {o: set() for o in range(2 * graph.n)}
    for source, target in zip(graph.arc_from.tolist(), graph.arc_to.tolist(), strict=True):
        leads[source].add(target)
    comes = {o: {p ^ 1 for p in leads[o ^ 1]} for o in leads}
    found = set()
    for r, out in leads.items():
        for b in out:
            if leads[b] != {r} or comes[b] != {r} or len(out) != 2 or len(comes[r]) != 2:
                continue
            (a,), (c,) = comes[r] - {b}, out - {b}
            if len({o >> 1 for o in (a, r, b, c)}) == 4 and leads[a] == {r} and comes[c] == {r}:
                found.add((a, r, b, c))
    return found
