"""Geolocation, slowly: Gunrock's rules with the functions of the mathematical library, and medians by many searches."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize

RADIUS_KM = 6371.0
Place = tuple[float, float]


def haversine(a: Place, b: Place) -> float:
    """Return the kilometres between two places in degrees."""
    lat_a, lon_a, lat_b, lon_b = map(math.radians, (*a, *b))
    h = math.sin((lat_b - lat_a) / 2) ** 2 + math.cos(lat_a) * math.cos(lat_b) * math.sin((lon_b - lon_a) / 2) ** 2
    return 2 * RADIUS_KM * math.asin(min(1.0, math.sqrt(h)))


def midpoint(a: Place, b: Place) -> Place:
    """Return the middle of the great circle between two places."""
    lat_a, lon_a, lat_b, lon_b = map(math.radians, (*a, *b))
    x, y = math.cos(lat_b) * math.cos(lon_b - lon_a), math.cos(lat_b) * math.sin(lon_b - lon_a)
    lat = math.atan2(math.sin(lat_a) + math.sin(lat_b), math.hypot(math.cos(lat_a) + x, y))
    return math.degrees(lat), math.degrees(lon_a + math.atan2(y, math.cos(lat_a) + x))


def gunrock_median(places: Sequence[Place], steps: int = 1000) -> Place:
    """Return Gunrock's median of three or more places."""
    n = len(places)
    y = sum(p[0] for p in places) / n, sum(p[1] for p in places) / n
    for _ in range(steps + 1):
        distances = [haversine(p, y) for p in places]
        weights = [1 / d if d else 0.0 for d in distances]
        zeros = distances.count(0.0)
        if zeros == n:
            return y
        total = sum(weights)
        t = tuple(sum(w * p[k] for w, p in zip(weights, places, strict=True)) / total for k in (0, 1))
        after = t
        if zeros:
            r = math.hypot((t[0] - y[0]) * total, (t[1] - y[1]) * total)
            share = zeros / r if r else 0.0
            after = tuple(max(0.0, 1 - share) * t[k] + min(1.0, share) * y[k] for k in (0, 1))
        step = math.hypot(after[0] - y[0], after[1] - y[1])
        y = after[0], after[1]
        if step < 1e-3:
            break
    return y


def gunrock(neighbours: Sequence[Sequence[int]], places: Sequence[Place | None], rounds: int) -> list[Place | None]:
    """Return the places after some rounds of Gunrock's geolocation, each of which reads those of the round before."""
    now = list(places)
    for _ in range(rounds):
        before = list(now)
        for v, near in enumerate(neighbours):
            if before[v] is None:
                found = [p for u in near if (p := before[u]) is not None]
                if found:
                    now[v] = found[0] if len(found) == 1 else midpoint(*found) if len(found) == 2 else None
                    now[v] = now[v] or gunrock_median(found)
    return now


def unit(places: np.ndarray) -> np.ndarray:
    """Return the unit vectors of places in degrees."""
    lat, lon = np.radians(places).T
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)


def arcs(points: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Return the arcs in radians from a unit vector to others."""
    return 2 * np.arcsin(np.minimum(1, np.linalg.norm(points - place, axis=1) / 2))


def median(points: np.ndarray, weights: np.ndarray, *, n_starts: int = 24, seed: int = 0) -> np.ndarray:
    """Return the median of unit vectors: the lowest of many searches, from random places and from the best points."""
    rng = np.random.default_rng(seed)
    tried = points[: min(len(points), 300)]
    values = np.array([weights @ arcs(points, p) for p in tried])
    order = np.argsort(values)[:5]
    best, lowest = tried[order[0]], values[order[0]]
    for start in (weights @ points, *rng.normal(size=(n_starts, 3)), *tried[order]):
        begin = start / np.linalg.norm(start)
        found = minimize(_arcs_and_slope, begin, (points, weights), jac=True, method="BFGS", options={"gtol": 1e-10})
        if found.fun < lowest:
            best, lowest = found.x / np.linalg.norm(found.x), found.fun
    nearest = points[np.argmin(arcs(points, best))]  # searches end near a kink, not in it
    return nearest if weights @ arcs(points, nearest) <= lowest * (1 + 1e-13) else best


def _arcs_and_slope(x: np.ndarray, points: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray]:
    length = np.linalg.norm(x)
    place = x / length
    difference = points - place
    square = (difference**2).sum(axis=1)
    half = np.minimum(1, np.sqrt(square) / 2)
    sine = 2 * half * np.sqrt(np.maximum(0, 1 - half**2))
    smooth = sine > 1e-13
    away = points[smooth] - (1 - square[smooth] / 2)[:, None] * place
    return float(weights @ (2 * np.arcsin(half))), -(weights[smooth] / sine[smooth]) @ away / length
