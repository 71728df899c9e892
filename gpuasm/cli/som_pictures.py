"""What there is to draw of a trained map."""

from __future__ import annotations

import numpy as np

from gpuasm.cli.som_file import TrainedMap
from gpuasm.clustering.surfaces.matrices import u_star
from gpuasm.errors import UsageError
from gpuasm.report.som_figures import Panel

_MOST_PLANES = 100
_PLANES_OF_OVERVIEW = 6


def panels_of(trained: TrainedMap, what: str, columns: tuple[str, ...] = ()) -> list[Panel]:
    """Return the panels of a picture.

    Parameters
    ----------
    trained
        The map.
    what
        "overview", or one of its parts.
    columns
        Names of columns whose planes are drawn; without any, the first 100.

    Raises
    ------
    UsageError
        If the map has no such part, or no such column.
    """
    if what == "overview":
        parts = ("umatrix", "density", "ustar", "hits", "clusters", "classes", "training")
        found = [panel for part in parts for panel in _part(trained, part)]
        return found + _planes(trained, columns)[: None if columns else _PLANES_OF_OVERVIEW]
    found = _planes(trained, columns) if what == "planes" else _part(trained, what)
    if not found:
        raise UsageError(f"a map with {what}", "one without", "train it with gpuasm som train, and classes if need be")
    return found


def _part(trained: TrainedMap, what: str) -> list[Panel]:
    som = trained.som
    if what == "umatrix":
        return [Panel("U-matrix: distance to neighbours", som.u_matrix())]
    if what == "training" and som.history_:
        return [Panel("training", np.array([(e.quantisation, e.topographic) for e in som.history_]), "training")]
    if what == "hits" and hasattr(som, "labels_"):
        return [Panel("hits: rows of each unit", som.hit_map())]
    if what == "density" and trained.density is not None:
        return [Panel("P-matrix: rows around", trained.density)]
    if what == "ustar" and trained.density is not None:
        return [Panel("U*-matrix", u_star(som.u_matrix(), trained.density))]
    if what == "clusters" and trained.cluster is not None:
        return [Panel("clusters", som.grid_.image(trained.cluster), "groups")]
    if what == "classes" and trained.labels is not None:
        return [Panel("classes", som.grid_.image(trained.labels.of_unit), "groups", trained.labels.classes)]
    return []


def _planes(trained: TrainedMap, requested: tuple[str, ...]) -> list[Panel]:
    planes = trained.som.component_planes()
    names = trained.columns or [f"column_{i + 1}" for i in range(len(planes))]
    unknown = [name for name in requested if name not in names]
    if unknown:
        raise UsageError("a column of the map", repr(unknown[0]), f"name one of {', '.join(names[:8])}")
    chosen = [names.index(name) for name in requested] if requested else range(min(len(names), _MOST_PLANES))
    return [Panel(names[i], planes[i]) for i in chosen]
