"""Trim adapters from the 3' end of reads, by cutadapt (doi:10.14806/ej.17.1.200)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gpuasm.io.adapter_seeds import Seeds, may_contain_adapter
from gpuasm.io.adapters import AdapterSurvey, first_segment_of_reads
from gpuasm.io.read_through import NO_INSERT
from gpuasm.parallel import compiled, signatures
from gpuasm.sequence.encoding import BYTE_OF_CODE, base_at
from gpuasm.sequence.reads import Reads

_ERRORS = 0.1
_LEAST_MATCH = 5
"""Least bases of an adapter at the end of a read."""
_CHUNK = 1 << 14
_ALL = np.iinfo(np.int32).max


def trim_reads(reads: Reads, survey: AdapterSurvey, *, every_kit: bool = False) -> Reads:
    """Trim reads where an adapter begins.

    Mates longer than their insert are trimmed to it. In all other reads cutadapt searches the adapters found by the
    survey: up to one error in ten bases, indels included, anywhere in the read, or with at least five bases at its end.

    Parameters
    ----------
    reads : Reads
        On the host.
    survey
        What :func:`gpuasm.io.adapters.survey_adapters` found in these reads.
    every_kit
        Search the adapters of every kit of which a probe was found.

    Returns
    -------
    Reads
        Over the same packed bases; reads that consist of adapter alone are empty.
    """
    keep = np.full(reads.n_reads, _ALL, np.int32)
    insert = np.repeat(survey.pairs.insert, 2)
    short = insert != NO_INSERT
    keep[: insert.size][short] = insert[short]
    sequences = survey.sequences(every_kit=every_kit)
    if sequences:
        _search(reads, sequences, keep)
    return cut_reads(reads, keep)


def cut_reads(reads: Reads, keep: np.ndarray) -> Reads:
    """Return the reads with at most their first (n_reads,) ``keep`` bases; letters that are no bases do not count."""
    length = np.clip(keep[reads.read] - bases_before_segments(reads), 0, reads.length).astype(np.int32)
    return replace(reads, length=length).select(length > 0)


def bases_before_segments(reads: Reads) -> np.ndarray:
    """Return the bases of its read before each segment: (n_segments,) int64."""
    ends = np.cumsum(reads.length, dtype=np.int64)
    segment_start = ends - reads.length
    if not ends.size:
        return segment_start
    before_read = np.concatenate([segment_start, ends[-1:]])[first_segment_of_reads(reads)[:-1]]
    return segment_start - before_read[reads.read]


def _search(reads: Reads, sequences: list[str], keep: np.ndarray) -> None:
    """Search adapters by cutadapt in the reads that are not trimmed yet and may contain one."""
    from cutadapt.adapters import BackAdapter  # noqa: PLC0415 - only where there are adapters

    adapters = [BackAdapter(sequence, max_errors=_ERRORS, min_overlap=_LEAST_MATCH) for sequence in sequences]
    seeds = Seeds.of(sequences, error_rate=_ERRORS, shortest=_LEAST_MATCH)
    chosen = np.flatnonzero((keep == _ALL) & may_contain_adapter(reads, seeds))
    for numbers, text, offsets in spelled_reads(reads, chosen):
        for i, number in enumerate(numbers):
            read = text[offsets[i] : offsets[i + 1]]
            starts = [match.rstart for adapter in adapters if (match := adapter.match_to(read)) is not None]
            if starts:
                keep[number] = min(starts) - read.count("N", 0, min(starts))


def spelled_reads(reads: Reads, chosen: np.ndarray) -> Iterator[tuple[list[int], str, list[int]]]:
    """Yield the text of some reads by parts: their numbers, the letters, an N between segments, and where each begins.

    The last offset is where the last read ends.
    """
    first_segment = first_segment_of_reads(reads)
    for at in range(0, chosen.size, _CHUNK):
        numbers = chosen[at : at + _CHUNK]
        yield numbers.tolist(), *_spell(reads, first_segment, numbers)


def _spell(reads: Reads, first_segment: np.ndarray, numbers: np.ndarray) -> tuple[str, list[int]]:
    """Return the text of some reads, an N between their segments, and the offset of each read in it."""
    ends = np.concatenate([[0], np.cumsum(reads.length, dtype=np.int64)])
    first, last = first_segment[numbers], first_segment[numbers + 1]
    sizes = ends[last] - ends[first] + np.maximum(last - first - 1, 0)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    letters = np.full(offsets[-1], ord("N"), np.uint8)
    _write(reads.packed, reads.start, reads.length, first, last, offsets, BYTE_OF_CODE, letters)
    return letters.tobytes().decode("ascii"), offsets.tolist()


@signatures("uint64[::1], int64[::1], int32[::1], int64[::1], int64[::1], int64[::1], uint8[::1], uint8[::1]")
@compiled()
def _write(packed, start, length, first, last, offsets, byte_of_code, letters):
    for i in range(first.size):
        at = offsets[i]
        for segment in range(first[i], last[i]):
            for j in range(length[segment]):
                letters[at + j] = byte_of_code[base_at(packed, start[segment] + j)]
            at += length[segment] + 1
