"""Adapters: found in single reads and by the overlap of mates, and trimmed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpuasm.io import adapters, read_through
from gpuasm.io.adapters import ADAPTERS, PROBE_LENGTH, first_segment_of_reads, survey_adapters
from gpuasm.io.read_cleaning import clean_reads
from gpuasm.io.summary import ReadSet
from gpuasm.io.trimming import cut_reads, trim_reads
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from gpuasm.threads import set_threads
from tests.oracles.read_through import longest_short_insert, reverse_complement
from tests.oracles.reads import pieces_of_reads as pieces
from tests.oracles.reads import pieces_of_sequence, random_sequences

TRUSEQ = ADAPTERS["Illumina TruSeq"]
NEXTERA = ADAPTERS["Illumina Nextera"][0]
UNKNOWN = ("CATTGCGGCATACTTGAGGACCATAGTTCAGG", "GTTACGCCAATGAACTCGTTGACCGATACTTC")


def made_pairs(inserts: list[str], adapters: tuple[str, str], lengths: tuple[int, int] = (100, 100)) -> list[str]:
    """Return the mates of inserts, in turn; what follows the adapter is random."""
    texts = []
    for number, insert in enumerate(inserts):
        rest = random_sequences(number, 2, max(lengths))
        for mate, strand in enumerate((insert, reverse_complement(insert))):
            texts.append((strand + adapters[mate] + rest[mate])[: lengths[mate]])
    return texts


def trimmed(texts: list[str], n_pairs: int = 0, *, every_kit: bool = False) -> list[str]:
    """Return what is left of each read, its pieces joined."""
    reads = Reads.from_strings(texts)
    left = trim_reads(reads, survey_adapters(reads, n_pairs), every_kit=every_kit)
    found = [""] * len(texts)
    for number, text in pieces(left):
        found[number] += text
    return found


def of_size(*sizes: int, seed: int = 5) -> list[str]:
    return [text[:size] for text, size in zip(random_sequences(seed, len(sizes), 500), sizes, strict=True)]


@pytest.mark.parametrize("adapters", [TRUSEQ, (NEXTERA, NEXTERA), UNKNOWN], ids=["TruSeq", "Nextera", "unknown"])
def test_mates_are_cut_to_their_insert(threads, adapters):
    sizes = [*range(16, 120), 150, 300]
    inserts = of_size(*sizes)
    survey = survey_adapters(reads := Reads.from_strings(made_pairs(inserts, adapters), paired=True), len(sizes))
    expected = [size if size < 100 else -1 for size in sizes]
    assert survey.pairs.insert.tolist() == expected
    left = [len(text) for text in trimmed(made_pairs(inserts, adapters), len(sizes))]
    assert left == [min(size, 100) for size in sizes for _ in range(2)]
    assert survey.share == np.mean(np.array(expected) >= 0)
    if adapters == UNKNOWN:
        assert survey.name == f"unknown, {UNKNOWN[0][:PROBE_LENGTH]}"
        assert [found[:20] for found in survey.pairs.adapters] == [adapter[:20] for adapter in UNKNOWN]
    assert reads.n_reads == 2 * len(sizes)


def test_errors_in_mates_do_not_hide_an_insert(rng):
    sizes = [60] * 200
    texts = [list(text) for text in made_pairs(of_size(*sizes), TRUSEQ)]
    for text in texts:
        for place in rng.choice(100, 3, replace=False):
            text[place] = "ACGT"["ACGT".index(text[place]) - 1]
    left = [len(text) for text in trimmed(["".join(text) for text in texts], 200)]
    assert np.mean([size == 60 for size in left]) > 0.98


def test_mates_of_different_lengths():
    sizes = [*range(30, 90)]
    left = trimmed(made_pairs(of_size(*sizes), TRUSEQ, lengths=(100, 50)), len(sizes))
    assert [len(text) for text in left] == [length for size in sizes for length in (size, min(size, 50))]


def test_nothing_but_adapter():
    inserts = ["", "A", "ACGTA", *of_size(*[60] * 40)]
    left = trimmed(made_pairs(inserts, TRUSEQ), len(inserts))
    assert [len(text) for text in left[:6]] == [0, 0, 1, 1, 5, 5]


def test_single_reads():
    genome = random_sequences(8, 1, 400)[0]
    adapter = TRUSEQ[0]
    wrong = adapter[:10] + "A" + adapter[11:]
    texts = {
        genome[:60] + adapter: 60,
        genome[60:120] + adapter + genome[:40]: 60,
        adapter + genome[:50]: 0,
        adapter: 0,
        genome[5:65] + adapter[:5]: 60,
        genome[6:66] + wrong: 60,
        genome[7:57] + "N" + genome[58:68] + adapter: 60,
        genome[:30] + "NN" + genome[30:90]: 90,
        "N" + adapter: 0,
        "NNNN": 0,
        "ACG": 3,
    }
    assert [len(text) for text in trimmed(list(texts))] == list(texts.values())


def test_single_reads_with_pairs():
    inserts = of_size(*[60] * 40)
    single = [insert + TRUSEQ[0] for insert in inserts]
    left = trimmed(made_pairs(inserts, TRUSEQ) + single, 40)
    assert {len(text) for text in left} == {60}


def test_adapters_that_belong_to_the_genome_stay(rng):
    """Mates of long inserts that cross the end of a transposon: the Nextera adapter lies anywhere in one of them."""
    flanks = random_sequences(9, 2, 1000)
    genome = flanks[0] + NEXTERA + flanks[1]
    texts = []
    for start in rng.integers(600, 1000, 500).tolist():
        fragment = genome[start : start + 350]
        texts += [fragment[:100], reverse_complement(fragment)[:100]]
    survey = survey_adapters(Reads.from_strings(texts, paired=True), 500)
    assert (survey.kit >= 0).sum() > 50
    assert (survey.share, survey.kits, survey.name) == (0, [], "")
    assert trimmed(texts, 500) == texts
    assert trimmed(texts, 500, every_kit=True) != texts


def test_repeats_are_no_inserts(rng):
    """Mates that overlap by a tandem repeat alone: what follows is not the same."""
    unit = random_sequences(3, 1, 30)[0]
    texts = [t + unit + u for t, u in zip(random_sequences(1, 200, 70), random_sequences(2, 200, 0), strict=True)]
    pairs = [mate for t in texts for mate in (unit + t[:70], reverse_complement(t))]
    reads = Reads.from_strings(pairs, paired=True)
    insert = np.full(200, -1, np.int32)
    read_through._overlap(0, 200, first_segment_of_reads(reads), reads.packed, reads.start, reads.length, insert)
    assert (insert >= 30).all()  # the mates do agree
    assert survey_adapters(reads, 200).share == 0
    assert trimmed(pairs, 200) == pairs


bases = st.text("ACGT", min_size=0, max_size=70)


@given(bases, bases, bases, st.integers(0, 69), st.sampled_from(["", "N", "A", "NN"]))
@example("ACGT" * 10, "", "", 0, "")
@example("A" * 40, "A" * 30, "T" * 30, 3, "N")
@settings(max_examples=200)
def test_overlaps_are_those_of_the_oracle(insert, tail_1, tail_2, place, other):
    first, second = insert + tail_1, reverse_complement(insert) + tail_2
    first = first[:place] + other + first[place + 1 :]
    reads = Reads.from_strings([first, second, "", first, second, ""], paired=True)
    found = np.full(3, -1, np.int32)
    read_through._overlap(0, 3, first_segment_of_reads(reads), reads.packed, reads.start, reads.length, found)
    expected = longest_short_insert(pieces_of_sequence(first), pieces_of_sequence(second))
    assert found.tolist() == [expected, -1, longest_short_insert(pieces_of_sequence(second), [])]


PROBES = {sequence[:PROBE_LENGTH]: number for number, kit in enumerate(ADAPTERS.values()) for sequence in kit}


@given(st.lists(st.lists(st.sampled_from([*PROBES, "A", "CG", "GTTAC", "N", *"ACGT" * 4]), max_size=60), max_size=4))
@example([["ACGT" * 7, probe] for probe in PROBES])
def test_the_first_probe_of_a_read_is_that_of_its_text(parts):
    texts = ["".join(part) for part in parts]
    kit, position = adapters._find_probes(Reads.from_strings(texts))
    for number, text in enumerate(texts):
        at, probe = min(((text.find(probe), probe) for probe in PROBES if probe in text), default=(0, ""))
        assert kit[number] == PROBES.get(probe, -1)
        assert position[number] == at - text.count("N", 0, at)


@given(st.text("ACGT", max_size=140), st.text("ACGT", max_size=40), st.integers(0, 2**64 - 1))
def test_packed_bases_are_reverse_complemented_as_letters(text, before, waste):
    reads = Reads.from_strings([before + text])
    flipped = np.full(len(text) // 32 + 2, waste, np.uint64)
    read_through._flip(reads.packed, len(before), len(text), flipped)
    assert np.array_equal(flipped[: len(text) // 32 + 1], _packed(reverse_complement(text)))
    assert flipped[-1] == 0


def _packed(text):
    packed = Reads.from_strings([text]).packed if text else np.zeros(1, np.uint64)
    return np.concatenate([packed, np.zeros(1, np.uint64)])[: len(text) // 32 + 1]


@given(st.lists(st.text("ACGTN", max_size=80), max_size=6), st.data())
def test_cutting_is_that_of_texts(texts, data):
    keep = data.draw(st.lists(st.integers(0, 90), min_size=len(texts), max_size=len(texts)))
    cut = cut_reads(Reads.from_strings(texts), np.array(keep, np.int32))
    expected = []
    for number, text in enumerate(texts):
        left = keep[number]
        for piece in pieces_of_sequence(text):
            expected += [(number, piece[:left])] if left > 0 else []
            left -= len(piece)
    assert pieces(cut) == expected
    assert (cut.n_reads, cut.length.dtype) == (len(texts), np.dtype(np.int32))


def test_threads_and_order_change_nothing(rng):
    inserts = of_size(*rng.integers(20, 300, 1500).tolist())
    texts = made_pairs(inserts, UNKNOWN)
    order = rng.permutation(1500)
    shuffled = [texts[2 * i + mate] for i in order.tolist() for mate in (0, 1)]
    results = []
    for n in (1, 2):
        set_threads(n)
        results.append(trimmed(texts, 1500))
        again = trimmed(shuffled, 1500)
        assert [results[0][2 * i + mate] for i in order.tolist() for mate in (0, 1)] == again
    set_threads(None)
    assert results[0] == results[1] != texts


@pytest.mark.parametrize(("n_short", "trim", "is_cut"), [(1, "auto", False), (1, "yes", True), (10, "auto", True)])
def test_auto_trims_where_adapters_are_many(n_short, trim, is_cut):
    texts = random_sequences(1, 1000 - n_short, 100)
    texts += [text[:60] + TRUSEQ[0] for text in random_sequences(2, n_short, 60)]
    reads, stages = Reads.from_strings(texts), Stages()
    cleaned = clean_reads(ReadSet(reads, [], np.zeros(1), 0), trim=trim, stages=stages)
    assert (cleaned.reads.n_bases < reads.n_bases) is is_cut
    counts = stages.records[0].counts
    assert (counts["with_adapter"], counts["adapter"]) == (n_short, "Illumina TruSeq")
    if is_cut:
        assert counts["trimmed_reads"] >= n_short
        assert counts["removed_bases"] == reads.n_bases - cleaned.reads.n_bases
    assert clean_reads(ReadSet(reads, [], np.zeros(1), 0), trim="no", stages=stages).reads is reads
    assert len(stages.records) == 1


@pytest.mark.parametrize("n_pairs", [0, 1])
def test_no_bases_at_all(n_pairs):
    reads = Reads.from_strings(["", "NN"] if n_pairs else [], paired=bool(n_pairs))
    assert survey_adapters(reads, n_pairs).share == 0
    assert trim_reads(reads, survey_adapters(reads, n_pairs), every_kit=True).n_segments == 0


def test_kits_are_as_published():
    for kit in ADAPTERS.values():
        assert all(len(sequence) > PROBE_LENGTH and set(sequence) <= set("ACGT") for sequence in kit)
    assert survey_adapters(Reads.from_strings([NEXTERA]), 0).sequences() == [NEXTERA]
