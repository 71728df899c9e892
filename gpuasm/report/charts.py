"""Charts as SVG text for use inside a page, without a library to load: a run waits for those that come last."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

Point = tuple[float, float]
_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, 10.0, 14.0, 38.0
"""Margins of the plotted area."""
_TICKS = 5
_STEPS = (1.0, 2.0, 5.0, 10.0)
_UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
_GRID, _FIRST, _SECOND = "var(--grid)", "var(--series-1)", "var(--series-2)"


@dataclass
class Chart:
    """A chart with linear axes that begin at zero.

    Attributes
    ----------
    title
        For readers of screens.
    x_label, y_label
        Titles of the axes.
    x_end, y_end
        Where the axes end.
    width, height
        Of the picture.
    """

    title: str
    x_label: str
    y_label: str
    x_end: float
    y_end: float
    width: float = 430.0
    height: float = 280.0
    _marks: list[str] = field(default_factory=list)

    def at(self, x: float, y: float) -> str:
        """Return where a point is drawn, as SVG writes it."""
        across = (self.width - _LEFT - _RIGHT) * x / self.x_end
        down = (self.height - _TOP - _BOTTOM) * (1 - min(1.0, y / self.y_end))
        return f"{_LEFT + across:.1f},{_TOP + down:.1f}"

    def area(self, upper: Sequence[Point], lower: Sequence[Point]) -> None:
        """Fill what lies between two lines."""
        corners = " ".join(self.at(*point) for point in [*upper, *reversed(lower)])
        self._marks.append(f'<polygon points="{corners}" fill="{_FIRST}" fill-opacity="0.2"/>')

    def line(self, points: Sequence[Point]) -> None:
        """Draw a line."""
        corners = " ".join(self.at(*point) for point in points)
        self._marks.append(f'<polyline points="{corners}" fill="none" stroke="{_FIRST}" stroke-width="1.5"/>')

    def bars(self, rows: Sequence[Point], width: float) -> None:
        """Draw a bar of a width of the x axis from each x on, as high as its y."""
        for x, y in rows:
            corners = " ".join(self.at(*point) for point in ((x, 0), (x, y), (x + width, y), (x + width, 0)))
            self._marks.append(f'<polygon points="{corners}" fill="{_FIRST}"/>')

    def mark(self, x: float, label: str) -> None:
        """Mark a place of the x axis by a dashed line, with its label next to it."""
        place, top = self.at(x, self.y_end).split(",")
        bottom = self.at(x, 0).split(",")[1]
        side, anchor = (-4, "end") if x > self.x_end / 2 else (4, "start")
        self._marks.append(
            f'<path d="M{place} {top}V{bottom}" stroke="{_SECOND}" stroke-dasharray="4 2"/>'
            f'<text x="{float(place) + side:.1f}" y="{float(top) + 9:.1f}" text-anchor="{anchor}" fill="{_SECOND}">'
            f"{html.escape(label)}</text>"
        )

    def divide(self, places: Sequence[float]) -> None:
        """Draw thin lines at places of the x axis."""
        for x in places:
            place, top = self.at(x, self.y_end).split(",")
            bottom = self.at(x, 0).split(",")[1]
            self._marks.append(f'<path d="M{place} {top}V{bottom}" stroke="currentColor" stroke-opacity="0.2"/>')

    def svg(self) -> str:
        """Return the chart."""
        return picture(self.title, self.width, self.height, [*self._axes(), *self._marks])

    def _axes(self) -> list[str]:
        parts = []
        for value in ticks(self.x_end):
            place, bottom = self.at(value, 0).split(",")
            parts.append(f'<path d="M{place} {_TOP:g}V{bottom}" stroke="{_GRID}"/>')
            parts.append(f'<text x="{place}" y="{float(bottom) + 14:.1f}" text-anchor="middle">{short(value)}</text>')
        for value in ticks(self.y_end):
            place = self.at(0, value).split(",")[1]
            parts.append(f'<path d="M{_LEFT:g} {place}H{self.width - _RIGHT:g}" stroke="{_GRID}"/>')
            parts.append(
                f'<text x="{_LEFT - 6:g}" y="{float(place) + 3.5:.1f}" text-anchor="end">{short(value)}</text>'
            )
        middle = _TOP + (self.height - _TOP - _BOTTOM) / 2
        parts.append(
            f'<text x="{(self.width + _LEFT - _RIGHT) / 2:.1f}" y="{self.height - 6:.1f}" text-anchor="middle">'
            f"{html.escape(self.x_label)}</text>"
            f'<text transform="translate(12 {middle:.1f}) rotate(-90)" text-anchor="middle">'
            f"{html.escape(self.y_label)}</text>"
        )
        return parts


def picture(title: str, width: float, height: float, parts: Sequence[str]) -> str:
    """Return parts as one picture of a size."""
    return (
        f'<svg role="img" aria-label="{html.escape(title)}" viewBox="0 0 {width:g} {height:g}" '
        f'font-size="11" fill="currentColor">{"".join(parts)}</svg>'
    )


def ticks(end: float) -> list[float]:
    """Return about five round numbers from 0 to an end above 0."""
    rough = end / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = power * next(step for step in _STEPS if step * power >= rough * 0.999)
    return [i * step for i in range(int(end / step + 1e-9) + 1)]


def short(value: float) -> str:
    """Write a number of an axis as 300, 30k or 3M."""
    for size, unit in _UNITS:
        if value >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"
