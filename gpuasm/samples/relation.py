"""Derive distances, graph, clusters and tree from the hashes that samples share."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np

from gpuasm.checks import instance, real
from gpuasm.errors import UsageError
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.samples.comparison import Comparison
from gpuasm.samples.distances import containment_distance, mash_distance
from gpuasm.samples.neighbours import GraphOptions, clusters, genome_bases, neighbour_graph
from gpuasm.samples.sketches import Sketches
from gpuasm.samples.trees import Tree, neighbour_joining

_LOG = logging.getLogger(__name__)
DISTANCES = ("auto", "mash", "containment")
_MOST_LEAVES = 5000
"""Greatest number of samples of a tree: the time is cubic, half a minute for so many."""


@dataclass(frozen=True)
class Relation:
    """Distances, graph, clusters and tree of samples.

    Attributes
    ----------
    comparison : Comparison
    kind : str
        The distance: "mash" or "containment".
    distance : (n, n) float64
    kmers : (n,) float64
        Estimated distinct k-mers.
    graph, weights
        The graph of neighbours.
    cluster : (n,) int64
    tree : Tree or None
    tree_note : str
        "done", or the reason why there is none.
    """

    comparison: Comparison
    kind: str
    distance: np.ndarray
    kmers: np.ndarray
    graph: DirectedGraph
    weights: np.ndarray
    cluster: np.ndarray
    tree: Tree | None
    tree_note: str

    @property
    def n(self) -> int:
        return self.comparison.n

    @property
    def n_clusters(self) -> int:
        return int(self.cluster.max()) + 1 if self.n else 0

    def nearest(self) -> list[tuple[int, float | None]]:
        """Return the nearest other sample of each, the first of equals, and its distance; else -1 and None."""
        others = self.distance.copy()
        np.fill_diagonal(others, np.inf)
        found: list[tuple[int, float | None]] = []
        for row in others:
            other = int(row.argmin())
            found.append((other, float(row[other])) if row[other] < 1.0 else (-1, None))
        return found


def relate(
    sketches: Sketches,
    comparison: Comparison,
    options: GraphOptions | None = None,
    *,
    distance: str = "auto",
    cluster_distance: float = 0.05,
) -> Relation:
    """Make distances, the graph of neighbours, clusters and the tree of compared samples.

    Parameters
    ----------
    sketches, comparison
        The sketches, and the result of `gpuasm.samples.compare`.
    options
        Definition of neighbours.
    distance
        "mash", "containment" (of scaled sketches), or "auto": containment if possible. It ignores parts that one of
        two samples lacks.
    cluster_distance
        The greatest distance between linked samples of a cluster.
    """
    instance(sketches, Sketches, "sketches")
    instance(comparison, Comparison, "a comparison")
    options = GraphOptions() if options is None else options
    instance(options, GraphOptions, "options")
    if distance not in DISTANCES or comparison.names != sketches.names:
        raise UsageError(
            f"a distance named {', '.join(DISTANCES)} and the comparison of these sketches", repr(distance),
            "use one of those names, and compare the sketches first",
        )  # fmt: skip
    real(cluster_distance, "cluster_distance", least=0, most=1)
    kind = distance
    if kind == "auto":
        kind = "containment" if comparison.kind.is_scaled else "mash"
    between = (containment_distance if kind == "containment" else mash_distance)(comparison)
    last = [int(part[-1]) if part.size else 0 for part in map(sketches.of, range(sketches.n))]
    kmers = genome_bases(comparison, np.array(last, np.uint64))
    graph, weights = neighbour_graph(between, kmers, options, names=comparison.names)
    tree, note = None, "done"
    if comparison.n > _MOST_LEAVES:
        note = f"no tree of more than {_MOST_LEAVES} samples"
        _LOG.warning(note)
    else:
        tree = neighbour_joining(between, comparison.names)
    return Relation(comparison, kind, between, kmers, graph, weights, clusters(between, cluster_distance), tree, note)
