"""A minute of fuzzing: mutated files are read, or refused by errors with a remedy."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.fuzz.coverage import Lines
from tests.fuzz.fuzzing import Fuzzer
from tests.fuzz.targets import READERS, TARGETS

_INPUTS, _SECONDS = {True: 40, False: 4}, 1.5
_NEVER_REFUSED = {"status.json", "rule.tsv"}
"""Files that reports pass over, if they are damaged."""


@pytest.fixture
def lines() -> Iterator[Lines]:
    """The lines of gpuasm that inputs reach."""
    watched = Lines()
    try:
        yield watched
    finally:
        watched.stop()


@pytest.mark.parametrize("name", TARGETS)
def test_damaged_inputs_are_read_or_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = Fuzzer(name, tmp_path).run(Random(1), seconds=_SECONDS, inputs=_INPUTS[name in READERS])
    assert outcome.failures == []
    assert outcome.counts.total()
    if name in READERS and outcome.counts.total() == _INPUTS[True]:
        assert outcome.counts.keys() - {"read"} or name in _NEVER_REFUSED


def test_inputs_that_reach_new_lines_are_kept(lines: Lines, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    fuzzer = Fuzzer("personalisation", tmp_path, lines=lines, corpus=corpus)
    fuzzer.run(Random(1), seconds=5.0, inputs=300)
    n_kept = len(list(corpus.iterdir()))
    assert 0 < n_kept < 100
    again = Fuzzer("personalisation", tmp_path, lines=lines, corpus=corpus)
    began = time.monotonic()
    again.run(Random(2), seconds=0.0)
    assert len(again._inputs) > n_kept
    assert time.monotonic() - began < 5.0
