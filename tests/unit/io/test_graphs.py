"""Graph files: every format in and out, and the errors about bad ones."""

from __future__ import annotations

import gzip
import io
import logging
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from gpuasm.errors import DataError, NoInputError, UsageError
from gpuasm.graph import DirectedGraph, from_edges, from_strings
from gpuasm.graph.generators import de_bruijn_graph, rmat
from gpuasm.io import edge_lists, graph_text
from gpuasm.io.graph_formats import format_of_text
from gpuasm.io.graphs import FORMATS, read_graph, write_graph
from tests.strategies import graphs, named_graphs

MTX = "%%MatrixMarket matrix coordinate "


@pytest.fixture
def written(tmp_path: Path):
    def write(text: str | bytes) -> Path:
        path = tmp_path / "graph"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def pairs(graph: DirectedGraph) -> list[tuple[int, int]]:
    source, target = graph.edges()
    return list(zip(source.tolist(), target.tolist(), strict=True))


@pytest.mark.parametrize("file_format", ["adjacency", "edges", "mtx", "npz"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=graphs())
def test_numbered_graphs_come_back(graph: DirectedGraph, file_format: str, tmp_path: Path) -> None:
    path = tmp_path / "graph"
    write_graph(path, graph, file_format=file_format)
    again = read_graph(path)
    assert pairs(again) == pairs(graph)
    assert again.n_vertices == graph.n_vertices
    assert again.names is None


@pytest.mark.parametrize("file_format", ["adjacency", "npz"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=named_graphs())
def test_named_graphs_come_back(graph: DirectedGraph, file_format: str, tmp_path: Path) -> None:
    path = tmp_path / "graph"
    write_graph(path, graph, file_format=file_format)
    assert read_graph(path) == graph
    assert hash(read_graph(path)) == hash(graph)


def test_an_edge_list_of_names(written, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    graph = read_graph(written("x\ty\ny,x\n  x   x \n"))
    assert list(graph) == [("x", ["y", "x"]), ("y", ["x"])]
    with_lonely = from_strings(["a -> b", "c"])
    with caplog.at_level(logging.WARNING, "gpuasm"):
        write_graph(tmp_path / "e.tsv", with_lonely)
    assert "1 vertices without edges" in caplog.text
    assert (tmp_path / "e.tsv").read_text() == "# vertices 3 edges 1\na\tb\n"


@pytest.mark.parametrize("sep", ["\t", " ", ",", ", ", "   "])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_separators_and_ends_of_lines(written, sep: str, end: str) -> None:
    lines = ["# comment", "", f"10{sep}2", "% other", f" 0{sep}10 "]
    assert pairs(read_graph(written(end.join(lines)))) == [(0, 10), (10, 2)]


def test_names_begin_where_numbers_end(written, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = read_graph(written("1 2\n2 3\n# c\n3 X1\n1 2\n"))
    assert list(graph) == [("1", ["2", "2"]), ("2", ["3"]), ("3", ["X1"]), ("X1", [])]
    assert read_graph(written("01 2\n2 01\n")).names == ("01", "2")
    with pytest.raises(DataError, match=r"line 5: expected two columns.*'a b c'"):
        read_graph(written("1 2\n2 3\n# c\n3 X1\na b c\n"))


@pytest.mark.parametrize("byte", [byte for byte in range(1, 32) if chr(byte) not in "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f"])
def test_control_characters_are_of_names(written, byte: int) -> None:
    assert read_graph(written(f"1 2\n{byte:c}3 4{byte:c}\n")).names == ("1", "2", f"{byte:c}3", f"4{byte:c}")


def test_ids_that_reach_far_are_names(written) -> None:
    graph = read_graph(written("7000000000 5\n5 123456789012345678\n"))
    assert graph.names == ("5", "7000000000", "123456789012345678")
    assert read_graph(written("70000 5\n")).n_vertices == 70001


def test_a_first_line_with_the_counts(written, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "gpuasm"):
        graph = read_graph(written("3 5\n1 2\n2 3\n3 1\n1 3\n2 1\n"))
    assert (graph.n_vertices, graph.n_edges) == (4, 5)
    assert "taken as the numbers" in caplog.text
    assert read_graph(written("1 0\n")).n_edges == 1
    assert read_graph(written("0 2\n1 0\n0 1\n")).n_edges == 3


@pytest.mark.parametrize("block", [7, 64])
def test_blocks_end_anywhere(written, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = rmat(5, 3)
    for file_format in ("edges", "mtx", "adjacency"):
        path = written("")
        write_graph(path, graph, file_format=file_format)
        whole = graph_text.Source
        monkeypatch.setattr(graph_text, "Source", lambda p, b=block, s=whole, **k: s(p, block_bytes=b, **k))
        assert pairs(read_graph(path)) == pairs(graph)
        monkeypatch.setattr(graph_text, "Source", whole)


@pytest.mark.parametrize(
    ("header", "entries", "expected"),
    [
        ("pattern general", ["1 2", "3 3", "1 2"], [(0, 1), (0, 1), (2, 2)]),
        ("real symmetric", ["2 1 0.5", "3 3 -1e-3"], [(0, 1), (1, 0), (2, 2)]),
        ("integer skew-symmetric", ["2 1 5"], [(0, 1), (1, 0)]),
        ("complex hermitian", ["2 1 0 1"], [(0, 1), (1, 0)]),
        ("integer general", [], []),
    ],
)
def test_matrix_market(written, header: str, entries: list[str], expected: list[tuple[int, int]]) -> None:
    lines = [MTX + header, "% a comment", "%", "", f"3 3 {len(entries)}", *entries]
    graph = read_graph(written("\n".join(lines)))
    assert pairs(graph) == expected
    assert graph.n_vertices == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2\n1 2 3\n", r"line 2: expected two columns.*found '1 2 3'; keep the first two columns"),
        ("a b\nc\n", r"line 2: expected two columns.*'c'"),
        ("a -> b\nb -> c -> d\n", "line 2: expected 'vertex -> vertex"),
        (b"a -> b\n\xff -> c\n", "line 2: expected text in UTF-8, found byte 0xff"),
        ("1 2\n3 4\n".encode("utf-16-le"), "line 1: expected text in UTF-8, found byte 0x0; give the right file"),
        ("S\ta\t*\nS\ta\t*\n", "line 2: expected every segment once"),
        ("S\ta\t*\nL\ta\t+\tb\t+\t0M\n", "line 2: .* no segment 'b'"),
        ("S\ta\t*\nL\ta\t+\ta\n", "line 2: expected a link"),
        ("H\tVN:Z:2.0\nS\ta\t5\t*\n", "line 1: expected GFA 1"),
        (MTX + "real general\n2 3 1\n1 1 1\n", "line 2: expected as many rows as columns"),
        (MTX + "real general\n2 2 2\n1 2 1\n1 3 1\n", "entry 2: expected rows and columns from 1 to 2, found 1 3"),
        (MTX + "real general\n2 2 1\n0 1 1\n", "rows and columns from 1 to 2"),
        (MTX + "real general\n2 2 2\n1 1 1\n", "2 entries, as the header states, found 1"),
        (MTX + "real general\n2 2 2\n1 1 1\n1 2\n", "line 4: expected 3 columns.*'1 2'"),
        (MTX + "real general\n2 2 1\n1 x 1\n", "line 3: .*'1 x 1'"),
        (MTX + "real general\n2 2\n", "line 2: expected rows, columns and entries"),
        (MTX + "real general\n% nothing\n", "the end of the file"),
        (MTX + "real general\n", "the end of the file"),
        (MTX + "real odd\n2 2 0\n", "line 1: expected a field and a symmetry"),
        ("%%MatrixMarket matrix array real general\n2 2\n", "line 1: .*coordinate format"),
        (b"PK\x03\x04 but no archive", "expected a graph as .npz"),
        (gzip.compress(b"1 2\n" * 5000, mtime=0)[:40], "expected complete compressed data"),
    ],
)
def test_errors_describe_what_is_wrong(written, text: str | bytes, message: str) -> None:
    path = written(text)
    with pytest.raises(DataError, match=message) as caught:
        read_graph(path)
    assert str(path) in str(caught.value)
    assert caught.value.exit_code == 65


def test_an_npz_of_something_else(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", a=np.arange(3))
    with pytest.raises(DataError, match=r"a graph as \.npz"):
        read_graph(tmp_path / "x.npz")
    np.savez(tmp_path / "y.npz", row_offsets=np.array([0, 2]), columns=np.array([0]))
    with pytest.raises(DataError, match=r"y.npz: expected row offsets"):
        read_graph(tmp_path / "y.npz")
    with pytest.raises(NoInputError):
        read_graph(tmp_path / "none")


def test_compressed_and_standard_input(written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert pairs(read_graph(written(gzip.compress(b"0 1\n1 0")))) == [(0, 1), (1, 0)]
    write_graph(tmp_path / "g.npz", from_strings(["a -> b"]))
    data = (tmp_path / "g.npz").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert read_graph("-") == from_strings(["a -> b"])
    assert read_graph(written("\ufeff0 1\n")).n_edges == 1
    assert read_graph(written("")).n_vertices == 0
    assert read_graph(written("# only a comment\n")).n_vertices == 0


def test_gfa_is_oriented(written, tmp_path: Path) -> None:
    links = "L\ta\t+\tb\t-\t5M\nL\tb\t+\ta\t-\t5M\n"
    segments = "S\ta\tACGT\nS\tb\t*\tLN:i:9\n"
    graph = read_graph(written(f"H\tVN:Z:1.0\n{links}{segments}L\ta\t+\ta\t-\t0M\nP\tp\ta+\t*\n"))
    assert list(graph) == [("a+", ["b-", "a-"]), ("a-", []), ("b+", ["a-"]), ("b-", [])]
    write_graph(tmp_path / "again.gfa", graph)
    assert read_graph(tmp_path / "again.gfa") == graph


def test_gfa_of_any_graph_holds_it_forwards(tmp_path: Path) -> None:
    write_graph(tmp_path / "g.gfa", from_strings(["a -> b, a"]))
    graph = read_graph(tmp_path / "g.gfa")
    assert graph["a+"] == ["b+", "a+"]
    assert graph["b-"] == ["a-"]


def test_string_names_keep_their_alphabet(tmp_path: Path) -> None:
    graph = de_bruijn_graph("ACGT", 4)
    write_graph(tmp_path / "g.npz", graph)
    assert read_graph(tmp_path / "g.npz").names == graph.names
    write_graph(tmp_path / "g.txt", graph)
    assert read_graph(tmp_path / "g.txt") == graph


@pytest.mark.parametrize(
    ("name", "file_format"), [("a b", "edges"), ("a,b", "adjacency"), ("a->b", "adjacency"), ("", "gfa")]
)
def test_names_that_a_format_cannot_hold(name: str, file_format: str, tmp_path: Path) -> None:
    graph = from_edges([0], [1], names=[name, "y"])
    with pytest.raises(UsageError, match=r"names that .* can hold"):
        write_graph(tmp_path / "g", graph, file_format=file_format)
    assert not (tmp_path / "g").exists()
    write_graph(tmp_path / "g.npz", graph)
    assert read_graph(tmp_path / "g.npz") == graph


def test_the_suffix_determines_the_format(tmp_path: Path) -> None:
    graph = from_edges([0, 1], [1, 0])
    kinds = {}
    for suffix in (".txt", ".tsv", ".mtx", ".gfa"):
        write_graph(tmp_path / f"g{suffix}", graph)
        kinds[suffix] = format_of_text((tmp_path / f"g{suffix}").read_bytes())
    assert kinds == {".txt": "adjacency", ".tsv": "edges", ".mtx": "mtx", ".gfa": "gfa"}
    with pytest.raises(UsageError, match=", ".join(FORMATS)):
        write_graph(tmp_path / "g", graph, file_format="dot")


def test_numbers_too_long_are_names() -> None:
    graph = edge_lists.read_edge_list([b"1 99999999999999999999\n"])[0]
    assert graph.names == ("1", "99999999999999999999")
