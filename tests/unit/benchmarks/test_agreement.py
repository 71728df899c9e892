"""Places where contigs differ from a reference, and the reads that are counted for either side."""

from __future__ import annotations

import importlib
from collections import Counter
from pathlib import Path

import numpy as np
import pysam

from benchmarks.differing_places import compare, count_outvoted, count_votes
from gpuasm.sequence.encoding import decode, encode, reverse_complement

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
TARGET = decode(np.random.default_rng(3).integers(0, 4, 400).astype(np.uint8))


def aligned(text, start, cigar, *, name="c", target="r", is_reverse=False, second=False):
    header = pysam.AlignmentHeader.from_dict({"HD": {"VN": "1.6"}, "SQ": [{"SN": target, "LN": len(TARGET)}]})
    own = pysam.AlignedSegment(header)
    own.query_name, own.query_sequence, own.reference_id, own.reference_start = name, text, 0, start
    own.cigarstring, own.flag, own.mapping_quality = cigar, 16 * is_reverse + 128 * second, 60
    return own


def changed(text, **bases):
    """Change bases by their positions, named at_POSITION."""
    letters = list(text)
    for place, base in bases.items():
        letters[int(place.removeprefix("at_"))] = base
    return "".join(letters)


def other(base):
    return "ACGT"["ACGT".index(base) - 1]


def flipped(text):
    return decode(reverse_complement(encode(text)))


def test_substitutions_are_places_of_their_own():
    contig = changed(TARGET[50:250], at_20=other(TARGET[70]), at_23=other(TARGET[73]), at_24=other(TARGET[74]))
    found = compare([aligned("GG" + contig, 50, "2S200M")], {"r": TARGET})
    assert [place.reference for place in found.places] == [("r", 70, 71), ("r", 73, 75)]
    assert [place.contig for place in found.places] == [("c", 22, 23), ("c", 25, 27)]
    assert [place.texts for place in found.places] == [(contig[20], TARGET[70]), (contig[23:25], TARGET[73:75])]
    assert [place.at for place in found.places] == [70, 73]
    assert found.covered["r"].sum() == 200
    assert np.flatnonzero(found.covered["r"])[[0, -1]].tolist() == [50, 249]


def test_places_of_gaps_include_their_flanks():
    contig = TARGET[:100] + TARGET[105:200] + "ACGTA" + TARGET[200:300]
    contig = changed(contig, at_96=other(TARGET[96]))
    found = compare([aligned(contig, 0, "100M5D95M5I100M")], {"r": TARGET})
    assert [place.reference for place in found.places] == [("r", 86, 115), ("r", 190, 210)]
    assert [place.contig for place in found.places] == [("c", 86, 110), ("c", 185, 210)]
    assert found.places[0].texts == (contig[86:110], TARGET[86:115])
    assert [place.at for place in found.places] == [96, 200]


def test_unknown_bases_differ_from_nothing():
    target = TARGET[:100] + "N" * 30 + TARGET[130:]
    found = compare([aligned(TARGET[60:200], 60, "140M"), aligned(TARGET[190:220], 190, "30M")], {"r": target})
    assert not found.places
    assert found.on_unknown == 30
    assert (found.covered["r"] > 0).sum() == 130
    assert found.covered["r"].sum() == 140
    (gap,) = compare([aligned(TARGET[60:98] + TARGET[104:200], 60, "38M6D96M")], {"r": target}).places
    assert gap.reference == ("r", 88, 100)  # not into what is unknown
    assert gap.contig == ("c", 28, 38)


