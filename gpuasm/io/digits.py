"""Whole numbers as text, for compiled loops that write millions of them."""

from __future__ import annotations

from gpuasm.parallel import inlined


@inlined()
def put_number(text, at, value):
    """Write an int64 of at least 0 in decimal digits from ``text[at]`` on; return the place behind them."""
    width, rest = 1, value
    while rest >= 10:
        rest //= 10
        width += 1
    for place in range(width - 1, -1, -1):
        text[at + place] = 48 + value % 10
        value //= 10
    return at + width
