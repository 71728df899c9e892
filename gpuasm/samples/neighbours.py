"""The graph of samples: the neighbours of each, weighted by distance, and single-linkage clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuasm.checks import real, whole
from gpuasm.errors import UsageError
from gpuasm.graph.building import from_edges
from gpuasm.graph.components import number_components
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.graph.values import checked_values
from gpuasm.samples.comparison import Comparison
from gpuasm.samples.distances import checked_distances

_SHARE_OF_NEAREST = 0.3
"""Relative error of the nearest distance; smaller differences are not significant."""
_FAR = 20.0
"""Weights are at least e^-20, which any format can represent."""


@dataclass(frozen=True)
class GraphOptions:
    """Definition of neighbours.

    Attributes
    ----------
    neighbours : int
        Number of nearest samples that are neighbours, plus all at the distance of the last of them; 0 for all within
        the threshold.
    threshold : float
        Greatest distance of a neighbour; samples at distance 1 are never neighbours.
    mutual : bool
        Whether each must be among the nearest of the other.

    Raises
    ------
    UsageError
        If the number is below 0, or the threshold not from 0 to 1.
    """

    neighbours: int = 10
    threshold: float = 1.0
    mutual: bool = False

    def __post_init__(self) -> None:
        whole(self.neighbours, "neighbours", least=-1)
        real(self.threshold, "threshold")
        if self.neighbours < 0:
            raise UsageError("0 or more neighbours", str(self.neighbours), "choose for example --neighbours 10")
        if not 0 <= self.threshold <= 1:
            raise UsageError("a distance from 0 to 1", str(self.threshold), "choose for example --threshold 0.05")


def neighbour_graph(
    distance: np.ndarray, bases: np.ndarray, options: GraphOptions, *, names: Sequence[str] | None = None
) -> tuple[DirectedGraph, np.ndarray]:
    """Make the graph whose edges lead from each sample to its neighbours.

    The nearest neighbour of a sample has weight 1; the weight of others falls by a factor of e for each additional
    substitution in the genome, or for each 0.3 of the nearest distance if that is more.

    Parameters
    ----------
    distance : (n, n) float64
        Substitutions per base, symmetric.
    bases : (n,) float64
        Lengths of the samples' genomes, or estimates.
    options
        Definition of neighbours.
    names
        Names of the samples.

    Returns
    -------
    graph
        Neighbours in the order of distance, then of samples.
    weights : (m,) float64
        In (0, 1].
    """
    distance = checked_distances(distance)
    n = len(distance)
    bases = checked_values(bases, n, what="number of bases", whose="sample")
    rows = [_neighbours_of(sample, distance[sample], options) for sample in range(n)]
    if options.mutual:
        found = [set(row.tolist()) for row in rows]
        rows = [row[[sample in found[other] for other in row.tolist()]] for sample, row in enumerate(rows)]
    weights = [_weights(distance[sample, row], bases[sample]) for sample, row in enumerate(rows)]
    source = np.repeat(np.arange(n), [row.size for row in rows])
    target = np.concatenate([np.empty(0, np.int64), *rows])
    return from_edges(source, target, n, names=names), np.concatenate([np.empty(0), *weights])


def _neighbours_of(sample: int, distance: np.ndarray, options: GraphOptions) -> np.ndarray:
    others = distance.copy()
    others[sample] = np.inf
    reach = options.threshold
    if 0 < options.neighbours < others.size:
        reach = min(reach, float(np.partition(others, options.neighbours - 1)[options.neighbours - 1]))
    near = np.flatnonzero((others <= reach) & (others < 1.0))
    return near[np.argsort(others[near], kind="stable")]


def _weights(distance: np.ndarray, bases: float) -> np.ndarray:
    """Return the weights of distances in ascending order."""
    if distance.size == 0:
        return np.empty(0)
    unit = max(1.0 / max(bases, 1.0), _SHARE_OF_NEAREST * distance[0])
    return np.exp(-np.minimum((distance - distance[0]) / unit, _FAR))


def clusters(distance: np.ndarray, within: float) -> np.ndarray:
    """Return the number of each sample's cluster, (n,) int64, in the order of the first sample of each.

    Two samples are in one cluster if a chain of samples joins them, each at most ``within`` from the next (single
    linkage). Samples at distance 1 are never linked.
    """
    distance = checked_distances(distance)
    real(within, "within")
    n = len(distance)
    first, second = np.nonzero(np.triu((distance <= within) & (distance < 1.0), 1))
    return number_components(from_edges(first, second, n).components())[0]


def genome_bases(comparison: Comparison, last_hashes: np.ndarray) -> np.ndarray:
    """Estimate the number of distinct k-mers of each sample, about the bases of its genome without repeats.

    Parameters
    ----------
    comparison
        Sizes and kind of the sketches.
    last_hashes : (n,) uint64
        The largest hash of each sketch; 0 of an empty one.

    Returns
    -------
    (n,) float64: exact if the sketch has all hashes.
    """
    kind, sizes = comparison.kind, comparison.sizes.astype(np.float64)
    if kind.is_scaled:
        return sizes * kind.scale
    share = np.maximum(last_hashes.astype(np.float64), 1.0) / 2.0**kind.bits
    return np.where(comparison.sizes < kind.size, sizes, sizes / share)
