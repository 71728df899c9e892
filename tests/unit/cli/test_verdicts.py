"""Verdicts on whole samples: small simulated genomes, contaminated, mixed, thin or damaged."""

from __future__ import annotations

import json

import numpy as np
import pytest

from gpuasm.cli.assembly_page import AssemblyPage
from gpuasm.io.adapters import ADAPTERS
from gpuasm.sequence.encoding import decode, encode
from tests.oracles.reads import random_sequences
from tests.read_files import genome_text, simulated_pairs, write_pairs

LENGTH = 12_000
GENOME, OTHER = genome_text(length=LENGTH), genome_text(length=LENGTH // 2, seed=8)


def strain_of(genome, *, share=0.005, seed=2):
    """Return the genome with substitutions."""
    rng, codes = np.random.default_rng(seed), encode(genome)
    wrong = rng.random(codes.size) < share
    return decode(np.where(wrong, (codes + rng.integers(1, 4, codes.size)) % 4, codes).astype(np.uint8))


def reads_of(genome, fold, *, seed=1):
    return simulated_pairs(genome, fold=fold, circular=False, seed=seed)


def of_a_host(share):
    """Return pairs of a genome so large that none of its bases is read twice."""
    n = int(len(CLEAN) * share / (1 - share))
    texts = random_sequences(11, 2 * n, length=100)
    return list(zip(texts[:n], texts[n:], strict=True))


def with_adapters(share):
    """Return pairs of which a share has fragments of 70 bases, and so runs into the adapters."""
    n = int(share * len(CLEAN))
    fragments = [encode(first)[:70] for first, _ in CLEAN[:n]]
    mates = [(decode(codes), decode(3 - codes[::-1])) for codes in fragments]
    adapters = ADAPTERS["Illumina TruSeq"]
    return [*((one + adapters[0][:30], two + adapters[1][:30]) for one, two in mates), *CLEAN[n:]]


def with_unknown_bases(share):
    n = int(100 * share)
    return [(one[:-n] + "N" * n, two[:-n] + "N" * n) for one, two in CLEAN]


CLEAN = reads_of(GENOME, 40)
SAMPLES = {
    "clean": (CLEAN, "pass", ""),
    "contaminated": (CLEAN + reads_of(OTHER, 12, seed=3), "fail", "bases of another depth than most"),
    "strains 1:1": (reads_of(GENOME, 20) + reads_of(strain_of(GENOME), 20, seed=4), "fail", "reads of two variants"),
    "strains 9:1": (reads_of(GENOME, 36) + reads_of(strain_of(GENOME), 4, seed=4), "fail", "reads of two variants"),
    "host": (CLEAN + of_a_host(0.3), "warn", "reads in the assembly: 70"),
    "8-fold": (reads_of(GENOME, 8), "fail", "mean depth: 8."),
    "adapters": (with_adapters(0.6), "fail", "reads that run into an adapter: 60"),
    "half of the genome": (reads_of(GENOME[: LENGTH // 2], 40), "fail", f"of {LENGTH:,} expected"),
    "half of the letters": (with_unknown_bases(0.5), "fail", "letters of the reads that are no bases: 50.0 %"),
}


@pytest.fixture
def assembled(run_cli, tmp_path):
    """Return a function that assembles pairs, and returns what it printed and its run.json."""

    def run(pairs, *options):
        first, second = write_pairs(tmp_path, pairs)
        files = ("-1", first, "-2", second, "-o", tmp_path / "out")
        code, out, err = run_cli("assemble", "-q", "--force", *files, *options)
        assert code == 0, err
        return out.splitlines(), json.loads((tmp_path / "out" / "run.json").read_text())

    return run


@pytest.mark.parametrize("name", SAMPLES)
def test_each_sample_gets_its_verdict_and_the_reason(assembled, monkeypatch, name):
    monkeypatch.setattr(AssemblyPage, "write", lambda _: None)
    pairs, level, reason = SAMPLES[name]
    lines, manifest = assembled(pairs, "--genome-size", LENGTH)
    verdict = manifest["results"]["verdict"]
    assert (verdict["level"], reason in "; ".join(verdict["reasons"])) == (level, True), verdict["reasons"]
    assert lines[-1].startswith(f"verdict: {level}")


def test_what_auto_chose_is_said_and_a_stated_community_is_no_fault(assembled, tmp_path):
    pairs = SAMPLES["contaminated"][0]
    _, manifest = assembled(pairs)
    assert manifest["results"]["mode"]["name"] == "meta"
    assert any("the mode is community, chosen by auto" in text for text in manifest["results"]["verdict"]["reasons"])
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Mode: community, chosen by auto: " in page
    assert ">fail</span>" in page[: page.index("<h3>")]
    _, manifest = assembled(pairs, "--mode", "meta")
    verdict = manifest["results"]["verdict"]
    assert (verdict["level"], verdict["reasons"]) == ("pass", [])
    assert {"depth_peaks", "mixed_bases", "auto_community"} <= set(verdict["not_judged"])
    assert "Mode: community, as requested" in (tmp_path / "out" / "report.html").read_text()
