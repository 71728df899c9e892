"""Names of vertices: a given list, or the strings over an alphabet, which are computed on request."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import overload

from gpuasm.errors import DataError

Label = str | int
"""A vertex as users see it: its name, or its number in a graph without names."""


class StringNames(Sequence[str]):
    """All strings of one length over an alphabet, in the order of the alphabet; none is stored.

    Parameters
    ----------
    alphabet
        Distinct letters.
    length
        Letters of a string; with 0 there is one empty string.
    """

    def __init__(self, alphabet: str, length: int) -> None:
        self.alphabet, self.length = alphabet, length

    def __len__(self) -> int:
        return int(len(self.alphabet) ** self.length)

    @overload
    def __getitem__(self, number: int) -> str: ...
    @overload
    def __getitem__(self, number: slice) -> list[str]: ...
    def __getitem__(self, number: int | slice) -> str | list[str]:
        if isinstance(number, slice):
            return [self[i] for i in range(*number.indices(len(self)))]
        rest = int(number)
        if not 0 <= rest < len(self):
            raise IndexError(number)
        letters = []
        for _ in range(self.length):
            rest, letter = divmod(rest, len(self.alphabet))
            letters.append(self.alphabet[letter])
        return "".join(reversed(letters))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, StringNames):
            return (self.alphabet, self.length) == (other.alphabet, other.length)
        if isinstance(other, Sequence):
            return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))
        return NotImplemented

    def __hash__(self) -> int:
        return hash((self.alphabet, self.length))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and len(name) == self.length and set(name) <= set(self.alphabet)

    def index(self, name: str, start: int = 0, stop: int | None = None) -> int:
        """Return the number of a string; ValueError if it is none of them."""
        if name not in self:
            raise ValueError(name)
        number = 0
        for letter in name:
            number = number * len(self.alphabet) + self.alphabet.index(letter)
        if not start <= number < (len(self) if stop is None else stop):
            raise ValueError(name)
        return number


def number_names(names: Iterable[str]) -> dict[str, int]:
    """Return the number of each name.

    Raises
    ------
    DataError
        If two vertices have the same name.
    """
    numbers: dict[str, int] = {}
    for number, name in enumerate(names):
        if numbers.setdefault(name, number) != number:
            raise DataError("a name of its own for each vertex", f"{name!r} twice", "rename one of the vertices")
    return numbers


def short_list(labels: Iterable[object], most: int) -> str:
    """Return up to ``most`` labels as text, with dots where there are more."""
    shown = [str(label) for label in itertools.islice(labels, most + 1)]
    return ", ".join(shown[:most]) + (", ..." if len(shown) > most else "")
