"""Errors: one line of bounded length, whatever the input."""

from __future__ import annotations

import pytest

from gpuasm.errors import MOST_CHARACTERS, DataError, UsageError, one_line

HARMFUL = "\x1b[31m\n\r\t\0\x85\u2028\udc80"


@pytest.mark.parametrize("part", ["expected", "found", "remedy", "path", "place"])
@pytest.mark.parametrize("text", ["x" * 100_000, HARMFUL * 1000, "\U0001f600" * 500, "a b " * 200])
def test_messages_have_a_line_of_at_most_400_characters(part: str, text: str) -> None:
    parts = {"expected": "a", "found": "b", "remedy": "c", "path": "/x", "place": "line 1"} | {part: text}
    error = DataError(parts["expected"], parts["found"], parts["remedy"], path=parts["path"], place=parts["place"])
    message = str(error)
    assert len(f"gpuasm: error: {message}") <= 400
    assert message.isprintable()
    assert all(short in message for name, short in (("expected", "expected a,"), ("remedy", "; c")) if name != part)
    assert getattr(error, part) == text


def test_all_parts_of_a_message_may_be_long() -> None:
    message = str(UsageError("e" * 999, "f" * 999, "r" * 999, path="p" * 999, place="l" * 999))
    assert len(message) <= MOST_CHARACTERS
    assert all(f"{letter * 5}..." in message for letter in "efrpl")


def test_short_messages_stay_as_they_are() -> None:
    assert str(DataError("a", "b \u00e9", "c", path="/x")) == "/x: expected a, found b \u00e9; c"


def test_control_characters_are_escaped() -> None:
    assert one_line(HARMFUL) == r"\x1b[31m\n\r\t\x00\x85\u2028\udc80"


def test_the_command_line_shortens_all_errors(run_cli) -> None:
    for arguments in (["graph", "info", "x" * 3000], ["pagerank", "--reset", "\x1b" + "1" * 3000, "x"], ["y" * 900]):
        code, _, err = run_cli(*arguments)
        assert code in (2, 66)
        assert len(err) <= 401
        assert err[:-1].isprintable()
