"""Best Euclidean units on the CPU: matrix products select candidates, whose distances are computed as defined."""

from __future__ import annotations

import numpy as np

from gpuasm.clustering.search.direct_cpu import EUCLIDEAN, best_two_direct
from gpuasm.clustering.search.screening import centred, squared_lengths, threshold
from gpuasm.parallel import compiled
from gpuasm.parallel import fused_multiply_add as fma
from gpuasm.threads import ordered_map, run_chunks, single_threaded_blas

_KEPT = 8
"""Candidates of a row from the screening; if more may be the best, all units are measured."""
_ROWS, _UNITS = 192, 1024
"""Products of a batch, which fit into the second-level cache."""


class ScreenedRows:
    """Rows without missing values, prepared for searches with several sets of weights.

    Parameters
    ----------
    rows : (n, d) float32
    """

    def __init__(self, rows: np.ndarray) -> None:
        self.rows = rows
        self._centre = rows.mean(axis=0, dtype=np.float64).astype(np.float32)
        self._centred = centred(rows, self._centre)
        self._norms = np.sqrt(squared_lengths(self._centred))

    def best_two(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Find the two nearest units of each row; see `gpuasm.clustering.search.search`."""
        n = self.rows.shape[0]
        shifted = centred(weights, self._centre)
        squares = squared_lengths(shifted)
        halves = (0.5 * squares).astype(np.float32)
        largest = float(np.sqrt(squares.max()))
        kept, score = np.full((n, _KEPT), -1, np.int32), np.full((n, _KEPT), np.inf, np.float32)
        across = np.ascontiguousarray(shifted.T)

        def screen(begin: int) -> None:
            part = slice(begin, min(n, begin + _ROWS))
            for unit in range(0, weights.shape[0], _UNITS):
                products = self._centred[part] @ across[:, unit : unit + _UNITS]
                _select(products, halves[unit : unit + _UNITS], unit, kept[part], score[part])

        with single_threaded_blas():
            for _ in ordered_map(screen, range(0, n, _ROWS)):
                pass
        unit, value = np.full((2, n), -1, np.int32), np.full((2, n), np.inf, np.float32)
        is_unsure = np.zeros(n, bool)
        run_chunks(_decide, n, self.rows, weights, kept, score, self._norms, largest, unit, value, is_unsure)
        unsure = np.flatnonzero(is_unsure)
        if unsure.size:
            unit[:, unsure], value[:, unsure] = best_two_direct(self.rows[unsure], weights, EUCLIDEAN)
        return unit, value


@compiled()
def _select(products, halves, first_unit, kept, score):
    step = 64
    n_units = halves.size
    for i in range(products.shape[0]):
        row = products[i]
        bound = score[i, _KEPT - 1]
        for begin in range(0, n_units, step):
            end = min(n_units, begin + step)
            hits = 0
            for j in range(begin, end):
                hits += (halves[j] - row[j]) < bound
            if hits == 0:
                continue
            for j in range(begin, end):
                s = halves[j] - row[j]
                if s < bound:
                    at = _KEPT - 1
                    while at > 0 and s < score[i, at - 1]:
                        score[i, at] = score[i, at - 1]
                        kept[i, at] = kept[i, at - 1]
                        at -= 1
                    score[i, at] = s
                    kept[i, at] = first_unit + j
                    bound = score[i, _KEPT - 1]


@compiled()
def _decide(first, last, rows, weights, kept, score, norms, largest, unit, value, is_unsure):
    d = rows.shape[1]
    for i in range(first, last):
        limit = threshold(np.float64(score[i, min(1, weights.shape[0] - 1)]), norms[i], largest, d)
        if weights.shape[0] > _KEPT and score[i, _KEPT - 1] <= limit:
            is_unsure[i] = True
            continue
        for at in range(min(_KEPT, weights.shape[0])):
            if score[i, at] <= limit:
                total = np.float32(0)
                for k in range(d):
                    difference = rows[i, k] - weights[kept[i, at], k]
                    total = fma(difference, difference, total)
                _insert_any(kept[i, at], total, i, unit, value)


@compiled()
def _insert_any(u, v, i, unit, value):
    """Keep the two least, the lowest unit of ties, for units in any order."""
    if v < value[0, i] or (v == value[0, i] and u < unit[0, i]):
        value[1, i], unit[1, i] = value[0, i], unit[0, i]
        value[0, i], unit[0, i] = v, u
    elif v < value[1, i] or (v == value[1, i] and u < unit[1, i]):
        value[1, i], unit[1, i] = v, u
