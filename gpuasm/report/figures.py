"""Figures as SVG for use inside a page: text stays text, and lines and letters take the page's own colours."""

from __future__ import annotations

import functools
import io
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from gpuasm.report.inputs import ContigRow
from gpuasm.report.statistics import nx_curve, summarise_lengths

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_TIMES = 100_000
"""The greatest multiplicity of k-mers that is drawn."""

MAX_POINTS = 2000
"""The longest contigs that are drawn one by one; more would only make the page heavy."""

# Placeholders that the page's colours replace: the letters' and lines' own, and three for data.
_COLOURS = {
    "#010101": "currentColor",
    "#020202": "var(--series-1)",
    "#030303": "var(--series-2)",
    "#040404": "var(--grid)",
}
INK, FIRST, SECOND, GRID = _COLOURS
_BELOW_ONE = 0.5  # a logarithmic axis has no zero
_DOT: dict[str, Any] = {"s": 22, "facecolor": FIRST, "edgecolor": "none", "alpha": 0.7}
_RING: dict[str, Any] = {"s": 48, "facecolor": "none", "edgecolor": SECOND, "linewidth": 1.8}
_NAME_LETTERS = 24
_SIZE = (4.3, 2.8)


class _Remembered:
    """A figure that is drawn once only for the same data: a page may come after what was drawn ahead for it."""

    def __init__(self, draw: Callable[..., str]) -> None:
        functools.update_wrapper(self, draw)
        self._draw, self._drawn = draw, dict[Any, str]()

    def __call__(self, data: Sequence[Any], *args: Any, **settings: Any) -> str:
        key = _key(data, *args, **settings)
        if key not in self._drawn:
            self.keep(self._draw(data, *args, **settings), data, *args, **settings)
        return self._drawn[key]

    def keep(self, picture: str, *args: Any, **settings: Any) -> None:
        """Keep the picture of some arguments, which was drawn elsewhere."""
        while len(self._drawn) >= _MOST_KEPT:
            del self._drawn[next(iter(self._drawn))]
        self._drawn[_key(*args, **settings)] = picture


_MOST_KEPT = 8
"""Pictures of a figure; more would be those of earlier runs."""


def _key(data: Sequence[Any], *args: Any, **settings: Any) -> Any:
    return tuple(data), args, tuple(settings.items())


def short_name(name: object) -> str:
    """Return a name as pictures have room for it: its first letters, if it is long."""
    text = str(name)
    return literal(text if len(text) <= _NAME_LETTERS else text[: _NAME_LETTERS - 1] + "…")


def literal(text: str) -> str:
    """Return a user's text as matplotlib draws it letter by letter: without control characters and formulas."""
    return "".join(letter if letter.isprintable() else " " for letter in text).replace("$", r"\$")


@_Remembered
def spectrum_figure(
    spectrum: Sequence[tuple[int, int]], name: str, *, threshold: int | None = None, peak: int | None = None
) -> str:
    """Draw how many distinct k-mers occur how often, with the solid threshold and the genome's peak."""

    def draw(axes: Axes) -> None:
        last = max(4 * peak if peak else 0, 20)
        drawn = {m: n for m, n in spectrum if n > 0 and m <= MOST_TIMES}
        found = {m: n for m, n in drawn.items() if m <= last} or drawn
        times = range(1, max(found) + 1)
        kmers = [found.get(m, _BELOW_ONE) for m in times]
        axes.plot(times, kmers, color=FIRST, linewidth=1.6, drawstyle="steps-mid")
        axes.fill_between(times, kmers, step="mid", color=FIRST, alpha=0.15, linewidth=0)
        axes.set_yscale("log")
        axes.set_ylim(0.8, 3 * max(kmers))
        axes.set_xlim(0, max(found) * 1.02)
        for value, height, label in ((threshold, 1.0, f"solid from {threshold}"), (peak, 0.9, f"peak {peak}")):
            if value:
                _mark(axes, value, label, height)
        axes.set_xlabel("times a k-mer occurs")
        axes.set_ylabel("distinct k-mers")

    return svg_figure(draw, f"{name}-spectrum", "k-mer spectrum")


@_Remembered
def nx_figure(contigs: Sequence[ContigRow], name: str) -> str:
    """Draw the Nx curve: the length that contigs of at least that length need to cover x percent of the assembly."""

    def draw(axes: Axes) -> None:
        percent, length = nx_curve([contig.length for contig in contigs])
        axes.plot(percent, length, color=FIRST, linewidth=1.8)
        _mark(axes, 50, f"N50 {_short(_rounded(summarise_lengths([c.length for c in contigs]).n50))}")
        axes.set_yscale("log")
        axes.set_xlim(0, 100)
        axes.set_ylim(min(length) / 3, max(length) * 3)
        axes.set_xlabel("percent of the assembly")
        axes.set_ylabel("contig length (bases)")
        _plain_numbers(axes, x=False)

    return svg_figure(draw, f"{name}-nx", "Nx curve")


