"""Reads cut where an adapter begins: the only module that names cutadapt."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuasm.io.adapter_words import Words, may_hold
from gpuasm.io.adapters import AdapterSurvey, pieces_of_reads
from gpuasm.io.read_through import NO_INSERT
from gpuasm.parallel import compiled
from gpuasm.sequence.encoding import BYTE_OF_CODE, base_at
from gpuasm.sequence.reads import Reads

_ERRORS = 0.1
_LEAST_MATCH = 5
"""Bases of an adapter at the end of a read; by chance, one read in 1,000 loses five to its end."""
_CHUNK = 1 << 14
_ALL = np.iinfo(np.int32).max


def trim_reads(reads: Reads, survey: AdapterSurvey, *, every_kit: bool = False) -> Reads:
    """Cut reads where an adapter begins.

    Mates that read through their insert are cut to it. In all other reads cutadapt (10.14806/ej.17.1.200) looks for the
    adapters that were found, with one error in ten bases, insertions and deletions too, anywhere in the read and at
    least five bases long at its end.

    Parameters
    ----------
    reads : Reads
        On the host.
    survey
        What :func:`gpuasm.io.adapters.survey_adapters` found in these reads.
    every_kit
        Look for every adapter of which any sign was seen.

    Returns
    -------
    Reads
        Over the same words; reads that are nothing but adapter have no piece.
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
    ends = np.cumsum(reads.length, dtype=np.int64)
    first_piece = pieces_of_reads(reads)
    before_piece = ends - reads.length
    before_read = np.concatenate([before_piece, ends[-1:]])[first_piece[:-1]] if ends.size else before_piece
    before = before_piece - before_read[reads.read] if ends.size else before_piece
    length = np.clip(keep[reads.read] - before, 0, reads.length).astype(np.int32)
    return replace(reads, length=length).select(length > 0)


def _search(reads: Reads, sequences: list[str], keep: np.ndarray) -> None:
    """Let cutadapt find adapters in the reads that are not cut yet and may hold one."""
    from cutadapt.adapters import BackAdapter  # noqa: PLC0415 - only where there are adapters

    adapters = [BackAdapter(sequence, max_errors=_ERRORS, min_overlap=_LEAST_MATCH) for sequence in sequences]
    first_piece = pieces_of_reads(reads)
    words = Words.of(sequences, error_rate=_ERRORS, shortest=_LEAST_MATCH)
    chosen = np.flatnonzero((keep == _ALL) & may_hold(reads, words))
    for at in range(0, chosen.size, _CHUNK):
        numbers = chosen[at : at + _CHUNK]
        text, offsets = _spell(reads, first_piece, numbers)
        for i, number in enumerate(numbers.tolist()):
            read = text[offsets[i] : offsets[i + 1]]
            starts = [match.rstart for adapter in adapters if (match := adapter.match_to(read)) is not None]
            if starts:
                keep[number] = min(starts) - read.count("N", 0, min(starts))


def _spell(reads: Reads, first_piece: np.ndarray, numbers: np.ndarray) -> tuple[str, list[int]]:
    """Return the text of some reads, N between their pieces, and where each begins in it."""
    ends = np.concatenate([[0], np.cumsum(reads.length, dtype=np.int64)])
    first, last = first_piece[numbers], first_piece[numbers + 1]
    sizes = ends[last] - ends[first] + (last - first - 1)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    letters = np.full(offsets[-1], ord("N"), np.uint8)
    _write(reads.words, reads.start, reads.length, first, last, offsets, BYTE_OF_CODE, letters)
    return letters.tobytes().decode("ascii"), offsets.tolist()


@compiled()
def _write(words, start, length, first, last, offsets, byte_of_code, letters):
    for i in range(first.size):
        at = offsets[i]
        for piece in range(first[i], last[i]):
            for j in range(length[piece]):
                letters[at + j] = byte_of_code[base_at(words, start[piece] + j)]
            at += length[piece] + 1
