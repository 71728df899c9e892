"""Sums of the rows of a sparse matrix on CUDA, by tiles of equal work.

The merged sequence of slots and row ends is divided into tiles of equal size (merge-path; Merrill and Garland 2016,
doi:10.1109/SC.2016.57). A block of threads loads the slots of a tile at once, whatever their rows, and sums rows from
shared memory. The parts of a row in several tiles are added afterwards. The matrix determines the order of all sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, cuda_functions
from gpuasm.graph.rows import index_type

_BLOCK = 256
_TILE = 8 * _BLOCK
_MOST_BLOCKS = 1 << 13
_NOTHING = np.uint64(0)
"""A null pointer."""


class TiledRows:
    """Rows of a sparse matrix, divided into tiles.

    Parameters
    ----------
    row_offsets : (r + 1,) int64
        Bounds of consecutive rows; the first may begin at any slot.
    n
        Number of columns of the matrix, which determines the type of columns and rows.
    """

    def __init__(self, row_offsets: Array, n: int) -> None:
        xp = array_namespace(row_offsets)
        self._row_offsets, self._kind = row_offsets, index_type(n)
        self.n_rows = int(row_offsets.size) - 1
        self.n_tiles = -(-(self.n_rows + int(row_offsets[-1]) - int(row_offsets[0])) // _TILE)
        self._first_rows = xp.zeros(self.n_tiles + 1, self._kind)
        if self.n_tiles:
            (deal,) = cuda_functions(_CUDA[self._kind], "deal_rows")
            deal(_grid(self.n_tiles + 1), (_BLOCK,), (row_offsets, np.int64(self.n_rows), *self._tiles))
        self._parts = xp.zeros((self.n_tiles, 2))

    @property
    def _tiles(self) -> tuple[Array, np.int64]:
        return self._first_rows, np.int64(self.n_tiles)

    def sum(self, sums: Array, *, columns: Array | None, weights: Array | None, values: Array | None) -> None:
        """Write the sum of each row: of weight times value of the column, as far as these are given.

        Parameters
        ----------
        sums : (r,) float64
        columns : (m,) int32 or int64
        weights : (m,) float64, or None
        values : (n,) float64
            None, and columns too, for sums of weights.
        """
        if not self.n_tiles:
            return
        name = "sum_weights" if values is None else "sum_gathered" if weights is None else "sum_weighted"
        add, join = cuda_functions(_CUDA[self._kind], name, "join_tiles")
        pointers = (_NOTHING if array is None else array for array in (columns, weights, values))
        blocks = min(self.n_tiles, _MOST_BLOCKS)
        add((blocks,), (_BLOCK,), (*self._tiles, self._row_offsets, *pointers, sums, self._parts))
        join(_grid(self.n_tiles), (_BLOCK,), (*self._tiles, self._row_offsets, sums, self._parts))

    def take(self, order: Array, row_offsets: Array, slots: Array, *, place: Array | None = None) -> Array:
        """Return the slots of these rows, which are the rows of another matrix in some order.

        Parameters
        ----------
        order : (r,) int32 or int64
            The corresponding row of the other matrix.
        row_offsets : (n + 1,) int64
            Bounds of the other matrix's rows.
        slots : (m,) int32, int64 or float64
            The content of its slots.
        place : (n,) of the type of ``slots``, optional
            If given, the content c of a slot is replaced by place[c].
        """
        taken = array_namespace(slots).empty_like(slots)
        if self.n_tiles:
            (take,) = cuda_functions(_CUDA[self._kind], "take_weights" if place is None else "take_columns")
            target: tuple[Any, ...] = (_NOTHING if place is None else place, taken)
            grid = (min(self.n_tiles, _MOST_BLOCKS),)
            take(grid, (_BLOCK,), (*self._tiles, self._row_offsets, order, row_offsets, slots, *target))
        return taken


def _grid(n: int) -> tuple[int]:
    return (-(-n // _BLOCK),)


_SOURCE = r"""
typedef long long i64;
#define BLOCK 256
#define ITEMS 8
#define TILE (BLOCK * ITEMS)

