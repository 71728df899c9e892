"""``--memory`` of the commands on graphs: what does not fit is refused beforehand, with the number that would do."""

from __future__ import annotations

import gzip
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpuasm.cli.graph_memory import Size, bytes_to_read
from gpuasm.cli.graph_needs import densest_work, euler_work, geolocate_work, pagerank_work
from gpuasm.graph.generators import many_circuits
from gpuasm.graph.random_graphs import rmat
from gpuasm.io.graph_sizes import GraphSize, size_of_graph
from gpuasm.io.graphs import write_graph
from gpuasm.resources import parse_bytes

_GFA = "H\tVN:Z:1.0\nS\ta\tACGT\tdp:f:10\nS\tb\tACGTA\tdp:f:10\nL\ta\t+\tb\t+\t3M\nL\tb\t+\ta\t+\t3M\n"
_COMMANDS = {
    "euler": ["euler", "{circuits}"],
    "euler --method parallel": ["euler", "{circuits}", "--method", "parallel"],
    "euler --assembly": ["euler", "{gfa}", "--assembly"],
    "pagerank": ["pagerank", "{rmat}"],
    "pagerank walks": ["pagerank", "{rmat}", "--method", "walks", "--compare"],
    "pagerank of gfa": ["pagerank", "{gfa}"],
    "densest": ["densest", "{rmat}"],
    "densest -k": ["densest", "{rmat}", "-k", "5", "--rank", "3"],
    "densest --bipartite": ["densest", "{rmat}", "--bipartite", "-k", "5"],
    "densest --assembly": ["densest", "{gfa}", "--assembly", "-k", "2"],
    "geolocate": ["geolocate", "{rmat}", "{labels}"],
}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    paths = {name: tmp_path / name for name in ("circuits.npz", "rmat.tsv", "graph.gfa", "labels.tsv")}
    write_graph(paths["circuits.npz"], many_circuits(40, seed=1))
    write_graph(paths["rmat.tsv"], rmat(6, 4, seed=1))
    paths["graph.gfa"].write_text(_GFA)
    paths["labels.tsv"].write_text("vertex\tlatitude\tlongitude\n0\t10\t20\n1\t30\t40\n")
    return dict(zip(("circuits", "rmat", "gfa", "labels"), paths.values(), strict=True))


@pytest.fixture
def run(run_cli: Any, files: dict[str, Path], tmp_path: Path) -> Any:
    def run_command(name: str, *more: object) -> tuple[int, str, str]:
        arguments = [argument.format(**files) for argument in _COMMANDS[name]]
        code, out, err = run_cli(*arguments, "-o", tmp_path / "out.tsv", "--device", "cpu", "-t", 1, "-q", *more)
        return code, out, err

    return run_command


@pytest.mark.parametrize("name", _COMMANDS)
def test_too_little_is_refused_with_the_number_that_does(run: Any, tmp_path: Path, name: str) -> None:
    code, _, err = run(name, "--memory", "100M")
    assert code == 75
    assert re.search(r"expected [\d.]+ MB of memory for .* vertices and .* edges, found a budget of 100\.0 MB; ", err)
    assert not (tmp_path / "out.tsv").exists()
    enough = err.split("--memory ")[1].strip()
    assert parse_bytes(enough) < 400 << 20
    assert run(name, "--memory", enough)[0] == 0
    assert run(name, "--memory", f"{parse_bytes(enough) // (1 << 20) - 2}M")[0] == 75


