"""Figures of reads and of their depth: insert sizes, and depth along contigs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from gpuasm.report.charts import Chart

_BARS = 60
_COLUMNS = 350
"""Of the figure of depth; more windows are drawn together."""
LEAST_SHARE = 0.005
"""Share of all bases that a contig has which is drawn."""
_WIDE = 860.0
_ROOM = 1.1
"""Height of the axis, by the greatest value."""
_TOP_DEPTH = 0.99
"""Share of the windows that have room; higher ones are cut off."""

Windows = Sequence[tuple[str, int, int, float]]
"""Rows of depth_windows.tsv: contig, first base, base after the last, depth."""


def insert_figure(sizes: Sequence[tuple[int, int]]) -> str:
    """Draw how many pairs have which insert size, of (size, pairs) in ascending order."""
    last = sizes[-1][0]
    width = max(1, -(-(last + 1) // _BARS))
    bars = [0] * (last // width + 1)
    for size, pairs in sizes:
        bars[size // width] += pairs
    chart = Chart("insert sizes", "insert size (bases)", "pairs", len(bars) * width, _ROOM * max(bars))
    chart.bars([(i * width, pairs) for i, pairs in enumerate(bars) if pairs], width)
    median = _median(sizes)
    chart.mark(median, f"median {median}")
    return chart.svg()


def _median(sizes: Sequence[tuple[int, int]]) -> int:
    """Return the least size that half of the pairs do not exceed."""
    done, half = 0, sum(pairs for _, pairs in sizes) / 2
    for size, pairs in sizes:
        done += pairs
        if done >= half:
            return size
    return sizes[-1][0]


def depth_along_figure(windows: Windows) -> tuple[str, bool]:
    """Draw the depth along contigs, one after the other, and lines between them; and whether windows share a column."""
    by_contig: dict[str, list[tuple[int, int, float]]] = {}
    for contig, begin, end, depth in windows:
        by_contig.setdefault(contig, []).append((begin, end, depth))
    drawn = list(by_contig.values())
    lengths = [rows[-1][1] for rows in drawn]
    total = sum(lengths)
    every = sorted(depth for rows in drawn for *_, depth in rows)
    top = every[int(_TOP_DEPTH * (len(every) - 1))]
    axis = "bases, contig by contig" if len(drawn) > 1 else "bases"
    chart = Chart("depth along contigs", axis, "depth", total, _ROOM * max(top, 1.0), width=_WIDE)
    chart.divide(list(accumulate(lengths))[:-1])
    n_columns = 0
    for first, rows in zip(accumulate([0, *lengths]), drawn, strict=False):
        columns = _columns(rows, at_least=total / _COLUMNS)
        n_columns += len(columns)
        edges = [(first + x, *depths) for begin, end, *depths in columns for x in (begin, end)]
        chart.area([(x, high) for x, _, _, high in edges], [(x, low) for x, low, _, _ in edges])
        chart.line([(x, mean) for x, _, mean, _ in edges])
    return chart.svg(), n_columns < len(windows)


def _columns(rows: Sequence[tuple[int, int, float]], *, at_least: float) -> list[tuple[int, int, float, float, float]]:
    """Return begin, end, and least, mean and greatest depth of windows together, of at least so many bases."""
    columns, own = [], list[tuple[int, int, float]]()
    for row in rows:
        own.append(row)
        if row[1] - own[0][0] >= at_least or row is rows[-1]:
            depths = [depth for *_, depth in own]
            n_bases = row[1] - own[0][0]
            mean = sum(depth * (end - begin) for begin, end, depth in own) / n_bases
            columns.append((own[0][0], row[1], min(depths), mean, max(depths)))
            own = []
    return columns
