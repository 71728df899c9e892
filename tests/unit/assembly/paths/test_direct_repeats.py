"""Repeats of two copies that no fragment spans: resolved if the sequence between is no plasmid."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuasm.assembly.coverage.sample_mode import Mode
from gpuasm.assembly.parameters import PATHS
from gpuasm.assembly.paths.repeat_resolution import resolve, resolve_pairs
from gpuasm.assembly.paths.repeats import find_direct_repeats
from gpuasm.kmers.spectrum import analyse_spectrum
from gpuasm.stages import Stages
from tests import repeat_graphs as made
from tests.graphs import graph_of
from tests.oracles.kmers import reverse_complement

UNITIGS = {"a": (60_000, 20.0), "r": (700, 40.0), "b": (1000, 20.0), "c": (38_300, 20.0), "x": (900, 20.0)}
LOOP = "a>r b>r r>b r>c"


def names_of(graph, number, *, may_join=None):
    """Return before, repeat, between and after of each repeat by name, "-" for the other strand."""
    name = {2 * u + strand: strand * "-" + each for each, u in number.items() for strand in (0, 1)}
    found = find_direct_repeats(graph, np.ones(2 * graph.n, dtype=bool) if may_join is None else may_join)
    return [" ".join(name[o] for o in (one.before, one.repeat, one.between, one.after)) for one in found]


@pytest.mark.parametrize(
    ("arcs", "changed", "found"),
    [
        (LOOP, {}, "a r b c"),
        ("a>-r b>-r -r>b -r>c", {}, "-c r -b -a"),
        ("-a>r -b>r r>-b r>-c", {}, "-a r -b -c"),
        (LOOP, {"b": (500, 20.0)}, "a r b c"),
        (LOOP, {"b": (3000, 20.0)}, ""),  # may be a plasmid of one copy
        (LOOP, {"b": (1000, 22.0)}, "a r b c"),
        (LOOP, {"b": (1000, 28.0)}, ""),
        (LOOP, {"b": (1000, 14.0)}, ""),
        (LOOP, {"c": (38_300, 14.0)}, ""),
        (LOOP, {"r": (700, 60.0)}, ""),  # three copies: one is elsewhere
        (LOOP, {"r": (700, 22.0)}, ""),
        (LOOP + " b>x", {}, ""),
        (LOOP + " a>x", {}, ""),
        (LOOP + " x>c", {}, ""),
        (LOOP + " r>x", {}, ""),
        ("a>r b>r r>c r>x", {}, ""),
        ("a>r b>r r>-b r>c", {}, ""),  # inverted copies do not determine B's strand
        ("a>r b>r r>b r>a", {}, ""),  # two circular replicons, or one
        ("a>r b>r r>b r>-a", {}, ""),
    ],
)
def test_direct_repeats_are_found(arcs, changed, found):
    graph, number = graph_of([(name, *own) for name, own in (UNITIGS | changed).items()], arcs)
    assert names_of(graph, number) == ([found] if found else [])


@pytest.mark.parametrize("end", ["a", "b", "-b", "-c"])
def test_a_repeat_with_an_end_that_may_not_be_joined_stays_open(end):
    graph, number = graph_of([(name, *own) for name, own in UNITIGS.items()], LOOP)
    may_join = np.ones(2 * graph.n, dtype=bool)
    may_join[2 * number[end.lstrip("-")] + end.startswith("-")] = False
    assert names_of(graph, number, may_join=may_join) == []


@settings(max_examples=60)
@given(
    order=st.permutations("arbcdse"),
    depths=st.lists(st.sampled_from([20.0, 21.0, 30.0]), min_size=7, max_size=7),
    lengths=st.lists(st.sampled_from([300, 800, 40_000]), min_size=7, max_size=7),
)
def test_two_in_a_row_are_found_by_definition(order, depths, lengths):
    """A R B R C S D S E, its unitigs in any order: each repeat is found independently."""
    own = {name: (n, 2 * d if name in "rs" else d) for name, n, d in zip("arbcdse", lengths, depths, strict=True)}
    graph, number = graph_of([(name, *own[name]) for name in order], f"{LOOP} c>s d>s s>d s>e")
    total = sum(n for n, _ in own.values())
    expected = []
    for before, repeat, between, after in ("arbc", "csde"):
        three = [own[name][1] for name in (before, between, after)]
        small = 10_000 * (own[repeat][0] + own[between][0]) <= PATHS.replicon_min_share * total
        two = abs(own[repeat][1] - 2 * own[between][1]) <= own[between][1] / 2
        if small and two and max(three) <= PATHS.repeat_flank_depth_ratio * min(three):
            expected.append(f"{before} {repeat} {between} {after}")
    assert sorted(names_of(graph, number)) == sorted(expected)


A, C = made.random_text(30_000, 40), made.random_text(30_000, 41)
R, B = made.random_text(500, 42), made.random_text(450, 43)
LINEAR, MEAN = A + R + B + R + C, made.INSERT


def resolved(*texts, depth=made.FOLD, mean=MEAN):
    """Resolve the chromosome's graph by pairs, with B at a given depth."""
    graph = made.graph_of(*texts)
    here = np.array(
        [B[100:200] in text or reverse_complement(B)[100:200] in text for text in map(graph.sequence, range(graph.n))]
    )
    count = np.where(here, graph.count * depth // made.FOLD, graph.count)
    return resolve(replace(graph, count=count), made.pairs_of(*texts, mean=mean))


@pytest.mark.parametrize("genome", [LINEAR, reverse_complement(LINEAR)])
def test_both_copies_are_resolved(genome):
    resolution = resolved(genome)
    assert made.texts_of(resolution.graph) == [made.either_strand(LINEAR)]
    assert resolution.counts["direct_repeats"] == 1
    assert resolution.counts["walks"] == 0


def test_a_plasmid_of_several_copies_stays_separate():
    circle = B + R + B[: made.K]
    resolution = resolved(A + R + C, circle, depth=3 * made.FOLD)
    assert resolution.counts["direct_repeats"] == 0
    assert not any(made.either_strand(LINEAR) == text for text in made.texts_of(resolution.graph))


def test_pairs_that_reach_across_decide():
    """The circular replicon has the chromosome's depth, and the length of the sequence between."""
    resolution = resolved(A + R + C, B + R + B + R + B[: made.K], mean=750)
    assert resolution.counts["direct_repeats"] == 0
    assert made.either_strand(A + R + C) in made.texts_of(resolution.graph)


@pytest.mark.parametrize(("n_contradicting", "n_found"), [(0, 1), (1, 0)])
def test_one_pair_from_before_to_after_prevents_the_join(n_contradicting, n_found):
    """A few pairs are expected across R: too few to decide, but one would contradict."""
    within = [A[:100], reverse_complement(A[500:600])]
    across = [A[-35:] + R[:65], reverse_complement(R[-65:] + C[:35])]
    pairs = made.pairs_of(extra=within + n_contradicting * across, mean=535)
    assert resolve(made.graph_of(LINEAR), pairs).counts["direct_repeats"] == n_found


@pytest.mark.parametrize(("mode", "n_found"), [("isolate", 1), ("meta", 0)])
def test_the_rule_is_not_used_for_several_organisms(mode, n_found):
    graph = made.graph_of(LINEAR)
    kmer_graph = SimpleNamespace(graph=graph)
    spectrum = analyse_spectrum(np.array([0, 100, 10, 1, 0]), 31)
    pairs = made.pairs_of(LINEAR)
    rest = {"rules": Mode(mode, "").rules(), "repeat_kmers": None, "spectrum": spectrum}
    state = SimpleNamespace(kmer_graph=kmer_graph, spanning=pairs, mode=Mode(mode, ""), **rest)
    stages = Stages()
    resolution = resolve_pairs(state, stages).graph
    assert stages.records[0].counts["direct_repeats"] == n_found
    assert (made.texts_of(resolution) == made.texts_of(graph)) == (n_found == 0)
