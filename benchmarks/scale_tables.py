"""Make the tables of docs/scale.md: one machine, measured and computed, batches, buckets, and a run on Slurm."""

from __future__ import annotations

from collections.abc import Iterator

from table_text import Result, dated, host, markdown, of

_LEAST_BASES = 1e9
"""Smaller samples are assembled on any machine."""
SIZES = (1e9, 1e10, 1e11, 1e12)
"""Bases of reads for which figures are computed."""
_HEAD = ["reads", "Gb", "how", "host", "minutes", "host GB", "device GB"]


def scale(results: list[Result]) -> str:
    """Whole assemblies on one GPU: those measured, and others computed from the measured one of the nearest size."""
    used = [result for result in of(results, "forecasts") if any("wall_s" in row for row in result["rows"])]
    measured = [
        (row["reads"], row["bases"], row["wall_s"], row["host_bytes"], row["device_bytes"], host(result))
        for result in used for row in result["rows"] if "wall_s" in row and row["bases"] > _LEAST_BASES
    ]  # fmt: skip
    measured.sort(key=lambda row: row[1])
    return dated(used, markdown(_HEAD, _rows(measured))) if measured else ""


def _rows(measured: list[tuple[str, float, float, float, float, str]]) -> Iterator[list[str]]:
    for reads, bases, *figures, where in measured:
        yield [reads, f"{bases / 1e9:,.1f}", "measured", where, *_cells(figures, 1.0)]
    for size in SIZES:
        reads, bases, *figures, where = min(measured, key=lambda row: max(row[1] / size, size / row[1]))
        yield [
            "as above",
            f"{size / 1e9:,.0f}",
            f"computed from {bases / 1e9:,.1f} Gb",
            where,
            *_cells(figures, size / bases),
        ]


def _cells(figures: list[float], times: float) -> list[str]:
    seconds, *memory = (figure * times for figure in figures)
    return [f"{seconds / 60:,.1f}", *(f"{amount / 1e9:,.0f}" for amount in memory)]


def batches(results: list[Result]) -> str:
    """Time of `gpuasm batch`, where some of its samples were assembled alone too."""
    used = [result for result in of(results, "batch") if result["parameters"]["single_s"]]
    rows = [
        [host(result), row["samples"], row["jobs"], f"{row['wall_s']:.1f}", f"{row['wall_per_sample_s']:.2f}",
         f"{min(result['parameters']['single_s']):.1f}"]
        for result in used for row in result["rows"]
    ]  # fmt: skip
    return dated(used, markdown(["host", "samples", "at a time", "s", "s / sample", "alone, s"], rows))


def devices(results: list[Result]) -> str:
    """Return times of the first graph and of whole assemblies, where each worker had a device of its own."""
    used = of(results, "several_devices")
    rows = [
        [host(result), f"{row['bases'] / 1e6:,.0f}", row["devices"], f"{row['count_and_compact_s']:.2f}",
         f"{row['compact_s']:.2f}", f"{row['assemble_s']:.1f}"]
        for result in used for row in result["rows"] if row["workers"] == row["devices"]
    ]  # fmt: skip
    head = ["host", "Mb", "GPUs", "count and compact s", "of that compact s", "whole s"]
    return dated(used, markdown(head, rows)) if rows else ""


def buckets(results: list[Result]) -> str:
    """CPU time, memory and files of the first graph in buckets, and bytes for each base of reads."""
    used = of(results, "buckets")
    rows = [
        [row["step"], f"{row['bases'] / 1e6:,.0f}", row["jobs"], f"{row['cpu_s']:.1f}",
         round(row["peak_rss_mb"]), f"{row['file_bytes'] / 1e6:,.1f}", f"{row['file_bytes'] / row['bases']:.2f}"]
        for result in used for row in result["rows"]
    ]  # fmt: skip
    head = ["command", "Mb", "jobs", "CPU s", "peak MiB", "files MB", "file bytes / base"]
    return dated(used, markdown(head, rows))


def cluster(results: list[Result]) -> str:
    """Jobs of a co-assembly on Slurm, in which a node was killed, by rule."""
    used = of(results, "slurm")
    head = ["rule", "killed during", "jobs", "longest s", "peak MB", "same bytes as one machine"]
    rows = [_job(row, result) for result in used for row in result["rows"]]
    return dated(used, markdown(head, rows))


def _job(row: Result, result: Result) -> list[object]:
    seconds, is_same = f"{row['most_s']:.1f}", result["parameters"]["same"]
    return [row["rule"], result["key"], row["jobs"], seconds, row["peak_rss_mb"], is_same]
