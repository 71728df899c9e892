"""Checks of what public functions are given: whole numbers, numbers, and arrays by kind and shape."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Iterator
from os import PathLike
from typing import Any

from gpuasm.errors import DataError, UsageError

_KINDS = {
    "iu": "integers", "u": "unsigned integers", "f": "floating-point numbers", "iuf": "numbers", "iufb": "numbers",
    "b": "yes or no",
}  # fmt: skip
_MOST = 2**63 - 1


def whole(value: Any, what: str, *, least: int = 0, most: int = _MOST) -> int:
    """Return a whole number that lies within its range.

    Raises
    ------
    UsageError
        If it is none, or lies outside.
    """
    is_whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not is_whole or not least <= int(value) <= most:
        limit = "" if most == _MOST else f" to {most}"
        raise UsageError(f"{what}: a whole number from {least}{limit or ' on'}", repr(value), "correct it")
    return int(value)


def real(value: Any, what: str, *, least: float = -math.inf, most: float = math.inf) -> float:
    """Return a finite number that lies within its range.

    Raises
    ------
    UsageError
        If it is none, or lies outside.
    """
    is_real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not is_real or not math.isfinite(value) or not least <= value <= most:
        limits = "" if math.isinf(least) and math.isinf(most) else f" from {least:g} to {most:g}"
        raise UsageError(f"{what}: a finite number{limits}", repr(value), "correct it")
    return float(value)


def array_of(array: Any, what: str, kinds: str, shape: tuple[int | None, ...]) -> Any:
    """Return an array of the host or of a device that has a kind of numbers and a shape.

    Parameters
    ----------
    array
        What was given.
    what
        For messages.
    kinds
        Kinds of numpy's types: "iu", "f", "iuf", "iufb", "b" or "u".
    shape
        Sizes; None is any.

    Raises
    ------
    DataError
        If it is no array, or another.
    """
    kind = getattr(getattr(array, "dtype", None), "kind", "")
    found = getattr(array, "shape", ())
    fits = kind != "" and kind in kinds and len(found) == len(shape)
    if not fits or any(size not in (None, own) for own, size in zip(found, shape, strict=True)):
        sizes = ", ".join("any" if size is None else str(size) for size in shape)
        seen = f"{array.dtype} of shape {found}" if kind else f"a {type(array).__name__}"
        raise DataError(f"{what}: {_KINDS[kinds]} of shape ({sizes})", seen, "give such an array")
    return array


def items(values: Any, what: str) -> Iterator[Any]:
    """Return an iterator over values that may come as any iterable but a text.

    Raises
    ------
    UsageError
        If they are none.
    """
    if isinstance(values, (str, bytes, PathLike)) or not isinstance(values, Iterable):
        raise UsageError(f"a list of {what}", f"a {type(values).__name__}", "give a list, even of one")
    return iter(values)


def instance(value: Any, kind: type, what: str) -> None:
    """Check that a value is of a class.

    Raises
    ------
    UsageError
        If it is not.
    """
    if not isinstance(value, kind):
        raise UsageError(f"{what}: a {kind.__name__}", f"a {type(value).__name__}", f"make a {kind.__name__} first")
