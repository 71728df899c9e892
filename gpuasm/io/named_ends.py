"""Named ends of edges, numbered as they first occur: plain lines are read a block at a time, others one by one."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from gpuasm.io.graph_text import numbered_lines
from gpuasm.io.growing_array import GrowingArray
from gpuasm.parallel import compiled

BLANKS = " \t\r\n"
BETWEEN = re.compile(rf"[{BLANKS},]+")
"""Separator of the columns of an edge list, as compiled readers know it: other white space may be in names."""

_TAB, _NEWLINE, _RETURN, _BLANK, _HASH, _PERCENT, _COMMA, _LAST = 9, 10, 13, 32, 35, 37, 44, 126


class NamedEnds:
    """Named ends of edges, as numbers.

    Parameters
    ----------
    columns
        How many columns a line has; the first two are names.

    Attributes
    ----------
    numbers : dict of str to int
        The number of each name, in the order of the numbers.
    """

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.numbers: dict[str, int] = {}
        self._ends = GrowingArray(np.int64)

    def add(self, names: Iterable[str]) -> None:
        """Append names, two an edge."""
        numbers = self.numbers
        number_of = numbers.setdefault
        self._ends.append(np.array([number_of(name, len(numbers)) for name in names], np.int64))

    def scan(self, block: bytes) -> tuple[int, str] | None:
        """Append the edges of whole lines; return the first line that has other columns, and its number from 1 on.

        Raises
        ------
        DataError
            If a line is no text.
        """
        if _is_plain(np.frombuffer(block, np.uint8), self.columns):
            fields = block.decode("ascii").replace(",", " ").split()
            if self.columns > 2:
                pairs = zip(fields[:: self.columns], fields[1 :: self.columns], strict=True)
                fields = [name for pair in pairs for name in pair]
            self.add(fields)
            return None
        names: list[str] = []
        for number, line in numbered_lines([block]):
            text = line.strip(BLANKS)
            if text and text[0] not in "#%":
                fields = BETWEEN.split(text)
                if len(fields) != self.columns or not all(fields):
                    return number, text
                names += fields[:2]
        self.add(names)
        return None

    def finish(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (m,) int64 sources and targets; nothing may be appended afterwards."""
        ends = self._ends.finish().reshape(-1, 2)
        return ends[:, 0], ends[:, 1]


@compiled()
def _is_plain(text, columns):
    """Return whether all lines have so many columns of printable ASCII, or none, and no comment or misplaced comma."""
    n_fields, after_comma, in_field = 0, False, False
    for byte in text:
        if byte == _NEWLINE:
            if after_comma or n_fields not in (0, columns):
                return False
            n_fields, in_field = 0, False
        elif byte == _COMMA:
            if after_comma or n_fields == 0:
                return False
            after_comma, in_field = True, False
        elif byte in (_BLANK, _TAB, _RETURN):
            in_field = False
        elif byte < _BLANK or byte > _LAST:
            return False
        else:
            if not in_field:
                if n_fields == 0 and byte in (_HASH, _PERCENT):
                    return False
                n_fields += 1
            in_field, after_comma = True, False
    return True
