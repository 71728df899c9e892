"""Files of contigs, depth, bins and graphs as other programs read them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.io

from gpuasm.assembly.contig import Contig
from gpuasm.cli import main
from gpuasm.cli.depth_of_samples import SampleDepth, write_depths
from gpuasm.cli.depth_outputs import write_contigs
from gpuasm.io.contigs import read_contigs
from tests.communities import community

EDGES = [("0", "1", 0.5), ("1", "0", 3.0), ("1", "2", -2.0), ("3", "3", 1.0)]


@pytest.fixture(scope="module")
def sequences(tmp_path_factory) -> tuple[Path, Path, list[int]]:
    """Return contigs of three genomes and their depth in two samples, as files, and the genome of each contig."""
    found, owner = community(3)
    folder = tmp_path_factory.mktemp("contigs")
    contigs = [
        Contig(name, found.codes[a:b], depth, 1, False, -1)
        for name, a, b, depth in zip(
            found.names, found.start, found.start[1:], found.depth[:, 0].tolist(), strict=False
        )
    ]
    write_contigs(folder / "contigs.fasta", contigs)
    depths = {"one": found.depth[:, 0], "other": 40 - found.depth[:, 0]}
    write_depths(
        folder / "depth.tsv", contigs, [SampleDepth(name, mean, 1.1 * mean, {}) for name, mean in depths.items()]
    )
    return folder / "contigs.fasta", folder / "depth.tsv", owner.tolist()


@pytest.fixture
def edges(tmp_path) -> Path:
    """Return an edge list of other programs, with weights."""
    path = tmp_path / "edges.tsv"
    path.write_text("".join(f"{a}\t{b}\t{weight}\n" for a, b, weight in EDGES))
    return path


@pytest.mark.skipif(shutil.which("metabat2") is None, reason="MetaBAT 2 is not installed")
def test_metabat_bins_by_the_table_of_depth(sequences, tmp_path):
    """It finds the depth of each contig by the name alone, and each long contig gets the bin of its genome."""
    contigs, depth, owner = sequences
    command = ["metabat2", "-i", contigs, "-a", depth, "-o", tmp_path / "bin", "-t", "1", "--seed", "1"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "3 bins" in printed
    owner_of = {record.name: own for record, own in zip(read_contigs(contigs), owner, strict=True)}
    bins = [[record.name for record in read_contigs(path)] for path in sorted(tmp_path.glob("bin.*.fa"))]
    assert [len({owner_of[name] for name in inside}) for inside in bins] == [1, 1, 1]
    long = {record.name for record in read_contigs(contigs) if record.codes.size >= 6000}
    assert set().union(*bins) >= long


@pytest.fixture(scope="module")
def binned(sequences, tmp_path_factory) -> Path:
    """Return the table of bins of the contigs."""
    contigs, depth, _ = sequences
    out = tmp_path_factory.mktemp("binned") / "out"
    command = ["bin", contigs, "--depth", depth, "-o", out, "--min-bin", 100_000, "--device", "cpu", "-q"]
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in command])
    assert ended.value.code in (None, 0)
    return out / "contigs2bin.tsv"


def test_amber_reads_the_bins_of_contigs(binned, tmp_path):
    """The lines of contigs2bin.tsv are those of CAMI's format for bins, which has titles before them."""
    load_data = pytest.importorskip("cami_amber.utils.load_data")
    lines = binned.read_text()
    (tmp_path / "bins.tsv").write_text(f"@Version:0.9.0\n@SampleID:one\n@@SEQUENCEID\tBINID\n{lines}")
    (metadata,) = load_data.read_metadata((str(tmp_path / "bins.tsv"), "gpuasm"))
    table = load_data.load_sample(metadata)
    assert list(zip(table["SEQUENCEID"], table["BINID"], strict=True)) == [
        tuple(line.split("\t")) for line in lines.splitlines()
    ]
    assert set(table["BINID"]) == {"bin_001", "bin_002", "bin_003"}


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_the_reader_of_das_tool_reads_the_bins_of_contigs(binned, tmp_path):
    """DAS Tool reads tables without titles by data.table."""
    (tmp_path / "read.R").write_text("""
        if (!requireNamespace("data.table", quietly = TRUE)) quit(status = 77)
        columns <- c("contig_id", "bin_id")
        table <- data.table::fread(commandArgs(TRUE)[1], header = FALSE, col.names = columns, sep = "\\t")
        write.table(table, sep = "\\t", quote = FALSE, row.names = FALSE, col.names = FALSE)
    """)
    done = subprocess.run(["Rscript", tmp_path / "read.R", binned], check=False, capture_output=True, text=True)
    if done.returncode == 77:
        pytest.skip("data.table of R is not installed")
    assert (done.returncode, done.stdout) == (0, binned.read_text()), done.stderr


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("quast.py") is None, reason="QUAST is not installed")
def test_quast_judges_contigs(sequences, tmp_path):
    contigs = sequences[0]
    command = ["quast.py", contigs, "-o", tmp_path / "quast", "--fast", "--silent", "-t", "1"]
    subprocess.run(command, check=True, capture_output=True)
    lines = [line.split("\t") for line in (tmp_path / "quast" / "report.tsv").read_text().splitlines()]
    figures = {line[0]: line[1] for line in lines}
    lengths = [record.codes.size for record in read_contigs(contigs)]
    assert int(figures["# contigs (>= 0 bp)"]) == len(lengths)
    assert int(figures["Total length (>= 0 bp)"]) == sum(lengths)
    assert float(figures["# N's per 100 kbp"]) == 0


def test_networkx_reads_edge_lists(run_cli, edges, tmp_path):
    assert run_cli("graph", "convert", edges, "-o", tmp_path / "out.tsv")[0] == 0
    graph = nx.read_weighted_edgelist(tmp_path / "out.tsv", create_using=nx.MultiDiGraph)
    assert sorted(graph.edges(data="weight")) == sorted(EDGES)


def test_scipy_reads_matrices(run_cli, edges, tmp_path):
    assert run_cli("graph", "convert", edges, "-o", tmp_path / "out.mtx")[0] == 0
    expected = np.zeros((4, 4))
    for source, target, weight in EDGES:
        expected[int(source), int(target)] = weight
    assert (scipy.io.mmread(tmp_path / "out.mtx").toarray() == expected).all()
    assert run_cli("graph", "reverse", tmp_path / "out.mtx", "-o", tmp_path / "reverse.mtx")[0] == 0
    assert (scipy.io.mmread(tmp_path / "reverse.mtx").toarray() == expected.T).all()


def test_igraph_reads_edge_lists_without_their_comment(run_cli, edges, tmp_path):
    igraph = pytest.importorskip("igraph")
    assert run_cli("graph", "convert", edges, "-o", tmp_path / "out.tsv")[0] == 0
    comment, *lines = (tmp_path / "out.tsv").read_text().splitlines(keepends=True)
    assert comment.startswith("#")
    (tmp_path / "lines.ncol").write_text("".join(lines))
    graph = igraph.Graph.Read_Ncol(os.fspath(tmp_path / "lines.ncol"), directed=True)
    found = [(graph.vs[e.source]["name"], graph.vs[e.target]["name"], e["weight"]) for e in graph.es]
    assert sorted(found) == sorted(EDGES)
