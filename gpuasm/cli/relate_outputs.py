"""The files that ``gpuasm relate`` writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gpuasm.cli.sample_inputs import Sample
from gpuasm.errors import ResourceError, UsageError
from gpuasm.samples.distances import containment, containment_distance, jaccard, mash_distance
from gpuasm.samples.hash_index import PART
from gpuasm.samples.p_values import p_values
from gpuasm.samples.relation import Relation
from gpuasm.samples.sketches import Sketches
from gpuasm.samples.trees import newick

_BYTES_A_PAIR = 80
"""Of the matrices that are held at once: shared hashes, distances and what is written of them."""


def check_memory(sketches: Sketches, memory: int) -> None:
    """Raise ResourceError if the matrices of all pairs do not fit."""
    needed = _BYTES_A_PAIR * sketches.n**2 + 26 * sketches.hashes.size + 100 * min(sketches.hashes.size, PART)
    if needed > memory:
        raise ResourceError(
            f"{needed / 1e9:.1f} GB for all pairs of {sketches.n} samples", f"{memory / 1e9:.1f} GB",
            "compare fewer samples at a time, keep fewer hashes with -s or --scaled, or raise --memory",
        )  # fmt: skip


def inputs_of(samples: list[Sample]) -> list[dict[str, Any]]:
    """Return the entry of each file in run.json: the number and kind of its samples, and their bases."""
    found: dict[str, dict[str, Any]] = {}
    for sample in samples:
        row = found.setdefault(sample.file, {"path": sample.file, "kind": sample.kind, "samples": 0, "bases": 0})
        row["samples"] += 1
        row["bases"] += sample.bases or 0
    return list(found.values())


def summary(relation: Relation) -> list[str]:
    """Return the lines of the summary, a title and a value each."""
    nearest = [distance for _, distance in relation.nearest() if distance is not None]
    return [
        f"samples\t{relation.n}",
        f"distance\t{relation.kind}",
        f"median distance of the nearest\t{np.median(nearest):.6g}" if nearest else "nearest\tnone",
        f"edges\t{relation.graph.n_edges}",
        f"clusters\t{relation.n_clusters}",
    ]


def write_relation(folder: Path, relation: Relation, samples: list[Sample], *, within: float) -> None:
    """Write every file but run.json; of distances.tsv the pairs within a distance."""
    from gpuasm.cli.compared_samples import arrays_of_samples
    from gpuasm.io import atomic_output
    from gpuasm.io.distances import write_phylip
    from gpuasm.io.graph_writers import write_npz
    from gpuasm.io.graphs import write_graph
    from gpuasm.report.sample_figures import distance_figure

    names, tree = relation.comparison.names, relation.tree
    _write_samples(folder / "samples.tsv", relation, samples)
    _write_distances(folder / "distances.tsv", relation, samples, within=within)
    write_phylip(folder / "distances.phylip", names, relation.distance)
    for name in ("graph.tsv", "graph.mtx"):
        write_graph(folder / name, relation.graph, weights=relation.weights)
    write_npz(folder / "graph.npz", relation.graph, relation.weights, others=arrays_of_samples(relation))
    with atomic_output(folder / "graph.names") as file:
        file.writelines(f"{name}\n" for name in names)
    with atomic_output(folder / "tree.nwk") as file:
        file.write(f"{newick(tree)}\n" if tree else "")
    order = tree.leaves() if tree else list(range(len(names)))
    with atomic_output(folder / "distances.svg") as file:
        file.write(distance_figure(names, relation.distance, order) if names else "")


def _write_samples(path: Path, relation: Relation, samples: list[Sample]) -> None:
    from gpuasm.io import write_tsv

    names, nearest = relation.comparison.names, relation.nearest()
    write_tsv(
        path,
        {
            "sample": names,
            "file": [sample.file for sample in samples],
            "kind": [sample.kind for sample in samples],
            "sequences": [sample.sequences for sample in samples],
            "bases": [sample.bases for sample in samples],
            "min_count": [sample.min_count for sample in samples],
            "kmers": np.round(relation.kmers).astype(np.int64),
            "hashes": relation.comparison.sizes,
            "cluster": relation.cluster + 1,
            "neighbours": relation.graph.out_degree,
            "nearest": [names[other] if other >= 0 else None for other, _ in nearest],
            "distance": [distance for _, distance in nearest],
        },
    )


def _write_distances(path: Path, relation: Relation, samples: list[Sample], *, within: float) -> None:
    from gpuasm.io.distances import write_pairs

    comparison = relation.comparison
    bases = relation.kmers.copy()
    for number, sample in enumerate(samples):
        if sample.kind == "assembly" and sample.bases:  # of reads and sketches the genome's size is an estimate
            bases[number] = sample.bases
    columns: dict[str, Any] = {
        "shared": comparison.shared, "compared": comparison.compared, "jaccard": jaccard(comparison),
        "mash_distance": mash_distance(comparison), "p_value": p_values(comparison, bases),
    }  # fmt: skip
    if comparison.kind.is_scaled:
        share = containment(comparison)
        columns |= {
            "containment_1": share, "containment_2": share.T, "containment_distance": containment_distance(comparison)
        }  # fmt: skip
    text = {title: "{:d}" if values.dtype.kind == "i" else "{:.6g}" for title, values in columns.items()}
    write_pairs(path, comparison.names, columns, text=text, kept=relation.distance <= within)


def write_sketches(path: Path, samples: list[Sample], sketches: Sketches) -> None:
    """Write sketches as sourmash does.

    Raises
    ------
    UsageError
        If hashes have 32 bits, which the format does not know.
    """
    from gpuasm.io.signatures import Signature, write_signatures

    kind = sketches.kind
    if kind.bits != 64:
        raise UsageError("hashes of 64 bits", "Mash's of 32 bits, as up to k = 16", "take --scaled, or a larger -k")
    write_signatures(
        path,
        (
            Signature(sample.name, sample.file, kind.k, kind.size, kind.max_hash, kind.seed, sketches.of(number))
            for number, sample in enumerate(samples)
        ),
    )
