"""Segments and links of assembly graphs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpuasm.errors import DataError
from gpuasm.io.gfa_segments import read_segment_graph
from gpuasm.io.graphs import read_graph


def test_segments_and_links(tmp_path: Path) -> None:
    path = tmp_path / "graph.gfa"
    path.write_text(
        "H\tVN:Z:1.0\nS\ta\tACGT\tdp:f:2.5\nS\tb\t*\tLN:i:90\tKC:i:180\nS\tc\tAC\nP\tp\ta+\t*\n# more\n"
        "L\ta\t+\tb\t-\t3M\nL\tc\t-\tc\t-\t1M\n"
    )
    graph = read_segment_graph(path)
    assert graph.names == ["a", "b", "c"]
    assert graph.lengths.tolist() == [4, 90, 2]
    assert graph.depths[:2].tolist() == [2.5, 2.0]
    assert np.isnan(graph.depths[2])
    assert (graph.first.tolist(), graph.second.tolist()) == ([0, 5], [3, 5])


def test_an_empty_file_has_no_segments(tmp_path: Path) -> None:
    path = tmp_path / "empty.gfa"
    path.touch()
    graph = read_segment_graph(path)
    assert (graph.names, graph.lengths.size, graph.first.size) == ([], 0, 0)


def test_lines_of_other_kinds_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "graph.gfa"
    path.write_text("S\ta\tACGT\nA\ta\t0\t+\tread_1\t0\t4\nJ\ta\t+\ta\t-\t*\nL\ta\t+\ta\t+\n")
    assert read_segment_graph(path).second.tolist() == [0]
    assert read_graph(path)["a-"] == ["a-"]
    path.write_text("S\ta\tACGT\nACGT\n")
    with pytest.raises(DataError, match="line 2: expected a line of GFA 1"):
        read_graph(path)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("S\ta\tAC", "every segment once"),
        ("S\tb", "a segment with name and sequence"),
        ("S\tb\tAC\tdp:f:much", "numbers in the tags"),
        ("L\ta\t+\tb\t+\t0M", "segments of the file"),
        ("L\ta\t*\ta\t+\t0M", "a link"),
        ("L\ta\t+", "a link"),
        ("ACGT", "a line of GFA 1"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, line: str, expected: str) -> None:
    path = tmp_path / "graph.gfa"
    path.write_text(f"S\ta\tAC\n{line}\n")
    with pytest.raises(DataError, match=rf"graph\.gfa, line 2: expected .*{expected}"):
        read_segment_graph(path)
