"""Sketches against the plain hash of texts, and against digests of Mash and sourmash."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.arrays import to_host
from gpuasm.errors import DataError, UsageError
from gpuasm.kmers import tally_kmers
from gpuasm.samples import Sketches, SketchKind, sketch_kmers, sketch_text
from gpuasm.samples.hashes import hashes_of_windows
from gpuasm.samples.sketches import max_hash_of
from gpuasm.sequence.encoding import ACGT_CODE_OF_BYTE
from gpuasm.sequence.reads import Reads
from tests.oracles.kmers import reverse_complement
from tests.oracles.sketches import kmer_hashes, murmur3_x64_128

K = [3, 4, 7, 8, 9, 15, 16, 17, 21, 24, 25, 31]


def text_of(rng: np.random.Generator, n: int, letters: str = "ACGT") -> str:
    return "".join(rng.choice(list(letters), n))


def reads_of(*texts: str) -> Reads:
    return Reads.from_codes(ACGT_CODE_OF_BYTE[np.frombuffer(text.encode(), np.uint8)] for text in texts)


def all_hashes(reads: Reads, k: int, seed: int = 42) -> list[int]:
    return to_host(sketch_text(reads, SketchKind.scaled(k, 1, seed=seed))).tolist()


def test_the_oracle_is_the_published_hash():
    """Values of Appleby's reference code, as Mash and sourmash have them."""
    assert murmur3_x64_128(b"", 0) == 0
    assert murmur3_x64_128(b"ACG") == 1731421407650554201
    assert murmur3_x64_128(b"hello", 0) == 0xCBD8A7B341BD9B02


@pytest.mark.parametrize("k", K)
def test_hashes_are_those_of_the_texts(k, xp, rng):
    texts = [text_of(rng, 400, "ACGTacgtNRU"), text_of(rng, 90), "ACGT"[: k - 1]]
    assert all_hashes(reads_of(*texts).moved_to(xp), k) == kmer_hashes(texts, k)


def test_another_seed(xp, rng):
    text = text_of(rng, 60)
    assert all_hashes(reads_of(text).moved_to(xp), 21, seed=7) == kmer_hashes([text], 21, seed=7)


def test_hashes_come_in_batches(monkeypatch, rng):
    monkeypatch.setattr("gpuasm.samples.hashes._BATCH", 100)
    reads = reads_of(text_of(rng, 700), text_of(rng, 333))
    batches = list(hashes_of_windows(reads, 21))
    assert len(batches) > 5
    monkeypatch.undo()
    assert np.array_equal(np.concatenate(batches), np.concatenate(list(hashes_of_windows(reads, 21))))


def test_digests_of_mash_and_sourmash():
    """Made by Mash 2.3 (`mash info -d`) and sourmash 4.9.4 of the same text."""
    rng = np.random.default_rng(7)
    reads = reads_of(text_of(rng, 5000))
    for kind, expected in DIGESTS.items():
        hashes = sketch_text(reads, kind)
        assert hashlib.sha256(",".join(map(str, hashes.tolist())).encode()).hexdigest()[:16] == expected, kind


DIGESTS = {
    SketchKind.bottom(21, 1000): "0b10c687eda7b651",
    SketchKind.bottom(16, 200): "a8763c174bae399e",
    SketchKind.bottom(31, 400): "c1dbeca13b3bdf2b",
    SketchKind.scaled(21, 100): "e3b546c0b66e65ac",
    SketchKind.scaled(31, 7): "1ecb1709cab7d3cf",
}


@pytest.mark.parametrize("size", [1, 10, 500, 5000])
@pytest.mark.parametrize("k", [11, 21])
def test_bottom_sketches_are_the_least(size, k, xp, rng):
    text = text_of(rng, 3000)
    keep = (1 << (32 if k <= 16 else 64)) - 1
    expected = sorted({value & keep for value in kmer_hashes([text], k)})[:size]
    found = sketch_text(reads_of(text).moved_to(xp), SketchKind.bottom(k, size))
    assert found.dtype == np.uint64
    assert to_host(found).tolist() == expected


