"""Picture of an assembly graph: segments as lines between the junctions of their links, tangles in colour.

A tangle is a segment with several links at both ends, or several of them that are linked. Junctions are placed by
springs and repulsion (Fruchterman and Reingold 1991, doi:10.1002/spe.4380211102), component by component.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuasm.io.gfa_segments import SegmentGraph
from gpuasm.report.charts import picture

MOST_SEGMENTS = 100
"""That are drawn: whole components, those of most bases first."""
_ROUNDS = 40
_SOFT, _GOLDEN = 1e-3, 0.618
_ENDS = ((0.0, 0.0), (1.0, 0.0))
"""Places of one junction, or of two."""
_WIDTH, _MARGIN = 860.0, 14.0
_MOST_HEIGHT = 600.0
_BRANCHING = 2
"""Links of an end that branches."""
_COLOURS = ("var(--series-2)", "#8a5cc2", "#1d8a4e", "#c24f9e", "#8f7500", "#4b8f9e")


@dataclass(frozen=True)
class DrawnGraph:
    """The picture, and the numbers of its caption."""

    svg: str
    n_drawn: int
    n_segments: int
    n_tangles: int


def graph_figure(graph: SegmentGraph) -> DrawnGraph | None:
    """Draw the components of most bases; None if even the first has too many segments, or nothing is linked."""
    n = len(graph.names)
    ends = _junctions(graph)
    component = _joined(ends.max(initial=-1) + 1, ends)[ends[:, 0]] if n else np.empty(0, np.int64)
    chosen = _choose(component, graph.lengths)
    if not chosen or n == 1 or graph.first.size == 0:
        return None
    tangle = _tangles(graph)
    place, width, height = _packed([(part, *_layout(part, ends, graph.lengths)) for part in chosen])
    scale = min((_WIDTH - 2 * _MARGIN) / width, (_MOST_HEIGHT - 2 * _MARGIN) / height)
    typical = float(np.nanmedian(graph.depths)) if np.isfinite(graph.depths).any() else math.nan
    shapes = []
    seen: dict[tuple[int, int], int] = {}
    for segment in sorted(segment for part in chosen for segment in part):
        a, b = ends[segment].tolist()
        key = min(a, b), max(a, b)
        number = seen[key] = seen.get(key, -1) + 1
        points = [(_MARGIN + scale * x, _MARGIN + scale * y) for x, y in (place[a], place[b])]
        colour = _COLOURS[tangle[segment] % len(_COLOURS)] if tangle[segment] >= 0 else "var(--series-1)"
        depth = float(graph.depths[segment])
        thick = 2.5 * min(3.0, max(0.6, depth / typical)) if depth > 0 and typical > 0 else 2.5
        label = f"{graph.names[segment]}, {graph.lengths[segment]:,} bases" + (
            f", depth {depth:.1f}" if depth > 0 else ""
        )
        shapes.append(
            f'<path d="{_path(points, number, is_loop=a == b)}" stroke="{colour}" stroke-width="{thick:.1f}">'
            f"<title>{html.escape(label)}</title></path>"
        )
    junctions = [
        f'<circle cx="{_MARGIN + scale * x:.1f}" cy="{_MARGIN + scale * y:.1f}" r="1.5"/>'
        for x, y in (place[v] for v in sorted({int(v) for part in chosen for v in ends[part].ravel()}))
    ]
    parts = ['<g fill="none" stroke-linecap="round" stroke-opacity="0.85">', *shapes, "</g>", *junctions]
    return DrawnGraph(
        picture("assembly graph", _WIDTH, scale * height + 2 * _MARGIN, parts),
        len(shapes),
        n,
        len({int(t) for part in chosen for t in tangle[part] if t >= 0}),
    )


def _junctions(graph: SegmentGraph) -> np.ndarray:
    """Return the junctions of the left and the right end of each segment: (n, 2) int64, from 0 on."""
    n = len(graph.names)
    # Ends are 2 i (left) and 2 i + 1 (right); the right end of a segment on its other strand is its left one.
    links = np.stack([graph.first ^ 1, graph.second], axis=1)
    return _joined(2 * n, links).reshape(n, 2)


def _joined(n: int, pairs: np.ndarray) -> np.ndarray:
    """Return the number of the set of each of n elements, where pairs are in one set; from 0 in order of appearance."""
    parent = list(range(n))

    def root(v: int) -> int:
        while parent[v] != v:
            parent[v] = parent[parent[v]]
            v = parent[v]
        return v

    for a, b in pairs.tolist():
        one, other = root(a), root(b)
        parent[max(one, other)] = min(one, other)
    return np.unique([root(v) for v in range(n)], return_inverse=True)[1].astype(np.int64)


def _choose(component: np.ndarray, lengths: np.ndarray) -> list[np.ndarray]:
    """Return the segments of the components of most bases, as many as are drawn."""
    bases = np.bincount(component, lengths) if component.size else np.empty(0)
    chosen: list[np.ndarray] = []
    room = MOST_SEGMENTS
    for number in np.argsort(-bases, kind="stable").tolist():
        own = np.flatnonzero(component == number)
        if own.size > room:
            break
        chosen.append(own)
        room -= own.size
    return chosen


def _tangles(graph: SegmentGraph) -> np.ndarray:
    """Return the number of the tangle of each segment, -1 for none: (n,) int64."""
    n = len(graph.names)
    found = np.full(n, -1, np.int64)
    n_links = np.bincount(np.concatenate([graph.first ^ 1, graph.second]), minlength=2 * n).reshape(n, 2)
    is_inner = np.asarray(n_links.min(axis=1) >= _BRANCHING)
    first, second = graph.first >> 1, graph.second >> 1
    between = is_inner[first] & is_inner[second]
    own = _joined(n, np.stack([first[between], second[between]], axis=1))
    found[is_inner] = np.unique(own[is_inner], return_inverse=True)[1]
    return found


def _layout(part: np.ndarray, ends: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the junctions of a component, and where they are placed: (m, 2), from 0 on."""
    junctions, edges = np.unique(ends[part], return_inverse=True)
    edges = edges.reshape(-1, 2)
    m = junctions.size
    distance = 0.5 + np.log10(np.maximum(lengths[part], 30) / 10)
    if m <= len(_ENDS):
        return junctions, np.array(_ENDS[:m]) * distance[0]
    # Places are complex numbers; the sum over edges is that of each of their ends.
    place = np.sqrt(np.arange(1, m + 1)) * np.exp(2j * np.pi * _GOLDEN * np.arange(m))
    ends_of_edges = np.concatenate([edges[:, 0], edges[:, 1]])
    for step in range(_ROUNDS):
        apart = place[:, None] - place
        force = (apart / (apart.real**2 + apart.imag**2 + _SOFT)).sum(axis=1)
        along = place[edges[:, 1]] - place[edges[:, 0]]
        pull = along * (1 - distance / (np.abs(along) + _SOFT))
        both = np.concatenate([pull, -pull])
        force += np.bincount(ends_of_edges, both.real, m) + 1j * np.bincount(ends_of_edges, both.imag, m)
        size = np.abs(force) + _SOFT
        place += force / size * np.minimum(size, 1.0 - 0.9 * step / _ROUNDS)
    found = np.stack([place.real, place.imag], axis=1)
    return junctions, found - found.min(axis=0)


