"""``gpuasm densest``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.tables import rows_of

Run = Callable[..., tuple[int, str, str]]
PORT = "ab bc bh ch ce cd dh de ef fg gh"


def summary(text: str) -> dict[str, str]:
    return dict(line.split("\t") for line in text.splitlines())


@pytest.fixture
def port(tmp_path: Path) -> Path:
    path = tmp_path / "port.txt"
    path.write_text("\n".join(f"{a} -> {b}" for a, b in PORT.split()) + "\n")
    return path


@pytest.fixture
def repeats(tmp_path: Path, run_cli: Run) -> Callable[[float], tuple[Path, set[str]]]:
    """Return a function that makes the graph of a genome with ten copies of a 5 kb element, and the copies' 31-mers."""

    def make(divergence: float) -> tuple[Path, set[str]]:
        rng = np.random.default_rng(1)
        letters, parts, kmers = np.array(list("ACGT")), [], set()
        element = rng.integers(0, 4, 5000)
        for _ in range(10):
            copy = (element + (rng.random(5000) < divergence) * rng.integers(1, 4, 5000)) % 4
            parts += [letters[rng.integers(0, 4, rng.integers(3000, 9000))], letters[copy]]
            text = "".join(parts[-1])
            for strand in (text, text[::-1].translate(str.maketrans("ACGT", "TGCA"))):
                kmers |= {strand[i : i + 31] for i in range(len(strand) - 30)}
        parts.append(letters[rng.integers(0, 4, 5000)])
        (tmp_path / "genome.fa").write_text(">genome\n" + "".join(np.concatenate(parts)) + "\n")
        graph = tmp_path / "unitigs.gfa"
        code, _, err = run_cli(
            "unitigs", tmp_path / "genome.fa", "-k", 31, "--min-count", 1, "-o", graph, "--device", "cpu", "-q"
        )
        assert code == 0, err
        return graph, kmers

    return make


def test_members_and_summary(run_cli: Run, port: Path, tmp_path: Path) -> None:
    members, figures = tmp_path / "members.tsv", tmp_path / "figures.json"
    code, out, _ = run_cli("densest", port, "-k", 5, "-o", members, "--json", figures, "--device", "cpu", "-q")
    assert code == 0
    rows = rows_of(members.read_text())
    assert {row["vertex"]: (row["degree"], row["within"]) for row in rows} == {
        "b": ("3", "2"), "c": ("4", "4"), "h": ("4", "3"), "d": ("3", "3"), "e": ("3", "2"),
    }  # fmt: skip
    found = summary(out)
    assert (found["vertices"], found["edges"], found["members"], found["weight"]) == ("8", "11", "5", "7")
    assert (found["density"], found["average degree"]) == ("0.7", "2.8")
    assert float(found["bound"]) >= 2.8
    assert float(found["average degree by peel"]) <= 2.8
    manifest = json.loads(figures.read_text())
    assert (manifest["command"], manifest["parameters"]["k"], manifest["results"]["weight"]) == ("densest", 5, 7)


def test_the_bound_is_printed_next_to_a_table_on_standard_output(run_cli: Run, port: Path) -> None:
    code, out, err = run_cli("densest", port, "-k", 5, "--device", "cpu")
    assert (code, len(rows_of(out))) == (0, 5)
    assert "\nbound\t" in err


@pytest.mark.parametrize("method", ["rank", "peel", "power", "degree"])
def test_methods(run_cli: Run, port: Path, method: str) -> None:
    code, out, _ = run_cli("densest", port, "-k", 3, "--method", method, "--device", "cpu", "-q")
    assert code == 0
    assert len(rows_of(out)) == 3


@pytest.mark.parametrize("method", [None, "peel", "flow", "batches"])
def test_any_size(run_cli: Run, tmp_path: Path, method: str | None) -> None:
    graph, members = tmp_path / "edges.tsv", tmp_path / "members.tsv"
    graph.write_text("".join(f"{u}\t{v}\n" for u in range(6) for v in range(u)) + "5\t6\n6\t7\n7\t8\n8\t9\n")
    chosen = ["--method", method] if method else []
    code, out, _ = run_cli("densest", graph, *chosen, "-o", members, "--device", "cpu", "-q")
    assert code == 0
    assert [row["vertex"] for row in rows_of(members.read_text())] == ["0", "1", "2", "3", "4", "5"]
    assert summary(out)["average degree"] == "5"
    assert float(summary(out)["bound"]) >= 5