// The row of the first item of each tile: item i is slot i - r of row r, counted from the first, or the end of row r.
extern "C" __global__ void deal_rows(const i64* row_offsets, i64 n_rows, INDEX* first_row, i64 n_tiles) {
    i64 tile = (i64)blockIdx.x * BLOCK + threadIdx.x;
    if (tile > n_tiles) return;
    i64 item = min(tile * TILE, row_offsets[n_rows] - row_offsets[0] + n_rows), low = 0, high = n_rows;
    while (low < high) {  // the last row that begins at the item or earlier
        i64 middle = (low + high + 1) / 2;
        if (row_offsets[middle] - row_offsets[0] + middle <= item) low = middle; else high = middle - 1;
    }
    first_row[tile] = (INDEX)low;
}

struct Tile {
    i64 row, slot;  // the first
    int n_rows;     // with a slot or their end in the tile, and one more that continues or is empty so far
    int n_slots;
};

__device__ __forceinline__ Tile tile_of(i64 tile, i64 n_tiles, const INDEX* first_row, const i64* row_offsets) {
    i64 row = first_row[tile], last = first_row[tile + 1], slot = row_offsets[0] + tile * TILE - row;
    i64 end = tile + 1 < n_tiles ? row_offsets[0] + (tile + 1) * TILE - last : row_offsets[last];
    return {row, slot, (int)(last - row) + 1, (int)(end - slot)};
}

// MODE 0: values of columns; 1: times weights; 2: weights alone. parts: for each tile the sum of its slots of a row
// that began earlier, and of its last row, which does not end in it.
template <int MODE>
__device__ __forceinline__ void sum_tiles(const INDEX* first_row, i64 n_tiles, const i64* __restrict__ row_offsets,
    const INDEX* __restrict__ columns, const double* __restrict__ weights, const double* __restrict__ values,
    double* sums, double* parts) {
    __shared__ double term[TILE];
    const int thread = threadIdx.x;
    for (i64 number = blockIdx.x; number < n_tiles; number += gridDim.x) {
        Tile tile = tile_of(number, n_tiles, first_row, row_offsets);
        INDEX column[ITEMS];
        #pragma unroll
        for (int j = 0; j < ITEMS; j++) {
            int at = thread + j * BLOCK;
            column[j] = at >= tile.n_slots ? -1 : MODE == 2 ? 0 : columns[tile.slot + at];
        }
        #pragma unroll
        for (int j = 0; j < ITEMS; j++) {
            int at = thread + j * BLOCK;
            double own = 0.0;
            if (column[j] >= 0) {
                own = MODE == 2 ? 1.0 : values[column[j]];
                if (MODE > 0) own *= weights[tile.slot + at];
            }
            term[at] = own;
        }
        __syncthreads();
        int lanes = 1;
        while (lanes < 32 && tile.n_rows * lanes * 2 <= BLOCK) lanes *= 2;
        int lane = thread % lanes;
        for (int first = 0; first < tile.n_rows; first += BLOCK / lanes) {
            int at = first + thread / lanes;
            i64 row = tile.row + at, begin = 0;
            double sum = 0.0;
            if (at < tile.n_rows) {
                begin = row_offsets[row] - tile.slot;
                int end = at + 1 == tile.n_rows ? tile.n_slots : (int)(row_offsets[row + 1] - tile.slot);
                #pragma unroll 4
                for (int i = (int)max(begin, (i64)0) + lane; i < end; i += lanes) sum += term[i];
            }
            for (int half = lanes / 2; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffffu, sum, half, lanes);
            if (at < tile.n_rows && lane == 0) {
                if (at + 1 == tile.n_rows) parts[2 * number + 1] = sum;
                else if (begin < 0) parts[2 * number] = sum;
                else sums[row] = sum;
            }
        }
        __syncthreads();
    }
}

