"""Compiled loops over records: pack bases in 2 bits each, cut reads at other letters, count qualities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.io.scan import BASES, BASES_END, CLASS_OF_BYTE, LINE_END, NO_LETTER, QUALITY, QUALITY_END, eight_bytes
from gpuasm.parallel import compiled, inlined, signatures
from gpuasm.sequence.encoding import BASES_PER_WORD, IS_ONE_OF_TWO, NOT_A_BASE

QUALITY_SAMPLE = 16
ALL_COUNTED = 10_000
"""Of the first so many records, then of one in 16, the qualities are counted: enough for means, and nearly free."""

_BITS = 64
_LOWEST_BITS = np.uint64(0x0101010101010101)


@dataclass(frozen=True, eq=False, repr=False)
class PackedBlock:
    """The reads of one block of text.

    Attributes
    ----------
    packed : (n_packed,) uint64
    start, length, read : (n_segments,) int64, int32, int64
        As in ``Reads``, counted from the block's first bases and read.
    letters : (n_reads,) int64
        Letters of each read, those that are no bases included.
    """

    packed: np.ndarray
    start: np.ndarray
    length: np.ndarray
    read: np.ndarray
    letters: np.ndarray

    @property
    def n_reads(self) -> int:
        return int(self.letters.size)


@inlined()
def _eight_codes(letters):
    """Return the 16 bits of 8 bases, and a number that is not 0 where one of the 8 bytes is no base.

    Bits 1 and 2 of the letters A, C, T (or U), G are 0, 1, 2, 3 in either case. The letter of such bits is
    computed back and compared, so that every other byte is noticed.
    """
    bits = (letters >> np.uint64(1)) & np.uint64(0x0303030303030303)
    is_t = (bits >> np.uint64(1)) & ~bits & _LOWEST_BITS
    letter_meant = (np.uint64(0x4141414141414141) | bits << np.uint64(1)) ^ (is_t | is_t << np.uint64(4))
    strange = ((letters & np.uint64(0xDFDFDFDFDFDFDFDF)) ^ letter_meant) & ~is_t
    codes = bits ^ ((bits >> np.uint64(1)) & _LOWEST_BITS)
    codes = (codes << np.uint64(2) | codes >> np.uint64(8)) & np.uint64(0x000F000F000F000F)
    codes = (codes << np.uint64(4) | codes >> np.uint64(16)) & np.uint64(0x000000FF000000FF)
    return (codes << np.uint64(8) | codes >> np.uint64(32)) & np.uint64(0xFFFF), strange


@compiled()
def _last_bases(text, first, n):
    """Return n < 32 bases from the highest bits on, and a number that is not 0 where one is no base."""
    bases, strange = np.uint64(0), np.uint64(0)
    for i in range(n & ~7, n):
        letter = CLASS_OF_BYTE[text[first + i]]
        bases |= letter << np.uint64(_BITS - 2 - 2 * i)
        strange |= letter >> np.uint64(2)
    for i in range(0, n & ~7, 8):
        codes, wrong = _eight_codes(eight_bytes(text, first + i))
        bases |= codes << np.uint64(_BITS - 16 - 2 * i)
        strange |= wrong
    return bases, strange


@compiled()
def _pack_run(text, first, last, packed, position, pending):
    """Append letters to the packed bases from ``position`` on.

    ``pending`` holds the bases of the last, incomplete uint64; complete ones are final. Packing a letter that is no
    base is undone by a return to the former position and pending bases. Returns the pending bases, and a
    number that is not 0 in that case.
    """
    at, slot, strange = first, position >> 5, np.uint64(0)
    shift = np.uint64(2 * (position & (BASES_PER_WORD - 1)))
    rest = np.uint64(_BITS) - shift
    while at + BASES_PER_WORD <= last:
        a, wrong_a = _eight_codes(eight_bytes(text, at))
        b, wrong_b = _eight_codes(eight_bytes(text, at + 8))
        c, wrong_c = _eight_codes(eight_bytes(text, at + 16))
        d, wrong_d = _eight_codes(eight_bytes(text, at + 24))
        bases = a << np.uint64(48) | b << np.uint64(32) | c << np.uint64(16) | d
        strange |= wrong_a | wrong_b | wrong_c | wrong_d
        packed[slot] = pending | bases >> shift
        pending = bases << rest if shift else np.uint64(0)
        slot += 1
        at += BASES_PER_WORD
    if at < last:
        bases, wrong = _last_bases(text, at, last - at)
        strange |= wrong
        pending |= bases >> shift
        if np.uint64(2 * (last - at)) >= rest:
            packed[slot] = pending
            pending = bases << rest if shift else np.uint64(0)
    return pending, strange


@compiled()
def _pack_cut(text, row, packed, position, pending, table, n_segments, r):
    """Pack a record with line ends or other letters in its sequence, run by run.

    Returns the new position, pending bases and number of segments, the letters, and the offset of a byte that is no
    letter (or -1).
    """
    at, end = row[BASES], row[BASES_END]
    n_letters, is_open = 0, False
    while at < end:
        run = at
        while run < end and CLASS_OF_BYTE[text[run]] < NOT_A_BASE and not IS_ONE_OF_TWO[text[run]]:
            run += 1
        if run == at and CLASS_OF_BYTE[text[at]] < NOT_A_BASE:
            run += 1  # a code of two bases: packed by itself, as its bits are no base's
        if run > at:
            pending, _ = _pack_run(text, at, run, packed, position, pending)
            if not is_open:
                table[n_segments, 0], table[n_segments, 1], table[n_segments, 2], is_open = position, 0, r, True
                n_segments += 1
            table[n_segments - 1, 1] += run - at
            position += run - at
            n_letters += run - at
            at = run
            continue
        if CLASS_OF_BYTE[text[at]] == NO_LETTER:
            return position, pending, n_segments, n_letters, at
        if CLASS_OF_BYTE[text[at]] != LINE_END:
            is_open = False
            n_letters += 1
        at += 1
    return position, pending, n_segments, n_letters, -1


@signatures("uint8[::1], int64[:, ::1], uint64[::1], int64[:, ::1], int64[::1]")
@compiled()
def _pack_records(text, records, packed, table, letters):
    position, n_segments, pending = 0, 0, np.uint64(0)
    for r in range(records.shape[0]):
        first, last = records[r, BASES], records[r, BASES_END]
        after, strange = _pack_run(text, first, last, packed, position, pending)
        if strange == 0:
            if last > first:
                table[n_segments, 0], table[n_segments, 1], table[n_segments, 2] = position, last - first, r
                n_segments += 1
            position, pending, letters[r] = position + last - first, after, last - first
        else:
            position, pending, n_segments, letters[r], wrong = _pack_cut(
                text, records[r], packed, position, pending, table, n_segments, r
            )
            if wrong >= 0:
                return r, wrong, position, n_segments
    if position & (BASES_PER_WORD - 1):
        packed[position >> 5] = pending
    return -1, 0, position, n_segments


class Room:
    """Tables that are filled for each block and copied from: memory that is used again costs no page faults."""

    def __init__(self) -> None:
        self._tables: dict[int, np.ndarray] = {}

    def table(self, n_rows: int, n_columns: int) -> np.ndarray:
        """Return an (n_rows, n_columns) int64 table of anything: the same each time, if it is large enough."""
        found = self._tables.get(n_columns)
        if found is None or len(found) < n_rows:
            found = self._tables[n_columns] = np.empty((n_rows, n_columns), np.int64)
        return found[:n_rows]


def pack_records(text: np.ndarray, records: np.ndarray, room: Room | None = None) -> tuple[PackedBlock, int, int]:
    """Pack the bases of the records of a block.

    Parameters
    ----------
    text : (n,) uint8
    records : (n_records, 6) int64
    room
        Used again for each block.

    Returns
    -------
    block : PackedBlock
    wrong_record, wrong_byte : int
        The first record with a byte that no sequence holds and that byte's offset; -1 and 0 if there is none.
    """
    most_letters = int(records[-1, BASES_END] - records[0, BASES]) if len(records) else 0
    most_segments = (
        most_letters // 2 + records.shape[0]
    )  # never touched beyond what is used, so it costs addresses only
    packed = np.empty(most_letters // BASES_PER_WORD + 2, dtype=np.uint64)
    table, letters = (room or Room()).table(most_segments, 3), np.empty(records.shape[0], np.int64)
    record, byte, n_bases, n = _pack_records(text, records, packed, table, letters)
    packed = packed[: (n_bases + BASES_PER_WORD - 1) // BASES_PER_WORD]
    start, length, read = table[:n, 0].copy(), table[:n, 1].astype(np.int32), table[:n, 2].copy()
    return PackedBlock(packed, start, length, read, letters), record, byte


@signatures("uint8[::1], int64[:, ::1], int64, int64[::1]")
@compiled()
def count_qualities(text, records, n_before, counts):
    """Count quality bytes into (256,) int64 counts: of the file's first 10,000 records and every 16th after them.

    Which records count depends on their numbers in the file alone, not on where blocks end.
    """
    apart = np.zeros((4, 256), np.int64)  # of neighbours apart: equal ones would wait for each other's sum
    for r in range(records.shape[0]):
        number = n_before + r
        if number < ALL_COUNTED or number % QUALITY_SAMPLE == 0:
            first, last = np.uint64(records[r, QUALITY]), np.uint64(records[r, QUALITY_END])
            for i in range(first, last):
                apart[i & np.uint64(3), text[i]] += 1
    for part in range(4):
        for byte in range(256):
            counts[byte] += apart[part, byte]


_SIDE = "int64[::1], int32[::1], int64[::1], int64[::1]"


@signatures(f"{_SIDE}, {_SIDE}, int64[::1], int32[::1], int64[::1]")
@compiled()
def interleave_segments(start_1, length_1, read_1, from_1, start_2, length_2, read_2, from_2, start, length, read):
    """Write the segments of two files of mates so that mates follow each other, read 2i and 2i + 1.

    ``from_1`` and ``from_2`` hold two numbers to add: to the starts, and to the reads before these are doubled. The
    reads ascend. ``start``, ``length`` and ``read`` have room for all segments.
    """
    i, j = 0, 0
    for at in range(start.size):
        if j == read_2.size or (i < read_1.size and read_1[i] + from_1[1] <= read_2[j] + from_2[1]):
            start[at], length[at], read[at] = start_1[i] + from_1[0], length_1[i], 2 * (read_1[i] + from_1[1])
            i += 1
        else:
            start[at], length[at], read[at] = start_2[j] + from_2[0], length_2[j], 2 * (read_2[j] + from_2[1]) + 1
            j += 1
