"""Inputs of ``gpuasm geolocate`` for compared samples: distances and trees, dates, and columns of names of places."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gpuasm.cli.compared_samples import read_compared_samples
from gpuasm.cli.geolocate_related import RelatedRun
from gpuasm.errors import DataError, UsageError
from gpuasm.geolocation.predictors import RelatedSamples
from gpuasm.geolocation.related import MOST_NAMES
from gpuasm.geolocation.tree_states import SampleTree
from gpuasm.io.dates import year_of
from gpuasm.resources import require_memory
from gpuasm.samples.comparison import Comparison
from gpuasm.samples.distances import containment, containment_distance, mash_distance
from gpuasm.samples.trees import neighbour_joining

if TYPE_CHECKING:
    from gpuasm.graph.directed_graph import DirectedGraph
    from gpuasm.io.labels import Labels

_LOG = logging.getLogger("gpuasm")
_LEVELS = (
    "continent", "region", "subregion", "country", "division", "state", "province", "county", "district", "city",
    "location",
)  # fmt: skip
"""Columns of names of places, from coarse to fine."""
_DATES = ("date", "collection_date", "year")
_OWN_COLUMNS = {"vertex", "latitude", "longitude", "status", "radius_km", "radius_90_km"}
_MOST_LEAVES = 2000
"""Samples of a tree: the time is cubic."""
_LEAST_LEAVES = 3
_BYTES_OF_PAIR, _BYTES_OF_SHARE = 80, 800
"""Of each two samples, and of each sample and place."""

Compared = tuple[Comparison, np.ndarray]
"""A comparison, and the samples' numbers of k-mers."""


def compared_samples(path: Path, graph: DirectedGraph, *, method: str, memory: int) -> Compared | None:
    """Return the comparison of the samples of a graph; None if there is none.

    Raises
    ------
    UsageError
        If there is none, and the method is "related".
    DataError
        As `read_compared_samples`.
    ResourceError
        If the memory is too small.
    """
    compared = read_compared_samples(path, graph)
    if compared is None and method == "related":
        raise UsageError(
            "graph.npz of gpuasm relate for --method related", "a graph without compared samples",
            "give that file, or leave --method out",
        )  # fmt: skip
    if compared is not None:
        n = graph.n_vertices
        needed = _BYTES_OF_PAIR * n * n + _BYTES_OF_SHARE * n * min(n, MOST_NAMES)
        require_memory(needed, memory, f"geolocation of {n:,} samples by their relatives")
    return compared


def columns_of_labels(chosen: Sequence[str]) -> list[str]:
    """Return the columns of a table of labels that may be needed.

    Raises
    ------
    UsageError
        If a chosen column has the title of one of the output.
    """
    if taken := sorted(_OWN_COLUMNS & set(chosen)):
        raise UsageError("columns of names of places", ", ".join(taken), "rename the column")
    return list(dict.fromkeys((*chosen, *_LEVELS, *_DATES)))


def related_run(compared: Compared, labels: Labels, path: Path, options: dict[str, Any]) -> RelatedRun:
    """Return what is to be inferred from the relatives of samples.

    Raises
    ------
    DataError
        If a column that the user chose has no names, or too many.
    """
    n = compared[0].n
    dates = next((labels.columns[title] for title in _DATES if title in labels.columns), [None] * n)
    years = np.array([year_of(text) for text in dates], np.float64)
    names = _names_of(labels, options["names"], path)
    return RelatedRun(related_samples(*compared, years), names, options["max_radius"])


def related_samples(comparison: Comparison, kmers: np.ndarray, years: np.ndarray) -> RelatedSamples:
    """Return distances and trees of compared samples."""
    distances = {"Mash": mash_distance(comparison)}
    if comparison.kind.is_scaled:
        distances["containment"] = containment_distance(comparison)
    names = comparison.names
    trees = {}
    if _LEAST_LEAVES <= comparison.n <= _MOST_LEAVES:
        for name, distance in distances.items():
            tree = neighbour_joining(distance, names)
            trees[name] = SampleTree(tree.parent, tree.length)
    if comparison.kind.is_scaled:
        own = 1 - containment(comparison) ** (1 / comparison.kind.k)
        np.fill_diagonal(own, 0.0)
        distances["own containment"] = own
    return RelatedSamples(distances, trees, kmers, years)


def _names_of(labels: Labels, chosen: Sequence[str], path: Path) -> dict[str, list[str | None]]:
    """Return the columns of names of places that a user chose, or else all that are known by their titles.

    Raises
    ------
    DataError
        If a chosen column is missing or empty, or has too many names.
    """
    found = {}
    for title in chosen or _LEVELS:
        names = labels.columns.get(title, [])
        n_kinds = len({name for name in names if name is not None})
        if 0 < n_kinds <= MOST_NAMES:
            found[title] = names
        elif chosen:
            raise DataError(
                f"1 to {MOST_NAMES} names in a column {title!r}", str(n_kinds), "name another column", path=path
            )
        elif n_kinds:
            _LOG.info("column %s has %d names: they are not inferred", title, n_kinds)
    return found
