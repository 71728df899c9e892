"""Contigs as paths of graph.gfa: which segment each was made of."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import replace

import pytest

from gpuasm.assembly.contig import make_contigs
from gpuasm.assembly.graph.unitigs import unitigs_of_reads
from gpuasm.cli.naming import Naming
from gpuasm.cli.outputs import write_graph
from gpuasm.io.gfa_segments import read_segment_graph
from gpuasm.sequence.reads import Reads
from tests.oracles.reads import random_sequences

K = 21


@pytest.fixture(scope="module")
def gfa(tmp_path_factory):
    """Return a graph of two branches behind a stem, a circle, and contigs, one broken and one of an earlier graph."""
    stem, first, second, circle, early = [t[:300] for t in random_sequences(7, 5, 900)]
    texts = [stem + first, stem + second, circle + circle[: K - 1]]
    graph = unitigs_of_reads(Reads.from_strings(texts), K, min_count=1)
    whole, *others = make_contigs(graph, min_length=1)
    halves = [replace(whole, name=f"part_{i}", codes=whole.codes[i::2], unitig=-1) for i in range(2)]
    isolated = unitigs_of_reads(Reads.from_strings([early]), K, min_count=1)
    (alone,) = make_contigs(isolated, min_length=1)
    alone = replace(alone, name="alone", unitig=-1, source=-1)
    path = tmp_path_factory.mktemp("graph") / "graph.gfa"
    write_graph(path, graph, [*halves, *others, alone], naming=Naming("s"))
    return path


def lines_of(path, kind):
    return [line.split("\t")[1:] for line in path.read_text().splitlines() if line[0] == kind]


def test_each_contig_is_a_path_of_a_segment(gfa):
    segments = {line[0]: line[1] for line in lines_of(gfa, "S")}
    assert list(segments) == [f"s_unitig_{n:06d}" for n in range(1, 6)]
    paths = {line[0]: line[1] for line in lines_of(gfa, "P")}
    assert paths["part_0"] == paths["part_1"]
    assert paths["alone"] == "s_unitig_000005+"
    assert len(segments["s_unitig_000005"]) == 300
    assert {step[:-1] for step in paths.values()} == set(segments)
    assert len(paths) == len(segments) + 1


def test_the_graph_is_read_without_its_paths(gfa):
    assert len(read_segment_graph(gfa).names) == 5


def test_gfapy_reads_the_graph_and_its_paths(gfa):
    gfapy = pytest.importorskip("gfapy")
    graph = gfapy.Gfa.from_file(str(gfa), vlevel=3)
    assert sorted(graph.segment_names) == [line[0] for line in lines_of(gfa, "S")]
    assert len(graph.paths) == 6
    assert [path.segment_names[0].name for path in graph.paths if path.name == "alone"] == ["s_unitig_000005"]
    assert all(segment.dp >= 0 for segment in graph.segments)


@pytest.mark.skipif(shutil.which("Bandage") is None, reason="Bandage is not installed")
def test_bandage_loads_the_graph(gfa):
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    command = ["Bandage", "info", gfa]
    found = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
    figures = dict(re.findall(r"^(.*?):\s+([\d.]+)", found, re.MULTILINE))
    assert figures["Node count"] == "5"
    assert figures["Edge count"] == str(len(lines_of(gfa, "L")))
