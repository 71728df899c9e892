"""The tables of docs/scale.md: figures in proportion to the measured ones, and jobs of a cluster by rule."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
ABOUT = {"date": "2026-01-01", "machine": {"cpu": "a CPU", "cpus": 2, "device": {}}}


@pytest.fixture
def tables(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("scale_tables")


def cells_of(table):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line[:1] == "|"][2:]


def test_sizes_are_computed_from_the_nearest_measured_one(tables):
    rows = [
        {"reads": reads, "bases": bases, "wall_s": 60 * minutes, "host_bytes": size, "device_bytes": 2 * size}
        for reads, bases, minutes, size in (("small", 2e9, 1, 4e9), ("large", 8e9, 10, 20e9))
    ]
    unmeasured = {"reads": "other", "bases": 5e9, "host_bytes": 1e9, "device_bytes": 0}
    result = {"benchmark": "forecasts", "key": "x", **ABOUT, "parameters": {}, "rows": [*rows, unmeasured]}
    found = [[row[1], row[2], *row[4:]] for row in cells_of(tables.scale([result]))]
    assert found == [
        ["2.0", "measured", "1.0", "4", "8"],
        ["8.0", "measured", "10.0", "20", "40"],
        ["1", "computed from 2.0 Gb", "0.5", "2", "4"],
        ["10", "computed from 8.0 Gb", "12.5", "25", "50"],
        ["100", "computed from 8.0 Gb", "125.0", "250", "500"],
        ["1,000", "computed from 8.0 Gb", "1,250.0", "2,500", "5,000"],
    ]
    assert tables.scale([]) == ""


def test_jobs_of_a_cluster_are_shown_by_rule(tables):
    rows = [{"rule": "join_pieces", "jobs": 1, "most_s": 2.25, "peak_rss_mb": 30}]
    parameters = {"same": True}
    result = {"benchmark": "slurm", "key": "compact_bucket", **ABOUT, "parameters": parameters, "rows": rows}
    assert cells_of(tables.cluster([result])) == [["join_pieces", "compact_bucket", "1", "2.2", "30", "yes"]]


def test_workers_that_share_a_device_are_not_shown_as_devices(tables):
    figures = {"bases": 2e9, "count_and_compact_s": 3.0, "compact_s": 1.0, "assemble_s": 60.0}
    rows = [{"workers": n, "devices": min(n, 2), **figures} for n in (1, 2, 4)]
    result = {"benchmark": "several_devices", "key": "x", **ABOUT, "parameters": {}, "rows": rows}
    found = cells_of(tables.devices([result]))
    assert [row[1:] for row in found] == [["2,000", n, "3.00", "1.00", "60.0"] for n in ("1", "2")]
    assert tables.devices([]) == tables.devices([{**result, "rows": rows[2:]}]) == ""
