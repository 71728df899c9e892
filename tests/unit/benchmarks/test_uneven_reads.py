"""Which pairs of a genome stay, so that it is covered unevenly."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
ART = """#!/usr/bin/env python3
import sys
prefix = sys.argv[sys.argv.index("-o") + 1]
for mate in "12":
    with open(f"{prefix}{mate}.fq", "w") as reads, open(f"{prefix}{mate}.aln", "w") as places:
        for i in range(2000):
            reads.write(f"@r{i}/{mate}\\nACGT\\n+\\nIIII\\n")
            at, strand = (i, "+") if mate == "1" else (1650 - i, "-")
            places.write(f">chromosome\\tr{i}/{mate}\\t{at % 1650}\\t{strand}\\n")
"""


@pytest.fixture
def module(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("uneven_reads")


def test_chances_fall_with_gc_content_and_towards_the_ends_of_a_long_replicon(module):
    codes = np.random.default_rng(1).permutation(np.repeat([0, 1, 2, 3], 250_000)).astype(np.uint8)
    codes[400_000:410_000] = 0
    found = module.chances(codes, 300, np.random.default_rng(2))
    assert found.shape == codes.shape
    assert found[402_000:408_000].max() < 0.01
    ends, middle = found[:100_000].mean() + found[-100_000:].mean(), 2 * found[450_000:550_000].mean()
    assert 0.45 < ends / middle < 0.6
    assert np.array_equal(found, module.chances(codes, 300, np.random.default_rng(2)))


def test_both_mates_of_a_pair_stay_or_go(module, tmp_path, monkeypatch):
    art = tmp_path / "bin" / "art_illumina"
    art.parent.mkdir()
    art.write_text(ART)
    art.chmod(0o755)
    monkeypatch.setenv("PATH", str(art.parent), prepend=":")
    genome = tmp_path / "genome.fa"
    genome.write_text(">chromosome 1\n" + "ACGT" * 250 + "AATA" * 250 + "\n")
    done = CliRunner().invoke(module.main, [str(genome), str(tmp_path / "out" / "r_"), "--fold", "100"])
    assert done.exit_code == 0, done.output
    names = [
        [line[1:].split("/")[0] for line in (tmp_path / "out" / f"r_{mate}.fq").read_text().splitlines()[::4]]
        for mate in (1, 2)
    ]
    assert names[0] == names[1]
    rich, poor = (sum(low <= int(name[1:]) < low + 600 for name in names[0]) for low in (0, 1000))
    assert poor < 30
    assert rich > 100
    assert f"{len(names[0]):,} of 2,000 pairs" in done.output
