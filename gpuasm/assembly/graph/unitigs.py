"""Unitigs: the unbranching paths of a de Bruijn graph, with their bases, in canonical order."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.graph.canonical_order import CanonicalOrder, apply_order, canonical_order
from gpuasm.assembly.graph.debruijn import edges_of, find_neighbours, forced_successors, oriented_base
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.kmers.counting import tally_kmers
from gpuasm.kmers.keys import doubling_chain
from gpuasm.kmers.names import Dictionary, name_windows
from gpuasm.kmers.spectrum import analyse_spectrum
from gpuasm.kmers.tally import Tally
from gpuasm.parallel import for_each, signatures
from gpuasm.primitives.counting import count_values, sum_in_batches
from gpuasm.primitives.searching import run_of
from gpuasm.primitives.strand_walks import StrandWalks, strand_walks
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages


class Chains(NamedTuple):
    """Windows of an earlier unitig that are no vertices, between its first and its last window, which are.

    Attributes
    ----------
    after : (2n,) int32
        Oriented earlier unitig whose inner windows follow each vertex of the graph, or -1.
    n_windows : (n_earlier,) int64
        Windows of each earlier unitig, the first and the last included.
    count : (n_earlier,) int64
        Multiplicity of each inner window.
    bases : (total,) uint8
    start : (n_earlier + 1,) int64
        Bases of the earlier unitigs.
    """

    after: Array
    n_windows: Array
    count: Array
    bases: Array
    start: Array

    @classmethod
    def none(cls, xp: Any, n_vertices: int) -> Chains:
        """Return the chains of a graph all of whose windows are vertices."""
        n_windows, count, start = xp.zeros(1, np.int64), xp.zeros(1, np.int64), xp.zeros(2, np.int64)
        return cls(xp.full(n_vertices, -1, np.int32), n_windows, count, xp.zeros(1, np.uint8), start)


def build_unitigs(
    packed: Array,
    tally: Tally,
    neighbour: Array,
    *,
    unit: int = 1,
    chains: Chains | None = None,
    with_names: bool = True,
) -> tuple[UnitigGraph, Array]:
    """Compact a de Bruijn graph into unitigs.

    ``tally.place`` points into ``packed``, `find_neighbours` returns ``neighbour``, and ``unit`` is that of the graph.
    The first and the last window of a chain are neighbours.

    Returns
    -------
    graph : UnitigGraph
        On the host, canonical.
    name : (n,) int32
        2 * window + strand of each k-mer of the tally, on the device: its window, counted through all unitigs of
        ``graph``, and the strand of its key that the unitig reads. Empty without ``with_names``.
    """
    walks = strand_walks(forced_successors(neighbour))
    xp, n = array_namespace(walks.path), walks.start.size - 1
    chains = chains or Chains.none(xp, 2 * tally.n)
    at = _windows_before(walks, chains)
    start = at[walks.start] + (tally.k - 1) * xp.arange(n + 1)
    bases = xp.empty(int(start[-1]), np.uint8)
    where = start, walks.path, walks.start, at, packed, tally.place, tally.k
    _write_bases(-(-bases.size // _BLOCK), bases.size, n, walks.path.size, *where, chains, bases)
    bases = to_host(bases)
    count = _counts_of_walks(tally.count, walks, chains, at)
    is_circular = np.arange(n) >= walks.n_linear
    rows = find_arcs(partial(edges_of, neighbour, tally.followers), walks)
    graph = UnitigGraph(tally.k, bases, to_host(start), count, is_circular, *rows, unit)
    canonical = canonical_order(graph.bases, graph.start, graph.is_circular, graph.k)
    name = _name_kmers(walks, at, canonical) if with_names else xp.empty(0, np.int32)
    return apply_order(graph, canonical), name


def unitigs_of_reads(
    reads: Reads, k: int, *, min_count: int | None = None, observed: bool = False, stages: Stages | None = None
) -> UnitigGraph:
    """Build the unitig graph of the k-mers that occur at least ``min_count`` times.

    Parameters
    ----------
    reads
        Packed reads, on the host or on a device.
    k
        Odd, of any size.
    min_count
        Least multiplicity of a k-mer; with ``observed``, of a (k + 1)-mer too. None takes the solid threshold from
        the spectrum of the first k of the doubling chain: 31, or k if that is smaller.
    observed
        Join k-mers only where reads contain them consecutively; otherwise wherever they share k - 1 bases.
    stages
        Where to report progress and timings.
    """
    stages = stages or Stages()
    names, k0, lower = None, 0, None
    for step in doubling_chain(k):
        is_last = step == k
        with stages.stage("count k-mers", k=step) as stage:
            tally = tally_kmers(
                reads, step, names, k0=k0, min_count=min_count or 2, with_followers=is_last and observed
            )
            if min_count is None:
                min_count = analyse_spectrum(tally.histogram, step).threshold
                tally = tally.at_least(min_count)
            stage.note(solid=tally.n, min_count=min_count)
        with stages.stage("build graph", k=step) as stage:
            dictionary = Dictionary.of(tally.keys, k=step, k0=k0)
            min_follow = min_count if is_last and observed else 0
            neighbour: Array = find_neighbours(reads.packed, tally, dictionary, lower=lower, min_follow=min_follow)
            if not is_last:
                names, k0, lower = name_windows(reads, dictionary, names), step, neighbour
    with stages.stage("compact unitigs", k=k) as stage:
        graph, _ = build_unitigs(reads.packed, tally, neighbour, with_names=False)
        stage.note(unitigs=graph.n)
    return graph


def _windows_before(walks: StrandWalks, chains: Chains) -> Array:
    """Return the windows before each vertex on all walks, inner windows included, and of all: (m + 1,) int64."""
    xp = array_namespace(walks.path)
    after = chains.after[walks.path]
    n = xp.where(after >= 0, chains.n_windows[xp.maximum(after, 0) >> 1] - 1, 1)
    return xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(n)])


def _counts_of_walks(count: Array, walks: StrandWalks, chains: Chains, at: Array) -> np.ndarray:
    """Return the sum of the counts of all windows of each walk: (n,) int64, on the host."""
    xp = array_namespace(walks.path)
    count = to_namespace(xp, count)

    def of_vertices(rows: slice) -> Array:
        path, n_inner = walks.path[rows], xp.diff(at[rows.start : rows.stop + 1]) - 1
        return count[path >> 1].astype(np.int64) + n_inner * chains.count[xp.maximum(chains.after[path], 0) >> 1]

    return sum_in_batches(of_vertices, walks.start)


_BLOCK = 32
"""Bases that one index of `_write_bases` writes."""


@signatures(
    "int64, int64, int64, int64[::1], int32[::1], int64[::1], int64[::1], uint64[::1], int64[::1], int64, int32[::1], "
    "int64[::1], int64[::1], uint8[::1], int64[::1], uint8[::1]"
)
@for_each
def _write_bases(
    block, total, n_walks, n_vertices, start, path, walk_start, at, packed, place, k, chains: Chains, bases
):  # fmt: skip
    first = _BLOCK * np.int64(block)
    walk, j = run_of(first, start, n_walks), np.int64(-1)
    for i in range(first, min(first + _BLOCK, total)):
        while i >= start[walk + 1]:
            walk, j = walk + 1, np.int64(-1)
        offset = i - start[walk] - (k - 1)
        window = at[walk_start[walk]] + max(offset, np.int64(0))
        if j < 0:
            j = run_of(window, at, n_vertices)
        while window >= at[j + 1]:
            j += 1
        vertex, inner = np.int64(path[j]), window - at[j]
        if inner == 0:
            bases[i] = oriented_base(packed, place[vertex >> 1], k, vertex & 1, k - 1 + min(offset, np.int64(0)))
        else:
            u = np.int64(chains.after[vertex]) >> 1
            if chains.after[vertex] & 1:
                bases[i] = 3 - chains.bases[chains.start[u] + chains.n_windows[u] - 1 - inner]
            else:
                added = chains.start[u] + inner + k - 1
                bases[i] = chains.bases[added if added < chains.start[u + 1] else added - chains.n_windows[u]]


def find_arcs(
    edges_of_vertices: Callable[[Array], tuple[Array, Array]], walks: StrandWalks
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the arcs between linear unitigs in compressed rows, on the host.

    ``edges_of_vertices`` returns what `gpuasm.assembly.graph.debruijn.edges_of` does for vertices.
    """
    xp = array_namespace(walks.path)
    first, last = walks.path[walks.start[:-1]], walks.path[walks.start[1:] - 1]
    heads = xp.stack([first[: walks.n_linear], last[: walks.n_linear] ^ 1], axis=1).ravel()
    order = xp.argsort(heads)
    heads = heads[order]
    leaving = xp.stack([last, first ^ 1], axis=1).ravel().astype(np.int64)
    follower, seen = edges_of_vertices(leaving)
    follower = follower.ravel()
    at = xp.minimum(xp.searchsorted(heads, follower), max(0, heads.size - 1))
    to = xp.where(heads[at] == follower, order[at], -1) if heads.size else xp.full_like(follower, -1)
    to = to.astype(np.int32).reshape(-1, 4)
    to[2 * walks.n_linear :] = -1
    row, column = xp.nonzero(to >= 0)
    to, seen = to[row, column], seen[row, column]
    order = xp.argsort((row << 32) + to)
    arc_start = np.concatenate([[0], np.cumsum(to_host(count_values(row, leaving.size)))])
    return arc_start, to_host(to[order]), to_host(seen[order]).astype(np.int64)


