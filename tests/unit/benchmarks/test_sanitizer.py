"""The script that runs kernels under compute-sanitizer, with a program in its place."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
MEMCHECK = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at fill+0x40
========= Invalid __global__ write of size 8 bytes
========= ERROR SUMMARY: 2 errors
"""
RACECHECK = """\
========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at 0x40 in fill and Read access at 0x90 in fill [4 hazards]
========= RACECHECK SUMMARY: 3 hazards displayed (1 error, 2 warnings)
"""
CLEAN = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"


@pytest.fixture
def sanitizer(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("sanitizer")


def test_errors_of_all_processes_are_summed(sanitizer):
    found = sanitizer.summed([MEMCHECK, CLEAN, "========= COMPUTE-SANITIZER\n", RACECHECK])
    assert (found["processes"], found["errors"], found["warnings"]) == (3, 3, 2)
    assert found["kinds"] == {
        "Invalid __global__ write of size N bytes": 2,
        "Error: Race reported between Write access at N in fill and Read access at N in fill [N hazards]": 1,
    }


@pytest.fixture
def program(tmp_path):
    """Return a function that makes a program which writes a log and what tests print."""

    def make(log, printed="12 passed in 3.4s", code=0):
        path, text = tmp_path / "compute-sanitizer", tmp_path / "log"
        text.write_text(log)
        path.write_text(f'#!/bin/sh\ncp "{text}" "$(dirname "$6")/7.log"\necho "$@"\necho "{printed}"\nexit {code}\n')
        path.chmod(0o755)
        return path

    return make


@pytest.mark.parametrize(
    ("log", "printed", "code", "expected"),
    [
        (CLEAN, "12 passed in 3.4s", 0, 0),
        (MEMCHECK, "12 passed in 3.4s", 0, 1),
        (CLEAN, "1 failed, 11 passed in 3.4s", 1, 1),
        (CLEAN, "3 skipped in 3.4s", 0, 1),
        ("", "12 passed in 3.4s", 0, 1),  # no process was watched
    ],
)
def test_only_passed_tests_without_errors_are_clean(sanitizer, program, capfd, log, printed, code, expected):
    given = ["--tools", "racecheck", "--program", str(program(log, printed, code)), "--", "tests/gpu", "-k", "fill"]
    assert sanitizer.main(given) == expected
    out = capfd.readouterr().out
    assert "--tool racecheck --target-processes all" in out
    assert "-m gpu --timeout=0 tests/gpu -k fill\n" in out


def test_a_missing_program_is_reported(sanitizer, tmp_path, capsys):
    assert sanitizer.main(["--program", str(tmp_path / "none")]) == 69
    assert "compute-sanitizer: expected a program of the CUDA toolkit, found none" in capsys.readouterr().out
