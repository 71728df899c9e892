"""How bins are judged against the truth."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.bin_truth import covered_bases, judge, judge_as_amber, nearest_share, robust_scores, truth_of
from gpuasm.io.contigs import ContigRecord

LENGTH = {"a": 10_000, "b": 4000}


def alignment(contig, target, begin, end):
    return [contig, "0", "0", "0", "+", target, "0", str(begin), str(end), str(end - begin), "0", "60"]


def contig(name, length):
    return ContigRecord(name, np.zeros(length, np.uint8), 1.0, False)


@pytest.mark.parametrize(
    ("stretches", "expected"),
    [
        ([], 0),
        ([("x", 5, 9), ("x", 0, 3)], 7),
        ([("x", 0, 10), ("x", 2, 4), ("x", 8, 12)], 12),
        ([("x", 5, 9), ("y", 0, 3)], 7),
    ],
)
def test_bases_that_are_covered_twice_count_once(stretches, expected):
    assert covered_bases(stretches) == expected


@pytest.fixture
def truth():
    rows = [
        alignment("c1", "a|1", 0, 9500),
        alignment("c2", "b|1", 0, 3000),
        alignment("c2", "a|1", 9500, 9900),  # less of it than of b
        alignment("c3", "a|1", 9000, 9600),
    ]
    return truth_of(rows, LENGTH)


CONTIGS = [contig("c1", 9500), contig("c2", 3400), contig("c3", 600), contig("c4", 1000)]


def test_a_contig_is_of_the_genome_that_most_of_it_matches(truth):
    assert truth.owner == {"c1": "a", "c2": "b", "c3": "a"}
    assert truth.completeness("a", ["c1", "c2", "c3"]) == 96.0
    assert truth.completeness("b", ["c1", "c2"]) == 75.0


def test_bins_are_judged_by_completeness_and_contamination(truth):
    one, two, three, four = CONTIGS
    found = judge({"x": [one, three], "y": [two]}, CONTIGS, truth)
    a, b = found["genomes"]
    assert (a["completeness"], a["contamination"], a["is_good"]) == (96.0, 0.0, True)
    assert (b["completeness"], b["contamination"], b["is_good"]) == (75.0, 0.0, False)
    assert (found["bins"], found["good"], found["binned_bases"]) == (2, 1, 13_500)
    assert (a["f1"], b["f1"]) == (round(2 * 0.96 / 1.96, 4), round(2 * 0.75 / 1.75, 4))
    # What matches nothing is contamination.
    a, _ = judge({"x": [one, three, four]}, CONTIGS, truth)["genomes"]
    assert a["contamination"] == pytest.approx(100 * 1000 / 11_100, abs=0.01)
    assert not a["is_good"]
    purity = 10_100 / 11_100
    assert a["f1"] == pytest.approx(2 * 0.96 * purity / (0.96 + purity), abs=1e-4)


def test_f1_is_that_of_the_bin_where_it_is_greatest(truth):
    """A genome that is whole in a large bin may have less there than the half of it in a bin of its own."""
    one, two, three, four = CONTIGS
    mixed, own = [two, three, four], [one]
    _, b = judge({"x": mixed, "y": own}, CONTIGS, truth)["genomes"]
    purity = 3400 / 5000
    assert b["f1"] == pytest.approx(2 * 0.75 * purity / (0.75 + purity), abs=1e-4)
    a, _ = judge({"x": [*mixed, one], "y": own}, CONTIGS, truth)["genomes"]
    assert a["f1"] == pytest.approx(2 * 0.95 / 1.95, abs=1e-4)


def test_bins_are_judged_by_the_definitions_of_amber(truth):
    """Of the contigs, whatever part of a genome they cover; c4 is of no genome."""
    one, two, three, four = CONTIGS
    found = judge_as_amber({"x": [one, two, four], "y": [three], "z": [four]}, CONTIGS, truth)
    purity = (9500 / 12_900 + 1) / 2
    completeness = (9500 / 10_100 + 1) / 2
    assert found["purity"] == round(purity, 4)
    assert found["completeness"] == round(completeness, 4)
    assert found["f1"] == round(2 * purity * completeness / (purity + completeness), 4)


def test_no_bins_are_no_genomes(truth):
    found = judge({}, CONTIGS, truth)
    assert judge_as_amber({}, CONTIGS, truth) == {"purity": 0.0, "completeness": 0.0, "f1": 0.0}
    assert [row["completeness"] for row in found["genomes"]] == [0, 0]
    assert (found["bins"], found["good"]) == (0, 0)


def test_rows_are_assigned_to_the_nearest_centre():
    rows = np.array([[0.0], [1.0], [4.0], [10.0], [9.0], [50.0]])
    assert nearest_share(rows, np.array(["a", "a", "b", "b", "b", ""])) == pytest.approx(0.8)
    assert robust_scores(rows)[:, 0].tolist() == pytest.approx(((rows[:, 0] - 6.5) / 4.5).tolist())
