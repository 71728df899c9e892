"""Self-organising maps in plain float64: every distance, every weight, written down as they are defined."""

from __future__ import annotations

import numpy as np

NOTHING = 1e-150


def distances(rows: np.ndarray, weights: np.ndarray, metric: str = "euclidean") -> np.ndarray:
    """Return (n, units); missing values count nothing."""
    x, w = rows.astype(np.float64)[:, None, :], weights.astype(np.float64)[None, :, :]
    if metric == "cosine":
        lengths = np.linalg.norm(x, axis=2) * np.linalg.norm(w, axis=2)
        return 1 - (x * w).sum(axis=2) / np.where(lengths > 0, lengths, 1)
    difference = np.nan_to_num(np.abs(x - w), nan=0.0)
    if metric == "manhattan":
        return difference.sum(axis=2)
    return difference.max(axis=2) if metric == "chebyshev" else np.sqrt((difference**2).sum(axis=2))


def distances_by_definition(rows: np.ndarray, weights: np.ndarray, metric: str = "euclidean") -> np.ndarray:
    """Return (n, units) float32: columns in order, differences rounded, squares added with one rounding."""
    total = np.zeros((rows.shape[0], weights.shape[0]), np.float32)
    for k in range(rows.shape[1]):
        difference = rows[:, k, None] - weights[None, :, k]
        difference = np.where(np.isnan(difference), np.float32(0), difference)
        if metric == "euclidean":
            wide = difference.astype(np.longdouble)  # wide enough for the product and, but for 1 in 2^40, the sum
            total = (total + wide * wide).astype(np.float32)
        elif metric == "manhattan":
            total = total + np.abs(difference)
        else:
            total = np.maximum(total, np.abs(difference))
    return total


def axis_offsets(grid) -> tuple[np.ndarray, np.ndarray]:
    """Return (units, units) along x and along y, along the shorter arc on a torus."""
    position = grid.positions()
    across = np.abs(position[:, None, 0] - position[None, :, 0])
    down = np.abs(position[:, None, 1] - position[None, :, 1])
    if grid.topology == "toroidal":
        height = grid.rows * (3**0.5 / 2 if grid.lattice == "hexagonal" else 1)
        across, down = np.minimum(across, np.abs(grid.columns - across)), np.minimum(down, np.abs(height - down))
    return across, down


def weighting(grid, kind: str, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Return (units, units) weights, and the envelope of their absolute values."""
    x, y = (offset / radius for offset in axis_offsets(grid))
    squared = x * x + y * y
    if kind == "bubble":
        h = (squared <= 1 + 1e-9).astype(float)
        return h, h
    if kind == "triangle":
        h = np.where(np.sqrt(squared) > 1 - 1e-9, 0, 1 - np.sqrt(squared))
        return h, h
    bells = np.exp(-0.5 * x * x), np.exp(-0.5 * y * y)
    bell = np.prod([np.where(b < NOTHING, 0, b) for b in bells], axis=0)
    return (bell, bell) if kind == "gaussian" else ((1 - squared) * bell, (1 + squared) * bell)


def epoch(rows: np.ndarray, weights: np.ndarray, grid, best: np.ndarray, *, kind: str, radius: float) -> np.ndarray:
    """Return the weights after an epoch of batch training in which the rows' nearest units are ``best``."""
    h, envelope = (table[:, best] for table in weighting(grid, kind, radius))
    present = ~np.isnan(rows)
    total, count = h @ np.where(present, rows, 0), h @ present
    if kind == "mexican_hat":
        step = (total - count * weights) / np.where(envelope @ present > 0, envelope @ present, 1)
        return np.where(count > 0, weights + step, weights)
    return np.where(count > 0, total / np.where(count > 0, count, 1), weights)


def online(rows: np.ndarray, weights: np.ndarray, grid, stages, *, kind: str, radii, metric: str) -> np.ndarray:
    """Return the weights after the stages of an online training with these radii."""
    weights = weights.astype(np.float64).copy()
    low, high = np.nanmin(rows, axis=0), np.nanmax(rows, axis=0)
    for stage, radius in zip(stages, radii, strict=True):
        h, _ = weighting(grid, kind, radius)
        for i in stage.order:
            best = int(distances(rows[i : i + 1], weights, metric).argmin())
            pull = stage.rate * h[:, best, None]
            moved = weights + pull * (rows[i] - weights)
            moved = np.where(pull < 0, np.clip(moved, low, high), moved)
            weights = np.where(np.isnan(rows[i]), weights, moved)
    return weights


def touching(grid) -> np.ndarray:
    """Return (units, units): whether two units touch, by their distance on the map."""
    across, down = axis_offsets(grid)
    near = np.hypot(across, down) < 1.1 if grid.lattice == "hexagonal" else np.maximum(across, down) < 1.1
    return near & ~np.eye(grid.n_units, dtype=bool)
