"""FASTA, GFA, TSV and JSON as they are written."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from gpuasm.io import Link, Segment, read_reads, write_fasta, write_gfa, write_json, write_tsv
from gpuasm.io import Path as Walk
from gpuasm.sequence.encoding import encode
from tests.oracles import reads as oracle


def test_fasta(tmp_path):
    path = tmp_path / "out.fa"
    write_fasta(
        path, ["a", "b", "c", "d"], ["length=5", "", "x", ""], ["ACGTA", encode("ACG"), b"", "ACGTACGT"], width=4
    )
    assert path.read_text() == ">a length=5\nACGT\nA\n>b\nACG\n>c x\n>d\nACGT\nACGT\n"
    write_fasta(path, ["a"], [""], ["ACGTA" * 50], width=0)
    assert path.read_text() == f">a\n{'ACGTA' * 50}\n"


def test_fasta_is_read_back(tmp_path):
    path = tmp_path / "out.fa"
    sequences = oracle.random_sequences(1, 5, 201)
    write_fasta(path, map(str, range(5)), [""] * 5, sequences)
    assert oracle.pieces_of_reads(read_reads(single=[path]).reads) == list(enumerate(sequences))


def test_unequal_columns_leave_no_file(tmp_path):
    with pytest.raises(ValueError, match="shorter"):
        write_fasta(tmp_path / "out", ["a", "b"], ["", ""], ["ACGT"])
    with pytest.raises(ValueError, match="shorter"):
        write_tsv(tmp_path / "out", {"a": [1, 2], "b": [1]})
    assert list(tmp_path.iterdir()) == []


def test_gfa(tmp_path):
    path = tmp_path / "out.gfa"
    segments = [Segment("u1", "ACGTA", 12, 4.0), Segment("u2", encode("GTACC")), Segment("u3", "", 0, 0.12345)]
    write_gfa(path, segments, [Link("u1", "+", "u2", "-", 3)], paths=[Walk("c1", ["u1+", "u2-"])])
    assert path.read_text().splitlines() == [
        "H\tVN:Z:1.0",
        "S\tu1\tACGTA\tLN:i:5\tKC:i:12\tdp:f:4.000",
        "S\tu2\tGTACC\tLN:i:5",
        "S\tu3\t*\tLN:i:0\tKC:i:0\tdp:f:0.123",
        "L\tu1\t+\tu2\t-\t3M",
        "P\tc1\tu1+,u2-\t*",
    ]


def test_tsv(tmp_path):
    path = tmp_path / "out.tsv"
    columns = {
        "name": ["a", "b\tc"],
        "n": np.array([1, 10**12]),
        "depth": np.array([1 / 3, 1e-9]),
        "circular": [True, np.False_],
        "note": [None, 2.5],
    }
    write_tsv(path, columns)
    assert path.read_text() == (
        "name\tn\tdepth\tcircular\tnote\na\t1\t0.333333\tyes\t\nb c\t1000000000000\t1e-09\tno\t2.5\n"
    )
    write_tsv(path, {"a": [], "b": []})
    assert path.read_text() == "a\tb\n"


def test_json(tmp_path):
    @dataclass
    class Thing:
        size: np.int64
        where: Path

    path = tmp_path / "out.json"
    write_json(path, {"thing": Thing(np.int64(3), Path("a/b")), 1: (np.array([1.5, np.nan]), {"z", "a"}), "x": None})
    expected = {"thing": {"size": 3, "where": "a/b"}, "1": [[1.5, None], ["a", "z"]], "x": None}
    assert json.loads(path.read_text()) == expected
    assert path.read_text().endswith("}\n")
    with pytest.raises(TypeError):
        write_json(tmp_path / "other.json", object())
    assert not (tmp_path / "other.json").exists()
