"""Reads as libraries have them: what each is made of, where nothing is read wrong."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpuasm.sequence.encoding import decode, reverse_complement
from tests.samples import simulated_genome

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
RIGHT = {"first": 0.0, "last": 0.0, "motif": 0.0}
SIZE = 4000


@pytest.fixture
def library(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("library_reads")


@pytest.fixture
def genome(tmp_path):
    path = tmp_path / "genome.fasta"
    path.write_text(f">circle circular=yes\n{decode(simulated_genome(length=SIZE, seed=3))}\n")
    return path


def reads_of(library, genome, kind, n, phix=None):
    template = library.Template(genome, phix, kind, np.random.default_rng(5))
    fragments = library.fragments_of(template, n)
    return fragments, [library.read(fragments, template, mate) for mate in (0, 1)]


def strands(genome):
    codes = np.concatenate([simulated_genome(length=SIZE, seed=3)] * 2)
    return decode(codes), decode(reverse_complement(codes))


def test_mates_read_their_fragment_then_its_adapter_then_nothing(library, genome):
    kind = replace(library.KINDS["nextera"], chimeras=0.0, copies=0.0, insert=150, **RIGHT)
    fragments, mates = reads_of(library, genome, kind, 400)
    texts = strands(genome)
    assert (fragments.whole < kind.length).sum() > 100
    for number, size in enumerate(fragments.whole[:40].tolist()):
        own = [("".join("ACGTN"[code] for code in codes[number])) for codes, _ in mates]
        shown = min(size, kind.length)
        for mate, read in enumerate(own):
            known = [i for i in range(shown) if read[i] != "N"]
            assert any(
                all(text[at + i] == read[i] for i in known)
                for text in texts
                for at in range(SIZE)
                if text[at + known[0]] == read[known[0]] and text[at + known[-1]] == read[known[-1]]
            )
            rest = (kind.adapters[mate] + "G" * kind.length)[: kind.length - shown]
            assert all(a in (b, "N") for a, b in zip(read[shown:], rest, strict=True))


def test_chimeras_have_two_places_and_copies_the_same(library, genome):
    kind = replace(library.KINDS["truseq"], chimeras=0.3, copies=0.5, **RIGHT)
    fragments, _ = reads_of(library, genome, kind, 4000)
    joined = fragments.cut < fragments.whole
    assert joined.mean() == pytest.approx(0.3, abs=0.05)
    places = np.stack([fragments.begin[0], fragments.whole, fragments.turned[0]], axis=1)
    is_copied = 0.5 * np.exp(-0.5)  # copies of another fragment that no fragment equals
    assert len(np.unique(places, axis=0)) / 4000 == pytest.approx(1 - is_copied, abs=0.02)


def test_the_same_arguments_give_the_same_reads_and_errors_rise(library, genome):
    kind = library.KINDS["miseq"]
    once, again = (reads_of(library, genome, kind, 2000)[1] for _ in range(2))
    assert all(np.array_equal(a, b) for x, y in zip(once, again, strict=True) for a, b in zip(x, y, strict=True))
    ambiguous_overlaps = once[1][1] < 37
    assert ambiguous_overlaps[:, 200:].mean() > 2 * ambiguous_overlaps[:, :50].mean()
