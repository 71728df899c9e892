"""Threads of the CPU: a pool whose threads run chunks of compiled loops without the interpreter lock."""

from __future__ import annotations

import functools
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from gpuasm.checks import whole

_CHUNKS_PER_THREAD = 8
_SHORT_LOOP = 1024
"""Iterations; a loop of fewer is run by one thread."""
_ALONE_S, _CHUNK_S, _MEASURED_S = 0.001, 0.001, 0.00005
"""Seconds: a loop that takes less is run by one thread; of a chunk that is worth its turn; that show a loop's pace."""
_FIRST, _GROWTH = 16, 8
"""Iterations that the caller runs alone first; and how many times as many it runs next."""
_state: dict[str, Any] = {"threads": None, "pool": None}
_MOST_THREADS = 1 << 31


def set_threads(n: int | None) -> None:
    """Set how many CPU threads compiled loops may use; None asks the system.

    Raises
    ------
    UsageError
        If the number is not from 1 on.
    """
    if n is not None:
        n = whole(n, "threads", least=1, most=_MOST_THREADS)
    if _state["pool"] is not None:
        _state["pool"].shutdown()
    _state["threads"], _state["pool"] = n, None


def thread_count() -> int:
    """Return how many CPU threads compiled loops use."""
    return _state["threads"] or available_cpus()


@functools.cache  # called for every loop; neither changes while a process runs
def available_cpus() -> int:
    """Return the number of CPUs that this process may use: its affinity, limited by the container's CPU quota."""
    n = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        if quota != "max":
            n = min(n, max(1, int(quota) // int(period)))
    except (OSError, ValueError):
        pass
    return n


def ordered_map(function: Callable[..., Any], items: Iterable[Any]) -> Iterator[Any]:
    """Yield ``function(item)`` in the order of the items; the pool's threads compute a few items ahead.

    After an error no item is begun, and the error is raised when those that were begun have ended.
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
    """Run ``loop(first, last, *args)`` over the range 0..n, cut into chunks that are shared by the pool's threads.

    The caller begins alone: a short loop ends before another thread would begin. Of a longer one the time so far
    determines the chunks, as each takes a turn of the interpreter lock. Each thread takes its next chunk by itself, and
    calls two others once it has one. The chunks depend on time, so what a loop writes must not depend on them.
    """
    if thread_count() == 1 or n < _SHORT_LOOP:
        loop(np.int64(0), np.int64(n), *args)
        return
    done, rest_s = _begun_alone(loop, n, args)
    if done == n:
        return
    n_chunks = min(max(2, int(rest_s / _CHUNK_S)), thread_count() * _CHUNKS_PER_THREAD, n - done)
    chunks = _Chunks(loop, np.linspace(done, n, n_chunks + 1).astype(np.int64), args)
    begun = []
    try:
        chunks.run()
    finally:
        while chunks.called:
            future = chunks.called.popleft()
            if not future.cancel():
                wait([future])  # it may call others
                begun.append(future)
    for future in begun:
        future.result()


def _begun_alone(loop: Callable[..., Any], n: int, args: tuple[Any, ...]) -> tuple[int, float]:
    """Run the beginning of a loop in this thread, or all of a short one; return where it ends, and the rest's seconds.

    Parts are few: each takes a turn of the interpreter lock, and a look at the clock.
    """
    done, size, began = 0, _FIRST, time.perf_counter()
    while True:
        loop(np.int64(done), np.int64(done + size), *args)
        done += size
        if done == n:
            return n, 0.0
        spent = time.perf_counter() - began
        rest_s = spent / done * (n - done)
        if spent > _ALONE_S or (spent > _MEASURED_S and rest_s > _ALONE_S):
            return done, rest_s
        size = min(_GROWTH * size, n - done)


class _Chunks:
    """The chunks of a loop that no thread has taken yet; it is freed, with the arrays, when the loop ends.

    Attributes
    ----------
    called : deque of Future
        The threads that were called.
    """

    def __init__(self, loop: Callable[..., Any], bounds: np.ndarray, args: tuple[Any, ...]) -> None:
        self._loop, self._bounds, self._args = loop, bounds, args
        self._left = iter(range(len(bounds) - 1))
        self._spare = iter(range(min(thread_count(), len(bounds) - 1) - 1))
        self.called: deque[Future[Any]] = deque()

    def run(self) -> None:
        """Compute chunks until none is left."""
        with _ending(self._left):
            for number, c in enumerate(self._left):
                if number == 0:
                    self._call()
                    self._call()
                self._loop(self._bounds[c], self._bounds[c + 1], *self._args)

    def _call(self) -> None:
        if next(self._spare, None) is not None:
            self.called.append(_pool().submit(self.run))


@contextmanager
def _ending(left: Iterator[int]) -> Iterator[None]:
    """After an error, or Ctrl-C in the waiting thread, leave no chunk for other threads."""
    try:
        yield
    except BaseException:
        deque(left, maxlen=0)
        raise


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Compute each matrix product in one thread, as the pool's threads compute several at once."""
    with _blas().limit(limits=1, user_api="blas"):
        yield


@functools.cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController  # noqa: PLC0415 - few commands multiply matrices

    return ThreadpoolController()


@contextmanager
def in_background(work: Callable[[], Any]) -> Iterator[None]:
    """Run ``work`` in a thread during the block and wait for it at the end; its exception is raised then."""
    with ThreadPoolExecutor(1, thread_name_prefix="gpuasm-meanwhile") as executor:
        future = executor.submit(work)
        yield
        future.result()


def _pool() -> ThreadPoolExecutor:
    if _state["pool"] is None:
        _state["pool"] = ThreadPoolExecutor(thread_count(), thread_name_prefix="gpuasm")
    return _state["pool"]
