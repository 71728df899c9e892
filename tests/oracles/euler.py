"""Euler tours and de Bruijn sequences, plainly: what is wrong with one, and one made another way."""

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
        found.append("walks meet")
    return found


def n_components(n: int, edges: Edges) -> int:
    """Return how many weakly connected components have edges."""
    label = components(n, edges)
    return len({label[source] for source, _ in edges})


def lyndon_words(n_letters: int, longest: int) -> Iterator[list[int]]:
    """Yield the Lyndon words of up to ``longest`` letters in their order (Duval 1988)."""
    word = [-1]
    while word:
        word[-1] += 1
        yield word
        period = len(word)
        while len(word) < longest:
            word.append(word[len(word) - period])
        while word and word[-1] == n_letters - 1:
            word.pop()


def least_debruijn_sequence(n_letters: int, order: int) -> list[int]:
    """Return the Lyndon words whose length divides the order, one after the other (Fredricksen and Maiorana 1978)."""
    return [letter for word in lyndon_words(n_letters, order) if order % len(word) == 0 for letter in word]


def words_of_circle(sequence: list[int], order: int) -> list[tuple[int, ...]]:
    """Return the words of a length that a circle of letters holds, by where they begin."""
    around = sequence * (order // len(sequence) + 2)
    return [tuple(around[i : i + order]) for i in range(len(sequence))]
