"""Types on a command line: numbers from a least to a greatest value, so that none overflows later, and names."""

from __future__ import annotations

import math
import re
from typing import Any

import click

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
_BASES = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)([kmg]?)", re.IGNORECASE | re.ASCII)
_DIGITS = 20
"""More than the greatest value has."""
MOST, MOST_ITEMS, MOST_SEED = (1 << 31) - 1, 1 << 40, (1 << 63) - 1


class _AsciiNumber(click.ParamType):
    """A number in ASCII digits: Python also takes digits of other scripts, and underscores between digits."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and (not value.isascii() or "_" in value):
            self.fail(f"{value!r} is not a number in digits from 0 to 9.", param, ctx)
        return super().convert(value, param, ctx)


class Whole(_AsciiNumber, click.IntRange):
    """A whole number from ``least`` to ``most``, both included."""

    def __init__(self, least: int, most: int = MOST) -> None:
        super().__init__(least, most)
        self.most = most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        text = str(value)
        if text.isascii() and text.isdigit() and (len(text) > _DIGITS or int(text) > self.most):
            self.fail(f"{text[:_DIGITS]}{'...' if len(text) > _DIGITS else ''} is more than {self.most}.", param, ctx)
        return super().convert(value, param, ctx)

    def _describe_range(self) -> str:
        return f"x>={self.min}" if self.max in (MOST, MOST_ITEMS, MOST_SEED) else super()._describe_range()


class Finite(_AsciiNumber, click.FloatRange):
    """A number that is finite, within bounds if there are any."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number

    def _describe_range(self) -> str:
        return "" if self.min is None and self.max is None else super()._describe_range()


class Bases(click.ParamType):
    """A number of bases from 1 on, as 4600000, 4600k, 4.6M or 3.1G."""

    name = "bases"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        match = _BASES.fullmatch(str(value))
        number = int(float(match[1]) * _UNITS[match[2].lower()]) if match else 0
        if number < 1:
            self.fail(f"{value!r} is not a number of bases such as 4600000, 4600k or 4.6M.", param, ctx)
        return number


class NameOf(click.ParamType):
    """One of the names that `gpuasm.assembly.options` lists, which is not imported to show the help."""

    def __init__(self, names: str) -> None:
        self.name = names.lower()
        self._names = names

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from gpuasm.assembly import options

        return str(click.Choice(getattr(options, self._names)).convert(value, param, ctx))


SEED = Whole(0, MOST_SEED)
