"""Rounds of Gunrock's geolocation on CUDA: the same operations in the same order as `gunrock_cpu`.

The vertices without location are listed once, by the length of their rows. Rows of up to 128 slots are sorted in each
round by their number of located neighbours, and warps process them with 1 to 32 lanes each. Longer rows are processed
by a block; those of more than 2,048 slots are divided into chunks that blocks share. A bit of each vertex is set if it
is located, so that no others are read. The bits are set at the end of a round. Only vertices without location are
processed again. Kinds of rows run concurrently.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, concurrent_streams, cuda_functions, multiprocessor_count, to_host
from gpuasm.geolocation.gunrock_cpu import CHUNK
from gpuasm.geolocation.gunrock_kernels import CUDA, LONGEST, VERTICES_OF_BLOCK
from gpuasm.geolocation.gunrock_long_rows import SLOTS_OF_LANE, SUMS_BYTES
from gpuasm.geolocation.gunrock_short_rows import BINS, ROWS_TO_COUNT, ROWS_TO_SORT

_LANES = (64, 256)
"""Lists between the first and the last."""
_NUMBERS = 5  # a unit vector, latitude, longitude
_STEPS = 8  # of rows of several chunks between two checks whether any is unfinished
_RESIDENT = 4
"""Resident blocks of `infer_short` on a multiprocessor, limited by registers."""
_MANY = 20_000
"""Least number of rows for concurrent launches."""

_OF_LONG_ROWS = ("gather_chunks", "start_rows", "step_chunks", "move_rows", "finish_rows")
_OF_SHORT_ROWS = ("count_known", "sort_rows", "infer_short")
_KERNELS = ("work_lists", "wrap_longitudes", *_OF_SHORT_ROWS, *(f"infer_{n}" for n in _LANES), *_OF_LONG_ROWS)


def _kernel(name: str) -> Any:
    return cuda_functions(CUDA, *_KERNELS)[_KERNELS.index(name)]


class Rounds:
    """The state of an inference on a device.

    Parameters
    ----------
    row_offsets : (n + 1,) int64
    columns : (m,) int32
    places : (n, 2) float64
        Latitude and longitude in degrees, NaN if unknown; updated.
    rounds : (n,) int32
        The round in which each vertex was located; updated.
    """

    def __init__(self, row_offsets: Array, columns: Array, places: Array, rounds: Array) -> None:
        self._xp = xp = array_namespace(columns)
        self._graph, self._places, self._rounds = (row_offsets, columns), places, rounds
        n, m = rounds.size, columns.size
        self._known = xp.empty(-(-n // 32), np.uint32)
        self._found = xp.zeros(self._known.size, np.uint32)
        # At most so many rows can be longer than those of the list before.
        capacities = [n, *(min(n, m // (length + 1)) for length in LONGEST)]
        self._lists, self._next = ([xp.empty(max(size, 1), np.int32) for size in capacities] for _ in range(2))
        self._counts, self._next_counts = (xp.zeros(len(capacities), np.int32) for _ in range(2))
        _kernel("work_lists")(
            (-(-n // VERTICES_OF_BLOCK),),
            (256,),
            (np.int64(n), row_offsets, places, self._known, *self._lists, self._counts, rounds),
        )
        self.waiting = to_host(self._counts)

    def run(self, number: int, spatial_iterations: int) -> int:
        """Run a round, and return the number of vertices located in it."""
        before = int(self.waiting.sum())
        self._next_counts[:] = 0
        state = (*self._graph, self._known, self._places, self._found, self._rounds, np.int32(number))
        steps = np.int32(spatial_iterations + 1)
        # Memory freed while other streams run may be reused by them: rows made earlier are kept until the end.
        short = _ShortRows(self._lists[0], int(self.waiting[0])) if self.waiting[0] else None
        of_blocks = [k for k in (2, 1) if self.waiting[k]]
        with concurrent_streams(self._xp, len(of_blocks) + 1, apart=before >= _MANY) as streams:
            for stream, k in zip(streams, of_blocks, strict=False):
                with stream:
                    self._infer_by_blocks(k, (*state, steps))
            with streams[-1]:
                if short is not None:
                    short.run((*state, steps), self._next[0], self._next_counts[:1])
            if self.waiting[-1]:
                _LongRows(self._graph, self._lists[-1][: int(self.waiting[-1])]).run(
                    (*state[2:], self._next[-1], self._next_counts[-1:]), spatial_iterations
                )
        self._known |= self._found
        self._lists, self._next = self._next, self._lists
        self._counts, self._next_counts = self._next_counts, self._counts
        self.waiting = to_host(self._counts)
        return before - int(self.waiting.sum())

    def _infer_by_blocks(self, k: int, args: tuple[Any, ...]) -> None:
        n_rows, lanes = int(self.waiting[k]), _LANES[k - 1]
        infer = _kernel(f"infer_{lanes}")
        shared = lanes * SLOTS_OF_LANE * _NUMBERS * 8 + SUMS_BYTES
        infer.max_dynamic_shared_size_bytes = shared
        blocks = min(n_rows, multiprocessor_count() * 512)
        args = (self._lists[k], np.int32(n_rows), *args, self._next[k], self._next_counts[k : k + 1])
        infer((blocks,), (lanes,), args, shared_mem=shared)

    def wrap_longitudes(self) -> None:
        """Reduce longitudes beyond 180 degrees, which a midpoint may have, by full turns."""
        n = self._rounds.size
        _kernel("wrap_longitudes")((-(-n // 256),), (256,), (np.int64(n), self._rounds, self._places))


class _ShortRows:
    """Rows of which a warp processes several; the buffers of a round are allocated once."""

    def __init__(self, rows: Array, n_rows: int) -> None:
        xp = array_namespace(rows)
        self._list, self._n_rows = rows, n_rows
        self._bins, self._sorted = xp.empty(n_rows, np.uint8), xp.empty(n_rows, np.int32)
        self._numbers = xp.zeros((3, BINS + 1), np.int32)  # rows of each bin, and numbers of listed and started rows

    def run(self, args: tuple[Any, ...], next_list: Array, next_count: Array) -> None:
        """Sort the rows by their located neighbours, and infer the places of those that have any."""
        count, sort, infer = map(_kernel, _OF_SHORT_ROWS)
        n_rows = np.int32(self._n_rows)
        counts, filled, taken = self._numbers
        row_offsets, columns, known, *_ = args
        block = (256,)
        blocks = (-(-self._n_rows // ROWS_TO_COUNT),)
        count(blocks, block, (n_rows, self._list, row_offsets, columns, known, self._bins, counts))
        blocks = (-(-self._n_rows // ROWS_TO_SORT),)
        sort(blocks, block, (n_rows, self._list, self._bins, counts, filled, self._sorted, next_list, next_count))
        blocks = (min(-(-self._n_rows // 4), multiprocessor_count() * _RESIDENT),)
        infer(blocks, (128,), (self._sorted, counts, taken, *args))


class _LongRows:
    """Rows that several blocks share, a chunk each; located neighbours are in global memory."""

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
        self._centre = xp.empty((len(rows), 4), np.float64)  # latitude, longitude, neighbours, whether unfinished

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
