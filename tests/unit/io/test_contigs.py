"""Contigs with their depth from headers and tables."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from gpuasm.errors import DataError, NoInputError
from gpuasm.io.contigs import read_contigs, read_depth_table

NAMES = ["a", "b"]


@pytest.fixture
def write(tmp_path):
    def write(text, name="file"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


@pytest.mark.parametrize(
    ("header", "depth"),
    [
        ("a length=4 depth=58.3 copies=1 circular=no", 58.3),
        ("k141_1 flag=1 multi=3.0000 len=4", 3.0),
        ("NODE_1_length_4_cov_12.75", 12.75),
        ("a depth=7", 7.0),
        ("a", None),
        ("a undepth=3", None),
    ],
)
def test_headers_of_assemblers_give_the_depth(write, header, depth):
    (contig,) = read_contigs(write(f">{header}\nACGT\n"))
    assert contig.name == header.split()[0]
    assert contig.codes.tolist() == [0, 1, 2, 3]
    assert contig.depth == depth


def test_circles_and_compressed_files_are_read(tmp_path):
    path = tmp_path / "contigs.fa.gz"
    path.write_bytes(gzip.compress(b">a circular=yes\nAC\nGT\n>b circular=no\nNN\n"))
    assert [(c.name, c.is_circular, c.codes.size) for c in read_contigs(path)] == [("a", True, 4), ("b", False, 2)]


def test_an_empty_file_holds_no_contig(write):
    assert read_contigs(write("")) == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("ACGT\n", "FASTA"), (">a\n>b\nA\n", "a sequence"), (">a\nA\n>a\nC\n", "a name of its own")],
)
def test_other_files_are_refused(write, text, complaint):
    with pytest.raises(DataError, match=complaint):
        read_contigs(write(text))


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(NoInputError):
        read_contigs(tmp_path / "none")


@pytest.mark.parametrize(
    ("text", "samples", "depth"),
    [
        ("contigName\tcontigLen\ttotalAvgDepth\ts1\ts1-var\ts2\ts2-var\nb\t9\t4\t1\t0\t3\t0\na\t9\t7\t5\t0\t2\t0\n",
         ["s1", "s2"], [[5, 2], [1, 3]]),
        ("name\tlength\tdepth\tcopies\na\t9\t4.5\t1\nb\t9\t2\t1\nc\t1\t1\t1\n", ["depth"], [[4.5], [2]]),
        ("contig\tx\ty\na\t0\t1\n\nb\t2\t3e1\n", ["x", "y"], [[0, 1], [2, 30]]),
    ],
)  # fmt: skip
def test_tables_of_depth(write, text, samples, depth):
    found, values = read_depth_table(write(text), NAMES)
    assert found == samples
    assert np.array_equal(values, depth)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "a column of depth"),
        ("contig\n", "a column of depth"),
        ("contig\tx\na\t1\n", "the depth of b"),
        ("contig\tx\na\t1\nb\t-1\n", "line 3"),
        ("contig\tx\na\tmany\nb\t1\n", "line 2"),
        ("contig\tx\na\tnan\nb\t1\n", "'nan'"),
        ("contig\tx\na\nb\t1\n", "line 2"),
    ],
)
def test_damaged_tables_are_refused(write, text, complaint):
    with pytest.raises(DataError, match=complaint):
        read_depth_table(write(text), NAMES)


SAMTOOLS = "#rname\tstartpos\tendpos\tnumreads\tcovbases\tcoverage\tmeandepth\tmeanbaseq\tmeanmapq\n"


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        (SAMTOOLS + "a\t1\t900\t9\t900\t100\t1.5\t35\t60\nb\t1\t800\t9\t900\t100\t2.5\t35\t60\n", ["meandepth"]),
        ("Contig\tx Mean\tx Length\ty Mean\ny Length\n".replace("\ny", "\ty") + "a\t1.5\t9\t3\t9\nb\t2.5\t9\t3\t9\n",
         ["x Mean", "y Mean"]),
        ("Contig\tx Trimmed Mean\tx Covered Fraction\na\t1.5\t1\nb\t2.5\t1\n", ["x Trimmed Mean"]),
        ("#ID\tAvg_fold\tLength\na\t1.5\t9\nb\t2.5\t9\n", ["Avg_fold"]),
        ("chrom\tlength\tbases\tmean\tmin\tmax\na\t9\t9\t1.5\t0\t3\nb\t9\t9\t2.5\t0\t3\n", ["mean"]),
        ("contigName\tcontigLen\ttotalAvgDepth\tx.bam\tx.bam-var\na\t9\t1.5\t1.5\t9\nb\t9\t2.5\t2.5\t9\n", ["x.bam"]),
        ("name\tlength\tdepth\na\t9\t1.5\nb\t9\t2.5\n", ["depth"]),
    ],
)  # fmt: skip
def test_tables_of_known_programs_are_read_by_their_headers(write, text, columns):
    names, depth = read_depth_table(write(text), ["a", "b"])
    assert names == columns
    assert depth[:, 0].tolist() == [1.5, 2.5]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("#CHROM\tPOS\tx.bam\na\t1\t5\n", "a column of depth"),
        ("a\t1\t5\na\t2\t5\n", "a header"),
        ("Contig\tx Read Count\na\t5\n", "a column of depth"),
        ("contig\tlength\tx\na\t9\t5\nb\t9\t5\n", "a column 'length'"),
        ("contig\tx\na\t1\na\t2\nb\t1\n", "'a' again"),
    ],
)
def test_columns_of_something_else_are_refused(write, text, complaint):
    with pytest.raises(DataError, match=complaint):
        read_depth_table(write(text), ["a", "b"])
