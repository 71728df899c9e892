"""What ``gpuasm densest`` finds and writes: members, summary, picture."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gpuasm.arrays import to_host
from gpuasm.cli.densest_inputs import GivenGraph
from gpuasm.cli.session import Session
from gpuasm.densest import (
    Adjacency,
    SearchOptions,
    densest_block,
    densest_of_any_size,
    densest_subgraph,
    peel,
    peel_in_batches,
)
from gpuasm.errors import DataError
from gpuasm.graph.undirected_graph import UndirectedGraph
from gpuasm.io import atomic_output, write_tsv

_DIGITS = 6


@dataclass(frozen=True)
class Found:
    """A subgraph to write.

    Attributes
    ----------
    given
        The graph it is of.
    vertices : (s,) int64
        The members; of a block the rows, then the columns.
    n_rows
        How many of them are rows; None for a subgraph without sides.
    within : (s,) float64
        The edge weight of each member to the others, or to the other side.
    figures
        The summary: figures by name.
    """

    given: GivenGraph
    vertices: np.ndarray
    n_rows: int | None
    within: np.ndarray
    figures: dict[str, Any] = field(default_factory=dict)


def of_size(given: GivenGraph, k: int, how: tuple[SearchOptions, Session]) -> Found:
    """Find k vertices."""
    (search, session), graph = how, given.undirected
    if given.segments is not None:
        joined = np.flatnonzero(graph.degree > 0)
        if joined.size <= k:
            return _subgraph(given, joined, {"note": "no more segments are joined by links than were requested"})
    found = densest_subgraph(graph.moved_to(session.xp), k, search, stages=session.stages)
    others = {f"average degree by {name}": 2 * weight / k for name, weight in found.baselines.items()}
    bounds = {f"bound by {name}": bound for name, bound in found.bounds.items()}
    eigenvalues = {"eigenvalues": found.eigenvalues.tolist()} if found.eigenvalues.size else {}
    more = {"bound": found.bound, "start": found.start} | others | bounds | eigenvalues | _noted(found.note)
    return _subgraph(given, found.vertices, more)


def _noted(note: str) -> dict[str, str]:
    return {"note": note} if note else {}


def any_size(given: GivenGraph, search: SearchOptions, session: Session, *, method: str | None) -> Found:
    """Find the densest subgraph of any size: by flows, by peeling, in batches, or by flows where they are quick."""
    graph = given.undirected
    if graph.n_edges == 0:
        if given.segments is not None:
            return _subgraph(given, np.empty(0, np.int64), {"note": "no links"})
        raise DataError("a graph with edges", "none, self-loops aside", "check that the right file was read")
    if method in (None, "flow"):
        limited = method is None
        densest = densest_of_any_size(graph, rounds=search.rounds, is_limited=limited, stages=session.stages)
        return _subgraph(given, densest.vertices, {"bound": 2 * densest.density_bound})
    with session.stages.stage("peel") as stage:
        if method == "batches":
            peeled = peel_in_batches(Adjacency(graph.moved_to(session.xp)))
            stage.note(passes=peeled.passes)
            # One vertex's load is at least the weight by vertex of any subgraph.
            return _subgraph(given, to_host(peeled.vertices), {"bound": 2 * float(peeled.loads.max())})
        rounds = peel(graph, rounds=search.rounds)
        return _subgraph(given, rounds.vertices, {"bound": 2 * rounds.density_bound})


def block(given: GivenGraph, sizes: tuple[int, int], how: tuple[SearchOptions, Session]) -> Found:
    """Find rows and columns."""
    search, session = how
    weights = None if given.weights is None else session.xp.asarray(given.weights)
    found = densest_block(given.graph.moved_to(session.xp), sizes, search, weights=weights, stages=session.stages)
    sides = _between(given, found.rows, found.columns)
    figures = {
        "rows": sizes[0],
        "columns": sizes[1],
        "weight": found.weight,
        "density": found.density,
        "average degree": found.average_degree,
        "bound": found.bound,
        "share of bound": found.average_degree / found.bound if found.bound else 1.0,
        "start": found.start,
        **{f"bound by {name}": bound for name, bound in found.bounds.items()},
        **({"singular values": found.singular_values.tolist()} if found.singular_values.size else {}),
        **_noted(found.note),
    }
    within = np.concatenate([sides.sum(axis=1), sides.sum(axis=0)])
    return Found(given, np.concatenate([found.rows, found.columns]), sizes[0], within, figures)


def _subgraph(given: GivenGraph, vertices: np.ndarray, more: dict[str, Any]) -> Found:
    graph, k = given.undirected, int(vertices.size)
    within = graph.induced(vertices).strength
    weight = float(within.sum()) / 2
    average = 2 * weight / max(1, k)
    figures: dict[str, Any] = {
        "vertices": graph.n_vertices,
        "edges": graph.n_edges,
        "members": k,
        "weight": weight,
        "density": average / max(1, k - 1),
        "average degree": average,
    }
    if "bound" in more:
        figures["bound"] = more["bound"]
        figures["share of bound"] = average / more["bound"] if more["bound"] else 1.0
    return Found(given, vertices, None, within, figures | more)


def _between(given: GivenGraph, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the weights from rows to columns, (k, l)."""
    graph = given.graph
    matrix = np.zeros((rows.size, columns.size))
    place = np.full(graph.n_vertices, -1)
    place[columns] = np.arange(columns.size)
    for i, row in enumerate(rows):
        slots = np.arange(graph.row_offsets[row], graph.row_offsets[row + 1])
        slots = slots[place[graph.columns[slots]] >= 0]
        at = place[graph.columns[slots]]
        if given.weights is None:
            matrix[i, at] = 1
        else:
            np.add.at(matrix[i], at, given.weights[slots])
    return matrix


