"""``gpuasm workflow``: the files of the repository, written out; and what the distributions contain."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from gpuasm.cli import workflow

ROOT = Path(__file__).parents[3]


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the contents of all files below a folder, by their paths within it."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def shipped() -> dict[str, bytes]:
    """Return the workflow's files at the top level of the repository."""
    found = {f"{name}/{path}": text for name in ("config", "workflow") for path, text in files_of(ROOT / name).items()}
    return found | {"Snakefile": (ROOT / "Snakefile").read_bytes()}


@pytest.mark.parametrize("before", ["no folder", "an empty folder", "the current folder"])
def test_the_files_are_those_of_the_repository(run_cli, tmp_path, monkeypatch, shipped, before):
    folder = tmp_path / "new" / "demo"
    if before != "no folder":
        folder.mkdir(parents=True)
    if before == "the current folder":
        monkeypatch.chdir(folder)
    code, out, err = run_cli("workflow", "." if before == "the current folder" else folder)
    assert (code, err) == (0, "")
    assert out.endswith("run 'snakemake --cores all' there\n")
    assert files_of(folder) == shipped
    assert [path.name for path in folder.parent.iterdir()] == ["demo"]


def test_all_that_the_default_configuration_names_is_written(run_cli, tmp_path):
    run_cli("workflow", tmp_path / "demo")
    header, *lines = (tmp_path / "demo" / "config" / "samples.tsv").read_text().splitlines()
    rows = [dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines]
    named = [row[column] for row in rows for column in ("reads_1", "reads_2", "genome") if row[column]]
    assert len(named) >= len(rows) > 1
    assert all((tmp_path / "demo" / name).is_file() for name in named)


def test_a_folder_with_files_is_refused(run_cli, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    code, out, err = run_cli("workflow", tmp_path)
    assert (code, out) == (73, "")
    assert err.endswith("expected a new or empty folder, found one with files; name another, or give --force\n")
    assert files_of(tmp_path) == {"notes.txt": b"mine"}


def test_forced_files_that_differ_are_kept_beside(run_cli, tmp_path, shipped):
    (tmp_path / "notes.txt").write_text("mine")
    assert run_cli("workflow", tmp_path, "--force")[0] == 0
    for number, old in enumerate(("samples.tsv.old", "samples.tsv.old2")):
        (tmp_path / "config" / "samples.tsv").write_text(f"mine {number}")
        code, out, _ = run_cli("workflow", tmp_path, "--force")
        assert code == 0
        assert out.splitlines()[:-1] == [f"kept as {tmp_path / 'config' / old}"]
    others = {"notes.txt": b"mine", "config/samples.tsv.old": b"mine 0", "config/samples.tsv.old2": b"mine 1"}
    assert files_of(tmp_path) == shipped | others


@pytest.mark.parametrize("blocked", ["config/config.yaml", "workflow"])
def test_nothing_is_written_where_something_is_in_the_way(run_cli, tmp_path, blocked):
    if blocked == "workflow":
        (tmp_path / blocked).write_text("a file")
    else:
        (tmp_path / blocked).mkdir(parents=True)
    before = sorted(tmp_path.rglob("*"))
    code, _, err = run_cli("workflow", tmp_path, "--force")
    assert code == 73
    assert blocked in err
    assert sorted(tmp_path.rglob("*")) == before


def test_a_file_of_that_name_is_refused(run_cli, tmp_path):
    (tmp_path / "demo").write_text("a file")
    code, _, err = run_cli("workflow", tmp_path / "demo")
    assert (code, "demo" in err) == (73, True)


def test_nothing_remains_of_a_failure(run_cli, tmp_path, monkeypatch):
    monkeypatch.setattr(workflow, "files_of_workflow", lambda: [Path("Snakefile"), Path("no such file")])
    run_cli("workflow", tmp_path / "demo")
    assert list(tmp_path.iterdir()) == []


def test_the_wheel_has_every_file_of_the_workflow():
    """The build packs what these patterns match."""
    package = ROOT / "gpuasm"
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["gpuasm"]
    packed = {path.relative_to(package) for pattern in patterns for path in package.glob(pattern) if path.is_file()}
    typed = {Path("py.typed"), Path("__init__.pyi")}
    assert packed == typed | {Path("workflow_files", name) for name in workflow.files_of_workflow()}
