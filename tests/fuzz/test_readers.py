"""A minute of fuzzing: mutated files are read, or refused by errors with a remedy."""

from __future__ import annotations

import pytest

from tests.fuzz.run import fuzz
from tests.fuzz.targets import TARGETS

INPUTS = 150


@pytest.mark.parametrize("name", TARGETS)
def test_readers_refuse_what_they_cannot_read(name: str) -> None:
    outcome = fuzz(name, seed=1, inputs=INPUTS)
    assert outcome.failures == []
    assert outcome.counts.total() == INPUTS
    assert outcome.counts["read"]
    assert outcome.counts["65"]
