"""Named ends of edges: the fast parser agrees with reading line by line, and 300,000 edges take little memory."""

from __future__ import annotations

import re
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gpuasm.errors import DataError
from gpuasm.io import named_ends
from gpuasm.io.graphs import read_graph, read_weighted_graph
from gpuasm.io.named_ends import NamedEnds

PIECES = ["a", "bee", "7", "-", " ", "\t", ",", "\n", "\n", "\r\n", "#", "%", "é", "\u00a0", "\v", "x y\n", "c,d\n"]


def read_by_line(text: str, columns: int) -> tuple[list[str], tuple[int, str] | None]:
    """Oracle: the names up to the first line with other columns, and that line."""
    names: list[str] = []
    for number, line in enumerate(text.split("\n")[:-1], start=1):
        text = line.strip(" \t\r")
        fields = re.split(r"[ \t\r,]+", text)
        if not text or text[0] in "#%":
            continue
        if len(fields) != columns or "" in fields:
            return names, (number, text)
        names += fields[:2]
    return names, None


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join), st.sampled_from([2, 3]))
@example("a b\n\nb,a\r\n", 2)
@example("a b c\nd\n", 2)
@example("a b 1.5\nb c\t2\n", 3)
def test_the_fast_parser_agrees_with_reading_line_by_line(text: str, columns: int) -> None:
    text += "\n"
    expected, bad = read_by_line(text, columns)
    ends = NamedEnds(columns)
    assert ends.scan(text.encode()) == bad
    if bad is None:
        names = list(ends.numbers)
        assert names == list(dict.fromkeys(expected))
        source, target = ends.finish()
        assert [names[i] for i in np.stack([source, target], axis=1).ravel()] == expected


def test_plain_lines_are_parsed_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(named_ends, "numbered_lines", lambda _: pytest.fail("line by line"))
    ends = NamedEnds(2)
    assert ends.scan(b"a b\r\n\nnode-1,node-2\n b\ta \n") is None
    assert [part.tolist() for part in ends.finish()] == [[0, 2, 1], [1, 3, 0]]


def test_a_wrong_line_is_named_at_any_position(tmp_path) -> None:
    good = "left right\n" * 400_000  # of several blocks
    (tmp_path / "edges.txt").write_text(good + "left\n")
    with pytest.raises(DataError, match=r"line 400001: expected two columns.*found 'left'"):
        read_graph(tmp_path / "edges.txt")
    (tmp_path / "edges.txt").write_text("a b 1\n" * 400_000 + "a b -1\n")
    with pytest.raises(DataError, match="line 400001: expected a finite weight"):
        read_weighted_graph(tmp_path / "edges.txt")


def test_edges_are_kept_as_numbers(tmp_path) -> None:
    (tmp_path / "edges.txt").write_text("".join(f"vertex-{i % 999}\tvertex-{i % 1000}\n" for i in range(300_000)))
    read_graph(tmp_path / "edges.txt")
    tracemalloc.start()
    graph = read_graph(tmp_path / "edges.txt")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert graph.n_edges == 300_000
    assert peak < 45e6  # pairs of names made it 75 MB


@pytest.mark.parametrize("other", ["\v", "\f", "\x1c", "\x85", "\u2028", "\xa0"])
def test_other_white_space_separates_no_columns(tmp_path: Path, other: str) -> None:
    path = tmp_path / "edges.tsv"
    path.write_text(f"from\tto\tweight\na\tb\t0.5\nc{other}a\t1e-3\n")
    with pytest.raises(DataError, match="three columns"):
        read_weighted_graph(path, file_format="edges")
    path.write_text(f"{other} %\n")
    assert read_graph(path, file_format="edges").names == (other, "%")
