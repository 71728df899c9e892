"""Euler tours of assembly graphs: segments are edges, as many as their copy number, between the junctions of links.

A link from one oriented segment to another merges the end of the first and the beginning of the second into a
junction. So the graph is the de Bruijn graph, with its unbranching paths as single edges. It has both strands. A
component and its reverse complement are reported once; some, with hairpins, are their own reverse complement.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gpuasm.errors import DataError
from gpuasm.graph.building import from_edges
from gpuasm.graph.components import number_components, weak_components
from gpuasm.graph.euler_path import find_euler_path
from gpuasm.graph.hierholzer import hierholzer
from gpuasm.resources import process_limit, require_memory, resident_bytes

_MOST_COPIES = 100_000_000
_FEW_STEPS = 1 << 16
_BYTES_OF_STEP = 160
"""Edges, junctions, their order, the graph and its walk, for each copy of an oriented segment."""


@dataclass(frozen=True)
class SegmentTour:
    """An Euler tour of one component, or why there is none.

    Attributes
    ----------
    segments : (s,) int64
        Its segments, ascending.
    copies : (s,) int64
        Number of times the tour passes each.
    depth : float
        The depth of one copy.
    both_strands : bool
        Whether the component holds its segments on both strands.
    kind : str
        "circuit", "path" or "none".
    reason : str
        Why there is none, else "".
    steps : (w,) int64
        The walk: 2 i for segment i as written, 2 i + 1 for its reverse complement.
    """

    segments: np.ndarray
    copies: np.ndarray
    depth: float
    both_strands: bool
    kind: str
    reason: str
    steps: np.ndarray


def segment_tours(
    lengths: np.ndarray, depths: np.ndarray, first: np.ndarray, second: np.ndarray
) -> Iterator[SegmentTour]:
    """Yield an Euler tour of each component of an assembly graph, or why there is none.

    Copy numbers are depths in units of the component's median depth by bases. As a rule a tour is one of many; that one
    exists shows that the copy numbers agree with the graph.

    Parameters
    ----------
    lengths, depths : (n,)
        Bases and depth of each segment; where no depth is known (NaN), one copy is taken.
    first, second : (l,) int64
        Links between oriented segments, 2 i for segment i and 2 i + 1 for its other strand, in one direction or both.

    Raises
    ------
    DataError
        If depths differ so much that the segments of a component have more copies than a tour may pass.
    ResourceError
        If the tour of a component takes more memory than there is.
    """
    tail, head, n_junctions = _junctions(lengths.size, first, second)
    joined = from_edges(tail, head, n_junctions)
    component = weak_components(joined)[tail]
    order = np.argsort(component, kind="stable")
    bounds = np.flatnonzero(np.diff(component[order], prepend=-1, append=-1))
    groups = [order[a:b] for a, b in itertools.pairwise(bounds)]
    for oriented in sorted(groups, key=lambda group: int(group[0])):
        if oriented[0] % 2:  # the least segment is reversed: reported with the other strand
            continue
        segments = np.unique(oriented >> 1)
        unit = _unit_depth(lengths[segments], depths[segments])
        copies = _copies(depths[segments], unit)
        times = copies[np.searchsorted(segments, oriented >> 1)]
        _require_memory(int(times.sum()))
        edges = np.repeat(oriented, times)
        both = segments.size < oriented.size
        yield SegmentTour(segments, copies, unit, both, *_tour(tail[edges], head[edges], edges))


def _require_memory(n_steps: int) -> None:
    if n_steps > _FEW_STEPS:
        needed = resident_bytes() + _BYTES_OF_STEP * n_steps
        require_memory(needed, process_limit(), f"a tour of {n_steps:,} segments")


def _copies(depths: np.ndarray, unit: float) -> np.ndarray:
    """Return how often each segment occurs, (s,) int64."""
    copies = np.maximum(np.rint(np.nan_to_num(depths / unit, nan=1.0)), 1)
    if copies.sum() > _MOST_COPIES:
        raise DataError(
            f"segments of a component with at most {_MOST_COPIES:,} copies in all", f"{copies.sum():.3g}",
            "correct the depths that are far above the others",
        )  # fmt: skip
    return copies.astype(np.int64)


def _junctions(n: int, first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the junctions where each oriented segment begins and ends, and the number of junctions."""
    # Oriented segment o begins at end 2 o and ends at 2 o + 1. Each link has a reverse complement.
    ends = np.concatenate([2 * first + 1, 2 * (second ^ 1) + 1])
    beginnings = np.concatenate([2 * second, 2 * (first ^ 1)])
    junction, n_junctions = number_components(weak_components(from_edges(ends, beginnings, 4 * n)))
    return junction[0::2], junction[1::2], n_junctions


def _unit_depth(lengths: np.ndarray, depths: np.ndarray) -> float:
    known = np.isfinite(depths) & (depths > 0)
    if not known.any():
        return float("nan")
    order = np.argsort(depths[known], kind="stable")
    bases = np.cumsum(lengths[known][order])
    return float(depths[known][order][np.searchsorted(bases, bases[-1] / 2)])


def _tour(tail: np.ndarray, head: np.ndarray, edges: np.ndarray) -> tuple[str, str, np.ndarray]:
    """Return kind, reason and steps for one component, given its edges' ends and oriented segments."""
    junctions, ends = np.unique(np.concatenate([tail, head]), return_inverse=True)
    order = np.argsort(ends[: tail.size], kind="stable")  # the graph's edges are grouped by source
    graph = from_edges(ends[: tail.size], ends[tail.size :], junctions.size)
    check = graph.euler_check()
    if not (check.has_circuits or check.has_path):
        surplus = np.abs(graph.out_degree - graph.in_degree)
        reason = f"{check.n_unbalanced} unbalanced junctions, {int(surplus.sum()) // 2} walks would do"
        return "none", reason, np.zeros(0, np.int64)
    tour = find_euler_path(graph, hierholzer)
    return "circuit" if check.has_circuits else "path", "", edges[order[tour.edges]]
