"""What ``gpuasm pagerank`` writes: the table of ranks, pictures, and what it prints."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gpuasm.arrays import to_host
from gpuasm.errors import UsageError

if TYPE_CHECKING:
    from gpuasm.graph import DirectedGraph
    from gpuasm.io.gfa_segments import SegmentGraph
    from gpuasm.ranking import PowerRanks, WalkRanks

PICTURES = ("png", "svg", "pdf")
_DIGITS = 6


@dataclass(frozen=True)
class Ranking:
    """The ranks of a graph by the requested method, and by the other one if both are compared.

    Attributes
    ----------
    graph
        On the host.
    method : "power" or "walks"
    power, walks
        What the methods found; None where one was not run.
    segments
        Of an assembly graph whose strands are put together.
    """

    graph: DirectedGraph
    method: str
    power: PowerRanks | None
    walks: WalkRanks | None
    segments: SegmentGraph | None

    def folded(self, values: Any) -> np.ndarray:
        """Return values by vertex on the host, those of the two strands of a segment added."""
        host = to_host(values)
        return host if self.segments is None else host[::2] + host[1::2]

    def ranks(self, method: str) -> np.ndarray:
        found = self.power if method == "power" else self.walks
        assert found is not None
        return self.folded(found.ranks)

    def order(self) -> np.ndarray:
        """Return the rows of the table: falling ranks as they are printed, equal ones as in the graph."""
        if self.method == "walks":
            assert self.walks is not None
            return np.argsort(-self.folded(self.walks.visits).astype(np.int64), kind="stable")
        return np.argsort(-_rounded(self.ranks("power")), kind="stable")


def table_of(ranking: Ranking, order: np.ndarray) -> dict[str, Any]:
    """Return the columns of the table, its rows in an order."""
    columns: dict[str, Any] = _names(ranking, order)
    columns["rank"] = ranking.ranks(ranking.method)[order]
    if ranking.walks is not None:
        walks = ranking.walks
        columns["visits"] = ranking.folded(walks.visits)[order]
        variances = ranking.folded(walks.variances())[order]
        columns["standard_error"] = variances**0.5 / max(walks.n_visits, 1)
    if ranking.power is not None and ranking.walks is not None:
        other = "walks" if ranking.method == "power" else "power"
        columns[f"{other}_rank"] = ranking.ranks(other)[order]
    return columns


def _names(ranking: Ranking, order: np.ndarray) -> dict[str, Any]:
    graph, segments = ranking.graph, ranking.segments
    if segments is None:
        names = [graph.label_of(v) for v in order.tolist()]
        return {"vertex": names, "in": graph.in_degree[order], "out": graph.out_degree[order]}
    depths = segments.depths[order]
    return {
        "segment": [segments.names[i] for i in order.tolist()],
        "length": segments.lengths[order],
        "depth": [None if np.isnan(depth) else round(depth, 1) for depth in depths.tolist()],
        "links": (graph.out_degree[::2] + graph.out_degree[1::2])[order],
    }


def facts_of(ranking: Ranking) -> dict[str, Any]:
    """Return the lines of the summary: sizes, iterations, errors."""
    graph = ranking.graph
    facts: dict[str, Any] = {"vertices": graph.n_vertices, "edges": graph.n_edges, "method": ranking.method}
    if ranking.power is not None:
        facts |= {"iterations": ranking.power.n_iterations, "error_of_power": ranking.power.error_bound}
    if ranking.walks is not None:
        facts |= {"walks": int(ranking.walks.starts.sum()), "visits": ranking.walks.n_visits}
        facts |= {"expected_error_of_walks": ranking.walks.expected_l1_error(graph.in_degree)}
    if ranking.power is not None and ranking.walks is not None:
        from gpuasm.ranking import l1_distance

        facts |= {"error_of_walks": l1_distance(ranking.power.ranks, ranking.walks.ranks)}
    return facts


def picture_kind(path: Path) -> str:
    """Return the format of a picture by its suffix.

    Raises
    ------
    UsageError
        If it is another one.
    """
    kind = path.suffix.lower().removeprefix(".")
    if kind not in PICTURES:
        raise UsageError(f"a picture: .{', .'.join(PICTURES)}", repr(path.name), "choose one of these suffixes")
    return kind


def draw_table(path: Path, ranking: Ranking, order: np.ndarray) -> None:
    """Draw the ranks; those of segments also against their depth."""
    from gpuasm.io import atomic_output
    from gpuasm.report.rank_figures import draw_ranks

    names = [str(name) for name in next(iter(_names(ranking, order[:10]).values()))]
    depths = None if ranking.segments is None else ranking.segments.depths[order]
    picture = draw_ranks(ranking.ranks(ranking.method)[order], names, depths, kind=picture_kind(path))
    with atomic_output(path, "wb") as file:
        file.write(picture)


def draw_heat_map(path: Path, by_vertex: Any, by_coupon: Any) -> None:
    """Draw the work of threads before and after work is dealt by coupon."""
    from gpuasm.io import atomic_output
    from gpuasm.ranking import idle_share
    from gpuasm.report.rank_figures import Work, draw_work

    deals = {"by vertex": by_vertex, "by coupon": by_coupon}
    parts = [Work(title, to_host(work), idle_share(work)) for title, work in deals.items()]
    picture = draw_work(parts, kind=picture_kind(path))
    with atomic_output(path, "wb") as file:
        file.write(picture)


def _rounded(values: np.ndarray) -> np.ndarray:
    """Round to the digits that are printed, in which devices agree."""
    scale = 10.0 ** (_DIGITS - 1 - np.floor(np.log10(np.where(values > 0, values, 1.0))))
    return np.asarray(np.rint(values * scale) / scale)
