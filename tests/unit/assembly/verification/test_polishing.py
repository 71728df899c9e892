"""Corrections by votes, case by case."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.assembly.verification.polishing import Voters, count_mixed, decide, least_votes
from gpuasm.primitives.runs import occurrences

BOUNDS = np.array([0, 100])


@pytest.mark.parametrize(
    ("n_votes", "n_voters", "changes"),
    [
        (1, 1, False),  # one read may be wrong
        (1, 2, False),
        (2, 2, True),  # two seldom share an error
        (2, 3, True),
        (2, 4, False),  # as many support the present base
        (3, 5, True),
        (3, 6, False),
        (8, 10, True),
        (8, 11, False),
    ],
)
def test_number_of_votes_needed(n_votes, n_voters, changes):
    voters = np.full(100, n_voters, np.int32)
    votes = np.full(n_votes, 4 * 50 + 2, np.int64)
    place, code = decide(occurrences(votes), Voters.of(voters, BOUNDS), least=2)
    assert (place.tolist(), code.tolist()) == (([50], [2]) if changes else ([], []))


def test_no_correction_at_high_depth():
    voters = np.full(100, 5, np.int32)
    voters[40:60] = 20
    votes = np.concatenate([np.full(20, 4 * 50 + 2), np.full(5, 4 * 10 + 1)])
    assert decide(occurrences(votes), Voters.of(voters, BOUNDS), least=2)[0].tolist() == [10]


def test_reads_with_more_errors_need_one_vote_more():
    assert [least_votes(wrong, 10_000) for wrong in (0, 100, 101)] == [2, 2, 3]
    votes, voters = np.full(2, 4 * 50 + 2, np.int64), np.full(100, 3, np.int32)
    assert decide(occurrences(votes), Voters.of(voters, BOUNDS), least=3)[0].size == 0
    votes = np.full(3, 4 * 50 + 2, np.int64)
    assert decide(occurrences(votes), Voters.of(voters, BOUNDS), least=3)[0].tolist() == [50]


@pytest.mark.parametrize(
    ("n_other", "n_voters", "is_mixed"),
    [
        (2, 40, False),  # errors
        (4, 40, True),  # a strain of one read in ten
        (20, 40, True),
        (36, 40, True),  # the contig has the rare base
        (38, 40, False),
        (5, 100, False),  # of one error
        (4, 5, False),
    ],
)
def test_bases_of_two_variants(xp, n_other, n_voters, is_mixed):
    voters = xp.full(100, n_voters, np.int32)
    tally = occurrences(xp.full(n_other, 4 * 50 + 2, np.int64))
    counts = count_mixed(tally, Voters.of(voters, BOUNDS), error_rate=0.002)
    assert counts == {"bases_compared": 100 if n_voters > 5 else 0, "bases_mixed": int(is_mixed)}


def test_reads_with_more_errors_need_more_reads_of_a_variant():
    tally, voters = occurrences(np.full(4, 4 * 50 + 2, np.int64)), np.full(100, 40, np.int32)
    counts = [count_mixed(tally, Voters.of(voters, BOUNDS), error_rate=rate)["bases_mixed"] for rate in (0.001, 0.05)]
    assert counts == [1, 0]


def test_copies_of_a_repeat_are_no_variants():
    voters = np.full(100, 40, np.int32)
    voters[45:55] = 120
    counts = count_mixed(occurrences(np.full(40, 4 * 50 + 2, np.int64)), Voters.of(voters, BOUNDS), error_rate=0.002)
    assert counts["bases_mixed"] == 0