def write_outputs(found: Found, output: Path, picture: Path | None) -> None:
    """Write the table of members, and the picture if requested."""
    given = found.given
    names = [given.graph.label_of(v) for v in found.vertices]
    table: dict[str, Any] = {}
    if found.n_rows is None:
        strength = given.undirected.strength[found.vertices]
    else:
        n_rows = found.n_rows
        table["side"] = ["row"] * n_rows + ["column"] * (len(names) - n_rows)
        strength = np.concatenate(
            [given.graph.out_degree[found.vertices[:n_rows]], given.graph.in_degree[found.vertices[n_rows:]]]
        )
    table |= {
        "vertex" if given.segments is None else "segment": names,
        "degree": _plain(strength),
        "within": _plain(found.within),
    }
    if given.segments is not None:
        table["length"] = given.segments.lengths[found.vertices]
        depths = given.segments.depths[found.vertices].tolist()
        table["depth"] = [None if math.isnan(depth) else round(depth, 1) for depth in depths]
    write_tsv(output, table)
    if picture is not None:
        from gpuasm.report.graph_figures import draw_subgraph

        kind = picture.suffix.lower().removeprefix(".")
        sides = None if found.n_rows is None else np.arange(len(names)) >= found.n_rows
        drawn = draw_subgraph(_drawable(found), [str(name) for name in names], sides=sides, kind=kind)
        with atomic_output(picture, "wb") as file:
            file.write(drawn)


def _drawable(found: Found) -> np.ndarray:
    """Return the edges to draw and their weights, (e, 3): places of members, weight."""
    if found.n_rows is not None:
        sides = _between(found.given, found.vertices[: found.n_rows], found.vertices[found.n_rows :])
        row, column = np.nonzero(sides)
        return np.column_stack([row, column + found.n_rows, sides[row, column]])
    graph: UndirectedGraph = found.given.undirected.induced(found.vertices)
    row = np.repeat(np.arange(graph.n_vertices), graph.degree)
    weights = np.ones(row.size) if graph.weights is None else graph.weights
    once = row < graph.columns
    return np.column_stack([row[once], graph.columns[once], weights[once]])


def _plain(values: np.ndarray) -> np.ndarray:
    """Return whole numbers as integers, if all fit into those."""
    is_whole = bool(((values == np.floor(values)) & (np.abs(values) < 2.0**63)).all())
    return values.astype(np.int64) if is_whole else values


def summary_lines(found: Found) -> Iterator[str]:
    """Yield the summary, a figure a line."""
    for name, value in found.figures.items():
        if isinstance(value, list):
            yield f"{name}\t{' '.join(f'{number:.{_DIGITS}g}' for number in value)}"
        else:
            whole = isinstance(value, float) and value == int(value) and abs(value) < 1e15
            yield f"{name}\t{int(value) if whole else f'{value:.{_DIGITS}g}' if isinstance(value, float) else value}"
