"""Euler tours and de Bruijn sequences: a plain check, and an independent construction."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from tests.oracles.graphs import Edges, components


def faults(edges: Edges, walks: list[list[int]], *, open_walks: int = 0) -> list[str]:
    """Return what is wrong with walks as Euler tours of a graph, each a list of numbers of edges.

    Each edge once, each beginning where the one before ended, closed but for ``open_walks``, and no two walks through
    the same vertex: then there is one for each component.
    """
    found = []
    if sorted(edge for walk in walks for edge in walk) != list(range(len(edges))):
        found.append("not each edge once")
    found += ["an empty walk" for walk in walks if not walk]
    for walk in walks:
        for before, after in itertools.pairwise(walk):
            if edges[before][1] != edges[after][0]:
                found.append(f"{after} does not begin where {before} ends")
    ends = [walk for walk in walks if edges[walk[0]][0] != edges[walk[-1]][1]]
    if len(ends) != open_walks:
        found.append(f"{len(ends)} open walks")
    passed = [{vertex for edge in walk for vertex in edges[edge]} for walk in walks]
    if len(set().union(*passed)) != sum(map(len, passed)):
        found.append("walks share a vertex")
    return found


def n_components(n: int, edges: Edges) -> int:
    """Return how many weakly connected components have edges."""
    label = components(n, edges)
    return len({label[source] for source, _ in edges})


def lyndon_words(n_letters: int, longest: int) -> Iterator[list[int]]:
    """Yield the Lyndon words of up to ``longest`` letters in their order (Duval 1988)."""
    letters = [-1]
    while letters:
        letters[-1] += 1
        yield letters
        period = len(letters)
        while len(letters) < longest:
            letters.append(letters[len(letters) - period])
        while letters and letters[-1] == n_letters - 1:
            letters.pop()


def least_debruijn_sequence(n_letters: int, order: int) -> list[int]:
    """Return the Lyndon words whose length divides the order, one after the other (Fredricksen and Maiorana 1978)."""
    return [letter for own in lyndon_words(n_letters, order) if order % len(own) == 0 for letter in own]


def circular_substrings(sequence: list[int], order: int) -> list[tuple[int, ...]]:
    """Return the substrings of one length of a circular sequence, by their starts."""
    around = sequence * (order // len(sequence) + 2)
    return [tuple(around[i : i + order]) for i in range(len(sequence))]