def test_a_cluster_of_samples_by_weight(run_cli: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    cluster = set(rng.choice(40, 12, replace=False).tolist())
    lines = [
        f"sample{u}\tsample{v}\t{rng.uniform(0.99, 1) if {u, v} <= cluster else rng.uniform(0.3, 0.9):.4f}\n"
        for u in range(40)
        for v in range(u)
    ]
    (tmp_path / "samples.tsv").write_text("".join(lines))
    code, out, _ = run_cli("densest", tmp_path / "samples.tsv", "--weighted", "-k", 12, "--device", "cpu", "-q")
    assert code == 0
    assert {row["vertex"] for row in rows_of(out)} == {f"sample{v}" for v in cluster}


def test_a_block(run_cli: Run, tmp_path: Path) -> None:
    lines = [f"r{i} -> {', '.join(f'c{j}' for j in range(6))}\n" for i in range(3)]
    (tmp_path / "graph.txt").write_text("".join(lines) + "c0 -> c1\nx -> y\n")
    block = tmp_path / "block.tsv"
    options = ["--bipartite", "-k", 3, "--columns", 6, "--picture", tmp_path / "block.png"]
    code, out, _ = run_cli("densest", tmp_path / "graph.txt", *options, "-o", block, "--device", "cpu", "-q")
    assert code == 0
    rows = rows_of(block.read_text())
    assert [row["vertex"] for row in rows if row["side"] == "row"] == ["r0", "r1", "r2"]
    assert {row["within"] for row in rows} == {"3", "6"}
    assert (summary(out)["density"], summary(out)["weight"]) == ("1", "18")
    assert (tmp_path / "block.png").read_bytes()[:4] == b"\x89PNG"


def test_pictures_are_the_same_each_time(run_cli: Run, port: Path, tmp_path: Path) -> None:
    for name in ("one.svg", "two.svg"):
        assert run_cli("densest", port, "-k", 5, "--picture", tmp_path / name, "--device", "cpu", "-q")[0] == 0
    first = (tmp_path / "one.svg").read_text()
    assert first == (tmp_path / "two.svg").read_text()
    assert all(f">{name}</text>" in first for name in "bchde")


def test_copies_of_an_element_are_in_the_dense_subgraph(run_cli: Run, repeats) -> None:
    graph, _ = repeats(0)
    for k in (11, 15):
        code, out, _ = run_cli("densest", graph, "--assembly", "-k", k, "--device", "cpu", "-q")
        assert code == 0
        rows = rows_of(out)
        assert len(rows) == k
        assert [row["length"] for row in rows if row["depth"] == "10" and int(row["length"]) > 1000] == ["5000"]


def test_copies_that_differ_make_the_densest_tangle(run_cli: Run, repeats) -> None:
    graph, kmers = repeats(0.003)
    sequences = {line.split("\t")[1]: line.split("\t")[2] for line in graph.read_text().splitlines() if line[0] == "S"}
    code, out, _ = run_cli("densest", graph, "--assembly", "-k", 15, "--device", "cpu", "-q")
    assert code == 0
    inside = [row["segment"] for row in rows_of(out) if sequences[row["segment"]][:31] in kmers]
    assert len(inside) >= 13


def test_an_assembly_without_links_has_an_empty_table(run_cli: Run, tmp_path: Path) -> None:
    graph, members = tmp_path / "graph.gfa", tmp_path / "members.tsv"
    graph.write_text("H\tVN:Z:1.0\nS\tone\tACGT\nS\ttwo\tACCT\n")
    for options in (["-k", 5], []):
        code, out, _ = run_cli("densest", graph, "--assembly", *options, "-o", members, "--device", "cpu", "-q")
        assert code == 0
        assert members.read_text() == "segment\tdegree\twithin\tlength\tdepth\n"
        assert "link" in summary(out)["note"]
    graph.write_text("H\tVN:Z:1.0\nS\tone\tACGT\nS\ttwo\tACCT\nL\tone\t+\ttwo\t-\t0M\n")
    code, out, _ = run_cli("densest", graph, "--assembly", "-k", 5, "--device", "cpu", "-q")
    assert [row["segment"] for row in rows_of(out)] == ["one", "two"]


@pytest.mark.parametrize(
    ("text", "options", "code", "message"),
    [
        ("0 1\n1 2\n", ["-k", 9], 65, "at least k = 9 vertices, found 3"),
        ("", ["-k", 2], 65, "a graph with vertices, found none"),
        ("", [], 65, "a graph with edges"),
        ("0 0\n1 1\n", ["-k", 2], 65, "a graph with edges, found none, self-loops aside"),
        ("0 1 2.5\n1 2 -1\n", ["-k", 2, "--weighted"], 65, "line 2"),
        ("0 1\n", ["-k", 2, "--weighted"], 65, "weights of edges"),
        ("0 1\n", ["-k", 0], 2, "is not in the range x>=1"),
        ("0 1\n", ["-k", 2, "--json", "-"], 2, "standard output for one file"),
        ("0 1\n", ["--method", "power"], 2, "-k K, for --method power"),
        ("0 1\n", ["--method", "batches", "-k", 2], 2, "--method batches without -k"),
        ("0 1\n", ["--method", "flow", "-k", 2], 2, "--method flow without -k"),
        ("0 1\n", ["--bipartite"], 2, "for --bipartite"),
        ("0 1\n", ["-k", 2, "--columns", 3], 2, "--bipartite, for --columns"),
        ("0 1\n", ["-k", 2, "--picture", "x.gif"], 2, "a picture: .png, .svg, .pdf"),
        ("0 1\n", ["-k", 2, "--assembly", "--bipartite"], 2, "one of --bipartite and --assembly"),
        ("0 1\n", ["-k", 2, "--assembly", "--weighted"], 2, "--assembly alone"),
    ],
)
def test_refusals(run_cli: Run, tmp_path: Path, text: str, options: list, code: int, message: str) -> None:
    graph = tmp_path / "graph.txt"
    graph.write_text(text)
    found, _, err = run_cli("densest", graph, *options, "--device", "cpu", "-q")
    assert (found, message in err) == (code, True), err


@pytest.mark.parametrize("options", [[], ["--bipartite"]])
def test_eigenvectors_that_do_not_converge(run_cli: Run, tmp_path: Path, options: list[str]) -> None:
    graph, members = tmp_path / "ring.txt", tmp_path / "members.tsv"
    graph.write_text("".join(f"{v} {v}\n{v} {(v + 1) % 2000}\n" for v in range(2000)))
    given = ["-k", 5, "--max-products", 20, *options, "-o", members, "--device", "cpu", "-q"]
    code, out, err = run_cli("densest", graph, *given)
    assert code == 0, err
    found = summary(out)
    assert found["note"] == "eigenvectors did not converge in 20 products: the other candidates were compared"
    assert float(found["average degree"]) <= float(found["bound"]) <= 2 + 1e-6
    assert not {"eigenvalues", "singular values"} & set(found)
    assert found["weight"] == ("9" if options else "4")


def test_one_member(run_cli: Run, port: Path, tmp_path: Path) -> None:
    members = tmp_path / "members.tsv"
    picture = ["--picture", tmp_path / "one.svg"]
    code, out, err = run_cli("densest", port, "-k", 1, "-o", members, *picture, "--device", "cpu", "-q")
    assert code == 0, err
    assert [row["within"] for row in rows_of(members.read_text())] == ["0"]
    assert (summary(out)["members"], summary(out)["weight"], summary(out)["bound"]) == ("1", "0", "0")


def test_the_densest_of_any_size_is_proven(run_cli: Run, tmp_path: Path) -> None:
    graph = tmp_path / "edges.tsv"
    rng = np.random.default_rng(0)
    graph.write_text("".join(f"{u}\t{v}\n" for u, v in rng.integers(0, 300, (900, 2)).tolist()))
    figures = {}
    for method in ("peel", "flow"):
        code, out, _ = run_cli(
            "densest", graph, "--method", method, "-o", tmp_path / "members", "--device", "cpu", "-q"
        )
        assert code == 0
        figures[method] = {name: float(value) for name, value in summary(out).items()}
    assert figures["peel"]["average degree"] <= figures["flow"]["average degree"] < figures["peel"]["bound"]
    assert figures["flow"]["bound"] == figures["flow"]["average degree"]
    assert figures["flow"]["share of bound"] == 1
