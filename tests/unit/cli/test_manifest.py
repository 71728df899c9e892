"""run.json."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
import pytest

import gpuasm
from gpuasm import cli
from gpuasm.cli.manifest import SCHEMA_VERSION, machine, plain, versions, write_manifest
from gpuasm.errors import OutputError
from gpuasm.stages import Stages


@dataclass
class Summary:
    path: Path
    lengths: np.ndarray
    mean_quality: float


def write(path: Path) -> None:
    stages = Stages()
    with stages.stage("count k-mers", k=np.int64(31)) as stage:
        stage.note(distinct=np.int64(7))
    write_manifest(
        path,
        command="count",
        parameters={"k": (31, 61), "min_count": None},
        inputs=[Summary(Path("a.fq"), np.array([3, 4]), float("nan"))],
        stages=stages,
        device="cpu",
        results={"files": {"counts.npz"}, "valley": np.float64(0.5)},
        warnings=["few reads"],
        threads=2,
    )


def test_all_that_a_reader_of_the_run_needs(tmp_path: Path) -> None:
    write(tmp_path / "run.json")
    run = json.loads((tmp_path / "run.json").read_text())
    assert run["schema_version"] == SCHEMA_VERSION
    assert (run["status"], run["command"]) == ("done", "count")
    assert run["command_line"] == "gpuasm"  # called from Python
    assert run["started"] <= run["finished"]
    assert run["versions"]["gpuasm"] == gpuasm.__version__
    assert run["machine"]["threads"] == 2
    assert run["machine"]["device"] == {"device": "cpu"}
    assert run["parameters"] == {"k": [31, 61], "min_count": None}
    assert run["inputs"] == [{"path": "a.fq", "lengths": [3, 4], "mean_quality": None}]
    assert run["results"] == {"files": ["counts.npz"], "valley": 0.5}
    assert run["warnings"] == ["few reads"]
    assert run["peak_rss_bytes"] > 0
    (stage,) = run["stages"]
    assert (stage["name"], stage["parameters"], stage["counts"]) == ("count k-mers", {"k": 31}, {"distinct": 7})
    assert {"wall_s", "cpu_s", "peak_rss_bytes", "device_bytes"} <= set(stage)


def test_the_command_line_is_kept_as_it_was_given(
    run_cli: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    @click.command()
    @click.argument("path", type=Path)
    def command(path: Path) -> None:
        write(path)

    monkeypatch.setattr(cli.cli, "get_command", lambda _context, _name: command)
    path = tmp_path / "a run.json"
    assert run_cli("count", path)[0] == 0
    assert json.loads(path.read_text())["command_line"] == f"gpuasm count '{path}'"


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(OutputError):
        write(tmp_path / "absent" / "run.json")


def test_versions_are_those_of_what_is_installed() -> None:
    assert {"python", "gpuasm", "numpy", "numba"} <= set(versions())


def test_machine_without_a_device_asks_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("gpuasm.arrays.properties_of")
    assert machine("cpu")["cpu"]


def test_plain_types() -> None:
    value = {1: [np.float32(0.5), (np.bool_(True), Path("x"))], "nan": float("inf")}
    assert plain(value) == {"1": [0.5, [True, "x"]], "nan": None}
