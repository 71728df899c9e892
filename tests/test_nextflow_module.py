"""The module for Nextflow: its commands write what its snapshot states, and its description is of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import gpuasm
from tests import nextflow_module
from tests.nextflow_module import MODULE, SNAPSHOT

yaml = pytest.importorskip("yaml")
MAIN = (MODULE / "main.nf").read_text()
META = yaml.safe_load((MODULE / "meta.yml").read_text())


def test_the_commands_write_what_the_snapshot_states(tmp_path: Path, monkeypatch, run_cli) -> None:
    def command(words: list[str]) -> None:
        code, _, messages = run_cli(*words)
        assert code == 0, messages

    monkeypatch.chdir(tmp_path)
    expected = {title: entry["content"] for title, entry in json.loads(SNAPSHOT.read_text()).items()}
    assert nextflow_module.run_tests(command) == expected


def test_the_snapshot_is_of_the_tests() -> None:
    tests = (MODULE / "tests" / "main.nf.test").read_text()
    titles = re.findall(r'\n    test\("([^"]*)"\)', tests)
    assert titles == list(json.loads(SNAPSHOT.read_text()))
    for block in tests.split("\n    test(")[1:]:
        compared = nextflow_module.COMPARED_STUBS if "-stub" in block else nextflow_module.COMPARED
        snapshot = block.partition("snapshot(")[2].partition(").match()")[0]
        assert tuple(re.findall(r"process\.out\.(\w+)", snapshot)) == compared


def test_the_description_has_the_channels() -> None:
    channels = re.findall(r"emit: (\w+)", MAIN)
    assert list(META["output"]) == channels
    files = re.findall(r'path\("([^"]*)"\)', MAIN)
    described = [key for entries in META["output"].values() for entry in entries[0] for key in entry if "." in key]
    assert described[: len(files)] == files


def test_the_version_is_that_of_the_package() -> None:
    environment = yaml.safe_load((MODULE / "environment.yml").read_text())
    assert environment["dependencies"] == [f"gpuasm={gpuasm.__version__}"]
    for file in (MODULE / "main.nf", MODULE / "tests" / "simulate.nf", MODULE.parents[1] / "README.md"):
        assert f"localhost/gpuasm:{gpuasm.__version__}" in file.read_text()
    assert f"versions_gpuasm[0][2] == '{gpuasm.__version__}'" in (MODULE / "tests" / "main.nf.test").read_text()
