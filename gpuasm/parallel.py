"""Compiled loops for CPU and CUDA.

``for_each`` makes a loop of a body for one element, on the device that holds the arrays. On the CPU threads of a pool
run chunks of the index range without the interpreter lock. On CUDA the body becomes a grid-stride kernel with a plain C
signature. It is compiled to PTX once, kept on disk and launched by cupy, which takes less time than numba's launch.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import itertools
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, get_type_hints

import numba
import numpy as np
import numpy.ma  # numba would import it in any thread: that reads a table which cupy's import changes
from numba import extending, types

from gpuasm import arrays, precompilation
from gpuasm.arrays import Array
from gpuasm.cache_folders import ptx_folder, temporary_folder, write_atomically
from gpuasm.compiled_cache import cached_dispatcher, compiled_constants, helper_files, uncounted
from gpuasm.precompilation import Capability, DeclaredLoop, Kind
from gpuasm.threads import run_chunks

inlined = functools.partial(numba.njit, inline="always")
"""The decorator for scalar functions that are called by bodies for CPU and CUDA."""


@extending.intrinsic
def fused_multiply_add(context, a, b, c):  # noqa: ARG001 - numba's signature
    """Return a * b + c, rounded once; for compiled CPU loops, on numbers of one floating-point type."""
    return c(a, b, c), lambda _context, builder, _signature, arguments: builder.fma(*arguments)


_ENTRY = re.compile(r"\.entry\s+(\w+)")
_BLOCK = 256
_KINDS: dict[str | None, tuple[Kind | None, Kind | None]] = {
    "host": ("cpu", "cpu"),
    "device": (None, "ptx"),
    None: ("cpu", "ptx"),
}
"""The code of a loop that a run on the CPU and a run on a device use."""

_CPU_LOOP = """
def {name}(loop_first, loop_last, {names}):
    for loop_index in range(loop_first, loop_last):
        body(loop_index, {args})
"""
_CUDA_LOOP = """
def {name}(loop_size, {names}):
    for loop_index in range(cuda.grid(1), loop_size, cuda.gridsize(1)):
        body(loop_index, {args})
"""


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return the decorator for hand-written CPU loops: compiled, without the interpreter lock, kept on disk.

    A loop that makes no arrays may be declared with ``allocates=False``: it counts no references to them. Such counts
    are atomic operations, in branches of inlined helpers several for each index.
    """
    return functools.partial(cached_dispatcher, nogil=True, **options)


def signatures(*texts: str, on: Literal["host", "device"] | None = None) -> Callable[[Any], Any]:
    """Return the decorator that declares with which types an assembly calls a loop, so that it is compiled ahead.

    Parameters
    ----------
    *texts
        The types of the arguments of a call, in numba's notation: "int64[::1], boolean". The index of a body of
        `for_each` is left out.
    on
        Where the arrays of a body of `for_each` are, if not where those of the assembly are.
    """

    def declare(loop: Any) -> Any:
        is_body = isinstance(loop, for_each)
        name = loop.kernel_name if is_body else loop.__name__
        kinds = _KINDS[on] if is_body else _KINDS["host"]
        compile_it = loop.precompile if is_body else functools.partial(_precompile, loop)
        precompilation.declare(DeclaredLoop(loop.__module__, name, texts, kinds, compile_it))
        return loop

    return declare


def types_of(signature: str) -> tuple[Any, ...]:
    """Return numba's types of a signature of `signatures`."""
    return tuple(eval(f"({signature},)", {"__builtins__": {}, **vars(types)}))  # noqa: S307 - gpuasm's own decorators


def _precompile(loop: Any, signature: str, _: Capability | None) -> None:
    loop.compile(types_of(signature))


class _Hooks(threading.local):
    """What a thread calls before each loop that it runs."""

    before_loops: Callable[[], None] | None = None


_hooks = _Hooks()


@contextmanager
def called_before_loops(check: Callable[[], None]) -> Iterator[None]:
    """Call ``check`` before each `for_each` loop that this thread runs in the block; its exception ends the block."""
    before, _hooks.before_loops = _hooks.before_loops, check
    try:
        yield
    finally:
        _hooks.before_loops = before


