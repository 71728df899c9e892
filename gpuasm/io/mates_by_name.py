"""Mates of records that come in any order, by name and number of the mate."""

from __future__ import annotations

import re
from collections import deque

_MARK = re.compile(r"^(.+)(?:[/._:-][Rr]?[12]|[/._-][frFR])(?=$|:[YN]:)")
"""What names of mates have in common, before the number or letter of the mate."""


def name_of_pair(name: str) -> str:
    """Return what the names of two mates have in common: "r" for r/1, r.2, r_1:N:0, r:2, r_R1, r.f and r-1."""
    match = _MARK.match(name)
    return match[1] + name[match.end() :] if match else name


_NO_NAMES = ("", "*")


class Neighbours:
    """Records without flags of pairs: two in a row that share a name, and no third, are mates.

    One sequence twice is no pair: some aligners write a read as often as they place it, without a flag.

    Attributes
    ----------
    key : str or None
        Of the last record.
    """

    def __init__(self) -> None:
        self.key: str | None = None
        self._run: list[str] = []
        self._is_long = False
        self.n_pairs = 0

    def add(self, key: str, record: str) -> list[tuple[bool, str]]:
        """Return the texts before this record that are decided, each of a pair (true) or of a single read.

        Parameters
        ----------
        key
            What both mates have in common.
        record
            Its text: lines of the name, the sequence, a mark and the qualities.
        """
        if key != self.key:
            decided, self.key, self._run, self._is_long = self.take_left(), key, [record], False
            return decided
        self._run.append(record)
        if len(self._run) <= 2 and not self._is_long:
            return []
        decided, self._run, self._is_long = [(False, text) for text in self._run], [], True
        return decided

    def take_left(self) -> list[tuple[bool, str]]:
        """Return the texts of the records that are left, as `add` does, and forget them."""
        run, self._run = self._run, []
        if len(run) != 2 or self.key in _NO_NAMES or not _are_mates(*run):
            return [(False, text) for text in run]
        self.n_pairs += 1
        first, second = run
        return [(True, second + first if _name(first).endswith("/2") else first + second)]


def _are_mates(first: str, second: str) -> bool:
    """Return whether two records of one name differ in sequence, and in the mark of the mate if they have any."""
    names = _name(first), _name(second)
    is_marked = any(name.endswith(("/1", "/2")) for name in names)
    return first.split("\n", 2)[1] != second.split("\n", 2)[1] and not (is_marked and names[0] == names[1])


def _name(record: str) -> str:
    return record.partition("\n")[0]


class MatesByName:
    """Records that wait for their mates.

    Records of one name may be of several pairs, as where two runs are merged: the first of the first mates belongs to
    the first of the second ones.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, tuple[int, str]] = {}
        self._later: dict[str, deque[tuple[int, str]]] = {}
        self.n_pairs = 0

    def pair(self, key: str, mate: int, record: str) -> str | None:
        """Return the record after or before that of its mate, which waits for it, or let it wait.

        Parameters
        ----------
        key
            What both mates have in common: the name, or name and read group.
        mate
            1 or 2.
        record
            Its text.
        """
        other = self._waiting.pop(key, None)
        if other is None:
            self._waiting[key] = mate, record
            return None
        if other[0] == mate:
            self._waiting[key] = other
            self._later.setdefault(key, deque()).append((mate, record))
            return None
        if key in self._later:
            self._waiting[key] = self._later[key].popleft()
            if not self._later[key]:
                del self._later[key]
        self.n_pairs += 1
        return other[1] + record if other[0] == 1 else record + other[1]

    def take_left(self) -> list[tuple[str, int, str]]:
        """Return key, mate and text of the records whose mates did not come, and forget them."""
        left = [(key, *value) for key, value in self._waiting.items()]
        left += [(key, *value) for key, values in self._later.items() for value in values]
        self._waiting, self._later = {}, {}
        return left