def _packed(
    parts: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]],
) -> tuple[dict[int, tuple[float, float]], float, float]:
    """Place components in rows; return the places of junctions, and width and height of all."""
    sizes = [place.max(axis=0) + 1.0 for _, _, place in parts]
    width = max(1.4 * math.sqrt(sum(float(size.prod()) for size in sizes)), *(float(size[0]) for size in sizes))
    found: dict[int, tuple[float, float]] = {}
    left = top = shelf = right = 0.0
    for (_, junctions, place), size in zip(parts, sizes, strict=True):
        if left > 0 and left + size[0] > width:
            left, top, shelf = 0.0, top + shelf, 0.0
        for v, (x, y) in zip(junctions.tolist(), place.tolist(), strict=True):
            found[v] = left + x + 0.5, top + y + 0.5
        left += float(size[0])
        right, shelf = max(right, left), max(shelf, float(size[1]))
    return found, right, top + shelf


def _path(points: Sequence[tuple[float, float]], number: int, *, is_loop: bool) -> str:
    """Return the line of a segment, bent where several join the same junctions."""
    (ax, ay), (bx, by) = points
    if is_loop:
        radius = 9.0 + 4 * number
        return f"M{ax:.1f} {ay:.1f}a{radius:g} {radius:g} 0 1 1 0.1 0"
    bend = 0.0 if number == 0 else 0.22 * (-1) ** number * ((number + 1) // 2)
    x, y = (ax + bx) / 2 - bend * (by - ay), (ay + by) / 2 + bend * (bx - ax)
    return f"M{ax:.1f} {ay:.1f}Q{x:.1f} {y:.1f} {bx:.1f} {by:.1f}"