def test_work_that_does_not_fit_is_refused_by_headers_alone(
    run_cli: Any, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> Any:
        raise AssertionError

    monkeypatch.setattr("gpuasm.io.graphs.read_graph", refuse)
    code, _, err = run_cli("euler", files["circuits"], "--memory", "150M", "--device", "cpu", "-q")
    assert code == 75
    assert "for Euler tours of a graph of 40 vertices and " in err


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_text_is_refused_before_it_is_read(
    run_cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compress: Any
) -> None:
    path = tmp_path / "large.tsv"
    path.write_bytes(compress(b"".join(b"%d\t%d\n" % (i, i + 1) for i in range(400_000))))

    def refuse(_: object) -> Any:
        raise AssertionError

    monkeypatch.setattr("gpuasm.io.graphs.read_graph", refuse)
    code, _, err = run_cli("pagerank", path, "--memory", "205M", "--device", "cpu", "-q")
    assert code == 75
    assert "for reading a graph of about " in err


def test_standard_input_is_checked_when_it_has_been_read(
    run_cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for memory, expected in (("100M", 75), ("1G", 0)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a b\nb a\n")))
        out = tmp_path / "run.json"
        code, _, _ = run_cli("pagerank", "-", "--memory", memory, "--device", "cpu", "-q", "--json", out)
        assert code == expected
    assert json.loads(out.read_text())["parameters"]["plan"]["reading_bytes"] is None


@pytest.mark.parametrize("name", ["euler", "pagerank"])
def test_empty_graph(run_cli: Any, tmp_path: Path, name: str) -> None:
    path = tmp_path / "empty.txt"
    path.touch()
    assert run_cli(name, path, "--memory", "1G", "--device", "cpu", "-q")[0] == 0
    code, _, err = run_cli(name, path, "--memory", "1M", "--device", "cpu", "-q")
    assert code == 75
    assert "of 0 vertices and 0 edges" in err


@pytest.mark.parametrize("name", ["pagerank", "densest", "geolocate"])
def test_manifest_has_budget_and_estimate(run: Any, tmp_path: Path, name: str) -> None:
    assert run(name, "--memory", "1G", "--json", tmp_path / "run.json")[0] == 0
    manifest = json.loads((tmp_path / "run.json").read_text())
    plan = manifest["parameters"]["plan"]
    assert manifest["parameters"]["memory"] == 1 << 30
    assert (plan["vertices"], plan["edges"]) == (64, 256)
    assert 0 < plan["reading_bytes"] <= plan["host_bytes"] < 1 << 30


def test_names_count(run_cli: Any, tmp_path: Path) -> None:
    estimates = []
    for name in ("{}", "sample_of_a_long_name_{}"):
        path, out = tmp_path / "graph.tsv", tmp_path / "run.json"
        path.write_text("".join(f"{name.format(i)}\t{name.format(i + 1)}\n" for i in range(20_000)))
        assert run_cli("pagerank", path, "--top", 1, "--device", "cpu", "-q", "--json", out)[0] == 0
        estimates.append(json.loads(out.read_text())["parameters"]["plan"]["host_bytes"])
    assert estimates[1] - estimates[0] > 20_000 * 100


_PAGERANK = {"method": "power", "compare": False, "top": None, "coupons": 10, "reset": 0.15, "picture": None}
_PAGERANK |= {"heat_map": None}
_DENSEST = {
    "k": None,
    "method": None,
    "rank": 2,
    "directions": 512,
    "iterations": 8,
    "bipartite": False,
    "picture": None,
}
_GEOLOCATE = {"directed": False, "holdout": None, "state": None}


def _mib(work: Any, n: int, m: int, *, weighted: bool = False) -> float:
    return (work.process + work.on_cpu(Size(n, m, weighted))) / (1 << 20)


@pytest.mark.parametrize(
    ("work", "size", "peak"),
    [
        (euler_work("auto", path=False, as_edges=False), (4_000_000, 7_000_000), 282),
        (euler_work("parallel", path=False, as_edges=False), (4_000_000, 7_000_000), 514),
        (pagerank_work(_PAGERANK, threads=2), (1_048_576, 8_388_608), 409),
        (pagerank_work(_PAGERANK | {"top": 10}, threads=2), (1_048_576, 8_388_608), 309),
        (pagerank_work(_PAGERANK | {"method": "walks"}, threads=2), (2_097_152, 2_097_152), 611),
        (pagerank_work(_PAGERANK | {"compare": True}, threads=2), (4_000_000, 7_000_000), 1369),
        (densest_work(_DENSEST | {"method": "peel"}), (1_000_000, 6_000_000), 584),
        (densest_work(_DENSEST), (1_000_000, 6_000_000), 511),
        (densest_work(_DENSEST), (1_000_000, 999_999), 358),
        (densest_work(_DENSEST | {"iterations": 30}), (1_000_000, 999_999), 555),
        (densest_work(_DENSEST | {"k": 20}), (4_000_000, 7_000_000), 1339),
        (densest_work(_DENSEST | {"k": 20, "rank": 16}), (262_144, 2_621_440), 535),
        (densest_work(_DENSEST | {"k": 20, "bipartite": True}), (1_048_576, 8_388_608), 941),
        (geolocate_work(_GEOLOCATE, draws=False), (4_000_000, 7_000_000), 1493),
    ],
)
def test_estimates_hold_what_was_measured(work: Any, size: tuple[int, int], peak: int) -> None:
    """Peaks in MiB, of two threads: docs/graphs.md."""
    assert peak <= _mib(work, *size) <= 1.5 * peak


def test_estimates_of_weighted_edges() -> None:
    assert 437 <= _mib(pagerank_work(_PAGERANK | {"top": 10}, threads=2), 1_048_576, 8_388_608, weighted=True) <= 655
    for work in (densest_work(_DENSEST), geolocate_work(_GEOLOCATE, draws=False)):
        assert 1768 <= _mib(work, 1_048_576, 8_388_608, weighted=True) <= 2652


@pytest.mark.parametrize(
    ("size", "peak"),
    [
        (GraphSize("adjacency", 1_048_576, 8_388_608, 71_248_184), 1851),
        (GraphSize("edges", 1_048_576, 8_388_608, 105_761_775), 347),
        (GraphSize("edges", 157_058, 2_621_440, 67_066_595, n_names=157_058, name_bytes=1_916_107), 242),
        (GraphSize("mtx", 1_048_576, 8_388_608, 105_769_373), 478),
        (GraphSize("gfa", 600_000, 823_074, 97_649_142, n_names=600_000, name_bytes=8_177_780), 553),
    ],
)
def test_reading_holds_what_was_measured(size: GraphSize, peak: int) -> None:
    assert peak <= 200 + bytes_to_read(size) / (1 << 20) <= 1.5 * peak


def test_weights_that_nobody_asks_for_are_not_read(tmp_path: Path) -> None:
    path, graph = tmp_path / "graph.npz", rmat(8, 8, seed=1)
    write_graph(path, graph, weights=np.ones(graph.n_edges))
    size = size_of_graph(path)
    assert size is not None
    assert bytes_to_read(size, weighted=True) - bytes_to_read(size) == 10 * graph.n_edges
