"""Search supports of k rows with a long sum in some direction, which solve the low-rank form of the problem.

For points p_v in the plane, ``h(u) = max u . sum(p_v, v in S)`` over |S| = k is that of the k largest ``u . p_v``. The
sums of all S span a convex polygon whose corners those supports are (the spannogram), and a convex function of the sum
is largest at a corner. `search_plane` finds the corners as Eisner and Severance (1976, doi:10.1145/321978.321982):
between two known corners the next direction is orthogonal to the line that joins them. The intersection of the tangents
at two neighbouring corners bounds the sums between them, so intervals without the maximum are skipped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host
from gpuasm.densest.selection import top_k

_CELLS = 1 << 25
"""Scores computed at once: 256 MB."""
_FIRST_ANGLES = 32
_TINY = 1e-9
_NARROW = 1e-6
"""Intervals of fewer radians are not divided: within them sums are, to this share, on the line between the corners."""


class SupportFunction:
    """The supports of k points with the largest sum in given directions.

    Parameters
    ----------
    points : (n, d) float64
    k
        From 1 to n.
    keep
        Only so many of the longest points are used; bounds of sums include the length of the longest other point.
    """

    def __init__(self, points: Array, k: int, *, keep: int = 1 << 18) -> None:
        xp = array_namespace(points)
        self.k, self._xp = k, xp
        keep, self._longest_excluded = max(keep, 2 * k), 0.0
        self._vertices = None
        if points.shape[0] > keep:
            lengths = (points * points).sum(axis=1)
            self._vertices = top_k(lengths[None], keep)[0]
            lengths[self._vertices] = 0
            self._longest_excluded = float(lengths.max()) ** 0.5
            points = points[self._vertices]
        self._points = xp.ascontiguousarray(points.T)

    def __call__(self, directions: np.ndarray) -> Corners:
        """Return the supports, sums and bounds for (b, d) directions."""
        step = max(1, _CELLS // self._points.shape[1])
        parts = [self._some(directions[i : i + step]) for i in range(0, len(directions), step)]
        return Corners.joined(parts)

    def _some(self, directions: np.ndarray) -> Corners:
        xp = self._xp
        scores = xp.asarray(directions) @ self._points
        chosen = top_k(scores, self.k)
        sums = to_host(self._points[:, chosen].sum(axis=2)).T
        best = xp.take_along_axis(scores, chosen, axis=1)
        excluded = xp.asarray(np.linalg.norm(directions, axis=1) * self._longest_excluded)[:, None]
        bounds = best.sum(axis=1) if self._longest_excluded == 0 else xp.maximum(best, excluded).sum(axis=1)
        vertices = chosen if self._vertices is None else self._vertices[chosen]
        return Corners(np.array(directions), to_host(vertices), sums, to_host(bounds))


@dataclass(frozen=True)
class Corners:
    """Supports in the order of their directions.

    Attributes
    ----------
    directions : (b, d) float64
    supports : (b, k) int64
        Vertices, ascending in each row.
    sums : (b, d) float64
        Sum of the points of each support.
    heights : (b,) float64
        Upper bound of the sum of any k points in that direction.
    """

    directions: np.ndarray
    supports: np.ndarray
    sums: np.ndarray
    heights: np.ndarray

    @staticmethod
    def joined(parts: list[Corners]) -> Corners:
        fields = ("directions", "supports", "sums", "heights")
        return Corners(*(np.concatenate([getattr(part, name) for part in parts]) for name in fields))

    def taken(self, order: np.ndarray) -> Corners:
        return Corners(self.directions[order], self.supports[order], self.sums[order], self.heights[order])


@dataclass(frozen=True)
class Search:
    """Result of a search: the corners, the largest value at one, and an upper bound of the value of any sum."""

    corners: Corners
    best: float
    bound: float


Value = Callable[[np.ndarray], np.ndarray]
"""A convex function of sums, (b, d) -> (b,)."""


def squared_length(sums: np.ndarray) -> np.ndarray:
    """Return the squared lengths of sums: the low-rank form of the symmetric problem."""
    return (sums * sums).sum(axis=1)


def search_line(support: SupportFunction, value: Value, bound: Value) -> Search:
    """Search supports of points on a line: the k largest and the k smallest."""
    corners = support(np.array([[1.0], [-1.0]]))
    ends = corners.directions * corners.heights[:, None]
    return Search(corners, float(value(corners.sums).max()), float(bound(ends).max()))


def search_plane(support: SupportFunction, value: Value, bound: Value, *, max_directions: int = 2000) -> Search:
    """Search supports of points in the plane for the one of largest value: exact, unless stopped.

    Parameters
    ----------
    support
        Support function of points (n, 2).
    value
        Value of the sum of a support.
    bound
        Convex upper bound of the value of any point; ``value`` itself if it is defined for any point.
    max_directions
        Greatest number of directions; the bound is valid in any case.
    """
    turn = 2 * np.pi * np.arange(_FIRST_ANGLES) / _FIRST_ANGLES
    corners = support(np.column_stack([np.cos(turn), np.sin(turn)]))
    values, limits = value(corners.sums), np.full(len(turn), np.nan)  # limits of the interval after each corner
    while True:
        widths = np.mod(np.roll(turn, -1) - turn, 2 * np.pi)
        best = float(values.max())
        new = np.isnan(limits)
        limits[new] = _limits(corners, turn, widths, new, bound)
        open_ = np.flatnonzero((limits > best + _TINY * abs(best)) & (widths > _NARROW))
        if not open_.size or len(turn) >= max_directions:
            return Search(corners, best, max(best, float(limits.max())))
        open_ = open_[np.argsort(-limits[open_], kind="stable")[: max_directions - len(turn)]]
        middle = turn[open_] + _split(corners, turn, widths, open_)
        more = support(np.column_stack([np.cos(middle), np.sin(middle)]))
        limits[open_] = np.nan
        turn = np.concatenate([turn, np.mod(middle, 2 * np.pi)])
        order = np.argsort(turn, kind="stable")
        values = np.concatenate([values, value(more.sums)])[order]
        limits = np.concatenate([limits, np.full(middle.size, np.nan)])[order]
        corners, turn = Corners.joined([corners, more]).taken(order), turn[order]


def _limits(corners: Corners, turn: np.ndarray, widths: np.ndarray, chosen: np.ndarray, bound: Value) -> np.ndarray:
    """Return a bound on the value in each chosen interval: at its apex, or if narrow at its ends."""
    if not chosen.any():
        return np.empty(0)
    apexes = bound(_tangent_intersections(corners, turn, widths)[chosen])
    raised = corners.heights - (corners.sums * corners.directions).sum(axis=1)
    ends = corners.sums + np.maximum(raised, 0)[:, None] * corners.directions
    at_ends = np.maximum(bound(ends[chosen]), bound(np.roll(ends, -1, axis=0)[chosen]))
    return np.where(widths[chosen] < _NARROW, at_ends * (1 + 2 * _NARROW), apexes)


def _tangent_intersections(corners: Corners, turn: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Return the intersection of the tangents at each corner and the next."""
    heights, after = corners.heights, np.roll(corners.heights, -1)
    aside = (after - heights * np.cos(widths)) / np.sin(np.maximum(widths, _NARROW))
    return np.column_stack(
        [heights * np.cos(turn) - aside * np.sin(turn), heights * np.sin(turn) + aside * np.cos(turn)]
    )


def _split(corners: Corners, turn: np.ndarray, widths: np.ndarray, open_: np.ndarray) -> np.ndarray:
    """Return where to divide each open interval, from its start: orthogonal to the line between its corners."""
    edges = np.roll(corners.sums, -1, axis=0)[open_] - corners.sums[open_]
    angle = np.mod(np.arctan2(-edges[:, 0], edges[:, 1]) - turn[open_], 2 * np.pi)
    width = widths[open_]
    inside = (angle > 1e-3 * width) & (angle < (1 - 1e-3) * width) & (np.abs(edges).sum(axis=1) > 0)
    return np.where(inside, angle, 0.5 * width)


def search_sphere(support: SupportFunction, directions: np.ndarray, *, rounds: int = 8) -> list[Corners]:
    """Iterate from many directions: each support's sum is the next direction, which never shortens the sum."""
    found = []
    for _ in range(rounds):
        corners = support(directions)
        lengths = np.linalg.norm(corners.sums, axis=1)
        found.append(corners)
        following = corners.sums[lengths > 0] / lengths[lengths > 0, None]
        directions = np.unique(following.round(12), axis=0)
        if not directions.size:
            break
    return found
