"""Compiled scans of blocks of text: where each record's name, bases and qualities lie.

A row of the ``records`` table holds six offsets into the block: name from and to, bases from and to, qualities from and
to. Bases may contain line ends (wrapped sequences); FASTA has no qualities.
"""

from __future__ import annotations

import numpy as np

from gpuasm.parallel import compiled, inlined, signatures
from gpuasm.sequence.encoding import CODE_OF_BYTE, NOT_A_BASE

NAME, NAME_END, BASES, BASES_END, QUALITY, QUALITY_END = range(6)
N_COLUMNS = 6

OK, NO_HEADER, NO_PLUS, WRONG_QUALITY, CUT_OFF = range(5)
"""What a scan found wrong."""

OTHER_LETTER, LINE_END, NO_LETTER = 4, 8, 16
"""Classes of bytes other than the codes 0 to 3: letters that cut a read, line ends, bytes that no sequence holds."""

CLASS_OF_BYTE = np.full(256, NO_LETTER, dtype=np.uint64)
"""(256,) uint64: the code of a base or the class of any other byte."""
CLASS_OF_BYTE[CODE_OF_BYTE < NOT_A_BASE] = CODE_OF_BYTE[CODE_OF_BYTE < NOT_A_BASE]
for _letter in b"BDHVN":
    CLASS_OF_BYTE[[_letter, _letter + 32]] = OTHER_LETTER
CLASS_OF_BYTE[ord(".")] = OTHER_LETTER  # old sequencers' N
CLASS_OF_BYTE[[ord("\n"), ord("\r")]] = LINE_END

_NEWLINE, _RETURN, _AT, _PLUS, _GREATER = ord("\n"), ord("\r"), ord("@"), ord("+"), ord(">")
_ONE, _TWO, _R, _SMALL_R, _F, _SMALL_F = b"12RrFf"
_COLON = ord(":")
_IS_MARK = np.zeros(256, np.bool_)
_IS_MARK[list(b"/._-:")] = True
_LEAST_QUALITY, _MOST_QUALITY = 33, 127
_LOWEST_BITS, _HIGHEST_BITS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
_EIGHT_NEWLINES, _EIGHT_LEAST = _NEWLINE * _LOWEST_BITS, _LEAST_QUALITY * _LOWEST_BITS


@inlined()
def eight_bytes(text, first):
    """Return 8 bytes of text, the first lowest; the compiler makes one load of it. Unsigned: no test for wrapping."""
    i = np.uint64(first)
    low = np.uint64(text[i]) | np.uint64(text[i + np.uint64(1)]) << np.uint64(8)
    low |= np.uint64(text[i + np.uint64(2)]) << np.uint64(16) | np.uint64(text[i + np.uint64(3)]) << np.uint64(24)
    high = np.uint64(text[i + np.uint64(4)]) | np.uint64(text[i + np.uint64(5)]) << np.uint64(8)
    high |= np.uint64(text[i + np.uint64(6)]) << np.uint64(16) | np.uint64(text[i + np.uint64(7)]) << np.uint64(24)
    return low | high << np.uint64(32)


@compiled()
def line_end(text, first):
    """Return the offset of the newline at or after ``first``, or the size of the text."""
    i = first
    while i + 8 <= text.size:
        # A byte that is zero after the exclusive or borrows from its highest bit, which is clear in ASCII.
        other = eight_bytes(text, i) ^ _EIGHT_NEWLINES
        if (other - _LOWEST_BITS) & ~other & _HIGHEST_BITS:
            break
        i += 8
    while i < text.size and text[i] != _NEWLINE:
        i += 1
    return i


@compiled()
def without_return(text, first, last):
    """Return where a line ends once the carriage return of CRLF is taken off."""
    return last - 1 if last > first and text[last - 1] == _RETURN else last


@compiled()
def is_blank(text, first):
    """Return whether only line ends follow."""
    for i in range(first, text.size):
        if text[i] != _NEWLINE and text[i] != _RETURN:
            return False
    return True


