"""Compared samples in ``graph.npz`` of ``gpuasm relate``: what ``gpuasm geolocate`` needs beyond the graph."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gpuasm.errors import DataError
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.io.archives import ZIP, ArrayRule, load_archive, sizes_in_archive
from gpuasm.io.sources import is_regular, open_input
from gpuasm.samples.comparison import Comparison
from gpuasm.samples.relation import Relation
from gpuasm.samples.sketches import SketchKind

_SCHEMA = {
    "sample_pairs": ArrayRule("i", ("pairs",), least=0),
    "sample_hashes": ArrayRule("i", ("n",), least=0),
    "sample_kmers": ArrayRule("f", ("n",), least=0),
    "sample_sketch": ArrayRule("u", (3,)),
}
_WHAT, _REMEDY = "compared samples as gpuasm relate writes them", "compare the samples anew with gpuasm relate"


def arrays_of_samples(relation: Relation) -> dict[str, np.ndarray]:
    """Return the arrays of compared samples by their names in the archive."""
    comparison, kind = relation.comparison, relation.comparison.kind
    return {
        "sample_pairs": comparison.shared[_above_diagonal(comparison.n)].astype(np.int32),
        "sample_hashes": comparison.sizes.astype(np.int64),
        "sample_kmers": relation.kmers,
        "sample_sketch": np.array([kind.k, kind.size, kind.max_hash], np.uint64),
    }


def read_compared_samples(path: Path, graph: DirectedGraph) -> tuple[Comparison, np.ndarray] | None:
    """Return the comparison of a graph's samples, and their numbers of k-mers; None if the file has none.

    Raises
    ------
    DataError
        If the arrays are damaged, or are not those of the graph.
    """
    if not is_regular(path):
        return None
    with open_input(str(path)) as file:
        if file.read(len(ZIP)) != ZIP:
            return None
    if not set(_SCHEMA) <= set(sizes_in_archive(path)):
        return None
    arrays = load_archive(path, _SCHEMA, what=_WHAT, remedy=_REMEDY)
    n, sizes, pairs = graph.n_vertices, arrays["sample_hashes"], arrays["sample_pairs"]
    if graph.names is None or sizes.size != n or pairs.size != n * (n - 1) // 2:
        raise DataError(_WHAT, f"{sizes.size} samples in a graph of {n}", _REMEDY, path=path)
    shared = np.zeros((n, n), np.int32)
    shared[_above_diagonal(n)] = pairs
    shared += shared.T.copy()
    if (shared > sizes[:, None]).any():
        raise DataError(_WHAT, "more hashes shared than a sample has", _REMEDY, path=path)
    np.fill_diagonal(shared, sizes)
    k, size, max_hash = (int(value) for value in arrays["sample_sketch"])
    if not 0 < k < 32 or (size == 0) == (max_hash == 0):
        raise DataError(_WHAT, f"k = {k}, {size} hashes, up to {max_hash}", _REMEDY, path=path)
    names = tuple(str(graph.label_of(i)) for i in range(n))
    return Comparison(SketchKind(k, size, max_hash), names, sizes, shared), arrays["sample_kmers"]


def _above_diagonal(n: int) -> np.ndarray:
    return ~np.tri(n, dtype=bool)
