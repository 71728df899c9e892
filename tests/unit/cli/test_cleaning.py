"""``--trim`` and ``--remove-phix`` from files to files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gpuasm.assembly.options import AssemblyOptions
from gpuasm.cli.checkpoint import fingerprint
from gpuasm.cli.options import ReadInputs
from gpuasm.io.adapters import ADAPTERS
from gpuasm.io.phix import phix_genome
from tests.oracles.read_through import reverse_complement
from tests.oracles.reads import random_sequences
from tests.read_files import fasta_records, genome_text, simulated_pairs, write_pairs

pytestmark = pytest.mark.usefixtures("pages_without_figures")

ADAPTER = ADAPTERS["Illumina TruSeq"]
GENOME = genome_text()


def reading_through(genome: str, n: int) -> list[tuple[str, str]]:
    """Return pairs of 100 bases whose inserts have 50 to 99."""
    rng, pairs, tails = np.random.default_rng(4), [], random_sequences(5, n, 40)
    for number in range(n):
        start = int(rng.integers(0, len(genome) - 100))
        insert = genome[start : start + int(rng.integers(50, 100))]
        strands = insert, reverse_complement(insert)
        pairs.append(tuple((strands[m] + ADAPTER[m] + tails[number])[:100] for m in (0, 1)))
    return pairs


@pytest.fixture
def reads(tmp_path):
    """Pairs of a genome, some with short inserts, and some pairs of PhiX174."""
    pairs = simulated_pairs(GENOME) + reading_through(GENOME, 200) + simulated_pairs(phix_genome(), fold=10, seed=9)
    return write_pairs(tmp_path, pairs)


def stages_of(path: Path) -> dict[str, dict[str, object]]:
    return {stage["name"]: stage["counts"] for stage in json.loads(path.read_text())["stages"]}


def test_a_clean_assembly_of_unclean_reads(run_cli, reads, tmp_path):
    code, _, err = run_cli("assemble", "-q", "-1", reads[0], "-2", reads[1], "--remove-phix", "-o", tmp_path / "out")
    assert (code, err) == (0, "")
    ((_, contig),) = fasta_records(tmp_path / "out" / "contigs.fasta")
    assert len(contig) == len(GENOME)
    counts = stages_of(tmp_path / "out" / "run.json")
    assert 2 * 200 <= counts["trim adapters"]["with_adapter"] <= counts["trim adapters"]["trimmed_reads"]
    assert counts["trim adapters"]["adapter"] == "Illumina TruSeq"
    assert counts["remove PhiX174"] == {"removed_reads": 2 * len(simulated_pairs(phix_genome(), fold=10))}
    parameters = json.loads((tmp_path / "out" / "run.json").read_text())["parameters"]
    assert (parameters["trim"], parameters["remove_phix"]) == ("auto", True)


def test_counts_are_of_untrimmed_reads_by_default(run_cli, reads, tmp_path):
    """Without adapters and PhiX174 there are fewer k-mers; each step can be had alone."""
    found = []
    for options in ([], ["--trim", "auto"], ["--trim", "yes", "--remove-phix"]):
        code, out, _ = run_cli("count", "-q", *reads, *options, "--json", tmp_path / "run.json")
        assert code == 0
        found.append(int(out.splitlines()[0].split("\t")[1]))
        assert len(stages_of(tmp_path / "run.json")) == 2 + sum(option.startswith("--") for option in options)
    assert found[0] > found[1] > found[2]


def test_the_graph_of_cleaned_reads(run_cli, reads, tmp_path):
    arguments = ["unitigs", "-q", "-1", reads[0], "-2", reads[1], "--min-count", 3, "--fasta", tmp_path / "u.fa"]
    assert run_cli(*arguments)[0] == 0
    probe = ADAPTER[0][:13]
    raw = [text for _, text in fasta_records(tmp_path / "u.fa")]
    assert any(probe in text or reverse_complement(probe) in text for text in raw)
    assert run_cli(*arguments, "--trim", "auto", "--remove-phix")[0] == 0
    clean = [text for _, text in fasta_records(tmp_path / "u.fa")]
    assert not any(probe in text or reverse_complement(probe) in text for text in clean)
    assert sum(map(len, clean)) < sum(map(len, raw)) - len(phix_genome())


def test_phix_itself_can_be_assembled(run_cli, tmp_path):
    reads = write_pairs(tmp_path, simulated_pairs(phix_genome()))
    code, out, _ = run_cli("check", "-q", "-1", reads[0], "-2", reads[1])
    assert code == 0
    assert "100.0% of the reads are of phage PhiX174; if it is not the sample, --remove-phix leaves it out" in out
    arguments = ["assemble", "-q", "-1", reads[0], "-2", reads[1], "-o", tmp_path / "out"]
    assert run_cli(*arguments)[0] == 0
    ((_, contig),) = fasta_records(tmp_path / "out" / "contigs.fasta")
    assert len(contig) == 5386
    code, _, err = run_cli(*arguments, "--remove-phix")
    assert code == 65
    assert len(err.splitlines()) == 1
    assert fasta_records(tmp_path / "out" / "contigs.fasta") == []


def test_a_checkpoint_is_of_one_set_of_cleaning_options(tmp_path):
    path = tmp_path / "reads"
    path.write_text("")
    settings = [{"trim": "no"}, {"trim": "auto"}, {"remove_phix": True}, {"deduplicate": True}]
    assert len({fingerprint(ReadInputs(reads=(path,), **setting), AssemblyOptions()) for setting in settings}) == 4
