"""A geolocation kept in a file, so that the next one computes only what changed since."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from gpuasm.errors import DataError
from gpuasm.geolocation.changes import keys_of_names, row_checksums
from gpuasm.geolocation.locating import UNKNOWN, LocatingOptions, Locations
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.io.archives import ArrayRule, load_archive

_SCHEMA = {
    "names": ArrayRule("U", ("n",)),
    "checksums": ArrayRule("u", ("n",)),
    "units": ArrayRule("f", ("n", 3), least=-1.001, most=1.001, nan=True),
    "rounds": ArrayRule("i", ("n",), least=UNKNOWN, most=(1 << 31) - 1),
    "radius_km": ArrayRule("f", ("n",), least=0, nan=True),
    "options": ArrayRule("U", ()),
}
_NEAR = 1e-6
_WHAT, _REMEDY = "a file that --state wrote", "name another file, or remove this one"


def write_state(path: Path, graph: DirectedGraph, locations: Locations, *, weights: np.ndarray | None) -> None:
    """Keep locations, and a checksum of each vertex's edges, which shows whether they have changed.

    Raises
    ------
    OutputError, ReadWriteError, ResourceError
        As ``atomic_output``.
    """
    from gpuasm.io import atomic_output

    names = _names(graph)
    arrays: dict[str, Any] = {
        "names": np.array(names, dtype=np.str_),
        "checksums": row_checksums(graph, keys_of_names(names), weights),
        "units": locations.units, "rounds": locations.rounds, "radius_km": locations.radius_km,
        "options": np.array(json.dumps(asdict(locations.options), sort_keys=True)),
    }  # fmt: skip
    with atomic_output(path, "wb") as file:
        np.savez_compressed(file, **arrays)


def read_state(
    path: Path, graph: DirectedGraph, options: LocatingOptions, *, weights: np.ndarray | None
) -> tuple[Locations, np.ndarray] | None:
    """Return the locations of a file for the vertices of a graph, and which vertices' edges are others than then.

    Vertices are found by name; new ones have no location, and count as changed. None, if there is no file, or the
    locations were made with other options.

    Raises
    ------
    DataError
        If the file holds something else.
    """
    if not path.exists():
        return None
    kept = load_archive(path, _SCHEMA, what=_WHAT, remedy=_REMEDY)
    _check_places(kept, path)
    if str(kept["options"]) != json.dumps(asdict(options), sort_keys=True):
        return None
    names = _names(graph)
    numbers = {name: number for number, name in enumerate(kept["names"].tolist())}
    then = np.array([numbers.get(name, -1) for name in names], np.int64)
    is_old = then >= 0
    units, rounds = np.full((len(names), 3), np.nan), np.full(len(names), UNKNOWN, np.int32)
    radius_km = np.full(len(names), np.nan)
    units[is_old], rounds[is_old] = kept["units"][then[is_old]], kept["rounds"][then[is_old]]
    radius_km[is_old] = kept["radius_km"][then[is_old]]
    checksums = row_checksums(graph, keys_of_names(names), weights)
    changed = ~is_old
    changed[is_old] |= checksums[is_old] != kept["checksums"][then[is_old]]
    return Locations(units, rounds, radius_km, options), np.flatnonzero(changed)


def _check_places(kept: dict[str, np.ndarray], path: Path) -> None:
    """Refuse units that are no points of the sphere, or not NaN where the round is that of unknown vertices."""
    squares, is_unknown = (kept["units"] ** 2).sum(axis=1), kept["rounds"] == UNKNOWN
    if not np.array_equal(np.isnan(squares), is_unknown) or (np.abs(squares[~is_unknown] - 1) > _NEAR).any():
        raise DataError(_WHAT, "points that are not on the sphere", _REMEDY, path=path)


def _names(graph: DirectedGraph) -> list[str]:
    return [str(graph.label_of(number)) for number in range(graph.n_vertices)]
