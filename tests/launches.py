"""Observation of each launch of a kernel of one body: its types, its accesses, or its result on another device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gpuasm import arrays
from gpuasm.parallel import flattened, for_each

Look = Callable[[for_each, int, tuple[Any, ...]], Callable[[], None] | None]
"""A function called before each launch that is not empty; the function it returns, if any, is called afterwards."""


@contextmanager
def looked_at(look: Look) -> Iterator[None]:
    """Observe each launch in the block."""
    call = for_each.__call__

    def looked_at_call(self: for_each, n: int, *grouped: Any) -> None:
        args = flattened(grouped)
        after = look(self, int(n), args) if n else None
        call(self, n, *args)
        if after:
            after()

    for_each.__call__ = looked_at_call  # type: ignore[method-assign]
    try:
        yield
    finally:
        for_each.__call__ = call  # type: ignore[method-assign]


def name_of(kernel: for_each) -> str:
    """Return the module of a kernel within the package, and its name."""
    return f"{kernel.__module__.removeprefix('gpuasm.')}.{kernel.__name__}"  # type: ignore[attr-defined]


def is_array(value: Any) -> bool:
    return bool(getattr(value, "shape", ()))


def copied(args: tuple[Any, ...], copy: Callable[[Any], Any]) -> list[Any]:
    """Return arguments with copies of the arrays; an array that is passed twice is copied once."""
    copies: dict[int, Any] = {}
    return [copies.setdefault(id(value), copy(value)) if is_array(value) else value for value in args]


class DeviceAndHost:
    """Run each launch on the other device as well, and record the names of those with other results."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.unlike: dict[str, str] = {}

    def __call__(self, kernel: for_each, n: int, args: tuple[Any, ...]) -> Callable[[], None]:
        self.names.add(name_of(kernel))
        on_device = arrays.is_on_device(*args)
        values = copied(args, (lambda a: a.get()) if on_device else (lambda a: arrays.to_device(a.copy())))

        def compare() -> None:
            if on_device:
                run_on_host(kernel, n, values)
            else:
                kernel._launch(n, tuple(values))
            for name, own, other in zip(kernel.names, args, values, strict=True):
                if is_array(own) and arrays.to_host(own).tobytes() != arrays.to_host(other).tobytes():
                    n_unlike = int(np.count_nonzero(arrays.to_host(own) != arrays.to_host(other)))
                    self.unlike.setdefault(f"{name_of(kernel)}: {name}", f"{n_unlike} of {own.size}")

        return compare


def run_on_host(kernel: for_each, n: int, values: list[Any]) -> None:
    """Run a kernel on the host, one number after another."""
    kernel.cpu_loop(0, n, *values)
