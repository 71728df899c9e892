"""Draw small graphs with a spring layout."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from gpuasm.report.figures import short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = "#2a6fb0", "#c2571a"
_EDGE = "#7a7a7a"
_LABELLED = 60
"""Subgraphs of more vertices are drawn without names: they would hide everything."""
_MOST_EDGES = 20_000
_MOST_POINTS = 3000


def draw_subgraph(edges: np.ndarray, names: list[str], *, sides: np.ndarray | None = None, kind: str = "svg") -> bytes:
    """Draw a graph by a spring layout (Fruchterman and Reingold 1991, doi:10.1002/spe.4380211102), networkx's.

    Vertices are larger the more edge weight they have; heavier edges are darker. Of many edges the 20,000 heaviest are
    drawn, of many vertices the 3,000 with most weight.

    Parameters
    ----------
    edges : (e, 3) float64
        Places of both ends in ``names``, and weight.
    names
        Of the vertices.
    sides : (n,) bool, optional
        Which vertices to draw in a second colour: columns of a block.
    kind
        "png", "svg" or "pdf".

    Returns
    -------
    The file's bytes: the same for the same graph.
    """
    import matplotlib as mpl  # noqa: PLC0415 - half a second, only where a figure is drawn
    from matplotlib.figure import Figure  # noqa: PLC0415

    settings: dict[str, Any] = {"svg.fonttype": "none", "svg.hashsalt": "gpuasm", "font.size": 7}
    with mpl.rc_context(settings):  # type: ignore[arg-type]
        figure = Figure(figsize=(7, 7), layout="constrained")
        axes = figure.subplots()
        axes.set_axis_off()
        axes.set_aspect("equal")
        if names:
            _draw(axes, edges, names, np.zeros(len(names), bool) if sides is None else sides)
        out = io.BytesIO()
        dates = {"svg": {"Date": None, "Creator": None}, "pdf": {"CreationDate": None}}.get(kind, {})
        figure.savefig(out, format=kind, dpi=150, metadata=dates)
    return out.getvalue()


def _draw(axes: Axes, edges: np.ndarray, names: list[str], sides: np.ndarray) -> None:
    from matplotlib.collections import LineCollection  # noqa: PLC0415 - as in draw_subgraph

    n = len(names)
    ends, weights = edges[:, :2].astype(np.int64), edges[:, 2]
    strength = np.zeros(n)
    for side in ends.T:
        np.add.at(strength, side, weights)
    shown = np.argsort(-strength, kind="stable")[:_MOST_POINTS]
    heaviest = np.argsort(-weights, kind="stable")
    heaviest = np.sort(heaviest[np.isin(ends[heaviest], shown).all(axis=1)][:_MOST_EDGES])
    ends, weights = ends[heaviest], weights[heaviest]
    place = spring_layout(np.sort(shown), ends, weights, n)
    share = weights / weights.max(initial=1e-300)
    faint = min(0.6, 12 / max(1.0, len(ends) ** 0.5))
    if len(ends):
        alpha = faint * (0.3 + 0.7 * share)
        axes.add_collection(LineCollection(list(place[ends]), colors=_EDGE, linewidths=0.4 + 0.6 * share, alpha=alpha))
    sizes = (8 + 60 * strength[shown] / strength.max(initial=1e-300)) * min(1.0, (200 / n) ** 0.5)
    colours = [_COLOURS[int(side)] for side in sides[shown]]
    axes.scatter(place[shown, 0], place[shown, 1], s=sizes, c=colours, zorder=2, edgecolors="white", linewidths=0.4)
    if n <= _LABELLED:
        for v in range(n):
            axes.annotate(short_name(names[v]), place[v], xytext=(3, 3), textcoords="offset points", zorder=3)
    axes.autoscale()
    axes.margins(0.08)


def spring_layout(shown: np.ndarray, ends: np.ndarray, weights: np.ndarray, n: int) -> np.ndarray:
    """Return where to draw each vertex, (n, 2); those not shown are at the origin.

    Springs would drive components apart without end, so each has a layout of its own; they are packed in rows.
    """
    import networkx as nx  # noqa: PLC0415 - slow to import

    graph = nx.Graph()
    graph.add_nodes_from(shown.tolist())
    graph.add_weighted_edges_from(zip(*ends.T.tolist(), weights.tolist(), strict=True))
    parts = sorted((sorted(part) for part in nx.connected_components(graph)), key=lambda part: (-len(part), part))
    place = np.zeros((n, 2))
    width = 1.2 * sum(_side(part) ** 2 for part in parts) ** 0.5
    left = bottom = shelf = 0.0
    for part in parts:
        side = _side(part)
        if left > 0 and left + side > width:
            left, bottom, shelf = 0.0, bottom - shelf, 0.0
        shelf = max(shelf, side)
        own = nx.spring_layout(nx.subgraph(graph, part), seed=1, scale=0.4 * side)
        for v in part:
            place[v] = own[v] + (left + side / 2, bottom - side / 2)
        left += side
    return place


def _side(part: list[int]) -> float:
    return float(len(part)) ** 0.5
