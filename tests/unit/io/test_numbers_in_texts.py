"""Numbers in text files: ASCII digits without underscores, finite, of bounded length, in every table and header."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuasm.errors import DataError
from gpuasm.graph import from_edges
from gpuasm.io.contigs import read_contigs, read_depth_table
from gpuasm.io.genomes import read_genome
from gpuasm.io.graphs import read_graph, read_weighted_graph
from gpuasm.io.labels import read_labels
from gpuasm.io.matrices import read_matrix
from gpuasm.io.personalisation import read_personalisation

NO_NUMBERS = ["1_0", "\u0663", "\u00b2", "0x1", "1,5"]
TABLES = {
    "matrix": (read_matrix, "a\tb\n1\t2\n3\t{}\n"),
    "ESOM": (read_matrix, "% 2\n% 2\n% 9\t1\t1\n% K\tx\ty\n1\t{}\t2\n2\t3\t4\n"),
    "depth": (lambda path: read_depth_table(path, ["c"]), "contig\tx\nc\t{}\n"),
    "labels": (lambda path: read_labels(path, from_edges([0, 1], [1, 0]), base=0), "0 {} 2\n"),
    "shares": (lambda path: read_personalisation(path, from_edges([0, 1], [1, 0])), "0\t{}\n"),
    "weights": (read_weighted_graph, "a\tb\t{}\n"),
    "passed over": (lambda path: read_graph(path, pass_over_weights=True), "a\tb\t{}\n"),
    "copies": (read_genome, ">a copies={}\nACGT\n"),
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("text", NO_NUMBERS)
def test_what_is_no_number_is_refused(tmp_path: Path, name: str, text: str) -> None:
    read, table = TABLES[name]
    path = tmp_path / "table"
    if name == "copies" and text == "1,5":
        text = "1.5.1"
    path.write_text(table.format(text))
    with pytest.raises(DataError):
        read(path)
    path.write_text(table.format("1.5"))
    read(path)


@pytest.mark.parametrize("copies", ["", "0", "-1", "nan", "inf", "9" * 5000, "1.2.3", "x"])
def test_copies_are_numbers_above_0(tmp_path: Path, copies: str) -> None:
    path = tmp_path / "genome.fa"
    path.write_text(f">a copies={copies}\nACGT\n")
    with pytest.raises(DataError, match="a number of copies"):
        read_genome(path)
    path.write_text(">a copies=1e2; x\nACGT\n")
    assert read_genome(path)[0].copies == 100


@pytest.mark.parametrize("depth", ["9" * 5000, "1.2.3", "1e400", "1.5e3", "nan", "-3", ""])
def test_depths_of_headers_are_whole_decimals(tmp_path: Path, depth: str) -> None:
    path = tmp_path / "contigs.fa"
    path.write_text(f">a depth={depth} x\nACGT\n")
    assert read_contigs(path)[0].depth is None


def test_columns_of_depth_and_of_places_are_what_they_say(tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_text("#chr\tcoverage\tsd\nc\t5\t1\n")
    with pytest.raises(DataError, match="found a column 'sd'"):
        read_depth_table(path, ["c"])
    path.write_text("vertex\tlatitude\tlatitude\tlongitude\n0\t1\t2\t3\n")
    with pytest.raises(DataError, match="expected one column latitude, found two"):
        read_labels(path, from_edges([0, 1], [1, 0]))