#define KERNEL(NAME, MODE) extern "C" __global__ __launch_bounds__(BLOCK) void NAME(const INDEX* first_row, \
    i64 n_tiles, const i64* row_offsets, const INDEX* columns, const double* weights, const double* values, \
    double* sums, double* parts) { \
    sum_tiles<MODE>(first_row, n_tiles, row_offsets, columns, weights, values, sums, parts); \
}
KERNEL(sum_gathered, 0)
KERNEL(sum_weighted, 1)
KERNEL(sum_weights, 2)

// Rows of several tiles: summed by the thread of their last tile, or by its block if there are many parts.
extern "C" __global__ __launch_bounds__(BLOCK) void join_tiles(const INDEX* first_row, i64 n_tiles,
    const i64* row_offsets, double* sums, const double* parts) {
    __shared__ i64 many_from[BLOCK];
    __shared__ double buffer[BLOCK];
    const int thread = threadIdx.x;
    i64 first = (i64)blockIdx.x * BLOCK, tile = first + thread;
    many_from[thread] = -1;
    if (tile < n_tiles) {
        i64 row = first_row[tile], item = row_offsets[row] - row_offsets[0] + row, from = item / TILE;
        if (row < first_row[tile + 1] && item < tile * TILE) {
            if (tile - from > 8) {
                many_from[thread] = from;
            } else {
                double sum = parts[2 * tile];
                for (i64 i = from; i < tile; i++) sum += parts[2 * i + 1];
                sums[row] = sum;
            }
        }
    }
    __syncthreads();
    for (int other = 0; other < BLOCK; other++) {
        if (many_from[other] < 0) continue;
        double sum = 0.0;
        for (i64 i = many_from[other] + thread; i < first + other; i += BLOCK) sum += parts[2 * i + 1];
        buffer[thread] = sum;
        for (int half = BLOCK / 2; half > 0; half /= 2) {
            __syncthreads();
            if (thread < half) buffer[thread] += buffer[thread + half];
        }
        if (thread == 0) sums[first_row[first + other]] = buffer[0] + parts[2 * (first + other)];
        __syncthreads();
    }
}

// Each slot of a tile looks up its row among those of the tile.
template <class T, bool PLACED>
__device__ __forceinline__ void take(const INDEX* first_row, i64 n_tiles, const i64* row_offsets, const INDEX* order,
    const i64* old_offsets, const T* __restrict__ old_slots, const T* __restrict__ place, T* slots) {
    __shared__ int bound[TILE + 2];
    for (i64 number = blockIdx.x; number < n_tiles; number += gridDim.x) {
        Tile tile = tile_of(number, n_tiles, first_row, row_offsets);
        for (int i = threadIdx.x; i < tile.n_rows; i += BLOCK)
            bound[i] = i ? (int)(row_offsets[tile.row + i] - tile.slot) : 0;
        __syncthreads();
        for (int at = threadIdx.x; at < tile.n_slots; at += BLOCK) {
            int low = 0, high = tile.n_rows;
            while (high - low > 1) {
                int middle = (low + high) / 2;
                if (bound[middle] <= at) low = middle; else high = middle;
            }
            i64 row = tile.row + low, slot = tile.slot + at;
            T held = old_slots[old_offsets[order[row]] + slot - row_offsets[row]];
            slots[slot] = PLACED ? place[(i64)held] : held;
        }
        __syncthreads();
    }
}

extern "C" __global__ __launch_bounds__(BLOCK) void take_columns(const INDEX* first_row, i64 n_tiles,
    const i64* row_offsets, const INDEX* order, const i64* old_offsets, const INDEX* old_slots, const INDEX* place,
    INDEX* slots) {
    take<INDEX, true>(first_row, n_tiles, row_offsets, order, old_offsets, old_slots, place, slots);
}

extern "C" __global__ __launch_bounds__(BLOCK) void take_weights(const INDEX* first_row, i64 n_tiles,
    const i64* row_offsets, const INDEX* order, const i64* old_offsets, const double* old_slots, const double* place,
    double* slots) {
    take<double, false>(first_row, n_tiles, row_offsets, order, old_offsets, old_slots, place, slots);
}
"""
_CUDA = {np.int32: _SOURCE.replace("INDEX", "int"), np.int64: _SOURCE.replace("INDEX", "i64")}
