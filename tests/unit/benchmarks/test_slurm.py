"""The cluster of benchmarks/slurm.py: its configuration, and the figures of its jobs."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


@pytest.fixture
def modules(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return [importlib.import_module(name) for name in ("slurm", "slurm_cluster")]


def test_nodes_of_one_host_have_ports_of_their_own(modules):
    text = modules[1].configuration(Path("/somewhere"), n_nodes=3, cpus=4, memory_mb=8000, port=7000)
    assert re.findall(r"^NodeName=(\w+) .* Port=(\d+) CPUs=4 RealMemory=8000$", text, re.MULTILINE) == [
        ("node1", "7001"), ("node2", "7002"), ("node3", "7003"),
    ]  # fmt: skip
    assert "AuthInfo=socket=/somewhere/munge.socket\n" in text


def test_figures_of_jobs_are_those_of_the_largest_of_a_rule(modules, tmp_path):
    rows = [
        "job\ts\tmax_rss", "a/buckets/0/count_bucket.benchmark.tsv\t2.5\t40.2", "a/benchmarks/join_pieces.tsv\t1.0\tNA",
        "a/buckets/1/count_bucket.benchmark.tsv\t1.5\t50.7",
    ]  # fmt: skip
    folder = tmp_path / "results" / "samples" / "benchmarks"
    folder.mkdir(parents=True)
    (folder / "jobs.tsv").write_text("\n".join(rows) + "\n")
    assert list(modules[0].jobs(tmp_path)) == [
        {"rule": "count_bucket", "jobs": 2, "most_s": 2.5, "peak_rss_mb": 51},
        {"rule": "join_pieces", "jobs": 1, "most_s": 1.0, "peak_rss_mb": 0},
    ]
