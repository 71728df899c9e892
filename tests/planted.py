"""A genome with a family of repeats that is known, and its assembly graph."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gpuasm.assembly import unitigs_of_reads
from gpuasm.cli.outputs import write_graph
from gpuasm.io.graph_text import line_blocks, numbered_lines
from gpuasm.sequence.encoding import decode, reverse_complement
from gpuasm.sequence.reads import Reads

COPIES, ELEMENT = 10, 5000
_ROOM = 1000


@dataclass(frozen=True)
class PlantedGraph:
    """An assembly graph in a file, and which segments lie within the planted element.

    Attributes
    ----------
    path
        GFA 1.
    names
        All segments, in the order of the file.
    planted
        Those whose sequence stands in the element, on either strand.
    """

    path: Path
    names: list[str]
    planted: list[str]


def planted_genome(
    *, length: int = 400_000, copies: int = COPIES, element: int = ELEMENT, pairs: int = 150, seed: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Return the codes of a random genome with copies of an element on both strands, and the element.

    So that the graph has more to tell apart, ``pairs`` other elements of 200 to 900 bases stand in it twice each.
    """
    rng = np.random.default_rng(seed)
    genome = rng.integers(0, 4, length).astype(np.uint8)
    family = rng.integers(0, 4, element).astype(np.uint8)
    sites = rng.permutation(length // _ROOM // 6)[:copies] * 6 * _ROOM  # a site has room for an element and a gap
    for number, site in enumerate(sites.tolist()):
        genome[site : site + element] = family if number % 2 else reverse_complement(family)
    taken = np.zeros(length // _ROOM, bool)
    for site in sites.tolist():
        taken[site // _ROOM : (site + element) // _ROOM + 1] = True
    free = rng.permutation(np.flatnonzero(~taken))[: 2 * pairs] * _ROOM
    for first, second in free[: free.size // 2 * 2].reshape(-1, 2).tolist():
        size = int(rng.integers(200, 900))
        genome[second : second + size] = genome[first : first + size]
    return genome, family


def planted_graph(folder: Path, *, k: int = 31, **options: int) -> PlantedGraph:
    """Write the unitigs of such a genome, as from reads without errors, as GFA, and tell the element's segments."""
    genome, family = planted_genome(**options)
    path = folder / "planted.gfa"
    write_graph(path, unitigs_of_reads(Reads.from_strings([decode(genome)]), k, min_count=1))
    texts = decode(family), decode(reverse_complement(family))
    names, planted = [], []
    for _, line in numbered_lines(line_blocks(path)):
        if line.startswith("S\t"):
            name, sequence = line.split("\t")[1:3]
            names.append(name)
            planted += [name] * any(sequence in text for text in texts)
    return PlantedGraph(path, names, planted)
