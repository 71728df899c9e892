"""Reads that may lie in a gap, against a plain loop over all of them; and what they close."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.arrays import to_namespace
from gpuasm.assembly.alignment.contig_alignment import align_reads
from gpuasm.assembly.alignment.seed_index import targets_of
from gpuasm.assembly.contig import Contig
from gpuasm.assembly.ends.dead_ends import unitig_ends
from gpuasm.assembly.ends.local_reads import GapEnds, find_local_reads
from gpuasm.sequence import reads
from gpuasm.sequence.encoding import decode, encode, reverse_complement
from gpuasm.sequence.reads import Reads
from tests.assembly_library import READ, pairs_from, random_codes

LONGEST = 500
FLANK = 4 * READ


def contigs_of(*codes):
    """Return contigs: contig i is unitig i + 3, the last is none."""
    n = len(codes)
    return [Contig(str(i), own, 10.0, 1, False, i + 3 if i + 1 < n else -1) for i, own in enumerate(codes)]


def reads_on(xp, texts, *, paired=True):
    packed = Reads.from_strings(texts, paired=paired)
    names = ("packed", "start", "length", "read")
    return Reads(*(to_namespace(xp, getattr(packed, name)) for name in names), packed.n_reads, packed.paired)


def found_of(contigs, texts, ends, *, xp=np, paired=True, longest=LONGEST):
    """Return the reads of each gap, and where all reads lie."""
    reads = reads_on(xp, texts, paired=paired)
    targets, index = targets_of(contigs, reads)
    first, _ = align_reads(reads, targets, index)
    at_end = unitig_ends(contigs, targets, np.array(ends))
    sides = GapEnds.of(targets, at_end, np.array(ends, np.int64), reads, longest=longest)
    found = [[] for _ in ends[::2]]
    for gap, text, before in sorted(find_local_reads(reads, first, sides)):
        found[gap].append((decode(np.frombuffer(text, np.uint8)), before))
    return found, (first, targets)


def plainly(contigs, texts, ends, aligned):
    """Return the same by a loop over gaps, ends and reads."""
    first, targets = aligned
    columns = (first.segment, first.target, first.at - targets.start[first.target], first.is_reversed, first.is_unique)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    place = {p: (target, at, is_reversed) for p, target, at, is_reversed, unique in rows if unique}
    number = {contig.unitig: i for i, contig in enumerate(contigs) if contig.unitig >= 0}

    def before(end, p):
        """Bases from the far end of a aligned read to the end of its contig."""
        _, at, _ = place[p]
        return at + READ if end & 1 else contigs[number[end >> 1]].codes.size - at

    def is_on(end, p):
        return p in place and place[p][0] == number[end >> 1]

    result = []
    for own in zip(ends[::2], ends[1::2], strict=True):
        expected_rows = set()
        for end in own:
            for p in [p for p in place if is_on(end, p)]:
                is_reversed = place[p][2]
                if before(end, p) <= FLANK:
                    expected_rows.add((p, is_reversed != (end & 1), end, 0))
                if is_reversed == (end & 1) and before(end, p) <= LONGEST:
                    mate = p ^ 1
                    on = [e for e in own if is_on(e, mate)]
                    if not on or any(before(e, mate) <= FLANK for e in on):
                        expected_rows.add((mate, True, end, -before(end, p) if end == own[1] else before(end, p)))
        both = {}
        for p, is_reversed, end, mate in expected_rows:
            key = p, bool(is_reversed) != (end == own[1])
            both[key] = max(both.get(key, 0), mate, key=lambda at: (abs(at), -at))
        read = {False: lambda t: t, True: lambda t: decode(reverse_complement(encode(t)))}
        result.append(sorted((read[is_reversed](texts[p]), mate) for (p, is_reversed), mate in both.items()))
    return result


def a_gap(seed, *, gap=120):
    """Return two sides of a gap, the genome, another copy of the gap between other sequences, and pairs of both."""
    rng = np.random.default_rng(seed)
    one, other, between = random_codes(rng, 1500), random_codes(rng, 1500), random_codes(rng, gap)
    genome = np.concatenate([one, between, other])
    other_copy = np.concatenate([random_codes(rng, 600), between, random_codes(rng, 600)])
    return (
        one,
        other,
        genome,
        other_copy,
        [*pairs_from(genome, fold=12, rng=rng), *pairs_from(other_copy, fold=12, rng=rng)],
    )


@pytest.mark.parametrize("is_reversed", [False, True])
def test_local_reads_are_those_of_the_gap(xp, is_reversed):
    one, other, genome, other_copy, texts = a_gap(1)
    contigs = contigs_of(one, reverse_complement(other) if is_reversed else other, other_copy, other_copy[:0])
    ends = [2 * 3, 2 * 4 if is_reversed else 2 * 4 + 1]
    (found,), aligned = found_of(contigs, texts, ends, xp=xp)
    if xp is np:
        assert [found] == plainly(contigs, texts, ends, aligned)
    text = decode(genome)
    fragments = [
        at + READ - 1500 + before if before > 0 else 1620 - before - at
        for read, before in found
        if before and (at := text.find(read)) >= 0
    ]
    assert len(fragments) > 20
    assert min(fragments) >= READ
    assert max(fragments) <= LONGEST
    found = [read for read, _ in found]
    own = [read for read in found if read in text]
    across = {text[i : i + READ] for i in range(1501 - READ, 1620)}
    assert len(across.intersection(own)) > 5
    assert own == found  # the other copy's reads have their mates elsewhere
    assert all(text.index(read) >= 1500 - FLANK - LONGEST for read in own)


@pytest.mark.parametrize("seed", range(4))
def test_local_reads_equal_a_plain_loop_over_gaps(seed):
    """One contig has a gap on both sides, one of which leads back to itself; some pairs are chimeras."""
    one, other, _, other_copy, texts = a_gap(seed + 10)
    rng = np.random.default_rng(seed)
    chimeras = [text for codes in (one, other) for text in pairs_from(codes, fold=1, rng=rng)]
    rng.shuffle(chimeras)
    contigs = contigs_of(one, other, other_copy, other_copy[:0])
    ends = [6, 9, 8, 10, 7, 11]
    found, aligned = found_of(contigs, [*texts, *chimeras], ends)
    assert found == plainly(contigs, [*texts, *chimeras], ends, aligned)
    assert [len(own) > 20 for own in found] == [True] * 3


def test_a_mate_far_inside_a_contig_is_not_local():
    """But a mate on a third contig may be: of a repeat."""
    one, other, genome, other_copy, _ = a_gap(2)
    contigs = contigs_of(one, other, other_copy, other_copy[:0])
    anchor = decode(one[1300:1400])
    mates = {"far": one[200:300], "near": one[1350:1450], "third": other_copy[100:200], "nowhere": genome[1510:1610]}
    for name, mate in mates.items():
        (found,), _ = found_of(contigs, [anchor, decode(reverse_complement(mate))], [6, 9])
        assert dict(found).get(decode(mate)) == (None if name == "far" else 200)
        assert anchor in dict(found)


def test_mates_of_reads_that_point_away_are_not_local():
    one, other, genome, other_copy, _ = a_gap(3)
    contigs = contigs_of(one, other, other_copy, other_copy[:0])
    away = decode(reverse_complement(one[1100:1200]))
    mate = decode(genome[1510:1610])
    assert found_of(contigs, [away, mate], [6, 9])[0] == [[(decode(one[1100:1200]), 0)]]
    assert found_of(contigs, [away, mate], [6, 9], longest=0)[0] == [[(decode(one[1100:1200]), 0)]]


def test_unpaired_reads_are_local_at_ends_only():
    one, other, _, other_copy, texts = a_gap(4)
    contigs = contigs_of(one, other, other_copy, other_copy[:0])
    (alone,), _ = found_of(contigs, texts, [6, 9], paired=False)
    (paired,), _ = found_of(contigs, texts, [6, 9])
    assert 0 < len(alone) < len(paired)
    assert {text for text, _ in alone} < {text for text, _ in paired}
    assert {before for _, before in alone} == {0}


def test_order_of_pairs_and_batches_do_not_matter(monkeypatch):
    one, other, _, other_copy, texts = a_gap(5)
    contigs = contigs_of(one, other, other_copy, other_copy[:0])
    pairs = [texts[i : i + 2] for i in range(0, len(texts), 2)]
    expected, _ = found_of(contigs, texts, [6, 9])
    shuffled = [text for pair in reversed(pairs) for text in reversed(pair)]
    monkeypatch.setattr(reads, "_BATCH", 7)
    assert found_of(contigs, shuffled, [6, 9])[0] == expected


def test_reads_that_align_nowhere_are_not_local(xp):
    one, other, _, other_copy, _ = a_gap(6)
    contigs = contigs_of(one, other, other_copy, other_copy[:0])
    rng = np.random.default_rng(0)
    for texts in ([], [decode(random_codes(rng, READ)) for _ in range(4)]):
        assert found_of(contigs, texts, [6, 9], xp=xp)[0] == [[]]
