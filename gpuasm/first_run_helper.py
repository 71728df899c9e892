"""A helper of the first run: reads from standard input what to compile, a line of JSON each, and answers each line."""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
from contextlib import suppress
from typing import Any

from numba import types

from gpuasm.parallel import for_each


def compile_loop(module: str, name: str, signatures: list[str], cc: list[int] | None = None) -> None:
    """Compile a loop for some signatures, and keep it on disk; with the compute capability of a device, as PTX."""
    loop = loop_named(module, name)
    for signature in signatures:
        if cc is not None:
            loop.keep_ptx(tuple(signature.split()), (cc[0], cc[1]))
        else:
            (loop.cpu_loop if isinstance(loop, for_each) else loop).compile(types_of(signature))


def loop_named(module: str, name: str) -> Any:
    """Return a compiled function, or the body whose loop it is."""
    scope = vars(importlib.import_module(module))
    if name in scope:
        return scope[name]
    return next(one for one in scope.values() if isinstance(one, for_each) and one.kernel_name == name)


def types_of(signature: str) -> tuple[Any, ...]:
    """Return numba's types of a signature in numba's notation: "uint8[::1], Tuple((int64, bool))"."""
    return tuple(eval(f"({signature},)", {"__builtins__": {}, **vars(types)}))  # noqa: S307 - from our own table


def signature_text(argument_types: tuple[Any, ...]) -> str:
    """Write numba's types as `types_of` reads them."""
    return ", ".join(map(_type_text, argument_types))


def _type_text(one: Any) -> str:
    if isinstance(one, types.Array):
        if one.layout == "C" and one.mutable and one.aligned:
            return f"{_type_text(one.dtype)}[{', '.join([':'] * (one.ndim - 1) + ['::1'])}]"
        return f"Array({_type_text(one.dtype)}, {one.ndim}, {one.layout!r}, {not one.mutable}, aligned={one.aligned})"
    if isinstance(one, types.BaseTuple):
        parts: tuple[Any, ...] = getattr(one, "types")  # noqa: B009 - numba's stubs do not know it
        return f"Tuple(({''.join(_type_text(part) + ', ' for part in parts)}))"
    return "boolean" if one == types.boolean else repr(one)


def main() -> None:
    """Compile what the lines say, until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asks sees Ctrl-C, and ends this process
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what is printed meanwhile is no answer
    for line in sys.stdin:
        with suppress(Exception):  # whoever needs the loop compiles it again, and says what is wrong
            compile_loop(**json.loads(line))
        answers.write("done\n")
        answers.flush()


if __name__ == "__main__":
    main()
