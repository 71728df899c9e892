"""Compiled loops for CPU and CUDA: the only module that names numba.

``for_each`` turns one per-element body into a loop on whichever device holds the arrays. On the CPU the index range is
cut into chunks that threads of a pool run without the interpreter lock; on CUDA the body becomes a grid-stride kernel
with a plain C signature, compiled to PTX once, kept on disk and launched through cupy (5 us a launch, not 150).
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
import re
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
import numpy as np
import numpy.ma  # numba would load it in any thread: it walks a table to which cupy's import adds meanwhile
from numba import extending, types
from threadpoolctl import ThreadpoolController

from gpuasm import arrays, first_run
from gpuasm.arrays import Array
from gpuasm.code_folders import passing_folder, ptx_folder, write_whole
from gpuasm.kept_loops import helper_files, lazily_compiled

inlined = functools.partial(numba.njit, inline="always")
"""The decorator for scalar helpers that bodies for CPU and CUDA call."""


@extending.intrinsic
def fused_multiply_add(context, a, b, c):  # noqa: ARG001 - numba's signature
    """Return a * b + c, rounded once; for compiled CPU loops, on numbers of one floating-point type."""
    return c(a, b, c), lambda _context, builder, _signature, arguments: builder.fma(*arguments)


_ENTRY = re.compile(r"\.entry\s+(\w+)")
_BLOCK = 256
_CHUNKS_PER_THREAD = 8
_state: dict[str, Any] = {"threads": None, "pool": None}

_CPU_LOOP = """
def {name}(loop_first, loop_last, {args}):
    for loop_index in range(loop_first, loop_last):
        body(loop_index, {args})
"""
_CUDA_LOOP = """
def {name}(loop_size, {args}):
    for loop_index in range(cuda.grid(1), loop_size, cuda.gridsize(1)):
        body(loop_index, {args})
"""


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return the decorator for hand-written CPU loops: compiled, without the interpreter lock, kept on disk."""

    def decorate(function: Callable[..., Any]) -> Any:
        return lazily_compiled(function, {"nogil": True, "cache": True, **options})

    return decorate


def set_threads(n: int | None) -> None:
    """Set how many CPU threads compiled loops may use; None asks the system."""
    if _state["pool"] is not None:
        _state["pool"].shutdown()
    _state["threads"], _state["pool"] = n, None


def thread_count() -> int:
    """Return how many CPU threads compiled loops use."""
    return _state["threads"] or available_cpus()