def _name_kmers(walks: StrandWalks, at: Array, canonical: CanonicalOrder) -> Array:
    """Return the window of each k-mer in the canonical order, strand and rotation of the unitigs, and its strand."""
    xp, n = array_namespace(walks.path), walks.start.size - 1
    size = np.diff(to_host(at[walks.start]))
    rows = (to_namespace(xp, row) for row in canonical.by_old_number(size))
    name = xp.empty(walks.path.size, np.int32)
    _name(walks.path.size, walks.path, walks.start, n, walks.n_linear, at, *rows, name)
    return name


@signatures("int32[::1], int64[::1], int64, int64, int64[::1], int64[::1], boolean[::1], int64[::1], int32[::1]")
@for_each
def _name(j, path, walk_start, n_walks, n_linear, at, first, is_flipped, rotation, name):
    walk = run_of(j, walk_start, n_walks)
    begin, end = at[walk_start[walk]], at[walk_start[walk + 1]]
    n, i, flip = end - begin, at[j] - begin, np.int64(is_flipped[walk])
    if walk >= n_linear:
        i = (rotation[walk] - i) % n if flip else (i - rotation[walk]) % n
    elif flip:
        i = n - 1 - i
    name[path[j] >> 1] = 2 * (first[walk] + i) + ((np.int64(path[j]) & 1) ^ flip)
