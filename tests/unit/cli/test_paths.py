"""The errors of every command about files that it cannot read or write."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gpuasm.clustering import SelfOrganisingMap, state_of
from tests.oracles.reads import fastq, random_sequences

Run = Callable[..., tuple[int, str, str]]
READS = fastq(random_sequences(3, 20))
GOOD = {
    "reads": READS,
    "fasta": ">a\nACGTACGTTGCA\n",
    "graph": "a -> b\nb -> a\n",
    "places": "vertex\tlatitude\tlongitude\na\t1\t2\n",
    "table": "name\tx\ty\na\t1\t2\nb\t2\t3\nc\t3\t4\n",
}
QUIET = ("-q", "--device", "cpu", "-t", "1")
INPUTS = {
    "assemble": "assemble BAD -o out",
    "assemble, mates": "assemble -1 reads -2 BAD -o out",
    "assemble, bam": "assemble --bam BAD -o out",
    "check": "check BAD",
    "count": "count BAD",
    "unitigs": "unitigs BAD",
    "depth": "depth BAD s=reads -o out",
    "depth, sample": "depth fasta s=BAD -o out",
    "depth, mates": "depth fasta s=reads,BAD -o out",
    "depth, sheet": "depth fasta BAD -o out",
    "bin, depth": "bin fasta --depth BAD -o out",
    "relate": "relate BAD fasta -o out",
    "geolocate, graph": "geolocate BAD places",
    "geolocate, labels": "geolocate graph BAD",
    "som train": "som train BAD -o out",
    "som train, classes": "som train table --classes BAD -o out",
    "som map": "som map BAD table",
    "som map, table": "som map map.npz BAD",
    "graph info": "graph info BAD",
    "graph draw, walk": "graph draw graph --walk BAD -o picture.dot",
    "euler": "euler BAD",
    "euler, assembly": "euler BAD --assembly",
    "densest": "densest BAD",
    "pagerank": "pagerank BAD",
    "pagerank, personalise": "pagerank graph --personalise BAD",
    "simulate reads": "simulate reads BAD -1 r1.fq -2 r2.fq",
    "som draw": "som draw BAD -o picture.svg",
    "bin": "bin BAD -o out",
    "bin, map": "bin fasta --no-depth --map BAD -o out",
}
WITHOUT_SETTING = ("graph", "simulate", "som draw")
MAY_BE_EMPTY = {"bin", "bin, map", "geolocate, graph", "graph info", "graph draw, walk", "euler", "euler, assembly"}
MAY_BE_EMPTY |= {"pagerank", "depth"}
OUTPUTS = {
    "count": "count reads -o BAD",
    "count, spectrum": "count reads --spectrum BAD",
    "unitigs": "unitigs reads -o BAD",
    "check": "check reads --json BAD",
    "geolocate": "geolocate graph places -o BAD",
    "geolocate, map": "geolocate graph places --map BAD",
    "som map": "som map map.npz table -o BAD",
    "som draw": "som draw map.npz -o BAD",
    "graph convert": "graph convert graph -o BAD",
    "graph draw": "graph draw graph -o BAD",
    "euler": "euler graph -o BAD",
    "densest": "densest graph -o BAD",
    "pagerank": "pagerank graph --picture BAD",
    "simulate reads": "simulate reads fasta --single -1 BAD",
    "simulate genome": "simulate genome --length 9 -o BAD",
    "debruijn": "debruijn --order 2 -o BAD",
    "report": "report out -o BAD",
    "bench": "bench primitives --device cpu --json BAD",
}


@pytest.fixture
def refusal(run_cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], tuple[int, str]]:
    """Run a command with a file for BAD, in a folder of files that are good; it must fail in one line that names it."""
    monkeypatch.chdir(tmp_path)
    for name, text in GOOD.items():
        Path(name).write_text(text)
    som = SelfOrganisingMap(2, 2, epochs=1).fit(np.arange(6.0).reshape(3, 2))
    np.savez("map.npz", **state_of(som))

    def run(command: str, bad: str) -> tuple[int, str]:
        setting = () if command.startswith((*WITHOUT_SETTING, "debruijn", "report", "bench")) else QUIET
        code, out, err = run_cli(*command.replace("BAD", bad).split(), *setting)
        assert err.startswith("gpuasm: error: ")
        assert err.count("\n") == 1
        assert bad in err
        assert ": expected " in err
        assert "; " in err
        assert out == "" or command.startswith("check")
        return code, err

    return run


@pytest.mark.parametrize("case", INPUTS)
def test_an_input_that_is_not_there(refusal, case):
    assert refusal(INPUTS[case], "absent")[0] == 66


@pytest.mark.parametrize("case", INPUTS)
def test_a_folder_in_place_of_an_input(refusal, tmp_path, case):
    (tmp_path / "folder").mkdir()
    code, err = refusal(INPUTS[case], "folder")
    assert code == 66
    assert "found a folder; " in err


@pytest.mark.parametrize("case", [case for case in INPUTS if case not in MAY_BE_EMPTY])
def test_an_empty_input(refusal, tmp_path, case):
    (tmp_path / "nothing").touch()
    assert refusal(INPUTS[case], "nothing")[0] == 65


@pytest.mark.parametrize("content", ["gzip cut off", "bytes", "picture"])
@pytest.mark.parametrize("case", INPUTS)
def test_an_input_of_another_kind(refusal, tmp_path, case, content):
    bad = {
        "gzip cut off": gzip.compress(np.random.default_rng(1).bytes(9000))[:-2000],
        "bytes": b"\x03\xd7\xfe\x81" * 90,
        "picture": b"\x89PNG\r\n\x1a\n" + bytes(50),
    }
    (tmp_path / "damaged").write_bytes(bad[content])
    assert refusal(INPUTS[case], "damaged")[0] == 65


@pytest.mark.parametrize("case", OUTPUTS)
def test_outputs_that_can_never_be_written_are_refused_first(refusal, tmp_path, case):
    (tmp_path / "folder").mkdir()
    for name in GOOD:
        (tmp_path / name).unlink()
    for bad, found in (("folder", "a folder of this name"), ("absent/x.svg", "absent is not there")):
        code, err = refusal(OUTPUTS[case], bad)
        assert code == 73
        assert found in err


def test_a_folder_without_permission(refusal, tmp_path, monkeypatch):
    (tmp_path / "locked").mkdir()
    monkeypatch.setattr(os, "access", lambda _path, mode: mode == os.R_OK)
    assert refusal("count reads -o BAD", "locked/x")[0] == 73
    assert refusal("assemble reads -o BAD", "locked")[0] == 73


def test_devices_and_pipes_are_outputs(run_cli, refusal):
    assert run_cli("count", "reads", "--spectrum", "/dev/null", *QUIET)[0] == 0


@pytest.mark.parametrize("command", ["count reads -o - --spectrum -", "unitigs reads -o - --fasta -"])
def test_two_outputs_do_not_share_standard_output(run_cli, refusal, command):
    code, out, err = run_cli(*command.split(), *QUIET)
    assert (code, out) == (2, "")
    assert err.startswith("gpuasm: error: expected standard output for one file, found two that go there; ")


@pytest.mark.parametrize("command", ["count", "unitigs"])
def test_a_k_longer_than_every_read(run_cli, refusal, command):
    code, out, err = run_cli(command, "reads", "-k", 301, *QUIET)
    assert (code, out) == (65, "")
    assert "expected reads of at least k = 301 bases, found no read longer than 100; give longer reads, or" in err


def test_a_walk_of_another_graph_names_the_line(run_cli, refusal, tmp_path):
    (tmp_path / "walk").write_text("a\nb\nc\n")
    code, _, err = run_cli("graph", "draw", "graph", "--walk", "walk", "-o", "picture.dot")
    assert code == 65
    assert err == "gpuasm: error: walk, line 3: expected a vertex of the graph, found 'c'; take one of a, b\n"
