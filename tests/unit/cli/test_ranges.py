"""Numbers on the command line, and messages about wrong ones."""

from __future__ import annotations

import click
import pytest

from gpuasm.cli.ranges import MOST, SEED, Whole


@pytest.mark.parametrize("text", [str(MOST + 1), "9" * 20, "9" * 5000])
def test_error_about_a_large_number_names_the_greatest(text):
    """The help leaves it out, so the error did: 99999999999999999999 was "not in the range x>=1"."""
    with pytest.raises(click.BadParameter) as error:
        Whole(1).convert(text, None, None)
    assert f"is more than {MOST}" in error.value.message
    assert len(error.value.message) < 80


@pytest.mark.parametrize(
    ("kind", "text", "words"), [(Whole(1), "0", "x>=1"), (Whole(0, 5), "6", "more than 5"), (SEED, "-1", "x>=0")]
)
def test_error_names_the_bound_that_is_exceeded(kind, text, words):
    with pytest.raises(click.BadParameter, match=words):
        kind.convert(text, None, None)