@compiled()
def _holds_unprintable(text, first, last):
    low, i = np.uint64(0), first
    while i + 8 <= last:
        eight = eight_bytes(text, i)
        low |= eight | ((eight - _EIGHT_LEAST) & ~eight)  # the highest bit is set where a byte is less, or not ASCII
        i += 8
    if low & _HIGHEST_BITS:
        return True
    while i < last:
        if text[i] < _LEAST_QUALITY or text[i] > _MOST_QUALITY:
            return True
        i += 1
    return False


@compiled()
def _wrapped_bases(text, first):
    """Follow a wrapped sequence: its end, the offset of the '+' line, the number of letters, what is wrong."""
    end, at, n_letters = first, first, 0
    while at < text.size and text[at] != _PLUS:
        if CLASS_OF_BYTE[text[at]] == NO_LETTER:
            return end, at, n_letters, NO_PLUS
        newline = line_end(text, at)
        if newline == text.size:
            return end, at, n_letters, CUT_OFF
        end = without_return(text, at, newline)
        n_letters += end - at
        at = newline + 1
    return end, at, n_letters, OK if at < text.size else CUT_OFF


@compiled()
def _wrapped_quality(text, first, n_letters, is_last):
    """Follow wrapped qualities until they are as many as the letters: offsets of their end and of what follows."""
    end, at, n = first, first, 0
    while n < n_letters:
        newline = line_end(text, at)
        if newline == text.size and (not is_last or at == text.size):
            return end, at, CUT_OFF
        end = without_return(text, at, newline)
        n += end - at
        at = min(newline + 1, text.size)
    return end, at, OK if n == n_letters else WRONG_QUALITY


@compiled()
def _quality_of_one_line(text, first, n_letters, is_last):
    """Jump over a quality line of known length: offsets of its end and of what follows."""
    end = first + n_letters
    if end + 2 > text.size and not is_last:
        return end, first, CUT_OFF
    if end > text.size:
        return end, first, WRONG_QUALITY
    after = end
    if after < text.size and text[after] == _RETURN:
        after += 1
    is_line = after == text.size or text[after] == _NEWLINE
    if not is_line or _holds_unprintable(text, first, end):
        return end, first, WRONG_QUALITY
    return end, min(after + 1, text.size), OK


@compiled()
def _end_of_bases(text, first, expected):
    """Return the newline after the bases; first at the length of the previous read, which most reads share."""
    end = first + expected
    if end < text.size and text[end] == _NEWLINE and not _holds_unprintable(text, first, end):
        return end
    return line_end(text, first)


@compiled()
def _fastq_record(text, at, is_last, row, expected):
    """Fill the row of the record at ``at``; returns where the next one starts and what is wrong."""
    if text[at] != _AT:
        return at, NO_HEADER
    newline = line_end(text, at)
    row[NAME], row[NAME_END], row[BASES] = at + 1, without_return(text, at, newline), newline + 1
    newline = _end_of_bases(text, row[BASES], expected)
    if newline + 1 >= text.size:
        return at, CUT_OFF
    row[BASES_END] = without_return(text, row[BASES], newline)
    plus, n_letters, is_wrapped = newline + 1, row[BASES_END] - row[BASES], False
    if text[plus] != _PLUS:
        is_wrapped = True
        row[BASES_END], plus, n_letters, wrong = _wrapped_bases(text, row[BASES])
        if wrong != OK:
            return at, wrong
    newline = line_end(text, plus)
    if newline == text.size:
        return at, CUT_OFF
    row[QUALITY] = newline + 1
    if is_wrapped:
        row[QUALITY_END], following, wrong = _wrapped_quality(text, row[QUALITY], n_letters, is_last)
    else:
        row[QUALITY_END], following, wrong = _quality_of_one_line(text, row[QUALITY], n_letters, is_last)
    return (following, OK) if wrong == OK else (at, wrong)


