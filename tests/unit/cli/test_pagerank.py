"""The command pagerank: tables, pictures, what it prints and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpuasm.graph.random_graphs import rmat
from gpuasm.io.graphs import read_graph, write_graph
from gpuasm.ranking import power_iteration, random_walks
from tests.planted import planted_graph
from tests.tables import rows_of

QUIET = ("-q", "--device", "cpu", "-t", "2")


@pytest.fixture
def links(tmp_path: Path) -> Path:
    path = tmp_path / "links.tsv"
    path.write_text("a b 1\na c 3\nb c 1\nc a 2\nd c 1\n")
    return path


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    path = tmp_path / "plain.npz"
    write_graph(path, rmat(8, 6, seed=3))
    return path


def test_ranks_of_power_iteration(tmp_path: Path, plain: Path, run_cli: Any) -> None:
    code, out, _ = run_cli("pagerank", plain, "-o", tmp_path / "ranks.tsv", *QUIET)
    assert code == 0
    assert out.startswith("vertices\t256\nedges\t1536\nmethod\tpower\niterations\t")
    graph, rows = read_graph(plain), rows_of(tmp_path / "ranks.tsv")
    ranks = power_iteration(graph).ranks
    printed = [float(row["rank"]) for row in rows]
    assert printed == sorted(printed, reverse=True)
    assert [row["rank"] for row in rows] == [f"{ranks[int(row['vertex'])]:.6g}" for row in rows]
    assert [int(row["in"]) for row in rows] == [graph.in_degree[int(row["vertex"])] for row in rows]


def test_walks_compared(tmp_path: Path, plain: Path, run_cli: Any) -> None:
    code, out, _ = run_cli(
        "pagerank", plain, "--method", "walks", "--coupons", 30, "--seed", 2, "--compare", "--top", 20,
        "-o", tmp_path / "ranks.tsv", "--heat-map", tmp_path / "work.png", "--picture", tmp_path / "ranks.svg",
        "--json", tmp_path / "run.json", *QUIET,
    )  # fmt: skip
    assert code == 0
    rows, found = rows_of(tmp_path / "ranks.tsv"), random_walks(read_graph(plain), coupons=30, seed=2)
    assert len(rows) == 20
    assert {int(row["vertex"]): int(row["visits"]) for row in rows} == {
        v: int(found.visits[v]) for v in np.argsort(-found.visits.astype(int), kind="stable")[:20].tolist()
    }
    off = [abs(float(row["rank"]) - float(row["power_rank"])) / float(row["standard_error"]) for row in rows]
    assert max(off) < 4
    assert f"visits\t{found.n_visits}\n" in out
    assert (tmp_path / "work.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "ranks.svg").read_bytes().startswith(b"<?xml")
    manifest = json.loads((tmp_path / "run.json").read_text())
    assert manifest["command"] == "pagerank"
    assert 0 < manifest["results"]["error_of_walks"] < manifest["results"]["expected_error_of_walks"]


def test_weights_and_shares(tmp_path: Path, links: Path, run_cli: Any) -> None:
    shares = tmp_path / "shares.tsv"
    shares.write_text("a 3\nd 1\n")
    code, out, _ = run_cli("pagerank", links, "--weighted", "--personalise", shares, *QUIET)
    assert code == 0
    table = {row.split("\t")[0]: float(row.split("\t")[3]) for row in out.splitlines()[1:]}
    # d: 0.15 / 4; c: 0.85 (3 a / 4 + b + d); b: 0.85 a / 4; a: 0.15 * 3 / 4 + 0.85 c
    assert table["d"] == pytest.approx(0.0375)
    assert table["b"] == pytest.approx(0.2125 * table["a"], rel=1e-5)
    assert table["c"] == pytest.approx(0.85 * (0.75 * table["a"] + table["b"] + table["d"]), rel=1e-5)
    assert sum(table.values()) == pytest.approx(1, abs=1e-5)


def test_segments_of_an_assembly_graph(tmp_path: Path, run_cli: Any) -> None:
    planted = planted_graph(tmp_path)
    code, _, _ = run_cli(
        "pagerank", planted.path, "-o", tmp_path / "ranks.tsv", "--picture", tmp_path / "ranks.png", *QUIET
    )
    assert code == 0
    rows = rows_of(tmp_path / "ranks.tsv")
    assert list(rows[0]) == ["segment", "length", "depth", "links", "rank"]
    assert len(rows) == len(planted.names)
    assert [row["segment"] for row in rows[: len(planted.planted)]] == planted.planted
    assert (rows[0]["length"], rows[0]["depth"]) == ("5000", "10")
    assert sum(float(row["rank"]) for row in rows) == pytest.approx(1, abs=1e-4)
    code, out, _ = run_cli("pagerank", planted.path, "--oriented", "--top", 2, *QUIET)
    assert {line.split("\t")[0] for line in out.splitlines()[1:]} == {planted.planted[0] + s for s in "+-"}


@pytest.mark.parametrize("text", ["", "# nothing\n"])
@pytest.mark.parametrize("method", ["power", "walks"])
def test_a_graph_without_vertices_has_an_empty_table(tmp_path: Path, run_cli: Any, text: str, method: str) -> None:
    path = tmp_path / "empty"
    path.write_text(text)
    pictures = ["--picture", tmp_path / "ranks.png"]
    pictures += ["--heat-map", tmp_path / "work.png"] if method == "walks" else []
    code, _, _ = run_cli("pagerank", path, "--method", method, "-o", tmp_path / "ranks.tsv", *pictures, *QUIET)
    assert code == 0
    assert rows_of(tmp_path / "ranks.tsv") == []
    assert (tmp_path / "ranks.tsv").read_text().startswith("vertex\tin\tout\trank")


def test_vertices_without_edges_rank_alike(tmp_path: Path, run_cli: Any) -> None:
    path = tmp_path / "alone"
    path.write_text("a\nb\nc\nd\n")
    _, out, _ = run_cli("pagerank", path, *QUIET)
    assert [line.split("\t") for line in out.splitlines()[1:]] == [[v, "0", "0", "0.25"] for v in "abcd"]


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["-o", "-", "--json", "-"], 2, "standard output for one file"),
        (["--reset", "0"], 2, "reset probability above 0"),
        (["--weighted"], 65, "plain.npz: expected weights of edges"),
        (["--heat-map", "work.png"], 2, "walks for --heat-map"),
        (["--picture", "ranks.jpeg"], 2, "a picture: .png"),
        (["--max-iterations", "2"], 65, "plain.npz: expected changes of at most"),
        (["--personalise", "shares"], 65, "line 1: expected a vertex of the graph"),
    ],
)
def test_refusals(
    tmp_path: Path,
    plain: Path,
    run_cli: Any,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    code: int,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("shares").write_text("nobody 1\n")
    assert run_cli("pagerank", plain, "-o", "ranks.tsv", *options, *QUIET)[0] == code
    _, _, errors = run_cli("pagerank", plain, "-o", "ranks.tsv", *options, *QUIET)
    assert message in errors
    assert not Path("ranks.tsv").exists()


def test_graphs_that_cannot_be_read_so(tmp_path: Path, links: Path, run_cli: Any, monkeypatch: Any) -> None:
    code, _, errors = run_cli("pagerank", links, *QUIET)
    assert (code, "links.tsv, line 1: expected two columns" in errors, "add --weighted" in errors) == (65, True, True)
    code, _, errors = run_cli("pagerank", "-", "--personalise", "-", *QUIET)
    assert (code, "standard input for one file" in errors) == (2, True)
    gfa = tmp_path / "graph.gfa"
    gfa.write_text("H\tVN:Z:1.0\nS\tone\tACGT\nS\ttwo\tACCT\nL\tone\t+\ttwo\t-\t0M\n")
    for options, expected in (((), 2), (("--oriented",), 0)):
        with gfa.open() as stream:
            monkeypatch.setattr("sys.stdin", stream)
            code, out, errors = run_cli("pagerank", "-", *options, *QUIET)
        assert (code, "GFA as a file" in errors, "one+" in out) == (expected, expected == 2, expected == 0)


def test_errors_are_printed_next_to_a_table_on_standard_output(plain: Path, run_cli: Any) -> None:
    code, out, errors = run_cli("pagerank", plain, "--device", "cpu", "-t", 2)
    assert (code, out.startswith("vertex\t"), "\nerror of power\t" in errors) == (0, True, True)


def test_negative_weights_name_their_line(tmp_path: Path, links: Path, run_cli: Any) -> None:
    links.write_text("a b 1\nb a -1\n")
    code, _, errors = run_cli("pagerank", links, "--weighted", *QUIET)
    assert code == 65
    assert f"{links}, line 2: expected a finite weight of 0 or more" in errors
