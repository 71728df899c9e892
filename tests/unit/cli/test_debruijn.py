"""``gpuasm debruijn``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]
METHODS = ["implicit", "parallel", "hierholzer"]


@pytest.mark.parametrize("method", METHODS)
def test_eight_symbols(run_cli: Run, method: str) -> None:
    code, out, _ = run_cli("debruijn", "--alphabet", "01", "--order", 3, "--method", method)
    assert code == 0
    text = out.removesuffix("\n")
    assert len(text) == 8
    assert len({(text + text)[i : i + 3] for i in range(8)}) == 8


@pytest.mark.parametrize("method", METHODS)
def test_every_pin(run_cli: Run, method: str) -> None:
    code, out, _ = run_cli("debruijn", "--pin", 4, "--method", method)
    digits = out.removesuffix("\n")
    assert (code, len(digits)) == (0, 10_003)
    assert {digits[i : i + 4] for i in range(10_000)} == {f"{pin:04}" for pin in range(10_000)}


def test_the_position_of_a_string(run_cli: Run, tmp_path: Path) -> None:
    code, out, _ = run_cli("debruijn", "--find", 4711)
    assert code == 0
    _, digits, _ = run_cli("debruijn", "--order", 4)
    assert digits.index("4711") == int(out)
    assert run_cli("debruijn", "--pin", 4, "--find", 4711)[1] == out
    assert run_cli("debruijn", "--order", 4, "--find", 71, "-o", tmp_path / "place")[0] == 0
    assert int((tmp_path / "place").read_text()) == digits.index("71")
    assert run_cli("debruijn", "--alphabet", "01", "--order", 3, "--find", "100")[1] == "7\n"
    assert run_cli("debruijn", "--alphabet", "01", "--order", 3, "--find", "100", "--linear")[1] == "7\n"


def test_a_longer_string_need_not_occur(run_cli: Run) -> None:
    code, out, err = run_cli("debruijn", "--order", 2, "--find", "000")
    assert (code, out) == (65, "")
    assert "strings of up to 2 letters always do" in err


def test_any_letters_and_least_alphabets(run_cli: Run, tmp_path: Path) -> None:
    target = tmp_path / "sequence.txt"
    assert run_cli("debruijn", "--alphabet", "äb", "--order", 2, "--linear", "-o", target)[:2] == (0, "")
    assert target.read_text(encoding="utf-8") == "ääbbä\n"
    assert run_cli("debruijn", "--alphabet", "x", "--order", 3)[1] == "x\n"
    assert run_cli("debruijn", "--alphabet", "x", "--order", 3, "--linear")[1] == "xxx\n"
    assert run_cli("debruijn", "--alphabet", "abc", "--order", 1)[1] == "abc\n"


def test_seeds_give_other_sequences(run_cli: Run) -> None:
    made = {run_cli("debruijn", "--order", 3, "--method", "parallel", "--seed", seed)[1] for seed in range(4)}
    assert len(made) == 4


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ([], 2, "expected --order, --pin or --find"),
        (["--alphabet", "AAC", "--order", 4], 2, "'A' twice"),
        (["--alphabet", "", "--order", 4], 2, "found none"),
        (["--pin", 4, "--order", 4], 2, "leave one of the two out"),
        (["--pin", 4, "--alphabet", "01"], 2, "leave one of the two out"),
        (["--order", 4, "--find", "12a4"], 2, "'a' in '12a4'"),
        (["--find", ""], 2, "at least one letter"),
        (["--order", 0], 2, "range"),
        (["--order", 12, "--memory", "1G"], 75, "--memory"),
        (["--order", 40], 75, "about 10^40 bytes"),
        (["--order", 7, "--memory", "100M", "--method", "parallel"], 75, "--memory"),
    ],
)
def test_mistakes(run_cli: Run, options: list[object], code: int, message: str) -> None:
    found, out, err = run_cli("debruijn", *options)
    assert (found, out) == (code, "")
    assert message in err
