"""What commands write of graphs and spectra."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gpuasm.cli.naming import PLAIN, Naming
from gpuasm.io import Link, Segment, atomic_output, write_fasta, write_gfa, write_tsv
from gpuasm.io import Path as Walk
from gpuasm.threads import ordered_map

if TYPE_CHECKING:
    from gpuasm.assembly import Contig, Scaffold, UnitigGraph
    from gpuasm.assembly.pairs.insert_sizes import InsertSizes
    from gpuasm.kmers.spectrum import Spectrum


def segment_names(n: int, naming: Naming = PLAIN) -> list[str]:
    """Name the segments of a graph by their order."""
    return [naming.name(f"unitig_{u + 1:06d}") for u in range(n)]


def write_graph(
    path: Path | str, graph: UnitigGraph, contigs: list[Contig] | None = None, *, naming: Naming = PLAIN
) -> None:
    """Write a unitig graph as GFA 1, with a path for each contig; a circular unitig has a link to itself.

    Contigs of an earlier graph are segments behind the unitigs. The segment of a whole contig has the contig's depth.
    """
    depth, counts = graph.depth.tolist(), (graph.count // graph.unit).tolist()
    isolated: list[Contig] = []
    paths = []
    for contig in contigs or []:
        if contig.unitig >= 0:
            depth[contig.unitig] = contig.depth
        if contig.source < 0:
            isolated.append(contig)
        paths.append((contig.name, contig.source if contig.source >= 0 else 2 * (graph.n + len(isolated) - 1)))
    names = segment_names(graph.n + len(isolated), naming)
    segments = [
        Segment(names[u], graph.bases[graph.start[u] : graph.start[u + 1]], counts[u], depth[u]) for u in range(graph.n)
    ]
    own_names = names[graph.n :]
    segments += [Segment(own, c.codes, None, c.depth) for own, c in zip(own_names, isolated, strict=True)]
    walks = [Walk(name, [names[source >> 1] + "+-"[source & 1]]) for name, source in paths]
    write_gfa(path, segments, _links(graph, names), paths=walks)


def _links(graph: UnitigGraph, names: list[str]) -> Iterator[Link]:
    for source, target in zip(graph.arc_from.tolist(), graph.arc_to.tolist(), strict=True):
        if (source, target) <= (target ^ 1, source ^ 1):  # an arc and its twin are one link
            yield Link(names[source >> 1], "+-"[source & 1], names[target >> 1], "+-"[target & 1], graph.k - 1)
    for u in np.flatnonzero(graph.is_circular).tolist():
        yield Link(names[u], "+", names[u], "+", graph.k - 1)


def write_unitigs(path: Path | str, graph: UnitigGraph) -> None:
    """Write the unitigs of a graph as FASTA; of a circular one the first k - 1 bases are repeated at its end."""
    names = segment_names(graph.n)
    circular = ["yes" if c else "no" for c in graph.is_circular.tolist()]
    write_fasta(
        path,
        names,
        [
            f"length={n} depth={d:.1f} circular={c}"
            for n, d, c in zip(graph.length.tolist(), graph.depth.tolist(), circular, strict=True)
        ],
        [graph.bases[graph.start[u] : graph.start[u + 1]] for u in range(graph.n)],
    )


def write_together(writers: Iterable[Callable[[], None]]) -> None:
    """Write several files at once: each waits for the disk."""
    for _ in ordered_map(lambda write: write(), writers):
        pass


def writers_of_scaffolds(folder: Path, scaffolds: list[Scaffold], naming: Naming) -> list[Callable[[], None]]:
    """Return what writes scaffolds.fasta, scaffolds.agp and gaps.tsv, one each."""
    return [
        partial(write_scaffolds, folder / "scaffolds.fasta", scaffolds, naming),
        partial(write_agp, folder / "scaffolds.agp", scaffolds),
        partial(write_gap_table, folder / "gaps.tsv", scaffolds),
    ]


def write_scaffolds(path: Path | str, scaffolds: list[Scaffold], naming: Naming = PLAIN) -> None:
    """Write scaffolds as FASTA: ``>scaffold_000001 length=285805 contigs=2 gaps=116 circular=no``, gaps as N."""
    descriptions = [
        f"length={s.length} contigs={len(s.parts)} gaps={sum(part.gap for part in s.parts)} "
        f"{naming.shape(is_circular=s.is_circular)}"
        for s in scaffolds
    ]
    write_fasta(path, [s.name for s in scaffolds], descriptions, [s.codes for s in scaffolds])


def write_agp(path: Path | str, scaffolds: list[Scaffold]) -> None:
    """Write what scaffolds are made of as AGP 2.1: lines of contigs (W) and of gaps (N), places counted from 1."""
    with atomic_output(path) as file:
        file.write("##agp-version\t2.1\n")
        for scaffold in scaffolds:
            at, number = 1, 1
            for part in scaffold.parts:
                size, strand = part.end - part.begin, "-" if part.is_reverse else "+"
                span = (part.contig.name, part.begin + 1, part.end, strand)
                file.write(_agp_line(scaffold.name, at, size, number, "W", *span))
                at, number = at + size, number + 1
                if part.gap:
                    file.write(_agp_line(scaffold.name, at, part.gap, number, "N", part.gap, *_AGP_EVIDENCE))
                    at, number = at + part.gap, number + 1


_AGP_EVIDENCE = ("scaffold", "yes", "paired-ends")


def _agp_line(name: str, at: int, size: int, *fields: object) -> str:
    return f"{name}\t{at}\t{at + size - 1}\t" + "\t".join(map(str, fields)) + "\n"


def write_gap_table(path: Path | str, scaffolds: list[Scaffold]) -> None:
    """Write a row for each gap in scaffolds: what it lies between, its N, the size by pairs, and how many pairs."""
    gaps = [(s.name, a, b) for s in scaffolds for a, b in itertools.pairwise(s.parts)]
    joins = [before.join for _, before, _ in gaps]
    write_tsv(
        path,
        {
            "scaffold": [name for name, _, _ in gaps],
            "before": [a.contig.name + "+-"[a.is_reverse] for _, a, _ in gaps],
            "after": [b.contig.name + "+-"[b.is_reverse] for _, _, b in gaps],
            "gap": [a.gap for _, a, _ in gaps],
            "estimate": [join.size if join else None for join in joins],
            "standard_error": [f"{join.sd:.1f}" if join else None for join in joins],
            "pairs": [join.n_pairs if join else None for join in joins],
        },
    )


def write_spectrum(path: Path | str, histogram: np.ndarray) -> None:
    """Write how many distinct k-mers there are of each multiplicity that occurs."""
    multiplicity, kmers = rows_of_spectrum(histogram)
    write_tsv(path, {"multiplicity": multiplicity, "kmers": kmers})


def write_insert_sizes(path: Path | str, inserts: InsertSizes | None) -> None:
    """Write how many pairs within unitigs have each insert size that occurs; none where too few were measured."""
    sizes, pairs = rows_of_spectrum(inserts.histogram if inserts else np.zeros(1, np.int64))
    write_tsv(path, {"insert_size": sizes, "pairs": pairs})


def rows_of_spectrum(histogram: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the multiplicities that occur, and how many distinct k-mers there are of each."""
    multiplicity = np.flatnonzero(histogram)
    return multiplicity, histogram[multiplicity]


def describe_spectrum(spectrum: Spectrum) -> dict[str, object]:
    """Return the key figures of a spectrum, for run.json."""
    return {
        "k": spectrum.k,
        "distinct_kmers": int(spectrum.histogram.sum()),
        "threshold": spectrum.threshold,
        "threshold_reason": spectrum.reason,
        "valley": spectrum.valley,
        "peak": spectrum.peak,
        "genome_size": spectrum.genome_size,
        "error_rate": None if spectrum.error_rate is None else round(spectrum.error_rate, 6),
    }
