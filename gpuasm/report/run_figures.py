"""The figures of a run: those of its spectrum, contigs, graph, reads and bins that have something to show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

from gpuasm.errors import DataError, GpuasmError
from gpuasm.io.gfa_segments import SegmentGraph, read_segment_graph
from gpuasm.io.text_tables import read_rows
from gpuasm.report import figures, map_figures
from gpuasm.report.assembly_graph_figure import graph_figure
from gpuasm.report.inputs import Run
from gpuasm.report.read_figures import LEAST_SHARE, depth_along_figure, insert_figure

T = TypeVar("T")

_LARGEST_GRAPH = 32 << 20
"""Bytes of a file of a graph; one of more has more segments than are drawn."""
_MOST_BASES, _MOST_DEPTH, _LARGEST_INSERT = 1e15, 1e9, 100_000


class Figure(NamedTuple):
    """A titled picture as SVG, its caption, and whether it needs the whole width."""

    title: str
    svg: str
    caption: str
    is_wide: bool = False


def figures_of(run: Run) -> list[Figure]:
    """Return the figures of a run; files that are damaged are noted."""
    parts = (_spectrum, _inserts, _contigs, _depth_along, _graph, _map)
    return [figure for part in parts for figure in part(run)]


def _spectrum(run: Run) -> Iterator[Figure]:
    if any(kmers > 0 and times <= figures.MOST_TIMES for times, kmers in run.spectrum):
        threshold, peak = run.amount("threshold"), run.amount("peak")
        svg = figures.spectrum_figure(run.spectrum, run.name, threshold=threshold, peak=peak)
        reason = run.result("threshold_reason") or threshold
        yield Figure("k-mer spectrum", svg, f"Least count of a solid k-mer: {reason}." if reason else "")


def _inserts(run: Run) -> Iterator[Figure]:
    sizes = _read_if_there(run, "insert_sizes.tsv", _insert_sizes)
    if sizes:
        yield Figure("Insert sizes", insert_figure(sizes), "Lengths of fragments, of pairs within unitigs.")


def _contigs(run: Run) -> Iterator[Figure]:
    """Yield figures that compare contigs, of which one would have nothing to show."""
    if len(run.contigs) > 1:
        caption = "How long the contigs are that hold so many percent of all bases."
        yield Figure("Nx curve", figures.nx_figure(run.contigs, run.name), caption)
        svg = figures.depth_figure(run.contigs, run.name)
        yield Figure("Depth and length", svg, "Repeats and plasmids lie above the rest.")


def _depth_along(run: Run) -> Iterator[Figure]:
    windows = _read_if_there(run, "depth_windows.tsv", lambda path: _windows(path, run)) if run.contigs else None
    if windows:
        svg, is_pooled = depth_along_figure(windows)
        pooled = "; pale: from the least to the greatest of those drawn together" * is_pooled
        lines = " Lines part contigs." * (len({contig for contig, *_ in windows}) > 1)
        yield Figure("Depth along contigs", svg, f"Mean depth of windows{pooled}.{lines}", is_wide=True)


def _graph(run: Run) -> Iterator[Figure]:
    graph = _read_if_there(run, "graph.gfa", _segments)
    drawn = graph_figure(graph) if graph else None
    if drawn:
        some = f"{drawn.n_drawn:,} of {drawn.n_segments:,} segments" if drawn.n_drawn < drawn.n_segments else (
            f"{drawn.n_drawn:,} segments"
        )  # fmt: skip
        caption = (
            f"{some}; thicker ones have more depth, and their names show under the pointer. "
            f"In other colours, {drawn.n_tangles:,} tangle{'s' * (drawn.n_tangles != 1)}: segments with several links "
            "at both ends."
        )
        yield Figure("Assembly graph", drawn.svg, caption, is_wide=True)


def _map(run: Run) -> Iterator[Figure]:
    """Yield the map of contigs and its training, unless one contig is alone on it."""
    if not run.binning or len(run.binning.contigs) < 2:
        return
    if run.binning.height:
        caption = "Each genome is a plain between ridges. Dots are contigs, crosses those in no bin, numbers name bins."
        yield Figure("Map of contigs", map_figures.map_figure(run.binning, run.name), caption, is_wide=True)
    if run.binning.training:
        caption = "Distance of windows to their units, and the share whose two best units do not touch."
        yield Figure("Training of the map", map_figures.training_figure(run.binning, run.name), caption)


def _read_if_there(run: Run, name: str, parse: Callable[[Path], T]) -> T | None:
    """Return what a file of a run holds; None without it, as in folders of older versions, or if it is damaged."""
    path = run.folder / name
    if not path.is_file() or not path.stat().st_size:
        return None
    try:
        return parse(path)
    except (GpuasmError, OSError, ValueError):
        run.notes.append(f"{name} is damaged")
        return None


def _segments(path: Path) -> SegmentGraph | None:
    return None if path.stat().st_size > _LARGEST_GRAPH else read_segment_graph(path)


def _insert_sizes(path: Path) -> list[tuple[int, int]]:
    sizes = [(int(size), int(pairs)) for size, pairs in _body(path)]
    if any(not (0 <= size <= _LARGEST_INSERT and 0 < pairs <= _MOST_BASES) for size, pairs in sizes):
        raise DataError("sizes and pairs from 0 on", "others", "write it anew", path=path)
    return sorted(sizes)


def _windows(path: Path, run: Run) -> list[tuple[str, int, int, float]]:
    """Return the windows of the contigs that are drawn, which are the first ones."""
    least = LEAST_SHARE * sum(contig.length for contig in run.contigs)
    lengths = {contig.name: contig.length for contig in run.contigs}
    found = []
    for contig, start, end, depth in _body(path):
        if lengths.get(contig, 0) < least:
            break
        row = contig, int(start), int(end), float(depth)
        if not (0 <= row[1] < row[2] <= _MOST_BASES and 0 <= row[3] <= _MOST_DEPTH):
            raise DataError("a window with a depth", "another", "write it anew", path=path)
        found.append(row)
    return found


def _body(path: Path) -> Iterator[list[str]]:
    """Yield the rows of a table below its titles."""
    rows = read_rows(path)
    next(rows, None)
    return (cells for _, cells in rows)
