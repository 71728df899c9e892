"""Samples: sketches of their k-mers, pairwise distances, the graph of neighbours, clusters and tree."""

from __future__ import annotations

from gpuasm.samples.comparison import Comparison, compare
from gpuasm.samples.distances import containment, containment_distance, jaccard, mash_distance
from gpuasm.samples.neighbours import GraphOptions, clusters, neighbour_graph
from gpuasm.samples.relation import Relation, relate
from gpuasm.samples.sketches import Sketches, SketchKind, sketch_kmers, sketch_text
from gpuasm.samples.trees import Tree, neighbour_joining, newick

__all__ = [
    "Comparison",
    "GraphOptions",
    "Relation",
    "SketchKind",
    "Sketches",
    "Tree",
    "clusters",
    "compare",
    "containment",
    "containment_distance",
    "jaccard",
    "mash_distance",
    "neighbour_graph",
    "neighbour_joining",
    "newick",
    "relate",
    "sketch_kmers",
    "sketch_text",
]