@_Remembered
def depth_figure(contigs: Sequence[ContigRow], name: str) -> str:
    """Draw each contig's depth over its length; circular ones as rings."""

    def draw(axes: Axes) -> None:
        drawn = contigs[:MAX_POINTS]
        for circular, label in ((False, "linear"), (True, "circular")):
            shape = _RING if circular else _DOT
            chosen = [c for c in drawn if c.circular == circular]
            if chosen:
                axes.scatter([c.length for c in chosen], [_positive(c.depth) for c in chosen], **shape, label=label)
        axes.set_xscale("log")
        axes.set_yscale("log")
        _spread(axes, [c.length for c in drawn], [_positive(c.depth) for c in drawn])
        axes.set_xlabel("contig length (bases)")
        axes.set_ylabel("depth")
        if len({c.circular for c in drawn}) > 1:
            axes.legend(
                frameon=False, labelcolor=INK, fontsize=9, loc="lower right", bbox_to_anchor=(1, 1), ncols=2,
                borderaxespad=0,
            )  # fmt: skip
        _plain_numbers(axes, x=True)

    return svg_figure(draw, f"{name}-depth", "depth over length of contigs")


def load_library() -> None:
    """Import now what drawing will need."""
    import matplotlib.ticker  # noqa: F401, PLC0415 - as in svg_figure

    svg_figure(lambda axes: axes.set_yscale("log"), "first", "first")  # finds fonts, and builds the parser of formulas


def _mark(axes: Axes, value: float, label: str, height: float = 1.0) -> None:
    """Mark a value of the x axis by a dashed line with a label at ``height`` of the axes."""
    axes.axvline(value, color=SECOND, linewidth=1.2, linestyle=(0, (4, 2)))
    axes.annotate(
        label, (value, height), (5, 0), xycoords=("data", "axes fraction"), textcoords="offset points", va="top",
        color=SECOND, fontsize=9,
    )  # fmt: skip


def _spread(axes: Axes, lengths: Sequence[int], depths: Sequence[float]) -> None:
    """Give the axes room around few or equal points, so that their ticks have numbers."""
    axes.set_xlim(min(lengths) / 2.5, max(lengths) * 2.5)
    axes.set_ylim(min(depths) / 3, max(depths) * 3)


def _plain_numbers(axes: Axes, *, x: bool) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: PLC0415 - as in svg_figure

    for axis in (axes.yaxis, *([axes.xaxis] if x else [])):
        low, high = axis.get_view_interval()
        axis.set_major_locator(LogLocator(subs=(1,) if high / low > 300 else (1, 3)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: _short(value)))
        axis.set_minor_formatter(NullFormatter())


def _short(value: float) -> str:
    """Write a tick's number as 300, 30k or 3M."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"


def _positive(depth: float) -> float:
    return max(depth, 0.01)  # a logarithmic axis has no zero


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")


def svg_figure(draw: Callable[[Axes], None], name: str, title: str, *, size: tuple[float, float] = _SIZE) -> str:
    """Return one figure, ``size`` in inches; ``name`` keeps its identifiers apart from those of other figures."""
    import matplotlib as mpl  # noqa: PLC0415 - half a second, only where a figure is drawn
    from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    with mpl.rc_context(
        {"svg.fonttype": "none", "svg.hashsalt": name, "font.size": 10, "font.family": "sans-serif", "text.color": INK}
    ):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.add_subplot()
        axes.grid(visible=True, color=GRID, linewidth=0.6)
        axes.set_axisbelow(True)
        axes.tick_params(which="both", colors=INK, length=0)
        axes.spines[:].set_visible(False)
        axes.spines["bottom"].set(visible=True, color=INK, linewidth=0.8)
        axes.xaxis.label.set_color(INK)
        axes.yaxis.label.set_color(INK)
        draw(axes)
        text = io.StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return _for_page(text.getvalue(), name, title)


def _for_page(text: str, name: str, title: str) -> str:
    """Cut the SVG out of its file, and make its identifiers and colours the page's."""
    svg = text[text.index("<svg") :]
    svg = re.sub(r"<(metadata|defs)>\s*(<style.*?</style>\s*)?</\1>|<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    prefix = re.sub(r"\W", "-", name)
    svg = re.sub(r'\bid="', f'id="{prefix}-', svg)
    svg = svg.replace("url(#", f"url(#{prefix}-").replace('href="#', f'href="#{prefix}-')
    for placeholder, colour in _COLOURS.items():
        svg = svg.replace(placeholder, colour)
    svg = re.sub(r"font-family: [^;\"]*;?", "", svg)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{title}" ', 1)
