"""Survey of sequencing adapters: which reads are longer than their insert and continue into an adapter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.io.read_through import NO_INSERT, PairEvidence, first_segment_of_reads, inserts_of_pairs, window
from gpuasm.parallel import compiled, signatures
from gpuasm.sequence.encoding import encode
from gpuasm.sequence.reads import Reads
from gpuasm.threads import run_chunks

PROBE_LENGTH = 13

ADAPTERS = {
    "Illumina TruSeq": ("AGATCGGAAGAGCACACGTCTGAACTCCAGTCA", "AGATCGGAAGAGCGTCGTGTAGGGAAAGAGTGT"),
    "Illumina Nextera": ("CTGTCTCTTATACACATCT",),
    "Illumina small RNA": ("TGGAATTCTCGGGTGCCAAGG",),
    "MGI": ("AAGTCGGAGGCCAAGCGGTCTTAGGAAGACAA", "AAGTCGGATCGTAGCCATGTCGTTCTGTGAGCCAAGGAGTTG"),
}
"""Adapter sequences by kit, as published by the manufacturers. The first 13 bases of each are its probe."""

MANY = 0.005
"""Least share of reads with an adapter for trimming in automatic mode: one in 200."""

_BEGIN = 6
_BEGINS_A_WINDOW = 32 - _BEGIN + 1
_CONFIRMED = 0.1
_NONE = np.int8(-1)


@dataclass(frozen=True, eq=False, repr=False)
class AdapterSurvey:
    """Which reads run into which adapter.

    Attributes
    ----------
    kit : (n_reads,) int8
        The kit whose probe the read holds first, -1 without any; by the order of ``ADAPTERS``.
    position : (n_reads,) int32
        Bases before that probe.
    pairs : PairEvidence
        Inserts by the overlap of mates.
    kits : list of int
        The kits taken for adapters: a probe may as well be part of the genome.
    """

    kit: np.ndarray
    position: np.ndarray
    pairs: PairEvidence
    kits: list[int]

    @property
    def runs_into_adapter(self) -> np.ndarray:
        """(n_reads,) bool: by its own bases or by those of its mate."""
        running = np.isin(self.kit, self.kits)
        running[: 2 * self.pairs.insert.size] |= np.repeat(self.pairs.insert != NO_INSERT, 2)
        return running

    @property
    def share(self) -> float:
        """Of the reads that run into an adapter."""
        running = self.runs_into_adapter
        return float(running.mean()) if running.size else 0.0

    @property
    def name(self) -> str:
        """The kit seen most, the first bases of an unknown adapter, or nothing."""
        counts = np.bincount(self.kit[np.isin(self.kit, self.kits)], minlength=len(ADAPTERS))
        if counts.any():
            return list(ADAPTERS)[int(counts.argmax())]
        return f"unknown, {self.pairs.adapters[0][:PROBE_LENGTH]}" if self.pairs.adapters else ""

    def sequences(self, *, every_kit: bool = False) -> list[str]:
        """Return the adapters to look for; with ``every_kit`` those of all kits of which a probe was seen."""
        kits = np.unique(self.kit[self.kit >= 0]).tolist() if every_kit else self.kits
        known = [sequence for kit in kits for sequence in list(ADAPTERS.values())[kit]]
        # A kit's adapters change over the years: the sequence that follows these inserts is searched too.
        return known + [text for text in self.pairs.adapters if not any(other.startswith(text) for other in known)]


def survey_adapters(reads: Reads, n_pairs: int) -> AdapterSurvey:
    """Find the reads that run into an adapter; the order of the reads or pairs plays no part.

    Single reads are classified by a probe, the first 13 bases of a known adapter. In pairs a probe counts only if both
    mates contain it at the same position, as for a short insert. In a genome that contains the probe itself (the ends
    of transposon Tn5 are the Nextera adapter) it occurs at any position of one mate.

    Parameters
    ----------
    reads : Reads
        On the host.
    n_pairs
        Reads 0 to 2 * n_pairs - 1 are mates.
    """
    kit, position = _find_probes(reads)
    pairs = inserts_of_pairs(reads, n_pairs, kit, position)
    mates = kit[: 2 * n_pairs]
    at_insert = (mates >= 0) & (position[: 2 * n_pairs] == np.repeat(pairs.insert, 2))
    kits = []
    for number in range(len(ADAPTERS)):
        n_seen, n_confirmed = int((mates == number).sum()), int(at_insert[mates == number].sum())
        alone = bool((kit[2 * n_pairs :] == number).any())
        if n_confirmed > _CONFIRMED * n_seen or (alone and n_seen == 0):
            kits.append(number)
    return AdapterSurvey(kit, position, pairs, kits)


def _find_probes(reads: Reads) -> tuple[np.ndarray, np.ndarray]:
    names = [(name_of(s[:PROBE_LENGTH]), number) for number, kit in enumerate(ADAPTERS.values()) for s in kit]
    probes, kits = (np.array(column) for column in zip(*sorted(set(names)), strict=True))
    is_begin = np.zeros(1 << 2 * _BEGIN, np.bool_)  # by these bases, few positions are worth a closer look
    is_begin[probes >> 2 * (PROBE_LENGTH - _BEGIN)] = True
    kit, position = np.full(reads.n_reads, _NONE), np.zeros(reads.n_reads, np.int32)
    first_segment = first_segment_of_reads(reads)
    run_chunks(
        _scan, reads.n_reads, first_segment, reads.packed, reads.start, reads.length, probes.astype(np.uint64),
        kits.astype(np.int8), is_begin, kit, position,
    )  # fmt: skip
    return kit, position


def name_of(probe: str) -> int:
    """Return the bases of a text of at most 32 as a number, the last one lowest."""
    name = 0
    for code in encode(probe).tolist():
        name = name << 2 | code
    return name


@signatures(
    "int64, int64, int64[::1], uint64[::1], int64[::1], int32[::1], uint64[::1], int8[::1], boolean[::1], int8[::1], "
    "int32[::1]"
)
@compiled()
def _scan(first, last, first_segment, packed, start, length, probes, kits, is_begin, kit, position):
    for read in range(first, last):
        before = 0
        for segment in range(first_segment[read], first_segment[read + 1]):
            found, probe = _first_probe(packed, start[segment], length[segment] - PROBE_LENGTH + 1, probes, is_begin)
            if probe >= 0:
                kit[read], position[read] = kits[probe], before + found
                break
            before += length[segment]


@compiled()
def _first_probe(packed, first, n, probes, is_begin):
    """Return the first of n places at which there is a probe, and the probe's number; -1 and -1 if there is none."""
    top, mask = 64 - 2 * _BEGIN, np.uint64(is_begin.size - 1)
    for at in range(0, n, _BEGINS_A_WINDOW):
        bases = window(packed, first + at)
        for i in range(min(_BEGINS_A_WINDOW, n - at)):
            if not is_begin[bases >> np.uint64(top - 2 * i) & mask]:
                continue
            name = window(packed, first + at + i) >> np.uint64(64 - 2 * PROBE_LENGTH)
            for probe in range(probes.size):
                if name == probes[probe]:
                    return at + i, probe
    return -1, -1
