"""Samples: sketches of their k-mers, distances of all to all, their graph, clusters and tree."""

from __future__ import annotations

from gpuasm.samples.comparison import Comparison, compare
from gpuasm.samples.distances import containment, containment_distance, jaccard, mash_distance
from gpuasm.samples.sketches import Sketches, SketchKind, sketch_kmers, sketch_text

__all__ = [
    "Comparison",
    "SketchKind",
    "Sketches",
    "compare",
    "containment",
    "containment_distance",
    "jaccard",
    "mash_distance",
    "sketch_kmers",
    "sketch_text",
]
