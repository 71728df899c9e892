"""Align all reads to the contigs as written, for ``gpuasm assemble --bam-out``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from gpuasm import __version__
from gpuasm.arrays import array_namespace, to_host
from gpuasm.assembly.alignment.contig_alignment import Alignments, align_reads
from gpuasm.assembly.alignment.mate_rescue import rescue_mates
from gpuasm.assembly.alignment.seed_index import Targets, targets_of
from gpuasm.assembly.contig import Contig, bounds_of
from gpuasm.assembly.pairs.insert_sizes import find_fragments, longest_insert
from gpuasm.cli.manifest import command_line
from gpuasm.io.aligned_bam import BYTES_PER_READ, Placements, Reference, write_aligned_bam
from gpuasm.io.read_texts import ReadTexts
from gpuasm.resources import require_memory, resident_bytes
from gpuasm.sequence.encoding import reverse_complement, unpack
from gpuasm.sequence.reads import Reads

_BATCH = 1 << 22
"""Segments at a time."""
_BYTES_OF_BATCH = 350
"""Memory for a segment of a batch: alignments, and placements in types of eight bytes."""
_UNIQUE, _BY_MATE, _SEVERAL = 60, 20, 0
"""Mapping qualities: by a seed that occurs once, by the place of the mate, one of several places."""


def require_memory_for(reads: Reads, budget: int) -> None:
    """Raise an error if the budget does not suffice to write reads as BAM, in addition to what the process has now.

    Raises
    ------
    ResourceError
        With the amount that is needed.
    """
    work = BYTES_PER_READ * reads.n_reads + _BYTES_OF_BATCH * min(_BATCH, reads.n_segments)
    require_memory(resident_bytes() + work, budget, "writing the aligned reads")


def write_aligned_reads(
    path: Path,
    contigs: Sequence[Contig],
    reads: Reads | None,
    *,
    n_pairs: int = 0,
    texts: ReadTexts | None = None,
    threads: int = 1,
) -> dict[str, int]:
    """Align reads to contigs and write them as BAM with an index.

    The contigs are the final ones: their bases and ends are not those that verification aligned reads to.

    Parameters
    ----------
    path
        The file; its index is PATH.bai.
    contigs
        What to align to.
    reads
        All reads, on the host or a device; None if they could not be read.
    n_pairs, texts
        As for `gpuasm.io.aligned_bam.write_aligned_bam`.
    threads
        That compress the file.

    Returns
    -------
    Counts for the stage.
    """
    reads = Reads.from_strings([]) if reads is None else reads
    host = reads.moved_to(np)
    placements, longest = Placements.joined([]), 0
    if contigs and reads.n_segments:
        placements, longest = _place(contigs, reads, host)
    write_aligned_bam(
        path,
        host,
        placements,
        references=[Reference(contig.name, contig.length, contig.is_circular) for contig in contigs],
        longest=longest,
        program={"ID": "gpuasm", "PN": "gpuasm", "VN": __version__, "CL": command_line()},
        n_pairs=n_pairs,
        texts=texts,
        threads=threads,
    )
    aligned = int(np.unique(host.read[placements.segment]).size)
    return {"reads": reads.n_reads, "aligned": aligned}


def _place(contigs: Sequence[Contig], reads: Reads, host: Reads) -> tuple[Placements, int]:
    """Return the placements of all segments, and the bases of the longest fragments."""
    targets, index = targets_of(contigs, reads)
    found: list[Placements] = []
    longest: int | None = None
    for begin, batch in _batches(reads, host):
        first, second = align_reads(batch, targets, index)
        if longest is None:
            longest = longest_insert(find_fragments(batch, first, targets)) if reads.paired else 0
        if longest:
            rescued = rescue_mates(batch, first, targets, longest=longest)
            xp = array_namespace(first.segment)
            first = first.where(xp.flatnonzero(~xp.isin(first.segment, rescued.segment)))
            found.append(_on_contigs(rescued, targets, contigs, begin=begin, is_rescued=True))
        found += [_on_contigs(own, targets, contigs, begin=begin) for own in (first, second)]
    placements = Placements.joined(found)
    return _with_mismatches_of_parts(placements, host, contigs), longest or 0


def _batches(reads: Reads, host: Reads) -> Iterator[tuple[int, Reads]]:
    """Yield batches of successive segments, mates together, each with the number of its first segment."""
    begin = 0
    while begin < host.n_segments:
        end = min(begin + _BATCH, host.n_segments)
        if end < host.n_segments:
            end = int(np.searchsorted(host.read, host.read[end] // 2 * 2))
        yield begin, reads.select(slice(begin, end))
        begin = end


def _on_contigs(
    aligned: Alignments,
    targets: Targets,
    contigs: Sequence[Contig],
    *,
    begin: int,
    is_rescued: bool = False,
) -> Placements:
    """Return alignments to targets as placements on contigs, in parts where they pass the end of a circular one.

    Mismatches of such parts are -1. ``begin`` is the number of the first segment of the batch.
    """
    segment, at, target, first, last = (
        to_host(column).astype(np.int64)
        for column in (aligned.segment, aligned.at, aligned.target, aligned.begin, aligned.end)
    )
    quality = np.where(to_host(aligned.is_unique), _BY_MATE if is_rescued else _UNIQUE, _SEVERAL)
    start, size = targets.start[target], targets.size[target]
    at, first, last = at - start, first - start, last - start
    turn = first // size
    n_parts = np.where(targets.is_circular[target], (last - 1) // size - turn + 1, 1)
    row = np.repeat(np.arange(segment.size), n_parts)
    number = np.arange(row.size) - np.repeat(np.cumsum(n_parts) - n_parts, n_parts)
    low = (turn[row] + number) * size[row]
    part_first = np.maximum(first[row], low)
    part_last = np.where(n_parts[row] > 1, np.minimum(last[row], low + size[row]), last[row])
    bounds = bounds_of(contigs)
    offset = targets.offset[target[row]]
    reference = np.searchsorted(bounds, offset, side="right") - 1
    mismatches = np.where(n_parts > 1, -1, to_host(aligned.mismatches))
    found = Placements(
        segment=segment[row] + begin,
        reference=reference,
        position=offset - bounds[reference] + part_first - low,
        is_reversed=to_host(aligned.is_reversed).astype(np.int64)[row],
        skipped=part_first - at[row],
        size=part_last - part_first,
        mismatches=mismatches.astype(np.int64)[row],
        quality=quality[row],
    )
    return Placements.joined([found])  # in small types


def _with_mismatches_of_parts(placements: Placements, reads: Reads, contigs: Sequence[Contig]) -> Placements:
    """Return placements with the mismatches of parts counted, which are few."""
    mismatches = placements.mismatches.copy()
    for row in np.flatnonzero(mismatches < 0).tolist():
        own = placements.where(np.array([row]))
        segment, skipped, size, at = (int(c[0]) for c in (own.segment, own.skipped, own.size, own.position))
        codes = unpack(reads.packed, int(reads.start[segment]), int(reads.length[segment]))
        codes = reverse_complement(codes) if own.is_reversed[0] else codes
        there = contigs[int(own.reference[0])].codes[at : at + size]
        mismatches[row] = np.count_nonzero(codes[skipped : skipped + size] != there)
    return replace(placements, mismatches=mismatches)
