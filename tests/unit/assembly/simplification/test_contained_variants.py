"""Contained variants: short contigs that align to longer ones, in samples where they are removed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpuasm.assembly import AssemblyOptions, assemble
from gpuasm.assembly.contig import Contig
from gpuasm.assembly.coverage.sample_mode import ISOLATE, Mode
from gpuasm.assembly.parameters import SIMPLIFICATION
from gpuasm.assembly.simplification.contained_variants import find_contained_variants
from gpuasm.sequence.encoding import reverse_complement
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.samples import simulated_genome, simulated_texts

LONGEST = SIMPLIFICATION.variant_max_kmers
POPULATION = Mode("meta", "a test", is_population=True)
META = Mode("meta", "a test")
GENOME = simulated_genome(length=5000, seed=4)
OTHER = simulated_genome(length=5000, seed=5)


def contig(codes, depth=100.0, *, circular=False):
    return Contig("", np.asarray(codes, np.uint8), depth, 1, circular, -1)


def changed(codes, *places):
    codes = codes.copy()
    codes[list(places)] = (codes[list(places)] + 1) % 4
    return codes


def is_variant(short, mode=POPULATION, *, long=GENOME, long_is_circular=False, xp=np):
    return find_contained_variants([contig(long, circular=long_is_circular), short], mode, xp=xp).tolist() == [
        False,
        True,
    ]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    ("codes", "removed"),
    [
        (GENOME[700:1000], True),
        (changed(GENOME[700:1000], *range(9, 300, 20)), True),
        (changed(GENOME[700:1000], *range(0, 300, 6)), False),
        (np.concatenate([GENOME[700:850], GENOME[853:1000]]), True),  # three bases are missing
        (np.concatenate([GENOME[700:990], OTHER[:14]]), True),  # 95 of 100 bases align
        (np.concatenate([GENOME[700:980], OTHER[:24]]), False),
        (np.concatenate([GENOME[700:850], OTHER[:150]]), False),
        (OTHER[:300], False),
        (GENOME[: LONGEST + 200], False),
        (GENOME[: LONGEST - 200], True),
        (GENOME[4850:5000], True),
        (GENOME[:29], False),
    ],
)
def test_contigs_that_align_to_a_longer_one_are_variants(codes, removed, reverse, xp):
    assert is_variant(contig(reverse_complement(codes) if reverse else codes), xp=xp) == removed


def test_variant_may_cross_the_origin_of_a_circular_contig(xp):
    short = contig(np.concatenate([GENOME[-120:], GENOME[:120]]))
    assert is_variant(short, long_is_circular=True, xp=xp)
    assert not is_variant(short)


@pytest.mark.parametrize(
    ("mode", "depth", "removed"),
    [
        (POPULATION, 900.0, True),
        (replace(POPULATION, keeps_variants=True), 9.0, False),
        (META, 9.0, False),
        (ISOLATE, 49.0, True),
        (ISOLATE, 50.0, False),
    ],
)
def test_depth_of_a_variant_by_mode(mode, depth, removed):
    assert is_variant(contig(GENOME[700:1000], depth), mode) == removed


def test_circular_and_single_contigs_are_kept():
    assert not is_variant(contig(GENOME[700:1000], circular=True))
    assert not is_variant(contig(GENOME[700:1000]), long=GENOME[: LONGEST - 200])
    assert find_contained_variants([], POPULATION).tolist() == []


def test_variants_below_half_a_copy_are_removed():
    """Variants of random stretches differ in one base of 20: few of their k-mers are those of the genome."""
    genome, rng = simulated_genome(length=30_000, seed=4), np.random.default_rng(1)
    texts = simulated_texts(genome, fold=100, error_rate=0.0)
    for number in range(12):
        own = genome[(at := int(rng.integers(0, 29_000))) : at + int(rng.integers(200, 600))]
        places = np.arange(7, own.size - 12, 20)
        own = changed(own, *(places + rng.integers(0, 12, places.size)).tolist())
        texts += simulated_texts(own, fold=float(rng.integers(15, 35)), error_rate=0.0, seed=number)
    reads, stages = Reads.from_strings(texts), Stages()
    found = assemble(reads, AssemblyOptions(mode="isolate"), stages=stages)
    apart = assemble(reads, AssemblyOptions(mode="isolate", without=("contained-variants",)))
    (record,) = (record for record in stages.records if record.name == "remove contained variants")
    assert [own.length for own in found.contigs] == [own.length for own in apart.contigs if own.length > LONGEST]
    assert record.counts["variants"] >= len(apart.contigs) - 1 > 5
