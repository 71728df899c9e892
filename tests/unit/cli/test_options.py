"""Shared options: what a command gets of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from gpuasm import cli
from gpuasm.cli.options import (
    CommonOptions,
    ReadInputs,
    cleaned_read_options,
    common_options,
    parse_ks,
    parse_min_count,
)
from gpuasm.errors import UsageError

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Let any subcommand be one that keeps what it gets."""
    calls: list[dict[str, Any]] = []

    @click.command()
    @cleaned_read_options(trim="auto")
    @click.option("-k", default=31)
    @common_options
    def command(**arguments: Any) -> None:
        calls.append(arguments)

    monkeypatch.setattr(cli.cli, "get_command", lambda _context, _name: command)
    return calls


def test_read_options_become_one_object(run_cli: Run, seen: list[dict[str, Any]]) -> None:
    args = "count -1 a1 -2 a2 -1 b1 -2 b2 --interleaved i --single s --bam b r1 -".split()
    assert run_cli(*args)[0] == 0
    assert seen[0]["inputs"].as_arguments() == {
        "pairs": [(Path("a1"), Path("a2")), (Path("b1"), Path("b2"))],
        "interleaved": [Path("i")],
        "single": [Path("s"), Path("r1"), Path("-")],
        "bam": [Path("b")],
    }
    assert seen[0]["k"] == 31
    assert seen[0]["inputs"].cleaning == {"trim": "auto", "deduplicate": False, "remove_phix": False}


def test_common_options_become_one_object(run_cli: Run, seen: list[dict[str, Any]]) -> None:
    args = "count r -t 2 --device cpu --memory 2G --device-memory 1G --progress json -q -v".split()
    assert run_cli(*args)[0] == 0
    assert seen[0]["common"] == CommonOptions(2, "cpu", "2G", "1G", "json", quiet=True, verbose=True)
    assert run_cli("count", "r")[0] == 0
    assert seen[1]["common"] == CommonOptions()


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["-1", "a"], "as many files after -1 as after -2"),
        ([], "expected reads"),
        (["r", "-t", "0"], "not in the range"),
        (["r", "--progress", "loud"], "loud"),
        (["r", "--trim", "always"], "always"),
        (["r", "--primers-reference", "g"], "expected --primers with --primers-reference"),
    ],
)
def test_contradictions_are_usage_errors(run_cli: Run, seen: list[dict[str, Any]], args: list[str], text: str) -> None:
    code, _, err = run_cli("count", *args)
    assert code == 2
    assert text in err
    assert seen == []


def test_cleaning_options(run_cli: Run, seen: list[dict[str, Any]]) -> None:
    assert run_cli("count", "r", "--trim", "yes", "--deduplicate", "--remove-phix")[0] == 0
    assert seen[0]["inputs"].cleaning == {"trim": "yes", "deduplicate": True, "remove_phix": True}


def test_reads_from_python() -> None:
    assert ReadInputs(bam=(Path("x"),)).cleaning == {"trim": "no", "deduplicate": False, "remove_phix": False}
    assert ReadInputs(bam=(Path("x"),)).as_arguments()["bam"] == [Path("x")]


def test_lists_of_k() -> None:
    assert parse_ks("31, 61,127") == (31, 61, 127)


def test_error_about_a_number_of_too_many_digits_names_how_many_are_taken() -> None:
    for read in (parse_ks, parse_min_count):
        with pytest.raises(UsageError, match="at most 18 digits"):
            read("9" * 25)


@pytest.mark.parametrize("text", ["", "30", "31,31", "61,31", "31,", "k", "-31", "31;61"])
def test_wrong_lists_of_k(text: str) -> None:
    with pytest.raises(UsageError, match="rising odd numbers"):
        parse_ks(text)