@functools.cache  # asked by every loop; neither changes while a process runs
def available_cpus() -> int:
    """Return the CPUs this process may run on: its affinity, cut by the container's CPU quota."""
    n = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        if quota != "max":
            n = min(n, max(1, int(quota) // int(period)))
    except (OSError, ValueError):
        pass
    return n


def ordered_map(function: Callable[..., Any], items: Iterable[Any]) -> Iterator[Any]:
    """Yield ``function(item)`` in the order of the items, computed by the pool's threads a little ahead.

    An error is raised when none of the others is being computed any more.
    """
    if thread_count() == 1:
        yield from map(function, items)
        return
    pool, waiting = _pool(), deque[Future[Any]]()
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > 2 * thread_count():
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except Exception:
        for future in waiting:
            future.cancel()
        wait(waiting)
        raise


def run_chunks(loop: Callable[..., Any], n: int, *args: Any) -> None:
    """Run ``loop(first, last, *args)`` over the range 0..n, cut into chunks that the pool's threads take in turn.

    Each thread takes its next chunk by itself: to be handed it costs several turns at the interpreter.
    """
    n_chunks = 1 if thread_count() == 1 or n < 1024 else thread_count() * _CHUNKS_PER_THREAD
    bounds = np.linspace(0, n, n_chunks + 1).astype(np.int64)
    left = iter(range(n_chunks))

    def run(_thread: int) -> None:
        with _ending(left):
            for c in left:
                loop(bounds[c], bounds[c + 1], *args)

    with _ending(left):
        for _ in ordered_map(run, range(min(thread_count(), n_chunks))):
            pass


@contextmanager
def _ending(left: Iterator[int]) -> Iterator[None]:
    """Leave nothing to begin for other threads after an error, or after Ctrl-C in the thread that waits for them."""
    try:
        yield
    except BaseException:
        deque(left, maxlen=0)
        raise


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Keep matrix products to the thread that asks for them: the pool's threads share the work already."""
    with _blas().limit(limits=1, user_api="blas"):
        yield


@functools.cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def meanwhile(work: Callable[[], Any]) -> Iterator[None]:
    """Run ``work`` in a thread of its own beside the block, and wait for it; what it raises is raised then."""
    with ThreadPoolExecutor(1, thread_name_prefix="gpuasm-meanwhile") as executor:
        future = executor.submit(work)
        yield
        future.result()


def _pool() -> ThreadPoolExecutor:
    if _state["pool"] is None:
        _state["pool"] = ThreadPoolExecutor(thread_count(), thread_name_prefix="gpuasm")
    return _state["pool"]


class _Asked(threading.local):
    """What a thread asks before each loop that it runs."""

    before_loops: Callable[[], None] | None = None


_asked = _Asked()


@contextmanager
def asked_before_loops(question: Callable[[], None]) -> Iterator[None]:
    """Call ``question`` before each `for_each` loop that this thread runs in the block; what it raises goes up."""
    before, _asked.before_loops = _asked.before_loops, question
    try:
        yield
    finally:
        _asked.before_loops = before


class for_each:  # noqa: N801 - a decorator
    """Run ``body(i, *args)`` for every i in range(n), on the device that holds the arrays.

    The body is plain Python on one-dimensional arrays and numbers. It writes only what belongs to index i, reads
    nothing that another i writes in the same launch, and keeps constants beside uint64 typed as uint64.
    """

    instances: list[for_each] = []

    def __init__(self, body: Callable[..., None]) -> None:
        self._body = body
        self._kernels: dict[tuple[str, ...], Any] = {}
        functools.update_wrapper(self, body)
        for_each.instances.append(self)

    def __call__(self, n: int, *args: Any) -> None:
        if n == 0:
            return
        if _asked.before_loops:
            _asked.before_loops()
        if arrays.is_on_device(*args):
            self._launch(int(n), args)
        else:
            run_chunks(self.cpu_loop, int(n), *args)

    @functools.cached_property
    def cpu_loop(self) -> Any:
        body = numba.njit(self._body, nogil=True)
        return compiled()(self._expand(_CPU_LOOP, body=body))

    def ptx(self, signature: tuple[str, ...], cc: tuple[int, int]) -> str:
        """Compile the body for a CUDA target; no device is needed. The signature is as `signature_of` gives it."""
        from numba import cuda  # noqa: PLC0415 - half a second, only where PTX is not on disk yet

        body = cuda.jit(self._body, device=True, inline="always")
        loop = self._expand(_CUDA_LOOP, body=body, cuda=cuda)
        ptx, _ = cuda.compile_ptx(loop, (types.int64, *map(_c_type, signature)), cc=cc)
        return str(ptx).replace(_ENTRY.findall(ptx)[0], self.kernel_name)

    @property
    def kernel_name(self) -> str:
        """The name of the loop, on either device."""
        return f"{self._body.__name__.lstrip('_')}_loop"

    def _launch(self, n: int, args: tuple[Any, ...]) -> None:
        signature = signature_of(args)
        if signature not in self._kernels:
            self._kernels[signature] = self._load(signature)
        values = tuple(
            arg if name.endswith("*") else np.dtype(name).type(arg) for arg, name in zip(args, signature, strict=True)
        )
        blocks = min((n + _BLOCK - 1) // _BLOCK, 1 << 16)
        self._kernels[signature]((blocks,), (_BLOCK,), (np.int64(n), *values))

    def _load(self, signature: tuple[str, ...]) -> Any:
        cc, place = arrays.compute_capability(), (self._body.__module__, self.kernel_name)
        first_run.note(*place, signature)
        if not self._ptx_path(signature, cc).exists():
            first_run.is_compiled_by_helpers(*place, cc=cc)
        path = self.keep_ptx(signature, cc)
        return arrays.cuda_function_from_ptx(str(path), self.kernel_name)

    def keep_ptx(self, signature: tuple[str, ...], cc: tuple[int, int]) -> Path:
        """Compile the body for a CUDA target, unless that lies on disk, and return the file."""
        path = self._ptx_path(signature, cc)
        if not path.exists():
            text = self.ptx(signature, cc)
            try:
                write_whole(path, text)
            except OSError:  # the disk has become full: the next process compiles anew
                path = passing_folder() / path.name
                write_whole(path, text)
        return path

    def _ptx_path(self, signature: tuple[str, ...], cc: tuple[int, int]) -> Path:
        return ptx_folder() / f"{self.kernel_name}-{self._key(signature, cc)}.ptx"

    def _key(self, signature: tuple[str, ...], cc: tuple[int, int]) -> str:
        # The whole files of the body, its helpers and this module: whatever changes in them must not find old PTX.
        files = sorted({inspect.getfile(self._body), __file__} | helper_files(self._body))
        text = repr((signature, cc, numba.__version__, self.kernel_name)).encode()
        return hashlib.sha256(b"\0".join([text, *(Path(f).read_bytes() for f in files)])).hexdigest()[:24]

    def _expand(self, template: str, **names: Any) -> Callable[..., None]:
        # Numba keys its disk cache on the file of the code, so the loop claims its body's file, and its place there:
        # numba reads the source of what it keeps, and from Python 3.13 on a wrong place may be an error.
        args = ", ".join(list(inspect.signature(self._body).parameters)[1:])
        scope = {**names, "__name__": self._body.__module__}
        above = "\n" * (self._body.__code__.co_firstlineno - 1)
        code = above + template.format(name=self.kernel_name, args=args).lstrip()
        exec(compile(code, inspect.getfile(self._body), "exec"), scope)  # noqa: S102 - our own template
        return scope[self.kernel_name]


def signature_of(args: Iterable[Any]) -> tuple[str, ...]:
    """Return the type of each argument of a body, as `for_each.ptx` takes them."""
    return tuple(_dtype_name(arg) for arg in args)


def _dtype_name(arg: Any) -> str:
    if hasattr(arg, "dtype") and getattr(arg, "shape", ()) != ():
        return f"{arg.dtype.name}*"
    if isinstance(arg, (bool, np.bool_)):
        return "bool"
    return "int64" if isinstance(arg, int) else np.asarray(arg).dtype.name


def _c_type(name: str) -> Any:
    # Numba-cuda cannot load single truth values through a pointer; they are bytes.
    plain = name.rstrip("*").replace("bool", "uint8") if name.endswith("*") else name.replace("bool", "boolean")
    scalar = getattr(types, plain)
    return types.CPointer(scalar) if name.endswith("*") else scalar


__all__ = [
    "Array",
    "available_cpus",
    "compiled",
    "for_each",
    "fused_multiply_add",
    "inlined",
    "meanwhile",
    "ordered_map",
    "run_chunks",
    "set_threads",
    "signature_of",
    "single_threaded_blas",
    "thread_count",
]
