"""Online training: each row in turn moves its best unit, and the units around it, towards itself.

Each step is defined to the bit, so that CPU and CUDA agree: the pull of a unit is float32(rate * weight), with the
weight a float64 product of tabled factors, and each of its columns becomes fma(pull, x - w, w). The best unit of a row
is found as in `search`; for the cosine metric it is that of the least max(0, 1 - (x . w) / sqrt(w . w)), summed by
fused multiply-adds, of rows of length 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.clustering.grid import MapGrid
from gpuasm.clustering.rows import column_ranges
from gpuasm.clustering.search.direct_cpu import CHEBYSHEV, EUCLIDEAN, MANHATTAN
from gpuasm.clustering.training.neighbourhood import Neighbourhood, neighbourhood_of
from gpuasm.clustering.training.schedule import Stage, decayed
from gpuasm.parallel import compiled
from gpuasm.parallel import fused_multiply_add as fma

COSINE = 3
FORMS = {"euclidean": EUCLIDEAN, "manhattan": MANHATTAN, "chebyshev": CHEBYSHEV, "cosine": COSINE}
_STAGES = 1000
"""Number of equal steps of radius and rate over a training, or one for each row if these are fewer."""


@dataclass(frozen=True)
class OnlineTraining:
    """Parameters of an online training.

    Attributes
    ----------
    grid
        The map.
    metric, neighbourhood, decay
        As for `SelfOrganisingMap`.
    radius, rate
        First and last value.
    epochs, seed
        Passes over all rows, each in a new random order.
    """

    grid: MapGrid
    metric: str
    neighbourhood: str
    radius: tuple[float, float]
    rate: tuple[float, float]
    decay: str
    epochs: int
    seed: int

    def stages(self, n: int) -> Iterator[list[Stage]]:
        """Yield the stages of each epoch."""
        rng = np.random.default_rng(self.seed)
        per_epoch = min(n, max(1, -(-_STAGES // self.epochs)))
        for epoch in range(self.epochs):
            parts = np.array_split(rng.permutation(n), per_epoch)
            yield [self._stage(part, epoch * per_epoch + i, self.epochs * per_epoch) for i, part in enumerate(parts)]

    def epoch(self, rows: Array, weights: Array, stages: list[Stage]) -> Array:
        """Return the weights, (units, d) float32, after an epoch."""
        if array_namespace(rows) is not np:
            from gpuasm.clustering.training.online_cuda import online_epoch_cuda  # noqa: PLC0415 - only where there is a device

            return online_epoch_cuda(rows, weights, self.grid, stages, form=FORMS[self.metric])
        columns = np.ascontiguousarray(weights.T)
        low, high = column_ranges(rows)
        shape = self.grid.rows, self.grid.columns
        total = np.empty(self.grid.n_units, np.float32)
        for stage in stages:
            _run(
                rows, columns, stage.order, low, high, shape, stage.factors, stage.is_table, self.grid.is_hexagonal,
                stage.rate, FORMS[self.metric], total,
            )  # fmt: skip
        return np.ascontiguousarray(columns.T)

    def _stage(self, order: np.ndarray, step: int, n_steps: int) -> Stage:
        radius = decayed(self.radius, step, n_steps, decay=self.decay)
        weights = neighbourhood_of(self.grid, self.neighbourhood, radius)
        rate = decayed(self.rate, step, n_steps, decay=self.decay)
        return Stage(order, _factors(weights), weights.table is not None, rate)


def _factors(weights: Neighbourhood) -> tuple[np.ndarray, np.ndarray]:
    if weights.table is not None:
        return weights.table, np.zeros((1, 1))
    along = [np.stack([getattr(term, name) for term in weights.terms]) for name in ("along_columns", "along_rows")]
    return along[0], along[1]


@compiled()
def _run(rows, columns, order, low, high, shape, factors, is_table, is_hexagonal, rate, form, total):
    for i in order:
        row = rows[i]
        best = _best(row, columns, form, total)
        _pull(row, columns, best, low, high, shape, factors, is_table, is_hexagonal, rate, total)


@compiled()
def _best(row, columns, form, total):
    total[:] = np.float32(0)
    lengths = np.zeros(total.size if form == 3 else 0, np.float32)
    for k in range(row.size):
        x, w = row[k], columns[k]
        if np.isnan(x):
            continue
        if form == 0:
            for u in range(total.size):
                total[u] = fma(x - w[u], x - w[u], total[u])
        elif form == 1:
            for u in range(total.size):
                total[u] += abs(x - w[u])
        elif form == 2:
            for u in range(total.size):
                total[u] = max(total[u], abs(x - w[u]))
        else:
            for u in range(total.size):
                total[u] = fma(x, w[u], total[u])
                lengths[u] = fma(w[u], w[u], lengths[u])
    if form == 3:
        for u in range(total.size):
            length = np.sqrt(lengths[u])
            cosine = total[u] / length if length > np.float32(0) else np.float32(0)
            total[u] = max(np.float32(0), np.float32(1) - cosine)
    best = 0
    for u in range(1, total.size):
        if total[u] < total[best]:
            best = u
    return best


@compiled()
def _pull(row, columns, best, low, high, shape, factors, is_table, is_hexagonal, rate, pull):
    n_rows, n_columns = shape
    across, down = factors
    best_row, best_column = best // n_columns, best % n_columns
    for u in range(pull.size):
        r, c = u // n_columns, u % n_columns
        at = c - best_column + n_columns - 1
        if is_table:
            weight = across[r % 2, r - best_row + n_rows - 1, at]
        else:
            shift = 0
            if is_hexagonal and (r ^ best_row) & 1:
                shift = 1 if r & 1 else 2
            weight = 0.0
            for term in range(down.shape[0]):
                weight += across[term, shift, at] * down[term, r - best_row + n_rows - 1]
        pull[u] = np.float32(rate * weight)
    for k in range(row.size):
        x, w = row[k], columns[k]
        if not np.isnan(x):
            for u in range(pull.size):
                moved = fma(pull[u], x - w[u], w[u])
                w[u] = min(max(moved, low[k]), high[k]) if pull[u] < np.float32(0) else moved
