"""Compiled loops that choose fragments and write their ends as FASTQ text."""

from __future__ import annotations

import numpy as np

from gpuasm.parallel import compiled
from gpuasm.primitives.randomness import random_bits, unit_interval
from gpuasm.sequence.encoding import BYTE_OF_CODE, NOT_A_BASE
from gpuasm.sequence.error_profile import N_JITTERS, N_LEVELS

DRAWS_PER_PAIR = 4
"""Random numbers of each pair in the fragments' stream: molecule, length and strand, start, grades of its reads."""

RATE_SCALE = 1 << 16
"""Denominator of the rate of N, an integer."""

RECORD_OVERHEAD = 29
"""Bytes of a record besides the name and twice the read: @ _ /1, digits, line ends, +."""

_AT, _PLUS, _SLASH, _UNDERSCORE, _LINE_END, _ZERO, _WORST_QUALITY = b"@+/_\n0#"
_DRAWS = np.uint64(DRAWS_PER_PAIR)


@compiled()
def choose_fragments(first, key, molecules, lengths, fragments):
    """Fill molecule, start, insert and strand of pairs first, first + 1, ...

    ``molecules`` holds all codes, the start of each molecule, whether it is circular and the cumulative share of the
    pairs; ``lengths`` the quantiles of the fragment length (their number is a power of two) and the least length.
    """
    _, base_start, circular, share = molecules
    quantiles, least = lengths
    molecule, start, insert, reverse = fragments
    for i in range(molecule.size):
        index = _DRAWS * np.uint64(first + i)
        chosen = np.searchsorted(share, unit_interval(random_bits(key, index)), side="right")
        size = base_start[chosen + 1] - base_start[chosen]
        bits = random_bits(key, index + np.uint64(1))
        length = min(max(np.int64(quantiles[np.int64(bits & np.uint64(quantiles.size - 1))]), least), size)
        span = size if circular[chosen] else size - length + 1
        molecule[i] = chosen
        insert[i] = length
        reverse[i] = (bits >> np.uint64(63)) == np.uint64(1)
        start[i] = np.int64(unit_interval(random_bits(key, index + np.uint64(2))) * span)


@compiled()
def write_mates(first, mate, keys, genome, profile, fragments, out):
    """Write the records of one mate of pairs first, first + 1, ... and return their number of bytes.

    ``keys`` are those of the fragments' and the bases' streams; ``genome`` holds ``molecules`` as above, then the
    letters of the names and the start of each; ``profile`` the thresholds and qualities of this mate and that of N.
    """
    fragment_key, base_key = keys
    (codes, base_start, _, _), letters, name_start = genome
    molecule, start, insert, reverse = fragments
    length = profile[0].shape[1]
    at = 0
    for i in range(molecule.size):
        pair, chosen = np.uint64(first + i), molecule[i]
        at = _write_name(letters[name_start[chosen] : name_start[chosen + 1]], first + i + 1, mate, out, at)
        bases = codes[base_start[chosen] : base_start[chosen + 1]]
        backward = reverse[i] != (mate == 1)
        begin = (start[i] + insert[i] - 1) % bases.size if backward else start[i]
        grades = random_bits(fragment_key, _DRAWS * pair + np.uint64(3))
        grade = np.int64((grades >> np.uint64(16 * mate)) & np.uint64(N_LEVELS - 1))
        stream = base_key, (np.uint64(2) * pair + np.uint64(mate)) * np.uint64(length)
        _write_bases((bases, begin, backward), stream, profile, grade, out[at:])
        at += 2 * length + 4
    return at


@compiled()
def _write_name(letters, number, mate, out, at):
    out[at] = _AT
    at += 1
    for j in range(letters.size):
        out[at + j] = letters[j]
    at += letters.size
    out[at] = _UNDERSCORE
    n_digits, rest = 1, number // 10
    while rest > 0:
        n_digits += 1
        rest //= 10
    for j in range(n_digits, 0, -1):
        out[at + j] = _ZERO + number % 10
        number //= 10
    at += n_digits + 1
    out[at], out[at + 1], out[at + 2] = _SLASH, _ZERO + 1 + mate, _LINE_END
    return at + 3


@compiled()
def _write_bases(walk, stream, profile, grade, out):
    bases, where, backward = walk
    key, index = stream
    threshold, quality, n_threshold = profile
    length, step = threshold.shape[1], -1 if backward else 1
    for j in range(length):
        code = np.int64(bases[where])
        # One draw: 4 bits of jitter, 8 for the substituted base, 16 for N, the upper 32 for an error.
        bits = random_bits(key, index + np.uint64(j))
        jitter = np.int64(bits & np.uint64(N_JITTERS - 1))
        letter = quality[grade, j, jitter]
        if code < NOT_A_BASE:
            if (bits >> np.uint64(32)) < np.uint64(threshold[grade, j, jitter]):
                code = (code + 1 + np.int64((bits >> np.uint64(4)) & np.uint64(0xFF)) % 3) & 3
            if backward:
                code = 3 - code
            if np.int64((bits >> np.uint64(12)) & np.uint64(0xFFFF)) < n_threshold:
                code = NOT_A_BASE
        out[j] = BYTE_OF_CODE[code]
        out[length + 3 + j] = letter if code < NOT_A_BASE else _WORST_QUALITY
        where += step
        if where == bases.size:
            where = 0
        elif where < 0:
            where = bases.size - 1
    out[length], out[length + 1], out[length + 2] = _LINE_END, _PLUS, _LINE_END
    out[2 * length + 3] = _LINE_END
