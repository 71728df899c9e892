"""The processes that fuzz: counts, inputs that crash, hang or fail, and files of results."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from gpuasm.errors import DataError
from tests.fuzz import workers
from tests.fuzz.counts import Counts
from tests.fuzz.target import Target
from tests.fuzz.targets import TARGETS
from tests.fuzz.workers import Workers

_BUG = b"bug"


def _refuse_all(path: Path) -> None:
    raise DataError("nothing", "something", "give nothing", path=path)


def _fail_unless_valid(path: Path) -> None:
    if path.read_bytes() != _BUG:
        raise ArithmeticError


def _crash_unless_valid(path: Path) -> None:
    if path.read_bytes() != _BUG:
        os.abort()


def _hang_unless_valid(path: Path) -> None:
    if path.read_bytes() != _BUG:
        time.sleep(100)


_DOES = {
    "refuses": _refuse_all,
    "fails": _fail_unless_valid,
    "crashes": _crash_unless_valid,
    "hangs": _hang_unless_valid,
}


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Counts:
    """The counts of targets that do one thing each, after some seconds."""
    for name, read in _DOES.items():
        monkeypatch.setitem(TARGETS, name, Target("tests", read, lambda _: [_BUG]))
    for name, value in (("MOST_SECONDS", 1.0), ("_SLICE", 0.2), ("_SECONDS_TO_DUMP", 0.3)):
        monkeypatch.setattr(workers, name, value)
    found = Counts(list(_DOES), keep=tmp_path / "kept")
    end = time.monotonic() + 60.0
    with Workers(2, seed=1) as processes:
        while time.monotonic() < end and not all(row["inputs"] for row in found.rows()):
            for name, outcome in processes.next_outcomes(found.next_target):
                found.add(name, outcome)
    return found


def test_what_each_target_does_is_counted_and_kept(counts: Counts, tmp_path: Path) -> None:
    rows = {row["format"]: row for row in counts.rows()}
    assert rows["refuses"]["refused"] == rows["refuses"]["inputs"] > 0
    for name, said in (("fails", "ArithmeticError"), ("crashes", "ended with -6"), ("hangs", "more than 1 s")):
        assert rows[name]["failures"]
        assert any(said in kind for kind in rows[name]["failed"])
        kept = [path for path in (tmp_path / "kept").glob(f"{name}_*") if not path.suffix]
        assert kept
        assert all(path.read_bytes() != _BUG for path in kept)


def test_counts_are_written_and_read_again(counts: Counts, tmp_path: Path) -> None:
    path = tmp_path / "fuzz.json"
    counts.write(path)
    assert json.loads(path.read_text())["benchmark"] == "fuzz"
    again = Counts(list(_DOES), keep=tmp_path)
    again.read(path)
    assert again.rows() == counts.rows()
