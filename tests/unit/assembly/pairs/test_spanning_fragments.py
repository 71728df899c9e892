"""Spanning fragments: windows compared with a plain search, and the same sums on each device, in any batches."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.assembly.alignment.contig_alignment import align_reads
from gpuasm.assembly.alignment.seed_index import Targets, index_seeds
from gpuasm.assembly.pairs.insert_sizes import find_discordant_pairs, find_fragments
from gpuasm.assembly.verification.read_evidence import BreakEvidence
from gpuasm.assembly.verification.unsupported_joins import find_discordant_joins, unspanned_windows
from gpuasm.sequence.reads import Reads
from tests.assembly_library import INSERT, READ, pairs_from, random_codes


def slow_runs(begin, end, targets, window):
    """Return the runs of windows without a spanning fragment, by checking each window."""
    bare = [
        p
        for first, size, closed in zip(targets.start[:-1], targets.size, targets.is_circular, strict=True)
        for p in range(int(first), int(first + size) - window + 1)
        if not closed and not any(b <= p and p + window <= e for b, e in zip(begin, end, strict=True))
    ]
    return [p for p in bare if p - 1 not in bare], [p for p in bare if p + 1 not in bare]


@given(
    st.lists(st.tuples(st.integers(0, 90), st.booleans()), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 200), st.integers(0, 60)), max_size=15),
    st.integers(2, 40),
)
def test_runs_of_windows_equal_a_plain_search(made, stretches, window):
    sizes, closed = zip(*made, strict=True)
    targets = Targets.of([np.zeros(size, np.uint8) for size in sizes], closed, reach=5, xp=np)
    total = int(targets.start[-1])
    begin = np.array([min(at, total) for at, _ in stretches], np.int64)
    end = np.array([min(at + n, total) for at, n in stretches], np.int64)
    low, high = unspanned_windows(begin, end, targets, window)
    assert (low.tolist(), high.tolist()) == slow_runs(begin.tolist(), end.tolist(), targets, window)


def in_order(*places):
    return sorted(zip(*(own.tolist() for own in places), strict=True))


def test_evidence_depends_neither_on_device_nor_batches(rng, xp):
    """Two repeat copies are collapsed into one, so that some pairs are discordant."""
    left, right, inner, repeat = (random_codes(rng, size) for size in (3000, 3000, 2000, 200))
    joined, truth = np.concatenate([left, repeat, right]), np.concatenate([left, repeat, inner, repeat, right])
    reads = Reads.from_strings(pairs_from(truth, fold=20, rng=rng), paired=True)

    def found(space, parts):
        evidence, targets = BreakEvidence(), Targets.of([joined, inner], [False, False], reach=READ, xp=space)
        index, own = index_seeds(targets, READ), reads.moved_to(space)
        pairs = np.arange(reads.n_segments // 2)
        for part in np.array_split(pairs, parts):
            batch = own.select(space.asarray((2 * part[:, None] + np.arange(2)).ravel()))
            first, _ = align_reads(batch, targets, index)
            discordant = find_discordant_pairs(batch, first, targets, longest=2 * INSERT)
            evidence.add(first, find_fragments(batch, first, targets), discordant, targets)
        return evidence

    evidence = found(np, 1)
    assert all(places.size for places in (*evidence.fragments, *evidence.discordant))
    for parts in (1, 3):
        other = found(xp, parts)
        assert np.array_equal(other.rightwards, evidence.rightwards)
        assert np.array_equal(other.leftwards, evidence.leftwards)
        for name in ("fragments", "discordant"):
            own, one = (np.concatenate(getattr(of, name), axis=1) for of in (other, evidence))
            assert in_order(*own) == in_order(*one)


def test_no_aligned_read_gives_no_breaks():
    targets = Targets.of([np.zeros(100, np.uint8)], [False], reach=READ, xp=np)
    assert find_discordant_joins(BreakEvidence(), targets, np.empty(0, np.int64)).size == 0