def test_repeats_leave_enough(rng):
    """The first bound counts windows; here only one k-mer in a hundred is distinct."""
    text = text_of(rng, 800) * 100
    assert sketch_text(reads_of(text), SketchKind.bottom(21, 600)).tolist() == kmer_hashes([text[:820]], 21)[:600]


@pytest.mark.parametrize("scaled", [2, 10, 1000])
def test_scaled_sketches(scaled, xp, rng):
    text = text_of(rng, 4000)
    expected = [value for value in kmer_hashes([text], 31) if value <= max_hash_of(scaled)]
    assert to_host(sketch_text(reads_of(text).moved_to(xp), SketchKind.scaled(31, scaled))).tolist() == expected


def test_largest_hashes_are_those_of_sourmash():
    assert [max_hash_of(scaled) for scaled in (1, 2, 3, 1000, 100_000)] == [
        18446744073709551615, 9223372036854775808, 6148914691236516864, 18446744073709552, 184467440737095,
    ]  # fmt: skip
    assert [SketchKind.scaled(21, scaled).scale for scaled in (1, 2, 1000, 12345)] == [1, 2, 1000, 12345]


@given(texts=st.lists(st.text("ACGTN", max_size=60), min_size=1, max_size=4), k=st.integers(3, 31))
def test_strands_and_order_do_not_matter(texts, k):
    expected = all_hashes(reads_of(*texts), k)
    assert all_hashes(reads_of(*(reverse_complement(text) for text in reversed(texts))), k) == expected


def test_solid_kmers_of_reads(xp, rng):
    genome = text_of(rng, 600)
    reads = Reads.from_strings([genome, reverse_complement(genome), text_of(rng, 300)]).moved_to(xp)
    tally = tally_kmers(reads, 21, min_count=2, with_followers=False)
    found = sketch_kmers(tally.keys, SketchKind.bottom(21, 100))
    assert to_host(found).tolist() == kmer_hashes([genome], 21)[:100]
    assert sketch_kmers(tally.keys[:0], SketchKind.bottom(21, 100)).size == 0


def test_text_without_a_kmer_has_an_empty_sketch(xp):
    assert sketch_text(reads_of("ACGT", "").moved_to(xp), SketchKind.bottom(21, 10)).size == 0
    assert sketch_text(reads_of().moved_to(xp), SketchKind.scaled(21, 10)).size == 0


def test_sketches_of_fewer_hashes(rng):
    texts = [text_of(rng, 500), text_of(rng, 30)]
    for large, small in (
        (SketchKind.bottom(21, 300), SketchKind.bottom(21, 40)),
        (SketchKind.scaled(21, 2), SketchKind.scaled(21, 9)),
    ):
        joined = Sketches.join(large, ["a", "b"], [sketch_text(reads_of(text), large) for text in texts]).cut_to(small)
        assert joined.kind == small
        for number, text in enumerate(texts):
            assert joined.of(number).tolist() == sketch_text(reads_of(text), small).tolist()


@pytest.mark.parametrize(
    "expected",
    [
        SketchKind.bottom(21, 301),
        SketchKind.bottom(31, 100),
        SketchKind.bottom(21, 100, seed=1),
        SketchKind.scaled(21, 10),
    ],
    ids=str,
)
def test_sketches_of_another_kind_are_refused(expected):
    sketches = Sketches.join(SketchKind.bottom(21, 300), ["a"], [np.arange(5, dtype=np.uint64)])
    with pytest.raises(DataError, match="sketch all samples alike"):
        sketches.cut_to(expected)


def test_names_are_all_different():
    with pytest.raises(DataError, match="'a' twice"):
        Sketches.join(SketchKind.bottom(21, 3), ["a", "b", "a"], [np.empty(0, np.uint64)] * 3)


@pytest.mark.parametrize("k", [2, 32, 51])
def test_k_out_of_range(k):
    with pytest.raises(UsageError, match="from 3 to 31"):
        SketchKind.bottom(k, 10)


def test_sizes_out_of_range():
    with pytest.raises(UsageError, match="at least 1 hash"):
        SketchKind.bottom(21, 0)
    with pytest.raises(UsageError, match="scaled = 0"):
        SketchKind.scaled(21, 0)
