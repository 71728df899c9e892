"""Weights of edges from graph files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.errors import DataError, UsageError
from gpuasm.graph import from_edges
from gpuasm.io.edge_lists import read_edge_list
from gpuasm.io.edge_weights import EdgeWeights
from gpuasm.io.graphs import read_graph, read_weighted_graph, write_graph

MTX = "%%MatrixMarket matrix coordinate "


def written(folder: Path, text: str) -> Path:
    path = folder / "graph"
    path.write_text(text)
    return path


def named(path: Path, **options: bool) -> list[tuple[object, object, float]]:
    """Return the edges with their weights, sorted."""
    graph, weights = read_weighted_graph(path, **options)
    assert weights is not None
    return sorted((*edge, w) for edge, w in zip(graph.named_edges(), weights.tolist(), strict=True))


def test_weights_follow_their_edges(tmp_path: Path) -> None:
    path = written(tmp_path, "# comment\n2 0 0.5\n0,1,3\n\n2\t1\t1e-3\n0 2 .25\n")
    assert named(path) == [(0, 1, 3.0), (0, 2, 0.25), (2, 0, 0.5), (2, 1, 0.001)]


def test_weights_follow_their_edges_between_names(tmp_path: Path) -> None:
    path = written(tmp_path, "7 9 0.5\nb a 2\nb 7 4\n9 b 1\n")
    assert named(path) == [("7", "9", 0.5), ("9", "b", 1.0), ("b", "7", 4.0), ("b", "a", 2.0)]


def test_names_that_are_the_numbers_from_0_to_n(tmp_path: Path) -> None:
    path = written(tmp_path, "1 0 5\n1000000000000 1 2\n")  # ids that reach far: names, sorted as numbers
    assert named(path) == [("1", "0", 5.0), ("1000000000000", "1", 2.0)]


def test_control_characters_are_of_names(tmp_path: Path) -> None:
    assert named(written(tmp_path, "1 2 5\n\x013 4\x02 7\n")) == [("\x013", "4\x02", 7.0), ("1", "2", 5.0)]
    with pytest.raises(DataError, match=r"line 1: .*weight"):
        read_weighted_graph(written(tmp_path, "1 2 \x015\n"))


def test_two_columns_have_no_weights(tmp_path: Path) -> None:
    graph, weights = read_weighted_graph(written(tmp_path, "0 1\n1 2\n"))
    assert graph == read_graph(written(tmp_path, "0 1\n1 2\n"))
    assert weights is None


@pytest.mark.parametrize("text", ["a -> b\n", "H\tVN:Z:1.0\nS\tx\t*\n", "", MTX + "pattern general\n2 2 1\n1 2\n"])
def test_formats_without_weights(tmp_path: Path, text: str) -> None:
    assert read_weighted_graph(written(tmp_path, text))[1] is None


def test_matrix_market_values(tmp_path: Path) -> None:
    path = written(tmp_path, MTX + "real general\n% c\n3 3 3\n3 1 2.5\n1 2 1e2\n1 3 0\n")
    assert named(path) == [(0, 1, 100.0), (0, 2, 0.0), (2, 0, 2.5)]


def test_symmetric_matrices_have_each_value_twice(tmp_path: Path) -> None:
    path = written(tmp_path, MTX + "integer symmetric\n3 3 3\n1 1 7\n2 1 4\n3 2 5\n")
    assert named(path) == [(0, 0, 7.0), (0, 1, 4.0), (1, 0, 4.0), (1, 2, 5.0), (2, 1, 5.0)]


def test_skew_symmetric_matrices_need_negative_weights(tmp_path: Path) -> None:
    path = written(tmp_path, MTX + "real skew-symmetric\n2 2 1\n2 1 4\n")
    assert named(path, allow_negative=True) == [(0, 1, -4.0), (1, 0, 4.0)]
    with pytest.raises(DataError, match="skew-symmetric"):
        read_weighted_graph(path)


def test_weights_in_npz(tmp_path: Path) -> None:
    graph, path = from_edges([0, 1, 1], [1, 0, 1]), tmp_path / "graph.npz"
    write_graph(path, graph)
    assert read_weighted_graph(path)[1] is None
    with np.load(path) as arrays:
        np.savez(path, **arrays, weights=np.array([1, 2, 3]))
    again, weights = read_weighted_graph(path)
    assert again == graph
    assert weights is not None
    assert weights.dtype == np.float64
    assert weights.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("weights", "message"),
    [([1.0, -2.0, 3.0], "-2.0 at edge 1"), ([1.0, 2.0], "shape"), ([1.0, np.nan, 3.0], "nan at edge 1")],
)
def test_bad_weights_in_npz(tmp_path: Path, weights: list[float], message: str) -> None:
    path = tmp_path / "graph.npz"
    np.savez(path, row_offsets=[0, 3], columns=[0, 0, 0], weights=np.array(weights))
    with pytest.raises(DataError, match=message) as caught:
        read_weighted_graph(path)
    assert caught.value.path == str(path)


@pytest.mark.parametrize("text", ["-1", "nan", "inf", "1_0", "x", "1e999", "--2", ".", "0x10"])
@pytest.mark.parametrize("names", [("0", "1"), ("a", "b")])
def test_bad_weights_name_their_line(tmp_path: Path, text: str, names: tuple[str, str]) -> None:
    first, second = names
    path = written(tmp_path, f"# c\n{first} {second} 1\n\n{second} {first} {text}\n")
    with pytest.raises(DataError, match="finite weight") as caught:
        read_weighted_graph(path)
    assert (caught.value.place, caught.value.path) == ("line 4", str(path))
    assert text in caught.value.found


def test_negative_weights_where_they_are_allowed(tmp_path: Path) -> None:
    path = written(tmp_path, "0 1 -1.5\n1 0 2\n")
    assert named(path, allow_negative=True) == [(0, 1, -1.5), (1, 0, 2.0)]


@pytest.mark.parametrize("text", ["0 1 2\n1 0\n", "a b 2\nb a\n", "0 1 2\n1 0 3 4\n"])
def test_every_line_has_a_weight_or_none(tmp_path: Path, text: str) -> None:
    with pytest.raises(DataError, match="three columns") as caught:
        read_weighted_graph(written(tmp_path, text))
    assert caught.value.place == "line 2"


def test_a_bad_value_in_matrix_market_names_its_line(tmp_path: Path) -> None:
    path = written(tmp_path, MTX + "real general\n%\n2 2 2\n1 2 1.0\n2 1 -3\n")
    with pytest.raises(DataError, match="finite weight") as caught:
        read_weighted_graph(path)
    assert caught.value.place == "line 5"


def test_complex_values_are_no_weights(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="complex"):
        read_weighted_graph(written(tmp_path, MTX + "complex general\n2 2 1\n1 2 1.0 0.0\n"))


@given(
    values=st.lists(
        st.one_of(
            st.floats(0, 1e300),
            st.integers(0, 10**17),
            st.decimals(0, 10**6, places=9).map(lambda d: f"{d:f}"),
        ),
        max_size=20,
    )
)
def test_numbers_are_rounded_as_python_rounds_them(values: list[float | int | str]) -> None:
    lines = "".join(f"0 1 {value}\n" for value in values).encode()
    weights = read_edge_list([lines], EdgeWeights(), edges_only=True)[1]
    assert (weights.tolist() if values else []) == [float(value) for value in values]


@pytest.mark.parametrize("suffix", ["tsv", "mtx", "npz"])
@pytest.mark.parametrize("names", [None, ["a", "b", "c"]])
def test_written_weights_come_back(tmp_path, suffix, names):
    graph, weights = from_edges([2, 0, 0], [1, 2, 1], 3, names=names), np.array([0.5, 1e-9, 1.0])
    path = tmp_path / f"graph.{suffix}"
    write_graph(path, graph, weights=weights)
    found, found_weights = read_weighted_graph(path)
    labels = [str(found.label_of(i)) if found.names else "abc"[i] for i in range(3)]  # an edge list numbers anew
    edges = {
        (labels[a], labels[b]): weight
        for a, b, weight in zip(*map(np.ndarray.tolist, (*found.edges(), found_weights)), strict=True)
    }
    assert edges == {("a", "c"): 0.5, ("a", "b"): 1e-9, ("c", "b"): 1.0}


def test_formats_without_weights_refuse_them(tmp_path):
    with pytest.raises(UsageError, match="holds weights: edges, mtx, graphml, gml, npz"):
        write_graph(tmp_path / "graph.gfa", from_edges([0], [1]), weights=np.ones(1))
