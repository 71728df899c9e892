"""Numbers on the command line: ASCII digits, of any length, in every option that takes one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gpuasm import driver
from gpuasm.errors import UsageError
from gpuasm.resources import parse_bytes

Run = Callable[..., tuple[int, str, str]]

DIGITS = "9" * 5000
"""More digits than Python makes a whole number of."""

NO_NUMBERS = [DIGITS, "1_0", "\u0663", "\u00b2", "", " "]
OPTIONS = [
    ["count", "reads.fa", "-o", "o.npz", "-k"],
    ["count", "reads.fa", "-o", "o.npz", "-t"],
    ["assemble", "reads.fa", "-o", "o", "--min-count"],
    ["assemble", "reads.fa", "-o", "o", "-k"],
    ["assemble", "reads.fa", "-o", "o", "--memory"],
    ["som", "train", "table.tsv", "-o", "o", "--size"],
    ["simulate", "genome", "--length", "9", "-o", "o.fa", "--plasmid"],
    ["simulate", "genome", "-o", "o.fa", "--seed"],
    ["pagerank", "graph.tsv", "--reset"],
    ["bin", "contigs.fa", "-o", "o", "--sureness"],
]


@pytest.mark.parametrize("arguments", OPTIONS, ids=lambda arguments: f"{arguments[0]} {arguments[-1]}")
@pytest.mark.parametrize("text", NO_NUMBERS, ids=["long", "underscore", "arabic", "superscript", "empty", "blank"])
def test_what_is_no_number_is_refused(run_cli: Run, in_folder: Path, arguments: list[str], text: str) -> None:
    for name in ("reads.fa", "table.tsv", "graph.tsv", "contigs.fa"):
        (in_folder / name).write_text("")
    code, _, err = run_cli(*arguments, text)
    assert code == 2, err
    assert len(err) <= 400


@pytest.mark.parametrize("text", [f"{part}x{other}" for part in NO_NUMBERS for other in ("2", part)])
def test_sizes_of_maps_are_numbers(run_cli: Run, in_folder: Path, text: str) -> None:
    (in_folder / "table.tsv").write_text("1\t2\n")
    assert run_cli("som", "train", "table.tsv", "-o", "o", "--size", text)[0] == 2


@pytest.mark.parametrize("text", [f"{DIGITS}G", "1_0G", "\u0663G", "\u00b2", "0.0G"])
def test_amounts_of_memory_are_numbers(text: str) -> None:
    with pytest.raises(UsageError):
        parse_bytes(text)


def test_numbers_are_taken(run_cli: Run, in_folder: Path) -> None:
    (in_folder / "graph.tsv").write_text("0 1\n1 0\n")
    assert (
        run_cli("pagerank", "graph.tsv", "-q", "-t", "1", "--device", "cpu", "--reset", "0.5", "--seed", "007")[0] == 0
    )
    assert parse_bytes("1.5 GiB") == 3 << 29
    assert parse_bytes("99999999999T") == 99999999999 << 40


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("number", [DIGITS, "\u0663", "\u00b2", "-1"])
def test_numbers_of_devices_are_numbers(run_cli: Run, in_folder: Path, number: str) -> None:
    (in_folder / "graph.tsv").write_text("0 1\n1 0\n")
    assert run_cli("pagerank", "graph.tsv", "-q", "--device", f"cuda:{number}")[0] == 69
    assert driver._number_of(f"cuda:{number}") is None
