"""Rounds of Gunrock's geolocation on CUDA: the same operations in the same order as `gunrock_cpu`.

The vertices without location are listed once, by the length of their rows: rows of up to 8 slots go to a thread, of up
to 32 to four lanes, of up to 128 to sixteen, of up to 256 to a warp, of up to 2,048 to a block, and longer ones are cut
into chunks that blocks share. A bit for each vertex says whether it has a location, so that no others are read; those
that are read, once, lie in shared memory while the median is sought. Bits of what a round finds are set when it ends.
Only what is still unknown is looked at again.

A warp is as slow as the slowest of its rows, and steps differ from row to row by two orders: of many rows, those that
have not come to their end after some steps are listed anew and go on together. Classes run side by side, so that the
last rows of one are not waited for by the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, cuda_functions, multiprocessor_count, side_by_side, to_host
from gpuasm.geolocation.gunrock_cpu import CHUNK
from gpuasm.geolocation.gunrock_kernels import _CUDA, SLOTS_OF_LANE, SUMS_BYTES

_LONGEST = (8, 32, 128, 256, CHUNK)
_LANES = (1, 4, 16, 32, 256)
_THREADS = (128, 128, 128, 128, 256)
_NUMBERS = 5  # a unit vector, latitude, longitude
_STEPS = 8  # of long rows between two looks at whether any goes on
_PASSES = (0, 8, 8, 16, 16, 32, 64, 128)
"""Steps of each pass over many rows, before a last one of all that are left: the first finds those that need none."""
_RESIDENT = 8
"""Blocks on a multiprocessor at a time, at most: as many as are of use where it is not known how many rows are left."""
_MANY = 20_000
"""Rows of a class that are worth more passes than one."""


_OF_LONG_ROWS = ("gather_chunks", "start_rows", "step_chunks", "move_rows", "finish_rows")
_KERNELS = ("work_lists", "turn_longitudes", *(f"infer_{lanes}" for lanes in _LANES), *_OF_LONG_ROWS)


def _kernel(name: str) -> Any:
    return cuda_functions(_CUDA, *_KERNELS)[_KERNELS.index(name)]


class Rounds:
    """The state of an inference on a device.

    Parameters
    ----------
    row_offsets : (n + 1,) int64
    columns : (m,) int32
    places : (n, 2) float64
        Latitude and longitude in degrees, NaN where unknown. It is written to.
    rounds : (n,) int32
        The round in which each vertex got its place; written to.
    """

    def __init__(self, row_offsets: Array, columns: Array, places: Array, rounds: Array) -> None:
        self._xp = xp = array_namespace(columns)
        self._graph, self._places, self._rounds = (row_offsets, columns), places, rounds
        n, m = rounds.size, columns.size
        self._known = xp.zeros(-(-n // 32), np.uint32)
        self._found = xp.zeros_like(self._known)
        # No more rows than these can be longer than those of the class before.
        capacities = [n, *(min(n, m // (length + 1)) for length in _LONGEST)]
        self._lists, self._next = ([xp.empty(max(size, 1), np.int32) for size in capacities] for _ in range(2))
        self._counts, self._next_counts = (xp.zeros(len(capacities), np.int32) for _ in range(2))
        _kernel("work_lists")(
            (-(-n // 256),),
            (256,),
            (np.int64(n), row_offsets, places, self._known, *self._lists, self._counts, rounds),
            shared_mem=SUMS_BYTES,
        )
        self.waiting = to_host(self._counts)

    def run(self, number: int, spatial_iterations: int) -> int:
        """Run a round, and return how many vertices got a location in it."""
        before = int(self.waiting.sum())
        self._next_counts[:] = 0
        args = (*self._graph, self._known, self._places, self._found, self._rounds, np.int32(number))
        # Lists are kept until all is done: what is freed may be given to another stream.
        passes = [
            _Passes(
                k, self._lists[k], self._counts[k : k + 1], n_rows=int(self.waiting[k]), n_steps=spatial_iterations + 1
            )
            for k in range(len(_LANES) - 1, -1, -1)
            if self.waiting[k]
        ]
        with side_by_side(self._xp, len(passes), apart=before >= _MANY) as streams:
            for stream, of_class in zip(streams, passes, strict=True):
                with stream:
                    of_class.launch((*args, self._next[of_class.k], self._next_counts[of_class.k : of_class.k + 1]))
            if self.waiting[-1]:
                _LongRows(self._graph, self._lists[-1][: int(self.waiting[-1])]).run(
                    (*args[2:], self._next[-1], self._next_counts[-1:]), spatial_iterations
                )
        del passes
        self._known |= self._found
        self._lists, self._next = self._next, self._lists
        self._counts, self._next_counts = self._next_counts, self._counts
        self.waiting = to_host(self._counts)
        return before - int(self.waiting.sum())

    def turn_longitudes(self) -> None:
        """Turn longitudes beyond 180 degrees, as the middle of two places may have, back by whole turns."""
        n = self._rounds.size
        _kernel("turn_longitudes")((-(-n // 256),), (256,), (np.int64(n), self._rounds, self._places))


class _Passes:
    """The passes over the rows of a class; what they need is there when it is made."""

    def __init__(self, k: int, rows: Array, count: Array, *, n_rows: int, n_steps: int) -> None:
        xp, self.k, self._n_rows = array_namespace(rows), k, n_rows
        self._steps = _steps_of_passes(n_steps, n_rows)
        capacity = n_rows if len(self._steps) > 1 else 1
        self._lists = [(rows, xp.empty((1, 2), np.float64))]
        self._lists += [(xp.empty(capacity, np.int32), xp.empty((capacity, 2), np.float64)) for _ in range(2)]
        self._counts = [count, *xp.zeros((len(self._steps), 1), np.int32)]

    def launch(self, args: tuple[Any, ...]) -> None:
        """Launch all passes."""
        infer = _kernel(f"infer_{_LANES[self.k]}")
        shared = _THREADS[self.k] * SLOTS_OF_LANE * _NUMBERS * 8 + SUMS_BYTES
        infer.max_dynamic_shared_size_bytes = shared
        blocks = min(-(-self._n_rows * _LANES[self.k] // _THREADS[self.k]), multiprocessor_count() * 512)
        before = 0
        for i, steps in enumerate(self._steps):
            after = 1 + i % 2
            (rows, begun), (left, left_at) = self._lists[before], self._lists[after]
            kind = np.bool_(i == 0), np.bool_(i == len(self._steps) - 1), np.int32(steps)
            infer(
                (blocks,), (_THREADS[self.k],), (rows, self._counts[i], begun, *args, *kind, left, left_at,
                self._counts[i + 1]), shared_mem=shared,
            )  # fmt: skip
            before, blocks = after, min(blocks, multiprocessor_count() * _RESIDENT)


def _steps_of_passes(n_steps: int, n_rows: int) -> list[int]:
    """Share steps among passes."""
    passes: list[int] = []
    for own in _PASSES if n_rows >= _MANY else ():
        if sum(passes) + own < n_steps:
            passes.append(own)
    return [*passes, n_steps - sum(passes)]


class _LongRows:
    """Rows that several blocks share, a chunk each; the neighbours found lie in global memory."""

    def __init__(self, graph: tuple[Array, Array], rows: Array) -> None:
        xp = array_namespace(rows)
        self._graph, self._rows = graph, rows
        length = to_host(graph[0][rows.astype(np.int64) + 1] - graph[0][rows.astype(np.int64)])
        chunks = -(-length // CHUNK)
        first = np.concatenate([[0], np.cumsum(chunks)])
        self._n_chunks = int(first[-1])
        self._row_of_chunk = xp.asarray(np.repeat(np.arange(len(rows), dtype=np.int32), chunks))
        self._first_chunk = xp.asarray(first.astype(np.int32))
        self._points = xp.empty(self._n_chunks * CHUNK * _NUMBERS, np.float64)
        self._held = xp.empty(self._n_chunks * 256, np.int32)
        self._sums = xp.empty(self._n_chunks * 4, np.float64)
        self._centre = xp.empty((len(rows), 4), np.float64)  # latitude, longitude, neighbours, whether it goes on

    def run(self, state: tuple[Any, ...], spatial_iterations: int) -> None:
        known, places, found, rounds, number, next_list, next_count = state
        gather, start, step, move, finish = map(_kernel, _OF_LONG_ROWS)
        n_rows = np.int32(len(self._rows))
        of_rows = ((-(-len(self._rows) // 32),), (32,))
        of_chunks = ((self._n_chunks,), (256,))
        chunks = (self._row_of_chunk, self._first_chunk, self._points, self._held, self._sums)
        gather(*of_chunks, (self._rows, *self._graph, known, places, *chunks), shared_mem=SUMS_BYTES)
        start(*of_rows, (n_rows, self._rows, *self._graph, known, places, self._first_chunk, self._sums, self._centre))
        for first in range(0, spatial_iterations + 1, _STEPS):
            if not bool(self._centre[:, 3].any()):
                break
            for _ in range(min(_STEPS, spatial_iterations + 1 - first)):
                step(*of_chunks, (*chunks, self._centre), shared_mem=SUMS_BYTES)
                move(*of_rows, (n_rows, self._first_chunk, self._sums, self._centre))
        finish(*of_rows, (n_rows, self._rows, self._centre, places, found, rounds, number, next_list, next_count))
