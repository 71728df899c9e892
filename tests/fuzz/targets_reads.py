"""Fuzzed readers of reads: FASTQ, FASTA, compressed, mates, SAM, BAM and CRAM."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pysam

from gpuasm.io import read_reads
from gpuasm.io.examination import examine
from tests.fuzz.target import Target, packed, texts

_KIND, _KIND_OF_ALIGNMENTS = "FASTQ and FASTA, also compressed", "SAM, BAM and CRAM"
_LENGTH = 60
_MODES = {"SAM": ("w", []), "BAM": ("wb", []), "CRAM": ("wc", []), "CRAM 2.1": ("wc", [b"version=2.1"])}
"""CRAM 2.1 has no checksums, so that changes come further."""


def fastq(n: int, *, mate: int = 1, seed: int = 1) -> bytes:
    """Return reads of random bases with an adapter in some, N in some, and names of mates."""
    return b"".join(
        b"@m:1:%d/%d x\n%s\n+\n%s\n" % (i, mate, bases, quality) for i, (bases, quality) in enumerate(_reads(n, seed))
    )


def fasta(n: int, *, seed: int = 1) -> bytes:
    """Return such reads as FASTA, each on two lines."""
    return b"".join(b">r%d\n%s\n%s\n" % (i, bases[:40], bases[40:]) for i, (bases, _) in enumerate(_reads(n, seed)))


def _reads(n: int, seed: int) -> list[tuple[bytes, bytes]]:
    rng, found = Random(seed), []
    for i in range(n):
        bases = bytes(rng.choices(b"ACGT", k=_LENGTH))
        if i % 3 == 1:
            bases = bases[:30] + b"AGATCGGAAGAGCACACGTCTGAACTCCAGTCA"[: _LENGTH - 30]
        found.append((bases if i % 4 else bases[:20] + b"N" + bases[21:], bytes(rng.choices(range(35, 74), k=_LENGTH))))
    return found


def alignments(folder: Path, kind: str) -> list[bytes]:
    """Return a file of unaligned mates, and one of alignments on both strands, in SAM, BAM or CRAM."""
    mode, options = _MODES[kind]
    found, path = [], folder / "alignments"
    for is_aligned in (False, True):
        header = {"HD": {"VN": "1.6"}, "SQ": [{"SN": "c", "LN": 1000}], "RG": [{"ID": "a", "SM": "s"}]}
        options = [*options, b"no_ref=1"] if mode == "wc" else options
        with pysam.AlignmentFile(str(path), mode, header=header, format_options=options) as file:
            for i, (bases, quality) in enumerate(_reads(6, 3)):
                file.write(_record(i, (bases.decode(), quality.decode()), is_aligned=is_aligned, header=file.header))
        found.append(path.read_bytes())
    return found


def _record(i: int, read: tuple[str, str], *, is_aligned: bool, header: pysam.AlignmentHeader) -> pysam.AlignedSegment:
    record = pysam.AlignedSegment(header)
    record.query_name, record.query_sequence = f"p{i // 2}", read[0]
    record.query_qualities = pysam.qualitystring_to_array(read[1])
    record.flag = 1 | (64, 128)[i % 2] | (0 if is_aligned else 12) | (16 if is_aligned and i % 2 else 0)
    if is_aligned:
        record.reference_id, record.reference_start, record.mapping_quality = 0, 10 * i, 60
        record.cigarstring = f"5S{_LENGTH - 5}M"
        record.set_tag("NM", 0)
    record.set_tag("RG", "a")
    return record


def _in_turn() -> bytes:
    records = [fastq(4, mate=mate).split(b"@m")[1:] for mate in (1, 2)]
    return b"".join(b"@m" + record for pair in zip(*records, strict=True) for record in pair)


def _read_single(path: Path) -> None:
    read_reads(single=[path])


def _read_mates(path: Path) -> None:
    other = path.with_name("other")
    if not other.exists():
        other.write_bytes(fastq(6, mate=2, seed=2))
    read_reads(pairs=[(path, other)])


def _read_alignments(path: Path) -> None:
    read_reads(bam=[path])


def _examine(path: Path) -> None:
    found = examine({"single": [path]})
    found.as_dict()
    if found.problems:
        raise found.problems[0]


def _compressed(name: str) -> Callable[[Path], list[bytes]]:
    return lambda _: [packed(fastq(40))[name], packed(fasta(40))[name]]


def _aligned(kind: str) -> Callable[[Path], list[bytes]]:
    return lambda folder: alignments(folder, kind)


_WINDOWS = fastq(4).replace(b"\n", b"\r\n")
TARGETS = {
    "FASTQ": Target(_KIND, _read_single, lambda _: [fastq(6), _WINDOWS]),
    "FASTA": Target(_KIND, _read_single, lambda _: [fasta(6), fasta(3).lower()]),
    **{name: Target(_KIND, _read_single, _compressed(name)) for name in packed(b"")},
    "mates in two files": Target(_KIND, _read_mates, texts(fastq(6))),
    "mates in turn": Target(_KIND, lambda p: read_reads(interleaved=[p]), lambda _: [_in_turn()]),
    "examined reads": Target(_KIND, _examine, texts(fastq(12), fasta(12))),
    **{kind: Target(_KIND_OF_ALIGNMENTS, _read_alignments, _aligned(kind)) for kind in _MODES},
    "BAM among reads": Target(_KIND_OF_ALIGNMENTS, _read_single, _aligned("BAM")),
}
