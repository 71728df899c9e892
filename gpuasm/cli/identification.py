"""Sketches of contigs, bins and reads, the genomes that they match, and what is written of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gpuasm.arrays import to_host
from gpuasm.errors import DataError
from gpuasm.io import write_tsv
from gpuasm.io.contigs import ContigRecord, read_contigs
from gpuasm.io.signature_databases import Match, SignatureDatabase
from gpuasm.io.text_tables import read_rows
from gpuasm.kmers import analyse_spectrum, tally_kmers
from gpuasm.samples.hashes import hashes_of_kmers
from gpuasm.samples.sketches import SketchKind, sketch_text
from gpuasm.sequence.reads import Reads

CONTIGS, READS = "contigs", "reads not in contigs"
SAME_SPECIES = 0.95
"""Least identity of two genomes of one species (doi:10.1038/s41467-018-07641-9)."""
_COLUMNS = ("subject", "rank", "name", "share", "ani", "genome_share", "bases", "genome_size")


@dataclass(frozen=True)
class Subject:
    """What is to be identified.

    Attributes
    ----------
    name : str
    hashes : (n,) uint64
    abundances : (n,) int64 or None
        Of reads: how often each k-mer occurs.
    share : float
        Of reads: the share of all their k-mers.
    """

    name: str
    hashes: np.ndarray
    abundances: np.ndarray | None = None
    share: float = 1.0


Found = list[tuple[Subject, list[Match]]]


def subjects_of_contigs(path: Path, bins: Path | None, database: SignatureDatabase, xp: Any) -> list[Subject]:
    """Sketch all contigs of a file, and those of each bin.

    Parameters
    ----------
    path
        FASTA.
    bins
        The bin of each contig, tab-separated without titles; None: there are no bins.
    database
        In which they will be searched.
    xp
        Where to compute.

    Raises
    ------
    DataError
        If a file has another format, or a bin names a contig that is not there.
    """
    contigs = {record.name: record for record in read_contigs(path)}
    members = {CONTIGS: list(contigs.values())} | (_bins(bins, contigs) if bins else {})
    return [Subject(name, _sketch(records, database, xp)) for name, records in members.items()]


def subject_of_reads(reads: Reads, database: SignatureDatabase, contigs: Subject) -> Subject:
    """Sketch the solid k-mers of reads that contigs do not contain.

    Parameters
    ----------
    reads : Reads
        In the memory of any device.
    database
        In which they will be searched.
    contigs
        The sketch of all contigs.
    """
    tally = tally_kmers(reads, database.k, min_count=2, with_followers=False)
    hashes, count = _up_to(database, to_host(hashes_of_kmers(tally.keys, database.k)), to_host(tally.count))
    is_solid = count >= analyse_spectrum(tally.histogram, database.k).threshold
    hashes, count = hashes[is_solid], count[is_solid].astype(np.int64)
    is_left = ~np.isin(hashes, contigs.hashes)
    share = float(count[is_left].sum() / count.sum()) if hashes.size else 0.0
    return Subject(READS, hashes[is_left], count[is_left], share)


def identify(subjects: list[Subject], database: SignatureDatabase) -> Found:
    """Return the genomes that each subject matches, the best first."""
    return [(subject, database.search(subject.hashes, subject.abundances)) for subject in subjects]


def write_identities(path: Path, found: Found) -> None:
    """Write a line for each match, and one without a name for the rest of each subject."""
    rows: list[tuple[Any, ...]] = []
    for subject, matches in found:
        for rank, match in enumerate(matches, start=1):
            ani = None if match.ani is None else round(match.ani, 4)
            shares = round(match.share, 4), ani, round(match.genome_share, 4)
            rows.append((subject.name, rank, match.name, *shares, match.bases, match.genome_size))
        rows.append((subject.name, None, "", round(_unknown(matches), 4), None, None, None, None))
    write_tsv(path, {name: [row[i] for row in rows] for i, name in enumerate(_COLUMNS)})


def results_of(found: Found) -> dict[str, Any]:
    """Return the figures for run.json.

    The genome has the size of the best match if it is of the same species and its sketch suffices for an estimate.
    """
    best = next((matches[0] for subject, matches in found if subject.name == CONTIGS and matches), None)
    is_same = best is not None and best.ani is not None and best.ani >= SAME_SPECIES
    return {
        "species": best.name if best else None,
        "ani": best.ani if best else None,
        "expected_genome_size": best.genome_size if best and is_same else None,
        "subjects": [
            {
                "name": subject.name,
                "share_of_reads": subject.share if subject.name == READS else None,
                "unknown_share": _unknown(matches),
                "matches": [vars(match) for match in matches],
            }
            for subject, matches in found
        ],
    }


def _unknown(matches: list[Match]) -> float:
    return max(0.0, 1.0 - sum(match.share for match in matches))


def _bins(path: Path, contigs: dict[str, ContigRecord]) -> dict[str, list[ContigRecord]]:
    bins: dict[str, list[ContigRecord]] = {}
    for number, cells in read_rows(path) if path.stat().st_size else ():
        if len(cells) != 2 or cells[0] not in contigs:
            expected = "a contig of the assembly and its bin"
            remedy = "give contigs2bin.tsv of gpuasm bin for these contigs"
            raise DataError(expected, repr("\t".join(cells)), remedy, path=path, place=f"line {number}")
        bins.setdefault(cells[1], []).append(contigs[cells[0]])
    return bins


def _sketch(records: list[ContigRecord], database: SignatureDatabase, xp: Any) -> np.ndarray:
    text = Reads.from_codes([record.codes for record in records])
    kind = SketchKind(database.k, 0, database.max_hash)
    return np.asarray(to_host(sketch_text(text.moved_to(xp), kind)))


def _up_to(database: SignatureDatabase, hashes: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the hashes that the sketches of the database can have, with their counts."""
    is_kept = hashes <= np.uint64(database.max_hash)
    return hashes[is_kept], count[is_kept]
