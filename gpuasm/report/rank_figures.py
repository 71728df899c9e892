"""Pictures of a PageRank: the ranks in their order, and what each thread had to do for the walks."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gpuasm.report.figures import short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BLUE, _RED, _GREY = "#2a6fb0", "#c2571a", "#8a8a8a"
_NAMED = 5
_LINE = 0.06
"""Distance of two names, as a share of the picture's height."""
_SIDE = 128
"""A heat map shows the first 128 x 128 threads."""


@dataclass(frozen=True)
class Work:
    """The work of threads, as one part of a heat map.

    Attributes
    ----------
    title : str
    of_thread : (t,) integers
    idle : float
        The share of time that threads wait for others of their warp.
    """

    title: str
    of_thread: np.ndarray
    idle: float


def draw_ranks(ranks: np.ndarray, names: list[str], depths: np.ndarray | None, *, kind: str) -> bytes:
    """Draw the ranks in falling order, on logarithmic axes; next to it, if depths are known, ranks against depth.

    Parameters
    ----------
    ranks : (n,) float64
        Falling.
    names
        Of the first vertices, at least of as many as are named in the picture.
    depths : (n,) float64, or None
        Of segments; NaN where unknown.
    kind
        "png", "svg" or "pdf".

    Returns
    -------
    The file's bytes: the same for the same ranks.
    """
    known = depths if depths is not None and np.isfinite(depths).any() else None

    def draw(figure: Figure) -> None:
        places = figure.subplots(1, 1 if known is None else 2, squeeze=False).ravel()
        order = np.arange(1, ranks.size + 1)
        _scatter(places[0], order, ranks, names, corner="right")
        places[0].set_xlabel("vertex, by falling rank")
        if known is not None:
            _scatter(places[1], known, ranks, names, corner="left")
            places[1].set_xlabel("depth")

    return _drawn(draw, kind, (5.0, 3.6) if known is None else (9.0, 3.6))


def draw_work(parts: list[Work], *, kind: str) -> bytes:
    """Draw a heat map of the work of the first 16,384 threads for each distribution, relative to the mean."""

    def draw(figure: Figure) -> None:
        from matplotlib.colors import LogNorm  # noqa: PLC0415 - as in _drawn

        image: Any = None
        style: dict[str, Any] = {"cmap": "RdBu_r", "interpolation": "nearest", "aspect": "auto"}
        places = figure.subplots(1, len(parts), squeeze=False).ravel()
        for axes, part in zip(places, parts, strict=True):
            shown = np.full(_SIDE * _SIDE, np.nan)
            known = part.of_thread[: shown.size]
            shown[: known.size] = np.maximum(known, 0.5) / max(part.of_thread.mean(), 0.5) if known.size else 1.0
            rows = max(1, -(-known.size // _SIDE))
            image = axes.imshow(shown.reshape(_SIDE, _SIDE)[:rows], norm=LogNorm(0.1, 10), **style)
            axes.set_title(f"{part.title}: {part.of_thread.size:,} threads, {100 * part.idle:.0f} % idle")
            axes.set_xlabel("thread, four warps a line")
        figure.colorbar(image, ax=list(places), label="visits handled, over the mean", extend="both")

    return _drawn(draw, kind, (4.6 * len(parts), 4.0))


def _scatter(axes: Axes, x: np.ndarray, ranks: np.ndarray, names: list[str], *, corner: str) -> None:
    """Draw points, and the names of the first in an upper corner where few points are, with lines to them."""
    axes.scatter(x, ranks, s=8, color=_BLUE, linewidths=0, rasterized=ranks.size > 20_000)
    for i, name in enumerate(names[: min(_NAMED, ranks.size)]):
        at = (0.97 if corner == "right" else 0.03, 0.97 - _LINE * i)
        style: dict[str, Any] = {"textcoords": "axes fraction", "ha": corner, "va": "top", "size": 7, "color": _GREY}
        line = {"arrowstyle": "-", "color": _GREY, "linewidth": 0.4, "shrinkA": 1, "shrinkB": 3}
        axes.annotate(short_name(name), (x[i], ranks[i]), xytext=at, arrowprops=line, **style)
    axes.set_ylabel("rank")
    axes.margins(x=0.1, y=0.1)
    for scale, values in ((axes.set_xscale, x), (axes.set_yscale, ranks)):
        if ranks.size and np.nanmin(values) > 0:
            scale("log")


def _drawn(draw: Any, kind: str, size: tuple[float, float]) -> bytes:
    import matplotlib as mpl  # noqa: PLC0415 - half a second, only where a figure is drawn
    from matplotlib.figure import Figure  # noqa: PLC0415

    settings: dict[str, Any] = {"svg.fonttype": "none", "svg.hashsalt": "gpuasm", "font.size": 9, "axes.titlesize": 10}
    with mpl.rc_context(settings):  # type: ignore[arg-type]
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        out = io.BytesIO()
        dates = {"svg": {"Date": None, "Creator": None}, "pdf": {"CreationDate": None}}.get(kind, {})
        figure.savefig(out, format=kind, dpi=130, metadata=dates)
    return out.getvalue()
