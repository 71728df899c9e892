"""Pairs read of copies of one molecule."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.io.duplicates import MOST, find_duplicates, survey_duplicates
from gpuasm.io.examination import examine
from gpuasm.io.read_cleaning import clean_reads
from gpuasm.io.summary import ReadSet
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.oracles.kmers import reverse_complement
from tests.read_files import write_pairs

Pair = tuple[str, str]
GENOME = "".join(random.Random(1).choices("ACGT", k=20_000))


def pair_at(start: int, insert: int, length: int = 100) -> Pair:
    fragment = GENOME[start : start + insert]
    return fragment[:length], reverse_complement(fragment)[:length]


def drawn(n: int, *, seed: int, size: int = 19_000) -> list[Pair]:
    rng = random.Random(seed)
    return [pair_at(rng.randrange(size), rng.randrange(200, 400)) for _ in range(n)]


def with_error(read: str, at: int) -> str:
    return read[:at] + ("A" if read[at] != "A" else "C") + read[at + 1 :]


def reads_of(pairs: list[Pair]) -> Reads:
    return Reads.from_strings([read for pair in pairs for read in pair], paired=True)


def left_of(pairs: list[Pair]) -> list[Pair]:
    leaves = find_duplicates(reads_of(pairs), len(pairs)).tolist()
    return [pair for pair, is_left_out in zip(pairs, leaves, strict=True) if not is_left_out]


def compared_bases(pair: Pair, offset: int) -> tuple[str, ...] | None:
    """Return what is compared of a pair, whichever mate is first."""
    texts = [mate.split("N")[0][offset : offset + 32] for mate in pair]
    return tuple(sorted(texts)) if all(len(text) == 32 for text in texts) else None


def survivors(pairs: list[Pair]) -> list[set[Pair]]:
    """Return, for each pair that stays, the pairs of which it may be: a slow oracle."""
    groups = [[pair] for pair in pairs]
    for offset in (0, 32):
        kept: list[list[Pair]] = []
        where: dict[tuple[str, ...], int] = {}
        for group in groups:
            texts = compared_bases(group[0], offset)
            if texts is None or texts not in where:
                if texts is not None:
                    where[texts] = len(kept)
                kept.append(list(group))
            else:
                kept[where[texts]] += group
        groups = [longest(group) for group in kept]
    return [set(group) for group in groups]


def longest(group: list[Pair]) -> list[Pair]:
    size = max(sum(map(len, pair)) for pair in group)
    return [pair for pair in group if sum(map(len, pair)) == size]


def test_one_of_each_molecule_stays():
    pairs = drawn(50, seed=2)
    assert left_of(pairs) == pairs
    assert Counter(left_of(pairs * 3)) == Counter(pairs)
    swapped = [(second, first) for first, second in pairs]
    assert len(left_of(pairs + swapped)) == 50


@pytest.mark.parametrize(
    ("at", "is_found"), [((0,), True), ((31,), True), ((32,), True), ((40,), True), ((3, 35), False)]
)
def test_an_error_hides_a_duplicate_at_one_offset_only(at, is_found):
    first, second = pair_at(500, 300)
    wrong = first
    for place in at:
        wrong = with_error(wrong, place)
    assert len(left_of([(first, second), (wrong, second)])) == (1 if is_found else 2)


def test_the_longest_stays():
    first, second = pair_at(500, 300)
    pairs = [(first[:80], second), (first, second), (first[:90], second)]
    assert left_of(pairs) == [(first, second)]


def test_fragments_that_share_one_end_are_none():
    pairs = [pair_at(500, insert) for insert in range(250, 300)]
    assert left_of(pairs) == pairs


def test_what_is_too_short_or_without_a_mate_stays():
    first, second = pair_at(500, 300)
    for pair in (
        (first[:31], second),
        (first, ""),
        ("", ""),
        ("N" * 50, second),
        (first[:20] + "N" + first[21:], second),
    ):
        assert left_of([pair, pair]) == [pair, pair]
    singles = Reads.from_strings([first, first, second])
    assert find_duplicates(singles, 0).tolist() == []
    assert survey_duplicates(singles, 0).share == 0
    assert find_duplicates(Reads.from_strings([first, second, first, second, first, second]), 2).tolist() == [
        False,
        True,
    ]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.booleans(), st.integers(0, 60)), max_size=30))
def test_the_choice_depends_on_bases_alone(choices):
    pairs = []
    for place, insert, is_swapped, error in choices:
        first, second = pair_at(100 * place, 200 + insert, 70 + insert)
        first = with_error(first, error) if error < 20 else first
        pairs.append((second, first) if is_swapped else (first, second))
    shuffled = random.Random(len(pairs)).sample(pairs, len(pairs))
    left = left_of(pairs)
    assert Counter(tuple(sorted(pair)) for pair in left) == Counter(tuple(sorted(pair)) for pair in left_of(shuffled))
    for pair in set(pairs) - set(left):
        shared = [offset for offset in (0, 32) if compared_bases(pair, offset)]
        assert any(
            compared_bases(pair, offset) == compared_bases(other, offset)
            for offset in shared
            for other in pairs
            if other != pair
        )


@given(st.lists(st.integers(0, 8), max_size=30))
def test_the_same_stay_as_of_a_slow_oracle(places):
    pairs = [pair_at(100 * place, 250, 64 + 8 * (number % 3)) for number, place in enumerate(places)]
    left, expected = left_of(pairs), survivors(pairs)
    assert len(left) == len(expected)
    assert all(any(pair in group for group in expected) for pair in left)


def test_copies_are_distinguished_from_chance():
    covered = drawn(9000, seed=3, size=150)
    survey = survey_duplicates(reads_of(covered), len(covered))
    assert survey.share > 0.1
    assert survey.by_chance == pytest.approx(survey.share, rel=0.1)
    assert not survey.are_many
    copied = drawn(3000, seed=4) + drawn(3000, seed=4)[:600]
    survey = survey_duplicates(reads_of(copied), len(copied))
    assert survey.share == pytest.approx(600 / 3600, abs=0.01)
    assert survey.by_chance < 0.01
    assert survey.are_many


def test_a_sample_estimates_the_share_of_all_pairs():
    pairs = drawn(40_000, seed=5)
    pairs += pairs[:8000]
    share = survey_duplicates(reads_of(pairs), len(pairs)).share
    assert share == pytest.approx(np.mean(find_duplicates(reads_of(pairs), len(pairs))), abs=0.01)


def test_left_out_on_request_only():
    pairs = drawn(10, seed=6)
    texts = [read for pair in [*pairs, *pairs] for read in pair]
    read_set = ReadSet(Reads.from_strings([*texts, texts[0]], paired=True), [], np.zeros(1), 20)
    stages = Stages()
    assert clean_reads(read_set, trim="no", stages=stages).reads is read_set.reads
    left = clean_reads(read_set, trim="no", deduplicate=True, stages=stages).reads
    assert stages.records[0].counts == {"removed_pairs": 10}
    assert (left.n_reads, left.n_segments) == (41, 21)


def test_an_examination_reports_duplicates(tmp_path):
    pairs = drawn(300, seed=7)
    for folder, some in (("copied", pairs + pairs[:100]), ("amplicons", pairs[:3] * 100), ("clean", pairs)):
        (tmp_path / folder).mkdir()
        found = examine({"pairs": [write_pairs(tmp_path / folder, some)]})
        fractions = [file["duplicate_fraction"] for file in found.as_dict()["files"]]
        assert all(file["duplicates_by_chance"] < 0.05 for file in found.as_dict()["files"])
        texts = [text for text in found.warnings if "duplicates" in text]
        if folder == "clean":
            assert (fractions, texts) == ([0.0, 0.0], [])
        elif folder == "copied":
            assert fractions == [0.25, 0.25]
            assert "25.0% of the pairs are duplicates of another one; --deduplicate leaves them out" in texts[0]
            assert len(texts) == 1
        else:
            assert fractions[0] > MOST
            assert "as those of amplicons are" in texts[0]
