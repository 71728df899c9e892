"""``--remove``, ``--primers`` and ``--depth`` from files to files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpuasm.assembly.options import AssemblyOptions
from gpuasm.cli.checkpoint import fingerprint
from gpuasm.cli.options import ReadInputs
from gpuasm.io.phix import phix_genome
from tests.oracles.read_through import reverse_complement
from tests.oracles.reads import random_sequences
from tests.read_files import Pairs, fasta_records, genome_text, simulated_pairs, write_pairs

pytestmark = pytest.mark.usefixtures("pages_without_figures")

GENOME, HOST = genome_text(), genome_text(length=6000, seed=8)
PAIRS = simulated_pairs(GENOME)
HOST_PAIRS = simulated_pairs(HOST, fold=12, seed=5)


def write_fasta(path: Path, *sequences: str) -> Path:
    path.write_text("".join(f">s{number}\n{text}\n" for number, text in enumerate(sequences)))
    return path


def stage(path: Path, name: str) -> dict[str, Any]:
    (found,) = (stage for stage in json.loads(path.read_text())["stages"] if stage["name"] == name)
    return {**found["parameters"], **found["counts"]}


def shuffled(pairs: Pairs) -> Pairs:
    return [pairs[i][::-1] for i in np.random.default_rng(3).permutation(len(pairs))]


def test_an_assembly_without_its_host(run_cli, tmp_path):
    host = write_fasta(tmp_path / "host.fasta", HOST[:3000], HOST[2900:])
    reads = write_pairs(tmp_path, shuffled(PAIRS + HOST_PAIRS))
    out = tmp_path / "out"
    code, _, err = run_cli("assemble", "-q", "-1", reads[0], "-2", reads[1], "--remove", host, "-o", out)
    assert (code, err) == (0, "")
    ((_, contig),) = fasta_records(out / "contigs.fasta")
    assert len(contig) == len(GENOME)
    found = stage(out / "run.json", "remove reference")
    assert (found["reference"], len(found["sha256"])) == (str(host), 64)
    assert found["reads"] == 2 * len(PAIRS + HOST_PAIRS)
    assert 0.97 * 2 * len(HOST_PAIRS) < found["removed_reads"] <= 2 * len(HOST_PAIRS)
    assert json.loads((out / "run.json").read_text())["parameters"]["remove"] == [str(host)]


def test_phix_is_removed_as_any_reference(run_cli, tmp_path):
    phix = write_fasta(tmp_path / "phix.fasta", phix_genome() + phix_genome()[:20])
    reads = write_pairs(tmp_path, PAIRS[:300] + simulated_pairs(phix_genome(), fold=5))
    found = []
    for options in (["--remove-phix"], ["--remove", phix]):
        code, _, _ = run_cli("count", "-q", *reads, *options, "-o", tmp_path / "counts.npz", "--json", tmp_path / "j")
        assert code == 0
        found.append((tmp_path / "counts.npz").read_bytes())
    assert found[0] == found[1]


def test_nothing_but_the_host(run_cli, tmp_path):
    host, reads = write_fasta(tmp_path / "host.fasta", HOST + HOST[:300]), write_pairs(tmp_path, HOST_PAIRS[:50])
    code, _, err = run_cli("count", "-q", *reads, "--remove", host)
    assert (code, "found nothing but reads of host.fasta" in err) == (65, True)


@pytest.mark.parametrize("genome_size", [[], ["--genome-size", "4k"]])
def test_a_depth_is_the_same_in_any_order(run_cli, tmp_path, genome_size):
    found = []
    for threads, pairs in ((1, PAIRS), (2, shuffled(PAIRS))):
        reads = write_pairs(tmp_path, pairs)
        arguments = ("--depth", 15, *genome_size, "--trim", "no", "-t", threads)
        counts, run = tmp_path / "counts.npz", tmp_path / "run.json"
        code, _, err = run_cli("count", "-q", "-1", reads[0], "-2", reads[1], *arguments, "-o", counts, "--json", run)
        assert (code, err) == (0, "")
        found.append((counts.read_bytes(), stage(run, "sub-sample reads")))
    assert found[0] == found[1]
    report = found[0][1]
    assert report["depth_before"] > 30
    assert report["depth_after"] == pytest.approx(15, rel=0.1)
    assert report["genome_size"] == pytest.approx(len(GENOME), rel=0.35)
    assert report["kept_reads"] / report["reads"] == pytest.approx(15 / report["depth_before"], rel=0.1)


def test_an_assembly_of_fewer_reads(run_cli, tmp_path):
    reads = write_pairs(tmp_path, simulated_pairs(GENOME, fold=150))
    options = ("--depth", 40, "--genome-size", 4000)
    code, _, err = run_cli("assemble", "-q", "-1", reads[0], "-2", reads[1], *options, "-o", tmp_path / "out")
    assert (code, err) == (0, "")
    ((header, contig),) = fasta_records(tmp_path / "out" / "contigs.fasta")
    assert len(contig) == len(GENOME)
    assert 35 < float(header.split("depth=")[1].split()[0]) < 45
    parameters = json.loads((tmp_path / "out" / "run.json").read_text())["parameters"]
    assert (parameters["depth"], parameters["genome_size"]) == (40, 4000)


def test_all_reads_are_kept_where_there_are_no_more(run_cli, tmp_path):
    reads, run = write_pairs(tmp_path, PAIRS[:40]), tmp_path / "run.json"
    for options, warned in (((), True), (("--genome-size", "0.004M"), False)):
        code, _, err = run_cli("count", "-q", *reads, "--depth", 30, *options, "--json", run)
        assert (code, "so --depth keeps all reads; give --genome-size" in err) == (0, warned)
        report = stage(run, "sub-sample reads")
        assert report["kept_reads"] == report["reads"] == 80


@pytest.mark.parametrize("text", ["0", "x", "4.6T", "-3", "1e6", ""])
def test_no_genome_size(run_cli, tmp_path, text):
    code, _, err = run_cli("count", "-q", tmp_path / "r", "--depth", 30, "--genome-size", text)
    assert (code, "is not a number of bases" in err) == (2, True)


def test_amplicons_without_their_primers(run_cli, tmp_path):
    left, right = random_sequences(7, 2, 24)
    amplicons = [left + GENOME[200:320] + reverse_complement(right), right + GENOME[900:1020] + left]
    pairs = [(text[:100], reverse_complement(text)[:100]) for text in amplicons] * 20
    reads, primers = write_pairs(tmp_path, pairs), write_fasta(tmp_path / "primers.fasta", left, right)
    arguments = (
        "unitigs",
        "-q",
        "-1",
        reads[0],
        "-2",
        reads[1],
        "--fasta",
        tmp_path / "u.fa",
        "--json",
        tmp_path / "j",
    )
    assert run_cli(*arguments, "--primers", primers)[0] == 0
    texts = {min(text, reverse_complement(text)) for _, text in fasta_records(tmp_path / "u.fa")}
    # The end of the second amplicon is no reverse complement of a primer, and stays.
    expected = {GENOME[200:320], GENOME[900:1020] + left}
    assert texts == {min(text, reverse_complement(text)) for text in expected}
    report = stage(tmp_path / "j", "cut primers")
    assert (report["primers"], report["cut_reads"], report["removed_bases"]) == (2, 60, 60 * 24)


def test_a_checkpoint_is_of_one_choice_of_reads(tmp_path):
    reads, host, other = (write_fasta(tmp_path / name, "ACGT" * n) for name, n in (("r", 9), ("h", 8), ("o", 7)))
    settings = [
        {}, {"remove": (host,)}, {"remove": (other,)}, {"remove": (host, other)}, {"primers": host},
        {"primers": host, "primers_reference": other}, {"depth": 30.0}, {"depth": 30.0, "genome_size": 5000},
    ]  # fmt: skip
    marks = {fingerprint(ReadInputs(reads=(reads,), **setting), AssemblyOptions()) for setting in settings}
    assert len(marks) == len(settings)
    moved = host.rename(tmp_path / "moved")
    assert fingerprint(ReadInputs(reads=(reads,), remove=(moved,)), AssemblyOptions()) in marks
