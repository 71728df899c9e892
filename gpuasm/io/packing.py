"""Compiled loops over found records: bases into 2-bit words, pieces cut at other letters, qualities into counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.io.scan import BASES, BASES_END, CLASS_OF_BYTE, LINE_END, NO_LETTER, QUALITY, QUALITY_END
from gpuasm.parallel import compiled
from gpuasm.sequence.encoding import BASES_PER_WORD, NOT_A_BASE

QUALITY_SAMPLE = 16
ALL_COUNTED = 10_000
"""Of the first so many records, then of one in 16, the qualities are counted: enough for means, and nearly free."""

_WORD_BITS = 64


@dataclass(frozen=True)
class PackedBlock:
    """The reads of one block of text.

    Attributes
    ----------
    words : (n_words,) uint64
    start, length, read : (n_pieces,) int64, int32, int64
        As in ``Reads``, counted from the block's first word and read.
    letters : (n_reads,) int64
        Letters of each read, those that are no bases included.
    """

    words: np.ndarray
    start: np.ndarray
    length: np.ndarray
    read: np.ndarray
    letters: np.ndarray

    @property
    def n_reads(self) -> int:
        return int(self.letters.size)


@compiled()
def _word_of(text, first, n):
    """Return n <= 32 bases from the highest bits on, and the union of their classes."""
    word, seen = np.uint64(0), np.uint64(0)
    for i in range(first, first + n):
        letter = CLASS_OF_BYTE[text[i]]
        word = (word << np.uint64(2)) | letter
        seen |= letter
    return word << np.uint64(_WORD_BITS - 2 * n) if n else word, seen


@compiled()
def _append(words, position, word):
    shift = np.uint64(2 * (position & (BASES_PER_WORD - 1)))
    words[position >> 5] |= word >> shift
    if shift:
        words[(position >> 5) + 1] = word << (np.uint64(_WORD_BITS) - shift)


@compiled()
def _pack_mixed(text, first, n, state, pieces):
    """Pack n letters one by one, cutting at those that are no bases; returns the offset of a byte that is no letter."""
    words, start, length, read = pieces
    for i in range(first, first + n):
        letter = CLASS_OF_BYTE[text[i]]
        if letter < NOT_A_BASE:
            if not state[3]:
                state[1] += 1
                start[state[1]], length[state[1]], read[state[1]], state[3] = state[0], 0, state[4], 1
            _append(words, state[0], letter << np.uint64(_WORD_BITS - 2))
            state[0] += 1
            length[state[1]] += 1
            state[2] += 1
        elif letter == NO_LETTER:
            return i
        elif letter != LINE_END:
            state[3] = 0
            state[2] += 1
    return -1


@compiled()
def _pack_record(text, row, state, pieces):
    words, start, length, read = pieces
    state[2], state[3] = 0, 0
    at, end = row[BASES], row[BASES_END]
    while at < end:
        n = min(BASES_PER_WORD, end - at)
        word, seen = _word_of(text, at, n)
        if seen < NOT_A_BASE:
            if not state[3]:
                state[1] += 1
                start[state[1]], length[state[1]], read[state[1]], state[3] = state[0], 0, state[4], 1
            _append(words, state[0], word)
            state[0] += n
            length[state[1]] += n
            state[2] += n
        else:
            wrong = _pack_mixed(text, at, n, state, pieces)
            if wrong >= 0:
                return wrong
        at += n
    return -1


@compiled()
def _pack_records(text, records, letters, pieces):
    # The state: next position, current piece, letters of this record, whether a piece is open, this record.
    state = np.zeros(5, dtype=np.int64)
    state[1] = -1
    for r in range(records.shape[0]):
        state[4] = r
        wrong = _pack_record(text, records[r], state, pieces)
        if wrong >= 0:
            return r, wrong, state[0], state[1] + 1
        letters[r] = state[2]
    return -1, 0, state[0], state[1] + 1


def pack_records(text: np.ndarray, records: np.ndarray) -> tuple[PackedBlock, int, int]:
    """Pack the bases of the records of a block.

    Parameters
    ----------
    text : (n,) uint8
    records : (n_records, 6) int64

    Returns
    -------
    block : PackedBlock
    wrong_record, wrong_byte : int
        The first record with a byte that no sequence holds and that byte's offset; -1 and 0 if there is none.
    """
    n_letters = int((records[:, BASES_END] - records[:, BASES]).sum())
    most_pieces = n_letters // 2 + records.shape[0]  # never touched beyond what is used, so it costs addresses only
    words = np.zeros(n_letters // BASES_PER_WORD + 2, dtype=np.uint64)
    start, length = np.empty(most_pieces, np.int64), np.empty(most_pieces, np.int32)
    read, letters = np.empty(most_pieces, np.int64), np.zeros(records.shape[0], np.int64)
    record, byte, n_bases, n = _pack_records(text, records, letters, (words, start, length, read))
    words = words[: (n_bases + BASES_PER_WORD - 1) // BASES_PER_WORD]
    return PackedBlock(words, start[:n], length[:n], read[:n], letters), record, byte


@compiled()
def count_qualities(text, records, n_before, counts):
    """Count quality bytes into (256,) int64 counts: of the file's first 10,000 records and every 16th after them.

    Which records count depends on their numbers in the file alone, not on where blocks end.
    """
    for r in range(records.shape[0]):
        number = n_before + r
        if number < ALL_COUNTED or number % QUALITY_SAMPLE == 0:
            for i in range(records[r, QUALITY], records[r, QUALITY_END]):
                counts[text[i]] += 1


@compiled()
def interleave_pieces(read_1, read_2, order):
    """Merge two ascending read numbers so that mates follow each other.

    Fills ``order`` with the pieces' indices, those of the second mates counted on after the first ones.
    """
    i, j = 0, 0
    for at in range(order.size):
        if j == read_2.size or (i < read_1.size and read_1[i] <= read_2[j]):
            order[at] = i
            i += 1
        else:
            order[at] = read_1.size + j
            j += 1