@signatures("uint8[::1], boolean, int64[:, ::1]")
@compiled()
def scan_fastq(text, is_last, records):
    """Find the records of a block of FASTQ that begins with a record.

    Parameters
    ----------
    text : (n,) uint8
    is_last : bool
        Whether the file ends with this block.
    records : (max_records, 6) int64
        Filled.

    Returns
    -------
    n_records, n_bytes, wrong : int
        Whole records found, bytes they take, and what is wrong with the next one: OK when the block just ends in it.
    """
    n, at, expected = 0, 0, 0
    while at < text.size and n < records.shape[0]:
        following, wrong = _fastq_record(text, at, is_last, records[n], expected)
        if wrong == CUT_OFF and not is_last:
            break
        if wrong != OK:
            if is_blank(text, at):
                return n, text.size if is_last else at, OK
            return n, at, wrong
        at, expected = following, records[n, BASES_END] - records[n, BASES]
        n += 1
    return n, at, OK


@compiled()
def scan_fasta(text, is_last, records):
    """Find the records of a block of FASTA; see ``scan_fastq``.

    A record whose end is not seen is left for the next block.
    """
    n, at = 0, 0
    while at < text.size and n < records.shape[0]:
        if text[at] != _GREATER:
            if is_blank(text, at):
                return n, text.size if is_last else at, OK
            return n, at, NO_HEADER
        newline = line_end(text, at)
        bases = min(newline + 1, text.size)
        following = bases
        while following < text.size and text[following] != _GREATER:
            following = line_end(text, following) + 1
        if following >= text.size and not is_last:
            break
        following = min(following, text.size)
        end = following
        while end > bases and (text[end - 1] == _NEWLINE or text[end - 1] == _RETURN):
            end -= 1
        row = records[n]
        row[NAME], row[NAME_END] = at + 1, without_return(text, at, newline)
        row[BASES], row[BASES_END], row[QUALITY], row[QUALITY_END] = bases, end, 0, 0
        at = following
        n += 1
    return n, at, OK


@compiled()
def _name_end(text, first, last):
    """Return where a name ends: at the first white space."""
    end = first
    while end < last and text[end] > 32:
        end += 1
    return end


@compiled()
def _is_mate_mark(text, first, at, end, letter_1, letter_2):
    """Return whether two names that differ at ``at`` only there have the numbers, or letters, of two mates.

    A mark is before them, as in r/1, r.1, r_1, r:1 and r-1, maybe with an R, as in r_R1; or they are r.f and r.r. The
    name ends after them, or has a comment of Illumina in it, as in r_1:N:0.
    """
    before = at - 1
    if letter_1 == _ONE and letter_2 == _TWO:
        if before > first and (text[before] == _R or text[before] == _SMALL_R):
            before -= 1
    elif not ((letter_1 == _SMALL_F and letter_2 == _SMALL_R) or (letter_1 == _F and letter_2 == _R)):
        return False
    if before < first:
        return False
    is_comment = at + 3 < end and text[at + 1] == _COLON and text[at + 3] == _COLON
    return _IS_MARK[text[before]] and (at + 1 == end or is_comment)


@compiled()
def _are_mates(text_1, row_1, text_2, row_2):
    first_1, first_2 = row_1[NAME], row_2[NAME]
    n = _name_end(text_1, first_1, row_1[NAME_END]) - first_1
    if n != _name_end(text_2, first_2, row_2[NAME_END]) - first_2:
        return False
    has_mark = False
    for i in range(n):
        letter_1, letter_2 = text_1[first_1 + i], text_2[first_2 + i]
        if letter_1 != letter_2:
            if has_mark or not _is_mate_mark(text_1, first_1, first_1 + i, first_1 + n, letter_1, letter_2):
                return False
            has_mark = True
    return True


@signatures("uint8[::1], int64[:, ::1], uint8[::1], int64[:, ::1], int64")
@compiled()
def first_strangers(text_1, records_1, text_2, records_2, column):
    """Return the first i at which two records are no mates by their names, or -1.

    Parameters
    ----------
    text_1, text_2 : (n,) uint8
    records_1, records_2 : (n_pairs, n_columns) int64
    column : int
        Where the second mate's columns begin: 0, or 6 where a row holds both mates of interleaved records.
    """
    for i in range(records_1.shape[0]):
        if not _are_mates(text_1, records_1[i], text_2, records_2[i, column:]):
            return i
    return -1