def test_reads_count_once_over_all_alignments():
    contig = changed(TARGET[50:250], at_100=other(TARGET[150]))
    (place,) = compare([aligned(contig, 50, "200M")], {"r": TARGET}).places
    on_contig = [aligned(contig[80:140], 80, "60M", name="ours", target="c")]
    on_contig += [aligned(contig[80:100], 80, "20M", name="ends there", target="c")]
    on_contig += [aligned(changed(contig[80:140], at_20="N"), 80, "60M", name="neither", target="c")]
    on_contig += [aligned(TARGET[120:180], 70, "60M", name="theirs", target="c")]
    on_reference = [aligned(contig[80:140], 130, "60M", name="ours")]
    on_reference += [aligned(TARGET[120:180], 120, "60M", name="theirs")]
    on_reference += [aligned(TARGET[110:170], 110, "60M", name="ours", second=True)]  # its mate
    assert count_votes([place], on_contig, on_reference) == [Counter(reference=2, contig=1, neither=1)]
    assert count_votes([place], on_contig[:1], on_reference[:1]) == [Counter(contig=1)]


def test_reads_on_reversed_contigs_and_across_gaps_are_counted():
    contig = TARGET[50:150] + TARGET[158:250]
    (place,) = compare([aligned(contig, 50, "100M8D92M", is_reverse=True)], {"r": TARGET}).places
    assert place.contig == ("c", 82, 102)
    written = flipped(contig)
    on_contig = [aligned(written[60:140], 60, "80M", name="ours", target="c")]
    on_reference = [aligned(TARGET[110:190], 110, "80M", name="theirs")]
    on_reference += [aligned(contig[70:120], 120, "30M8D20M", name="ours too")]
    assert count_votes([place], on_contig, on_reference) == [Counter(contig=2, reference=1)]


def test_units_of_a_tandem_repeat_are_counted_by_reads_across_all_of_them():
    """A read within a unit is the same for any number of units."""
    unit = TARGET[100:140]
    three, two = (TARGET[:100] + unit * n + TARGET[140:300] for n in (3, 2))
    (place,) = compare([aligned(two, 0, "100M40D240M", target="r")], {"r": three}).places
    assert place.is_distinct
    assert place.reference[1] < 100
    assert place.reference[2] > 220
    (place,) = compare([aligned(two[80:200], 80, "20M40D100M")], {"r": three[:90] + "N" + three[91:]}).places
    assert not place.is_distinct
    assert count_votes([place], [aligned(two[60:180], 60, "120M", target="c")], []) == [Counter()]


def test_a_place_is_assigned_to_the_side_with_more_reads(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    agreement = importlib.import_module("agreement")
    contig = changed(TARGET[50:250], **{f"at_{at}": other(TARGET[50 + at]) for at in (20, 60, 100)})
    compared = agreement.compare([aligned(contig, 50, "200M")], {"r": TARGET})
    votes = [Counter(contig=5, reference=4, neither=9), Counter(reference=1), Counter(neither=3)]
    row = agreement.figures(compared, votes)
    assert [row[f"for_{side}"] for side in ("contig", "reference", "neither")] == [1, 1, 1]
    assert row["reads"] == {"contig": 5, "reference": 5, "neither": 12}
    assert (row["covered"], row["covered_again"], row["on_unknown"]) == (200, 0, 0)
    assert row["list_of_places"][0] == f"c:20-21 r:70-71 {contig[20]} / {TARGET[70]}: 5 / 4 / 9"


def test_bases_with_more_reads_for_one_other_base_are_counted():
    text = changed(TARGET, at_150="N")
    reads = [aligned(TARGET[100:200], 100, "100M") for _ in range(2)]
    reads += [aligned(changed(TARGET[100:200], at_30=other(TARGET[130])), 100, "100M") for _ in range(3)]
    reads += [aligned(changed(TARGET[100:200], at_40=other(TARGET[140])), 100, "100M") for _ in range(2)]
    assert count_outvoted(reads[:2], {"r": text}) == 0
    assert count_outvoted(reads[2:5], {"r": text}) == 1
    assert count_outvoted(reads[1:5], {"r": text}) == 1
    assert count_outvoted(reads, {"r": text}) == 0  # three of seven
