"""``gpuasm euler``."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gpuasm.graph import DirectedGraph
from gpuasm.graph.generators import deep_eulerian
from gpuasm.io.graphs import read_graph, write_graph
from tests.euler_graphs import pairs_of

Run = Callable[..., tuple[int, str, str]]
METHODS = ["auto", "parallel", "hierholzer"]


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """Return a graph of two components, one with a path only."""
    path = tmp_path / "two.txt"
    path.write_text("a -> b, b\nb -> a\nx -> y\ny -> x, x\n z -> y\n")
    return path


@pytest.fixture
def circuits(tmp_path: Path) -> Path:
    path = tmp_path / "circuits.txt"
    path.write_text("a -> b, b\nb -> a, a\nx -> y, x\ny -> x\n")
    return path


@pytest.mark.parametrize("method", METHODS)
def test_a_line_for_each_vertex_and_an_empty_one_between_components(run_cli: Run, circuits: Path, method: str) -> None:
    code, out, _ = run_cli("euler", circuits, "--method", method, "--device", "cpu", "-q")
    assert code == 0
    first, second = (walk.split() for walk in out.split("\n\n"))
    assert first == ["a", "b", "a", "b", "a"]
    assert len(second) == 4
    assert second[0] == second[-1] == "x"


@pytest.mark.parametrize("method", METHODS)
def test_numbered_vertices(run_cli: Run, tmp_path: Path, method: str) -> None:
    graph = deep_eulerian(3000, 4)
    write_graph(tmp_path / "deep.npz", graph)
    tour = tmp_path / "tour.txt"
    code, out, _ = run_cli("euler", tmp_path / "deep.npz", "-o", tour, "--method", method, "--device", "cpu", "-q")
    assert code == 0
    walk = [int(line) for line in tour.read_text().splitlines()]
    assert walk[0] == walk[-1]
    assert sorted(itertools.pairwise(walk)) == sorted(pairs_of(graph))
    assert out.splitlines()[:3] == ["vertices\t3000", f"edges\t{graph.n_edges}", "walks\t1"]


def test_numbers_with_gaps(run_cli: Run, tmp_path: Path) -> None:
    vertices = np.arange(2000)
    write_graph(tmp_path / "loops.npz", DirectedGraph(np.arange(2001), vertices))
    _, out, _ = run_cli("euler", tmp_path / "loops.npz", "-q")
    assert out == "\n".join(f"{v}\n{v}\n" for v in vertices)


def test_path(run_cli: Run, tmp_path: Path) -> None:
    graph = tmp_path / "path.txt"
    graph.write_text("a -> b\nb -> c, d\nd -> b\n")
    code, out, _ = run_cli("euler", graph, "--path", "-q")
    assert (code, out.split()) == (0, ["a", "b", "d", "b", "c"])
    code, out, err = run_cli("euler", graph, "-q")
    assert code == 65
    assert "path.txt: expected as many edges in as out at every vertex, found 2 unbalanced vertices: a (0 in, 1" in err
    assert "run with --path (from a)" in err
    assert out == ""


@pytest.mark.parametrize("method", METHODS)
def test_unbalanced_vertices(run_cli: Run, two: Path, method: str) -> None:
    for more in ([], ["--path"]):
        code, _, err = run_cli("euler", two, "--method", method, "--device", "cpu", "-q", *more)
        assert code == 65
        assert "4 unbalanced vertices: a (1 in, 2 out), b (2 in, 1 out), x (2 in, 1 out), z (0 in, 1 out)" in err


def test_edges(run_cli: Run, circuits: Path) -> None:
    code, out, _ = run_cli("euler", circuits, "--edges", "-q")
    assert code == 0
    rows = [line.split("\t") for line in out.splitlines()]
    assert [len(row) for row in rows] == [3, 3, 3, 3, 1, 3, 3, 3]
    pairs, graph = pairs_of(read_graph(circuits)), read_graph(circuits)
    for number, source, target in filter(lambda row: len(row) == 3, rows):
        assert pairs[int(number)] == (graph.number_of(source), graph.number_of(target))


def test_start(run_cli: Run, circuits: Path) -> None:
    _, out, _ = run_cli("euler", circuits, "--start", "y", "-q")
    assert out.split("\n\n")[1].split() == ["y", "x", "x", "y"]
    code, _, err = run_cli("euler", circuits, "--start", "q", "-q")
    assert code == 2
    assert "'q'" in err


@pytest.mark.parametrize("pairing", ["mixed", "fifo"])
def test_stages(run_cli: Run, tmp_path: Path, circuits: Path, pairing: str) -> None:
    stages = tmp_path / "stages.tsv"
    options = ["--method", "parallel", "--device", "cpu", "--pairing", pairing, "--seed", 1, "--stages", stages]
    code, out, _ = run_cli("euler", circuits, *options, "-o", tmp_path / "tour.txt")
    assert code == 0
    rows = [line.split("\t") for line in stages.read_text().splitlines()]
    assert rows[0] == ["stage", "seconds", "circuits"]
    names = [row[0] for row in rows[1:]]
    assert names[:3] == ["read graph", "predecessors", "partition"]
    assert all(float(row[1]) >= 0 for row in rows[1:])
    found = next(row[2] for row in rows if row[0] == "partition")
    assert f"circuits before joining\t{found}" in out


def test_an_empty_graph_has_an_empty_tour(run_cli: Run, tmp_path: Path) -> None:
    graph = tmp_path / "empty.txt"
    graph.write_text("")
    for method in METHODS:
        assert run_cli("euler", graph, "--method", method, "--device", "cpu", "-q")[:2] == (0, "")
    graph.write_text("a ->\nb ->\n")
    assert run_cli("euler", graph, "-q")[:2] == (0, "")


def test_no_such_file_and_no_such_place(run_cli: Run, tmp_path: Path, circuits: Path) -> None:
    assert run_cli("euler", tmp_path / "none.txt", "-q")[0] == 66
    assert run_cli("euler", circuits, "-o", tmp_path / "no" / "tour.txt", "-q")[0] == 73
    assert run_cli("euler", circuits, "--method", "fast")[0] == 2


def test_assembly(run_cli: Run, tmp_path: Path) -> None:
    graph, table = tmp_path / "graph.gfa", tmp_path / "tours.tsv"
    graph.write_text(
        "S\ta\tACGTACGT\tdp:f:10\nS\tr\tAC\tdp:f:20\nS\tb\tACGTACGTAA\tdp:f:10\nS\tlone\tACGT\n"
        "L\ta\t+\tr\t+\t1M\nL\tr\t+\tb\t+\t1M\nL\tb\t+\tr\t+\t1M\nL\tr\t+\ta\t+\t1M\n"
    )
    code, out, _ = run_cli("euler", graph, "--assembly", "-o", table, "-q")
    assert (code, out.split()) == (0, ["circuit", "1", "path", "1", "none", "0"])
    header, first, second = (line.split("\t") for line in table.read_text().splitlines())
    row = dict(zip(header, first, strict=True))
    assert (row["tour"], row["copies"], row["depth"]) == ("circuit", "4", "10")
    assert sorted(row["walk"].split(",")) == ["a+", "b+", "r+", "r+"]
    assert second == ["2", "1", "4", "", "one", "1", "path", "", "lone+"]
    assert run_cli("euler", graph, "--assembly", "--path")[0] == 2
