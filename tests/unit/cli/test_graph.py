"""``gpuasm graph``: from files to files."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from gpuasm.graph import from_strings
from gpuasm.graph.generators import deep_eulerian, shuffled
from gpuasm.io.graphs import read_graph, read_weighted_graph, write_graph


@pytest.fixture
def rays(tmp_path: Path) -> Path:
    path = tmp_path / "rays.txt"
    path.write_text("a -> b, c, d, e\n")
    return path


@pytest.mark.parametrize(
    ("arguments", "n_vertices", "n_edges"),
    [
        ("deep --vertices 15 --degree 5", 15, deep_eulerian(15, 5).n_edges),
        ("deep --vertices 15 --degree 5 --path", 15, deep_eulerian(15, 5).n_edges - 1),
        ("shallow --vertices 9 --edges 25", 9, 25),
        ("circuits --vertices 12", 12, 21),
        ("debruijn --alphabet ACGT --order 3", 16, 64),
        ("rmat --scale 4 --edge-factor 3", 16, 48),
        ("regular --vertices 6 --degree 2", 6, 12),
        ("eulerian --vertices 10 --edges 30 --components 2", 10, 30),
        ("eulerian --vertices 10 --edges 30 --path", 10, 29),
    ],
)
def test_generate(arguments: str, n_vertices: int, n_edges: int, tmp_path: Path, run_cli: Any) -> None:
    path = tmp_path / "graph.npz"
    assert run_cli("graph", "generate", *arguments.split(), "-o", path) == (0, "", "")
    graph = read_graph(path)
    assert (graph.n_vertices, graph.n_edges) == (n_vertices, n_edges)


def test_generate_with_a_seed_and_shuffled(tmp_path: Path, run_cli: Any) -> None:
    arguments = "graph generate deep --vertices 40 --degree 3 --seed 7".split()
    run_cli(*arguments, "-o", tmp_path / "a.npz")
    run_cli(*arguments, "--shuffle", "-o", tmp_path / "b.npz")
    graph = deep_eulerian(40, 3, seed=7)
    assert read_graph(tmp_path / "a.npz") == graph
    assert read_graph(tmp_path / "b.npz") == shuffled(graph, seed=7)


def test_generate_writes_to_standard_output(run_cli: Any) -> None:
    code, out, _ = run_cli("graph", "generate", "debruijn", "--order", 3)
    assert code == 0
    assert out == "00 -> 00, 01\n01 -> 10, 11\n10 -> 00, 01\n11 -> 10, 11\n"


def test_generate_refuses_what_cannot_be(run_cli: Any) -> None:
    code, _, err = run_cli("graph", "generate", "shallow", "--vertices", 9, "--edges", 20)
    assert code == 2
    assert "expected 23 edges, 25, 27" in err


def test_info(rays: Path, tmp_path: Path, run_cli: Any) -> None:
    code, out, _ = run_cli("graph", "info", rays, "--json", tmp_path / "info.json")
    assert code == 0
    assert "vertices\t5\nedges\t4\n" in out
    assert "euler circuits\tno" in out
    assert "5 unbalanced vertices: a (0 in, 4 out), b (1 in, 0 out)" in out
    facts = json.loads((tmp_path / "info.json").read_text())
    assert facts["weak_components"] == 1
    assert facts["largest_component"] == 5
    code, out, _ = run_cli("graph", "info", rays, "--json", "-")
    assert json.loads(out) == facts


def test_info_of_a_path_and_of_nothing(tmp_path: Path, run_cli: Any) -> None:
    path = tmp_path / "g"
    path.write_text("a -> b\nc\n")
    _, out, _ = run_cli("graph", "info", path)
    assert "euler path\tyes\npath from\ta\npath to\tb\n" in out
    assert "vertices without edges\t1" in out
    path.write_text("")
    code, out, _ = run_cli("graph", "info", path)
    assert code == 0
    assert "vertices\t0" in out


def test_edges_reverse_convert(rays: Path, tmp_path: Path, run_cli: Any) -> None:
    assert run_cli("graph", "edges", rays)[1].splitlines() == [
        "# vertices 5 edges 4",
        *(f"a\t{name}" for name in "bcde"),
    ]
    assert run_cli("graph", "reverse", rays)[1] == "a ->\nb -> a\nc -> a\nd -> a\ne -> a\n"
    run_cli("graph", "convert", rays, "--both-ways", "--vertices", "a, c", "-o", tmp_path / "part.tsv")
    assert read_graph(tmp_path / "part.tsv") == from_strings(["a -> c", "c -> a"])
    code, out, _ = run_cli("graph", "convert", rays, "--shuffle", 3)
    assert code == 0
    assert out != rays.read_text()
    assert sorted(out.replace(", ", " ").split()) == sorted("a -> b c d e b -> c -> d -> e ->".split())
    code, _, err = run_cli("graph", "convert", rays, "--vertices", "a,q")
    assert code == 2
    assert "'q'; take one of a, b, c, d, e" in err


def test_bad_input_has_its_code(tmp_path: Path, run_cli: Any) -> None:
    path = tmp_path / "bad.txt"
    path.write_text("a -> b\nb -> c -> d\n")
    code, _, err = run_cli("graph", "info", path)
    assert code == 65
    assert f"{path}, line 2" in err
    assert run_cli("graph", "info", tmp_path / "none")[0] == 66


def test_draw_the_text(rays: Path, tmp_path: Path, run_cli: Any) -> None:
    code, out, err = run_cli("graph", "draw", rays, "--clusters", "--out", 4, "--edge-numbers", "-o", "-")
    assert (code, err) == (0, "")
    assert "cluster_0" in out
    assert "#ffe066" in out
    assert run_cli("graph", "draw", rays, "--spanning-tree", "alone", "-o", tmp_path / "x.dot")[0] == 0
    assert "digraph" in (tmp_path / "x.dot").read_text()


def test_draw_an_euler_circuit_with_letters(tmp_path: Path, run_cli: Any) -> None:
    path = tmp_path / "binary.txt"
    path.write_text("00 -> 00, 01\n01 -> 10, 11\n10 -> 00, 01\n11 -> 10, 11\n")
    code, out, _ = run_cli("graph", "draw", path, "--euler", "--letters", "-o", "-")
    assert code == 0
    labels = [f'"{step}:' in out for step in range(1, 9)]
    assert all(labels)
    assert out.count("peripheries=2") == 1


def test_draw_a_walk_from_a_file(tmp_path: Path, run_cli: Any) -> None:
    path, walk = tmp_path / "g", tmp_path / "walk.txt"
    path.write_text("a -> b\nb -> a\nc -> c\n")
    walk.write_text("b\na\nb\n\nc\nc\n")
    code, out, _ = run_cli("graph", "draw", path, "--walk", walk, "-o", "-")
    assert code == 0
    assert out.count("peripheries=2") == 2
    walk.write_text("a\nc\n")
    assert run_cli("graph", "draw", path, "--walk", walk, "-o", "-")[0] == 65
    assert run_cli("graph", "draw", path, "--walk", walk, "--euler", "-o", "-")[0] == 2
    assert run_cli("graph", "draw", path, "--letters", "-o", "-")[0] == 2


def test_draw_what_has_no_circuit(rays: Path, run_cli: Any) -> None:
    code, _, err = run_cli("graph", "draw", rays, "--euler", "-o", "-")
    assert code == 65
    assert "5 unbalanced vertices: a (0 in, 4 out)" in err


def test_draw_without_graphviz_writes_the_text(
    rays: Path, tmp_path: Path, run_cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    code, _, err = run_cli("graph", "draw", rays, "-o", tmp_path / "x.svg")
    assert code == 69
    assert "install Graphviz" in err
    assert f"{tmp_path / 'x.dot'} is written" in err
    assert (tmp_path / "x.dot").read_text().startswith("digraph")
    assert not (tmp_path / "x.svg").exists()


def test_draw_refuses_large_graphs_and_odd_suffixes(rays: Path, tmp_path: Path, run_cli: Any) -> None:
    write_graph(tmp_path / "large.npz", deep_eulerian(3000, 2))
    code, _, err = run_cli("graph", "draw", tmp_path / "large.npz", "-o", tmp_path / "x.svg")
    assert code == 2
    assert "at most 2,000 vertices" in err
    assert run_cli("graph", "draw", rays, "-o", tmp_path / "x.gif")[0] == 2


def test_the_commands_of_the_documentation(tmp_path: Path, run_cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command of docs/graphs.md works, and the pictures shown there are those they make, but for their layout."""
    documents = Path(__file__).parents[3] / "docs"
    text = (documents / "graphs.md").read_text()
    monkeypatch.chdir(tmp_path)
    for block in re.findall(r"^```bash\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            arguments = shlex.split(line)
            if arguments[0] == "echo":
                with open(arguments[-1], "a") as file:
                    file.write(arguments[1] + "\n")
            else:
                code, _, err = run_cli(*(re.sub(r"\.svg$", ".dot", argument) for argument in arguments[1:]))
                assert code == 0, err
    pictures = re.findall(r"\(pictures/(\w+)\.svg\)", text)
    assert len(pictures) == 6
    for name in pictures:
        svg = (documents / "pictures" / f"{name}.svg").read_text()
        assert svg.count('class="edge"') == (tmp_path / f"{name}.dot").read_text().count("->")


WEIGHTED = "a\tb\t0.5\nb\tc\t-2\nb\ta\t3\n"


def weighted_edges(path):
    graph, weights = read_weighted_graph(path, allow_negative=True)
    return sorted(zip(graph.named_edges(), weights.tolist(), strict=True))


def test_conversions_keep_weights(run_cli, tmp_path):
    path = tmp_path / "w.tsv"
    path.write_text(WEIGHTED)
    expected = [(("a", "b"), 0.5), (("b", "a"), 3.0), (("b", "c"), -2.0)]
    for first, second in (("w.tsv", "a.npz"), ("a.npz", "b.csv")):
        assert run_cli("graph", "convert", tmp_path / first, "-o", tmp_path / second)[0] == 0
        assert weighted_edges(tmp_path / second) == expected
    assert run_cli("graph", "convert", path, "--shuffle", 3, "-o", tmp_path / "s.npz")[0] == 0
    assert weighted_edges(tmp_path / "s.npz") == expected
    assert run_cli("graph", "convert", path, "--vertices", "b,a", "-o", tmp_path / "p.npz")[0] == 0
    assert weighted_edges(tmp_path / "p.npz") == expected[:2]
    assert run_cli("graph", "reverse", path, "-o", tmp_path / "r.npz")[0] == 0
    assert weighted_edges(tmp_path / "r.npz") == sorted(((b, a), w) for (a, b), w in expected)
    assert run_cli("graph", "convert", path, "--both-ways", "-o", tmp_path / "u.npz")[0] == 0
    assert weighted_edges(tmp_path / "u.npz") == sorted(expected + [((b, a), w) for (a, b), w in expected])


def test_weights_are_not_lost_silently(run_cli, tmp_path):
    path = tmp_path / "w.tsv"
    path.write_text(WEIGHTED)
    for suffix in (".txt", ".gfa"):
        code, _, err = run_cli("graph", "convert", path, "-o", tmp_path / f"x{suffix}")
        assert code == 2
        assert "a format that holds weights: edges, mtx, graphml, gml, npz" in err
        assert "--unweighted" in err
        assert run_cli("graph", "convert", path, "--unweighted", "-o", tmp_path / f"x{suffix}")[0] == 0


def test_commands_without_weights_pass_a_third_column_over(run_cli, tmp_path):
    path = tmp_path / "w.tsv"
    path.write_text("from\tto\tweight\n" + WEIGHTED)
    assert "edges\t3" in run_cli("graph", "info", path)[1]
    assert run_cli("graph", "edges", path)[1] == "# vertices 3 edges 3\na\tb\nb\tc\nb\ta\n"


def test_unknown_suffixes_are_refused_before_the_graph_is_read(run_cli, tmp_path):
    code, _, err = run_cli("graph", "convert", tmp_path / "none.tsv", "-o", tmp_path / "x.gexf")
    assert code == 2
    assert ".npz, .mtx, .gfa" in err
    assert "--format" in err


def test_the_format_of_an_input_may_be_named(run_cli, tmp_path):
    path = tmp_path / "x"
    path.write_text("a->b c\n")
    assert run_cli("graph", "info", path)[0] == 65
    for name, edges in (("adjacency", 1), ("edges", 1)):
        code, out, _ = run_cli("graph", "info", path, "--format", name)
        assert (code, f"edges\t{edges}" in out) == (0, True)
    for command in (["euler", "--path"], ["pagerank"], ["densest"]):
        assert run_cli(*command, path, "--format", "edges", "--device", "cpu", "-q")[0] == 0
    assert run_cli("graph", "convert", path, "--input-format", "edges", "-o", tmp_path / "y.tsv")[0] == 0


def test_names_that_are_no_lines_are_refused_in_tours(run_cli, tmp_path):
    assert run_cli("graph", "generate", "debruijn", "--order", 1, "-o", tmp_path / "one.npz")[0] == 0
    code, _, err = run_cli("euler", tmp_path / "one.npz", "-q", "--device", "cpu")
    assert code == 2
    assert "names that a line can hold" in err
    assert run_cli("euler", tmp_path / "one.npz", "-q", "--device", "cpu", "--edges")[0] == 0


def test_what_is_guessed_is_reported(run_cli, tmp_path):
    path = tmp_path / "graph"
    path.write_text("4 5\n10 20\n20 30\n30 40\n40 10\n10 30\n")
    code, _, err = run_cli("graph", "info", path)
    assert code == 0
    assert err.startswith("gpuasm: warning: the first line, '4 5', is taken as the numbers of vertices and edges; ")
