"""Walks over a gap through its local reads: all of them, and the one that reads support."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpuasm.assembly.ends import local_walks
from gpuasm.assembly.ends.local_walks import fill_gap
from gpuasm.assembly.pairs.link_evidence import Gap
from gpuasm.assembly.parameters import ENDS
from gpuasm.sequence.encoding import encode
from tests.oracles.kmers import reverse_complement
from tests.repeat_graphs import graph_of, random_text

A, B, C = (random_text(500, seed) for seed in range(40, 43))
LENGTH = 100
OTHER = dict(zip("ACGT", "CATG", strict=True))


def tiled(text, step=10):
    return [text[i : i + LENGTH] for i in range(0, len(text) - LENGTH + 1, step)]


def codes(texts):
    """Return reads without known mates."""
    return [(encode(text).tobytes(), 0) for text in texts]


def oriented(graph, text):
    """Return the oriented unitig that begins and ends as a text does."""
    for u in range(graph.n):
        own = graph.sequence(u)
        if own == text:
            return 2 * u
        if own == reverse_complement(text):
            return 2 * u + 1
    raise AssertionError("no such unitig")


def filled(one, other, reads, *, size, sd=5.0):
    """Return the text that a fill makes of two texts, or None."""
    graph = graph_of(one, other)
    gap = Gap(oriented(graph, one), oriented(graph, other), size, sd, 4)
    fill = fill_gap(graph, gap, codes(reads), read_length=LENGTH)
    return None if fill is None else text_of(fill, gap, (one, other))


def text_of(fill, gap, texts):
    one, other = texts
    assert fill.walk == (gap.source, gap.target)
    return one + "".join("ACGT"[code] for code in fill.between or b"") + other[fill.overlap :]


@pytest.mark.parametrize("missing", [0, 1, 9, 60, 150])
def test_local_reads_give_the_bases_of_a_gap(missing):
    genome = A + C[:missing] + B
    assert filled(A, B, tiled(genome[300:-300]), size=missing) == genome
    assert filled(A, B, tiled(genome[300:-300]), size=missing - 12) == genome


@pytest.mark.parametrize("shared", [1, 10, 30])
def test_ends_that_overlap_are_joined(shared):
    genome = A + B
    reads = tiled(genome[300:-300])
    assert filled(A, genome[500 - shared :], reads, size=-shared) == genome


@pytest.mark.parametrize("size", [-40, 50])
@pytest.mark.parametrize("of", ["source", "target"])
def test_ends_that_would_change_stay_a_gap(size, of):
    """Reads may be of another copy, whose flanks differ."""
    genome = A + C[: max(0, size)] + B
    one, other = genome[: 500 + max(0, -size)], B
    if of == "source":
        one = one[:495] + OTHER[one[495]] + one[496:]
    else:
        other = other[:5] + OTHER[other[5]] + other[6:]
    assert filled(one, other, tiled(genome[300:-300]), size=size) is None


@pytest.mark.parametrize("size", [0, 60, 140])
def test_a_walk_of_another_length_is_not_used(size):
    genome = A + C[:100] + B
    assert filled(A, B, tiled(genome[300:-300]), size=size) is None


def test_k_falls_until_reads_overlap():
    """Neighbouring reads share 35 bases."""
    genome = A + C[:150] + B
    reads = tiled(genome[305:-200], step=65)
    assert filled(A, B, reads, size=150) == genome
    assert filled(A, B, tiled(genome[305:-200], step=85), size=150) is None


def copies(seen, n=2):
    """Return a genome with a gap of 150 bases, and reads across one base: n of it, ``seen`` of a copy that differs."""
    copy = C[:75] + OTHER[C[75]] + C[76:150]
    genome, other_copy = A + C[:150] + B, A + copy + B
    across = [text[525 + i : 625 + i] for text in (genome, other_copy) for i in (0, 5, 10, 15, 20, 25, 30)]
    rest = [r for r in tiled(genome[300:-300]) if r in other_copy]
    return genome, [*rest, *across[:n], *across[7 : 7 + seen]]


@pytest.mark.parametrize(
    ("own", "others", "closes"),
    [(1, 0, True), (2, 0, True), (2, 1, False), (3, 1, True), (5, 2, False), (6, 2, True), (1, 1, False)],
)
def test_reads_choose_one_of_several_walks(own, others, closes):
    genome, reads = copies(others, own)
    assert filled(A, B, reads, size=150) == (genome if closes else None)


@pytest.mark.parametrize(("own", "closes"), [(1, False), (2, True)])
def test_a_walk_with_one_read_is_not_certain(own, closes):
    """The other walk exists, but its read has an error and supports neither."""
    genome, reads = copies(1, own)
    assert filled(A, B, [*reads[:-1], reads[-1][:-1] + OTHER[reads[-1][-1]]], size=150) == (genome if closes else None)


def test_a_walk_that_contradicts_pairs_stays_a_gap():
    """One read supports a walk of the expected length, many support a longer one."""
    genome, shorter = A + C[:100] + B, A + C[:30] + C[60:100] + B
    reads = [*tiled(genome[300:-300]), shorter[480:580]]
    assert filled(A, B, reads, size=70) is None
    assert filled(A, B, reads, size=100) == genome


@pytest.mark.parametrize("units", [10, 15])
def test_units_of_a_tandem_repeat_stay_a_gap(units):
    """Only one number of units has the expected length, but pairs may be wrong by more, and no read decides."""
    unit = C[:12]
    genome = A + units * unit + B
    for sd in (1.0, 5.0):
        assert filled(A, B, tiled(genome[300:-300]), size=12 * units, sd=sd) is None


def test_units_within_one_read_are_resolved():
    unit = C[:12]
    genome = A + 4 * unit + B
    assert filled(A, B, tiled(genome[300:-300], step=5), size=48, sd=10.0) == genome


def test_short_ends_are_joined_only_within_the_tolerance():
    assert filled(A, B, [], size=0) is None
    assert filled(A[:61], B[:61], tiled(A[:61] + B[:61]), size=0) == A[:61] + B[:61]
    assert filled(A[:61], B[:61], tiled(A[:61] + B[:61]), size=0, sd=20.0) is None


def test_order_of_reads_and_direction_of_the_gap_do_not_matter():
    genome = A + C[:150] + B
    reads = [*tiled(genome[300:-300], step=20), *copies(1, 4)[1]]
    graph = graph_of(A, B)
    gap = Gap(oriented(graph, A), oriented(graph, B), 150, 5.0, 4)
    forward = fill_gap(graph, gap, codes(reads), read_length=LENGTH)
    assert forward is not None
    assert fill_gap(graph, gap, codes(reversed(reads)), read_length=LENGTH) == forward
    mirrored = Gap(gap.target ^ 1, gap.source ^ 1, 150, 5.0, 4)
    backward = fill_gap(graph, mirrored, codes(map(reverse_complement, reads)), read_length=LENGTH)
    assert backward is not None
    assert backward.walk == (gap.target ^ 1, gap.source ^ 1)
    assert bytes(3 - c for c in reversed(backward.between)) == forward.between


@pytest.mark.parametrize(("own", "others", "closes"), [(1, 0, True), (1, 1, True), (3, 2, False), (2, 3, False)])
def test_fragments_do_not_choose_between_two_copies(own, others, closes):
    """All fragments support one walk, but reads contain another: pairs may have joined ends of two copies."""
    genome, other_copy = A + C[:150] + B, A + C[:75] + OTHER[C[75]] + C[76:150] + B
    both = [read for read in tiled(genome[300:-300]) if read in other_copy]
    across = own * [genome[525:625]] + [other_copy[530 + i : 630 + i] for i in range(others)]
    reads = codes([*both, *across, with_error(other_copy[526:626])])
    for begin in range(530, 570, 4):
        mate = 500 - (begin + LENGTH - 400)  # of a fragment of 400 bases
        reads += [(encode(with_error(genome[begin : begin + LENGTH])).tobytes(), mate)] * 3
    graph = graph_of(A, B)
    gap = Gap(oriented(graph, A), oriented(graph, B), 150, 5.0, 8)
    log2 = -(((np.arange(600) - 400) / 30) ** 2) / 2 / np.log(2)
    density = np.round(256 * log2.clip(-10)).astype(np.int32)
    assert fill_gap(graph, gap, reads, read_length=LENGTH) is None
    fill = fill_gap(graph, gap, reads, read_length=LENGTH, density=density, flank=400)
    assert (fill and text_of(fill, gap, (A, B))) == (genome if closes else None)


def with_error(read):
    """Return a read that matches no walk exactly, but whose fragment counts."""
    return read[:5] + OTHER[read[5]] + read[6:]


def test_of_too_many_reads_a_hash_chooses(monkeypatch):
    genome = A + C[:150] + B
    reads = 3 * tiled(genome[300:-300], step=1)
    monkeypatch.setattr(local_walks, "ENDS", replace(ENDS, local_max_reads=150))
    assert filled(A, B, reads, size=150) == genome
    assert filled(A, B, reads[::-1], size=150) == genome
    monkeypatch.setattr(local_walks, "ENDS", replace(ENDS, local_max_reads=3))
    assert filled(A, B, reads, size=150) is None
