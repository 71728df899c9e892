"""Race detection: kernels of one body run in plain Python, with every access to their arrays recorded.

On a device all runs of a kernel are concurrent. Their result is determined only if no run reads or writes an element to
which another run writes a new value, unless all of them write the same. This is checked here independently of the order
of runs. It is also checked that each index lies within its array, which devices do not check.
"""

from __future__ import annotations

import itertools
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gpuasm.parallel import for_each
from tests.launches import copied, name_of

_SEVERAL = -2


class Watched:
    """An array that records which run reads and which run writes each element."""

    def __init__(self, array: np.ndarray) -> None:
        self._array, self._before = array.copy(), array
        self.size = array.size
        self.run = -1
        self._reader: dict[int, int] = {}
        self._writer: dict[int, int] = {}
        self.clashes: list[str] = []

    def __getitem__(self, place: Any) -> Any:
        p = self._within(place)
        if self._is_of_another(self._writer, p) and self._is_new(p):
            self._clash("reads what another writes", p)
        self._note(self._reader, p)
        value = self._array[p]
        # As in compiled code, small integers are widened before they are used.
        return np.int64(value) if value.dtype.kind in "bi" or value.dtype in (np.uint8, np.uint16) else value

    def __setitem__(self, place: Any, value: Any) -> None:
        p = self._within(place)
        old = self._array[p].tobytes()
        self._array[p] = np.asarray(value).astype(self._array.dtype)
        if self._is_of_another(self._writer, p) and self._array[p].tobytes() != old:
            self._clash("writes what another writes otherwise", p)
        if self._is_of_another(self._reader, p) and self._is_new(p):
            self._clash("writes what another reads", p)
        self._note(self._writer, p)

    def _is_new(self, p: int) -> bool:
        return bool(self._array[p].tobytes() != self._before[p].tobytes())

    def _is_of_another(self, noted: dict[int, int], p: int) -> bool:
        return noted.get(p, self.run) != self.run

    def _note(self, noted: dict[int, int], p: int) -> None:
        noted[p] = _SEVERAL if self._is_of_another(noted, p) else self.run

    def _within(self, place: Any) -> int:
        if not 0 <= place < self.size:
            msg = f"run {self.run} is at {place} of an array of {self.size}"
            raise IndexError(msg)
        return int(place)

    def _clash(self, what: str, p: int) -> None:
        self.clashes.append(f"run {self.run} {what}, at {p}")


class Races:
    """Record some runs of each launch, with a limit for each kernel; keep the arrays with races."""

    def __init__(self, *, runs: int, of_launch: int) -> None:
        self._runs, self._of_launch = runs, of_launch
        self.watched: dict[str, int] = {}
        self.found: dict[str, str] = {}

    def __call__(self, kernel: for_each, n: int, args: tuple[Any, ...]) -> None:
        name = name_of(kernel)
        seen = self.watched.setdefault(name, 0)
        n_watched = min(n, self._of_launch, self._runs - seen)
        first = (n - n_watched) // 2  # neighbours, as races between them are most likely
        races = clashes(kernel, range(first, first + n_watched), args) if n_watched else {}
        self.found |= {f"{name}: {array}": clash for array, clash in races.items() if clash}
        self.watched[name] = seen + n_watched


def clashes(kernel: for_each, numbers: range, args: tuple[Any, ...]) -> dict[str, str]:
    """Run a kernel for some numbers on copies of its arrays; return the first clash in each array, or an empty text."""
    run = plain(kernel.__wrapped__)  # type: ignore[attr-defined]
    values = [np.int64(v) if type(v) is int else v for v in copied(args, Watched)]
    arrays = [value for value in values if isinstance(value, Watched)]
    with np.errstate(all="ignore"):
        for i in numbers:
            for array in arrays:
                array.run = i
            run(np.int64(i), *grouped(kernel, values))
    named = zip(kernel.names, values, strict=True)
    return {name: (value.clashes or [""])[0] for name, value in named if isinstance(value, Watched)}


def grouped(kernel: for_each, values: list[Any]) -> Iterator[Any]:
    """Yield the arguments of a body, from those of a launch."""
    left = iter(values)
    for own in kernel.groups.values():
        yield own(*itertools.islice(left, len(own._fields))) if own else next(left)


def plain(function: Callable[..., Any], made: dict[Any, Any] | None = None) -> Callable[..., Any]:
    """Return a function that calls the Python functions of which its compiled helpers were made."""
    made = {} if made is None else made
    if function not in made:
        scope = dict(function.__globals__)
        made[function] = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__)
        for name in set(_names(function.__code__)) & set(scope):
            if (helper := getattr(scope[name], "py_func", None)) is not None:
                scope[name] = plain(helper, made)
    return made[function]


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)
