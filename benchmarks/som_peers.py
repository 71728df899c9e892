"""Other self-organising maps, trained as ours are: the same rows, start and radii. What is not installed is None."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

Trained = np.ndarray
Peer = Callable[[np.ndarray, np.ndarray, tuple[int, int], tuple[float, float], int], Trained]
"""Rows, start (units, d), (rows, columns) of the map, first and last standard deviation, epochs: weights (units, d)."""


def installed(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def peers(xp: Any) -> dict[str, Peer | None]:
    """Return the peers that run where ``xp`` keeps its arrays."""
    if xp is not np:
        return {"xpysom (cupy)": _xpysom(xp)}
    return {"xpysom (numpy)": _xpysom(np), "somoclu (OpenMP)": _somoclu(), "minisom (online)": _minisom()}


def _xpysom(xp: Any) -> Peer | None:
    module = installed("xpysom")
    if module is None:
        return None

    def train(rows, start, shape, sigma, epochs):
        first, last = sigma
        som = module.XPySom(
            *shape, rows.shape[1], sigma=first, sigmaN=last, std_coeff=1.0, decay_function="linear", xp=xp,
            random_seed=1,
        )  # fmt: skip
        som._weights = start.reshape(*shape, -1).astype(np.float32)
        som.train(rows, epochs)
        return np.asarray(som._weights).reshape(start.shape)

    return train


def _somoclu() -> Peer | None:
    module = installed("somoclu")
    if module is None or not hasattr(importlib.import_module("somoclu.train"), "wrap_train"):
        return None

    def train(rows, start, shape, sigma, epochs):
        book = start.reshape(*shape, -1).astype(np.float32).copy()
        som = module.Somoclu(shape[1], shape[0], initialcodebook=book, compactsupport=False, std_coeff=1.0)
        som.train(rows.copy(), epochs=epochs, radius0=sigma[0], radiusN=sigma[1], scale0=1.0, scaleN=1.0)
        return som.codebook.reshape(start.shape)

    return train


def _minisom() -> Peer | None:
    if installed("minisom") is None:
        return None

    def train(rows, start, shape, sigma, epochs):
        n = epochs * rows.shape[0]
        order = np.random.default_rng(1).permutation(np.arange(n) % rows.shape[0])
        return minisom_in_order(rows, start, shape, (order, np.linspace(*sigma, n), np.linspace(0.5, 0.02, n)))

    return train


def minisom_in_order(rows, start, shape, schedule) -> Trained:
    """Train online by a schedule: the rows as they are taken, and the radius and the rate at each of these steps."""
    order, radii, rates = schedule
    som = installed("minisom").MiniSom(*shape, rows.shape[1], sigma=radii[0], learning_rate=rates[0])
    som._learning_rate_decay_function = lambda _rate, t, _n: rates[t]
    som._sigma_decay_function = lambda _sigma, t, _n: radii[t]
    som._weights = start.reshape(*shape, -1).astype(np.float64)
    som.train(rows[order].astype(np.float64), order.size, random_order=False)
    return som.get_weights().reshape(start.shape)
