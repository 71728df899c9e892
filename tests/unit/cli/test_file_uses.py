"""No output of a command may be one of its inputs or another output, under whatever path."""

from __future__ import annotations

import subprocess
import sys

import pytest

READS = f">a\n{'ACGTTGCAACGGATTACCGA' * 6}\n" * 3
GRAPH = "a\tb\nb\ta\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").write_text(READS)
    (tmp_path / "g").write_text(GRAPH)
    (tmp_path / "hard").hardlink_to(tmp_path / "x")
    (tmp_path / "soft").symlink_to("x")
    (tmp_path / "out").mkdir()
    for name in ("contigs.fasta", "rows.tsv", "samples.tsv", "map.lrn"):
        (tmp_path / "out" / name).write_text(READS)
    (tmp_path / "out" / "bins").mkdir()
    (tmp_path / "out" / "bins" / "bin_007.fasta").write_text(READS)
    (tmp_path / "out" / "run.json").hardlink_to(tmp_path / "g")
    return tmp_path


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "arguments",
    [
        "count x -o x", "count x -o ./x", "count x -o hard", "count x -o soft", "count soft -o hard",
        "count g x --spectrum x", "count x --json x", "count x -o new --json new", "count x -o new --json out/../new",
        "unitigs x -o x", "unitigs x -o u --fasta u", "check x --json x", "assemble -1 g -2 x -o .",
        "assemble --single out/contigs.fasta -o out", "assemble g --single x -o out",
        "bin out/bins/bin_007.fasta -o out", "relate out/samples.tsv x -o out", "relate x n=hard --sketches x -o new",
        "som train out/rows.tsv -o out", "som train out/map.lrn --esom -o out", "som map x g -o g",
        "som draw x -o x", "graph edges g -o g", "graph draw g -o p.svg --walk p.svg", "euler g -o g",
        "euler g -o s --stages s", "densest g -o g", "densest g -o m --picture m.svg --json m", "pagerank g -o g",
        "pagerank g --personalise p --json p -o q", "geolocate g x -o x", "geolocate g x -o y --geojson y",
        "simulate reads x -1 x -2 y", "simulate reads x -1 y -2 y", "report out -o out/run.json",
        "report out --summary s -o s", "report out --checks g -o g",
    ],
)  # fmt: skip
def test_refused_before_anything_is_written(run_cli, folder, arguments):
    before = contents(folder)
    if "assemble g" in arguments:
        (folder / "out" / "graph.gfa").hardlink_to(folder / "x")
        before = contents(folder)
    if "-o ." in arguments:
        (folder / "graph.gfa").symlink_to("x")
        before = contents(folder)
    code, _, err = run_cli(*arguments.split())
    assert code == 2, err
    assert "the same file" in err
    assert len(err.splitlines()[-1]) <= 400
    assert contents(folder) == before


@pytest.mark.parametrize("arguments", ["count - -o x", "graph edges - -o g"])
def test_standard_input_is_compared(folder, arguments):
    name = arguments[-1]
    with open(name, "rb") as file:
        done = subprocess.run(
            [sys.executable, "-m", "gpuasm", *arguments.split()], stdin=file, capture_output=True, check=False
        )
    assert done.returncode == 2
    assert b"the same file" in done.stderr


def test_pipes_and_devices_may_be_named_twice(run_cli, folder):
    arguments = ["-k", "21", "-o", "/dev/null", "--json", "/dev/null", "--device", "cpu", "-q"]
    assert run_cli("count", "x", *arguments)[0] == 0


@pytest.mark.parametrize("output", ["/dev/null", "-"])
def test_archives_may_be_written_to_devices(folder, output):
    arguments = ["count", "x", "-k", "21", "-o", output, "--device", "cpu", "-q"]
    done = subprocess.run([sys.executable, "-m", "gpuasm", *arguments], stdout=subprocess.DEVNULL, check=False)
    assert done.returncode == 0


def test_a_file_may_be_read_twice(run_cli, folder):
    assert run_cli("report", "out", "--checks", "g", "--status", "g", "-o", "page.html")[0] == 0


@pytest.mark.parametrize(
    "arguments", ["assemble x -o", "bin x -o", "relate x -o", "count x -o", "count", "som train g -o", "report out -o"]
)
def test_an_empty_path_is_refused(run_cli, folder, arguments):
    before = contents(folder)
    code, _, err = run_cli(*arguments.split(), "")
    assert (code, "an empty text" in err) == (2, True)
    assert contents(folder) == before