class for_each:  # noqa: N801 - a decorator
    """Run ``body(i, *args)`` for every i in range(n), on the device that holds the arrays.

    The body is plain Python on one-dimensional arrays and numbers. It writes only elements that belong to index i and
    reads none that another i writes in the same launch. Constants in expressions of uint64 are of type uint64.

    A parameter annotated with a NamedTuple takes one of arrays and numbers. `signatures` list its fields one by one.
    """

    instances: list[for_each] = []

    def __init__(self, body: Callable[..., None]) -> None:
        self._body = body
        self._kernels: dict[tuple[int, tuple[str, ...]], Any] = {}
        self._loading = threading.Lock()
        functools.update_wrapper(self, body)
        for_each.instances.append(self)

    def __call__(self, n: int, *grouped: Any) -> None:
        if n == 0:
            return
        args = flattened(grouped)
        if _hooks.before_loops:
            _hooks.before_loops()
        if arrays.is_on_device(*args):
            self._launch(int(n), args)
        else:
            run_chunks(self.cpu_loop, int(n), *args)

    @functools.cached_property
    def groups(self) -> dict[str, Any]:
        """The parameters behind the index, each with its NamedTuple if it is annotated with one, else None."""
        hints = get_type_hints(self._body)
        return {name: hints.get(name) for name in list(inspect.signature(self._body).parameters)[1:]}

    @property
    def names(self) -> list[str]:
        """The names of the flattened arguments of a launch: those of a tuple's fields begin with its own."""
        each = ([f"{name}_{field}" for field in own._fields] if own else [name] for name, own in self.groups.items())
        return list(itertools.chain.from_iterable(each))

    @functools.cached_property
    def cpu_loop(self) -> Any:
        body = uncounted(self._body)
        return compiled(allocates=False)(self._expand(_CPU_LOOP, body=body))

    def ptx(self, signature: tuple[str, ...], cc: Capability) -> str:
        """Compile the body for a CUDA target; no device is needed. The signature is as `signature_of` returns it."""
        from numba import cuda  # noqa: PLC0415 - half a second, only where PTX is not on disk yet

        body = cuda.jit(self._body, device=True, inline="always")
        loop = self._expand(_CUDA_LOOP, body=body, cuda=cuda)
        ptx, _ = cuda.compile_ptx(loop, (types.int64, *map(_c_type, signature)), cc=cc)
        return str(ptx).replace(_ENTRY.findall(ptx)[0], self.kernel_name)

    @property
    def kernel_name(self) -> str:
        """The name of the loop, on either device."""
        return f"{self._body.__name__.lstrip('_')}_loop"

    def precompile(self, signature: str, cc: Capability | None) -> None:
        """Compile for the types of `signatures`, and keep the code on disk: PTX for a device, else a CPU loop."""
        if cc is None:
            self.cpu_loop.compile((types.int64, types.int64, *types_of(signature)))
        else:
            self.write_ptx(tuple(map(_device_type, types_of(signature))), cc)

    def _launch(self, n: int, args: tuple[Any, ...]) -> None:
        signature = signature_of(args)
        key = arrays.current_device(), signature  # devices may differ in their compute capability
        if key not in self._kernels:
            with self._loading:  # of several devices that need one kernel, one compiles it
                self._kernels[key] = self._kernels.get(key) or self._load(signature)
        values = tuple(
            arg if name.endswith("*") else np.dtype(name).type(arg) for arg, name in zip(args, signature, strict=True)
        )
        blocks = min((n + _BLOCK - 1) // _BLOCK, 1 << 16)
        self._kernels[key]((blocks,), (_BLOCK,), (np.int64(n), *values))

    def _load(self, signature: tuple[str, ...]) -> Any:
        cc = arrays.compute_capability()
        path = self._ptx_path(signature, cc)
        if not path.exists():
            precompilation.wait_for_loop(self._body.__module__, self.kernel_name)
        if not path.exists():
            # The compiler keeps errors that it has met. They would keep the frames of all callers, with their arrays.
            with ThreadPoolExecutor(1, thread_name_prefix="gpuasm-compile") as executor:
                path = executor.submit(self.write_ptx, signature, cc).result()
        try:
            return arrays.cuda_function_from_ptx(str(path), self.kernel_name)
        except Exception:  # a damaged file, whose error is the driver's own; another cause raises again
            path.unlink(missing_ok=True)
            return arrays.cuda_function_from_ptx(str(self.write_ptx(signature, cc)), self.kernel_name)

    def write_ptx(self, signature: tuple[str, ...], cc: Capability) -> Path:
        """Compile the body for a CUDA target, unless its PTX is on disk, and return the file."""
        path = self._ptx_path(signature, cc)
        if not path.exists():
            text = self.ptx(signature, cc)
            try:
                write_atomically(path, text)
            except OSError:  # the disk is full: the next process compiles again
                path = temporary_folder() / path.name
                write_atomically(path, text)
        return path

    def _ptx_path(self, signature: tuple[str, ...], cc: Capability) -> Path:
        return ptx_folder() / f"{self.kernel_name}-{self._key(signature, cc)}.ptx"

    def _key(self, signature: tuple[str, ...], cc: Capability) -> str:
        # The files of the body, its helpers and this module, and the constants: a change of any invalidates the PTX.
        files = sorted({inspect.getfile(self._body), __file__} | helper_files(self._body))
        names = self.kernel_name, *self.names
        text = repr((signature, cc, numba.__version__, names, compiled_constants(self._body))).encode()
        return hashlib.sha256(b"\0".join([text, *(Path(f).read_bytes() for f in files)])).hexdigest()[:24]

    def _expand(self, template: str, **names: Any) -> Callable[..., None]:
        # Numba keys its disk cache on the file of the code, so the loop has the file and line of its body: numba reads
        # the source of a cached function, and from Python 3.13 on a wrong line may be an error.
        groups = {name: own for name, own in self.groups.items() if own}
        scope = {**names, **{f"{name}_of": own for name, own in groups.items()}, "__name__": self._body.__module__}
        above = "\n" * (self._body.__code__.co_firstlineno - 1)
        fields = {name: ", ".join(f"{name}_{field}" for field in own._fields) for name, own in groups.items()}
        args = ", ".join(f"{name}_of({fields[name]})" if name in groups else name for name in self.groups)
        code = above + template.format(name=self.kernel_name, names=", ".join(self.names), args=args).lstrip()
        exec(compile(code, inspect.getfile(self._body), "exec"), scope)  # noqa: S102 - our own template
        return scope[self.kernel_name]


def flattened(args: Iterable[Any]) -> tuple[Any, ...]:
    """Return arguments with each tuple replaced by its fields."""
    return tuple(itertools.chain.from_iterable(arg if isinstance(arg, tuple) else (arg,) for arg in args))


def signature_of(args: Iterable[Any]) -> tuple[str, ...]:
    """Return the type of each argument of a body, as parameter of `for_each.ptx`: "int64*" for an array."""
    return tuple(_dtype_name(arg) for arg in args)


def _dtype_name(arg: Any) -> str:
    if hasattr(arg, "dtype") and getattr(arg, "shape", ()) != ():
        return f"{arg.dtype.name}*"
    if isinstance(arg, (bool, np.bool_)):
        return "bool"
    return "int64" if isinstance(arg, int) else np.asarray(arg).dtype.name


def _device_type(one: Any) -> str:
    """Return the name in `signature_of` of one of numba's types."""
    scalar = getattr(one, "dtype", one)
    name = "bool" if scalar == types.boolean else str(scalar)
    return name if scalar is one else f"{name}*"


def _c_type(name: str) -> Any:
    # Numba-cuda cannot load single booleans through a pointer, so an array of them is one of bytes.
    plain = name.rstrip("*").replace("bool", "uint8") if name.endswith("*") else name.replace("bool", "boolean")
    scalar = getattr(types, plain)
    return types.CPointer(scalar) if name.endswith("*") else scalar


__all__ = [
    "Array",
    "called_before_loops",
    "compiled",
    "flattened",
    "for_each",
    "fused_multiply_add",
    "inlined",
    "signature_of",
    "signatures",
]
