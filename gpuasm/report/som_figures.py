"""Pictures of self-organising maps as files: surfaces, hits, groups, planes, training."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from gpuasm.report.figures import literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_GROUPS = (
    "#2a6fb0", "#c2571a", "#1d8a4e", "#8a5cc2", "#c23b3b", "#8f7500", "#c24f9e", "#4b8f9e", "#7a6a5a", "#5f7f1f",
)  # fmt: skip
_NOBODY = "#ececec"
_HIGHEST_AT = 0.98
"""The share of units at which colours end; single peaks would make all else pale."""
_PANEL = (4.2, 3.2)
_LEGEND = 12


@dataclass(frozen=True)
class Panel:
    """One part of a picture.

    Attributes
    ----------
    title : str
    values
        (rows, columns): a value for each unit; for groups a number, -1 for none; (epochs, 2) errors for "training".
    kind : "surface", "groups" or "training"
    names : list of str
        Of the groups, for a legend.
    """

    title: str
    values: np.ndarray
    kind: str = "surface"
    names: list = field(default_factory=list)


def draw_map(panels: list[Panel], *, kind: str, is_hexagonal: bool = False) -> bytes:
    """Draw panels side by side.

    Parameters
    ----------
    panels
        What to draw.
    kind
        "png", "svg" or "pdf".
    is_hexagonal
        Whether units are hexagons, odd rows half a unit to the right.

    Returns
    -------
    The file's bytes: the same for the same panels.
    """
    import matplotlib as mpl  # noqa: PLC0415 - half a second, only where a figure is drawn
    from matplotlib.figure import Figure  # noqa: PLC0415

    across = min(len(panels), max(1, round(math.sqrt(1.4 * len(panels)))))
    down = -(-len(panels) // across)
    settings: dict[str, Any] = {"svg.fonttype": "none", "svg.hashsalt": "gpuasm", "font.size": 9, "axes.titlesize": 10}
    with mpl.rc_context(settings):  # type: ignore[arg-type]
        figure = Figure(figsize=(_PANEL[0] * across, _PANEL[1] * down), layout="constrained")
        places = figure.subplots(down, across, squeeze=False).ravel()
        for axes, panel in zip(places, panels, strict=False):
            axes.set_title(literal(panel.title))
            if panel.kind == "training":
                _draw_training(axes, panel.values)
            else:
                _draw_units(figure, axes, panel, is_hexagonal=is_hexagonal)
        for axes in places[len(panels) :]:
            axes.set_visible(False)
        out = io.BytesIO()
        dates = {"svg": {"Date": None, "Creator": None}, "pdf": {"CreationDate": None}}.get(kind, {})
        figure.savefig(out, format=kind, dpi=130, metadata=dates)
    return out.getvalue()


def _draw_training(axes: Axes, errors: np.ndarray) -> None:
    axes.plot(errors[:, 0], color=_GROUPS[0])
    axes.set_ylim(bottom=0)
    axes.set_xlabel("epoch")
    axes.set_ylabel("quantisation error", color=_GROUPS[0])
    other = axes.twinx()
    other.plot(100 * errors[:, 1], color=_GROUPS[1])
    other.set_ylim(0, 100)
    other.set_ylabel("topographic error (%)", color=_GROUPS[1])


def _draw_units(figure: Figure, axes: Axes, panel: Panel, *, is_hexagonal: bool) -> None:
    from matplotlib.collections import PolyCollection  # noqa: PLC0415 - as in draw_map
    from matplotlib.colors import ListedColormap  # noqa: PLC0415

    values = panel.values.astype(np.float64)
    style: dict[str, Any] = {"cmap": "viridis", "clim": _limits(values)}
    if panel.kind == "groups":
        n = max(1, int(values.max()) + 1)
        style = {"cmap": ListedColormap([_NOBODY, *(_GROUPS[i % len(_GROUPS)] for i in range(n))]), "clim": (-1, n - 1)}
    rows, columns = values.shape
    if is_hexagonal:
        drawn: Any = PolyCollection(
            list(_hexagons(rows, columns)), array=values.ravel(), cmap=style["cmap"], linewidth=0
        )
        axes.add_collection(drawn)
        axes.set_xlim(-0.6, columns + 0.1)
        axes.set_ylim((rows - 1) * math.sqrt(0.75) + 0.7, -0.7)
        axes.set_aspect("equal")
    else:
        drawn = axes.imshow(values, cmap=style["cmap"], interpolation="nearest")
    drawn.set_clim(*style["clim"])
    axes.set_xticks([])
    axes.set_yticks([])
    if panel.kind == "surface":
        figure.colorbar(drawn, ax=axes, shrink=0.8)
    for number, name in enumerate(panel.names[:_LEGEND]):
        axes.scatter([], [], marker="s", color=_GROUPS[number % len(_GROUPS)], label=literal(str(name)))
    if panel.names:
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0), ncols=3, frameon=False, fontsize=8)


def _limits(values: np.ndarray) -> tuple[float, float]:
    least, most = float(values.min()), float(np.quantile(values, _HIGHEST_AT))
    most = most if most > least else float(values.max())
    return (least, most) if most > least else (least - 0.5, least + 0.5)


def _hexagons(rows: int, columns: int) -> np.ndarray:
    """Return the corners of all units, (units, 6, 2)."""
    row, column = np.divmod(np.arange(rows * columns), columns)
    centre = np.column_stack([column + 0.5 * (row % 2), row * math.sqrt(0.75)])
    turn = np.arange(6) * math.pi / 3 + math.pi / 6
    corner = np.column_stack([np.cos(turn), np.sin(turn)]) / math.sqrt(3)
    return centre[:, None, :] + corner
