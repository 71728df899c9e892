"""Superbubbles by their definition, and the choice among all their paths."""

from __future__ import annotations

import itertools
from functools import cache

from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.parameters import ALIGNMENT, PATHS, SIMPLIFICATION
from tests.oracles.kmers import reverse_complement


def superbubble(graph: UnitigGraph, entrance: int) -> tuple[set[int], int] | None:
    """Return the inner vertices between an entrance and its exit, and the exit; None if it is not an entrance.

    Onodera et al. (2013): the vertices reached from the entrance without passing the exit are those that reach the exit
    without passing the entrance; they have no cycle, and no other one is an exit. None is present on both strands or a
    dead end.
    """
    found = []
    for end in range(2 * graph.n):
        if end in (entrance, entrance ^ 1):
            continue
        ahead = _reached(graph, entrance, stop=end)
        behind = {v ^ 1 for v in _reached(graph, end ^ 1, stop=entrance ^ 1)}
        if end in ahead and ahead == behind and not _has_cycle(graph, ahead, end):
            found.append((ahead - {entrance, end}, end))
    # The exit is the first one: its superbubble contains no other exit.
    found = [own for own in found if not any(other[1] in own[0] for other in found)]
    if not found:
        return None
    inner, end = found[0]
    strands = {v >> 1 for v in inner} | {entrance >> 1, end >> 1}
    return (inner, end) if inner and len(strands) == len(inner) + 2 else None


def not_on_kept_paths(graph: UnitigGraph) -> set[int]:
    """Return the unitigs that `find_superbubble_variants` should mark, with ends of any depth."""
    seen: set[int] = set()
    marked: set[int] = set()
    for entrance in range(2 * graph.n):
        inner, end = superbubble(graph, entrance) or (set(), -1)
        if not inner or entrance > end ^ 1 or {v >> 1 for v in inner} & seen:
            continue
        through = _paths(graph, entrance, end)
        kept = min(through, key=lambda path: (_missing(graph, path), path[::-1]))
        rest, text = inner - set(kept), _text_of(graph, kept)
        longest = max(sum(int(graph.n_kmers[v >> 1]) for v in path[1:-1]) for path in through)
        if longest <= SIMPLIFICATION.variant_max_kmers and all(_is_similar(graph, v, text) for v in rest):
            if lies_in_tandem_repeat(graph, entrance, end, max(graph.depth[v >> 1] for v in rest)):
                continue
            seen |= {v >> 1 for v in inner}
            marked |= {v >> 1 for v in rest}
    return marked


def lies_in_tandem_repeat(graph: UnitigGraph, entrance: int, end: int, depth: float) -> bool:
    """Return whether high-coverage paths lead from the exit to the entrance, with other edges into and out of them."""
    covered = [v for v in range(2 * graph.n) if SIMPLIFICATION.tandem_depth_ratio * graph.depth[v >> 1] >= depth]
    following = {v: [w for w in _following(graph, v) if w in covered] for v in range(2 * graph.n)}
    size = {v: int(graph.n_kmers[v >> 1]) for v in following}
    paths, cycle = [[end]], set[int]()
    while paths:
        path = paths.pop()
        if sum(size[v] for v in path) <= PATHS.replicon_min_bases and len(set(path)) == len(path):
            cycle |= set(path) if path[-1] == entrance else set()
            paths += [[*path, w] for w in following[path[-1]] if path[-1] != entrance]
    into = [v for v in covered if v not in cycle and set(following[v]) & (cycle - {end})]
    out = [v for v in cycle - {entrance} if set(following[v]) - cycle]
    return bool(into) and bool(out)


def _is_similar(graph: UnitigGraph, v: int, text: str) -> bool:
    differences, bases = 1, ALIGNMENT.copy_bases_per_difference
    return bases * _differences(graph, v, text) <= differences * len(graph.sequence(v >> 1))


def _paths(graph: UnitigGraph, v: int, end: int) -> list[list[int]]:
    if v == end:
        return [[v]]
    return [[v, *rest] for w in _following(graph, v) for rest in _paths(graph, w, end)]


def _following(graph: UnitigGraph, v: int) -> list[int]:
    return graph.arc_to[graph.arc_start[v] : graph.arc_start[v + 1]].tolist()


def _missing(graph: UnitigGraph, path: list[int]) -> int:
    count, n_kmers = graph.count.tolist(), graph.n_kmers.tolist()
    full = max(count[v >> 1] // n_kmers[v >> 1] for v in (path[0], path[-1]))
    return sum(max(0, full * n_kmers[v >> 1] - count[v >> 1]) for v in path[1:-1])


def _text_of(graph: UnitigGraph, path: list[int]) -> str:
    """Return the text of a path, with at most k - 1 bases of its first and last unitig beyond the overlaps."""
    k = graph.k
    texts = [_oriented(graph, v) for v in path]
    texts[0] = texts[0][-(k - 1) :]
    texts[-1] = texts[-1][: 2 * (k - 1)]
    for before, after in itertools.pairwise(texts):
        assert before[-(k - 1) :] == after[: k - 1]
    return texts[0] + "".join(text[k - 1 :] for text in texts[1:])


def _differences(graph: UnitigGraph, v: int, text: str) -> int:
    """Return the edits between an oriented unitig and the most similar part of a text."""
    own = _oriented(graph, v)

    @cache
    def fewest(i: int, j: int) -> int:
        if i == 0:
            return 0
        if j == 0:
            return i
        return min(fewest(i - 1, j - 1) + (own[i - 1] != text[j - 1]), fewest(i - 1, j) + 1, fewest(i, j - 1) + 1)

    return min(fewest(len(own), j) for j in range(len(text) + 1))


def _oriented(graph: UnitigGraph, v: int) -> str:
    text = graph.sequence(v >> 1)
    return reverse_complement(text) if v & 1 else text


def _reached(graph: UnitigGraph, start: int, *, stop: int) -> set[int]:
    found, todo = {start}, [start]
    while todo:
        v = todo.pop()
        for w in _following(graph, v) if v != stop else ():
            if w not in found:
                found.add(w)
                todo.append(w)
    return found


def _has_cycle(graph: UnitigGraph, inside: set[int], end: int) -> bool:
    left = set(inside)
    while True:
        free = {v for v in left if v == end or not set(_following(graph, v)) & left}
        if not free:
            return bool(left)
        left -= free
