"""``gpuasm depth``: the depth of contigs in samples of any form, by which bins of several samples are made."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pysam
import pytest

from gpuasm.assembly.alignment import contig_alignment
from gpuasm.assembly.contig import Contig
from gpuasm.cli.depth_of_samples import depth_in_sample
from gpuasm.cli.named_reads import samples_of_reads
from gpuasm.cli.options import OptionalReads
from gpuasm.errors import UsageError
from gpuasm.io import write_fasta
from gpuasm.io.contigs import read_depth_table
from gpuasm.report.binned_contigs import BinnedContigs
from gpuasm.report.inputs import Run
from gpuasm.report.verdict_evidence import evidence_of
from gpuasm.sequence.encoding import decode, encode
from gpuasm.sequence.reads import Reads
from tests.communities import cut
from tests.oracles.reads import fastq, random_sequences
from tests.read_files import Pairs, genome_text, simulated_pairs, write_pairs
from tests.samples import simulated_genome, simulated_texts
from tests.tables import rows_of

CPU = ("-t", 1, "--device", "cpu", "-q")
GENOME = genome_text(length=3000, seed=5)
PAIRS = simulated_pairs(GENOME, fold=15, seed=3)
JGI = "contigName\tcontigLen\ttotalAvgDepth"


@pytest.fixture
def contigs(tmp_path: Path) -> Path:
    """Return the path of two contigs: a genome, and one that no sample has."""
    path = tmp_path / "contigs.fasta"
    path.write_text(f">own circular=yes\n{GENOME}\n>other\n{random_sequences(8, 1, 500)[0]}\n")
    return path


def words_of(sample: str, files: tuple[Path, ...]) -> str:
    return f"{sample}={','.join(map(str, files))}"


def reads_of(pairs: Pairs) -> Reads:
    return Reads.from_strings([mate for pair in pairs for mate in pair], paired=True)


def test_own_reads_give_the_depth_that_assemble_writes(run_cli, tmp_path):
    """Ends that it extends later have other depth, as the reads were aligned before."""
    pairs = simulated_pairs(genome_text(length=5000, seed=4), fold=25, seed=2, circular=False)
    first, second = write_pairs(tmp_path, pairs)
    out, table, reads = tmp_path / "out", tmp_path / "depth.tsv", ("-1", first, "-2", second)
    assert run_cli("assemble", *reads, "--without", "end-extension", "-o", out, *CPU)[0] == 0
    assert run_cli("depth", out / "contigs.fasta", *reads, "-o", table, *CPU)[0] == 0
    assert table.read_text() == (out / "depth.tsv").read_text()
    assert len(rows_of(table)) == 1


def test_files_of_each_kind_give_the_same_table(run_cli, tmp_path, contigs):
    """Mates, their lanes, a sheet, BAM, reads in reverse order, and reads without mates."""
    first, second = write_pairs(tmp_path, PAIRS)
    lanes = [write_pairs(tmp_path, PAIRS[i::2], name=f"lane,{i}", compress=True) for i in range(2)]
    backwards = write_pairs(tmp_path, [(b, a) for a, b in PAIRS[::-1]], name="back")
    bam, sheet = tmp_path / "pairs", tmp_path / "sheet.tsv"
    with pysam.AlignmentFile(str(bam), "wb", header={"HD": {"VN": "1.6"}}) as file:
        for number, pair in enumerate(PAIRS):
            for flag, bases in zip((77, 141), pair, strict=True):
                record = pysam.AlignedSegment(file.header)
                record.query_name, record.flag, record.query_sequence = f"r{number}", flag, bases
                file.write(record)
    sheet.write_text(f"sample\treads_1\treads_2\ns\t{lanes[0][0]}\t{lanes[0][1]}\n")
    forms = [
        ("-1", first, "-2", second, "--name", "s"),
        (words_of("s", (first, second)),),
        (sheet, words_of("s", lanes[1])),
        (words_of("s", backwards),),
        (words_of("s", (bam,)),),
        (words_of("s", (first,)), words_of("s", (second,))),
    ]
    tables = []
    for form in forms:
        code, table, err = run_cli("depth", contigs, *form, "-o", "-", *CPU)
        assert (code, err) == (0, "")
        tables.append(table)
    assert set(tables) == {tables[0]}
    own, other = rows_of(tables[0])
    assert list(own) == [*JGI.split("\t"), "s", "s-var"]
    assert float(own["s"]) == pytest.approx(15, rel=0.03)
    assert float(other["s"]) == 0.0


def test_neither_order_nor_batches_nor_device_change_the_depth(monkeypatch, threads, xp):
    text = random_sequences(4, 1, 3000)[0]
    contigs = [Contig("a", encode(text), 1.0, 1, is_circular=False, unitig=-1)]
    contigs.append(Contig("b", encode(text[500:1400] + text[:300]), 1.0, 1, is_circular=True, unitig=-1))
    pairs = simulated_pairs(text, fold=10, seed=6)
    found = [depth_in_sample(contigs, reads_of(pairs), sample="s")]
    found.append(depth_in_sample(contigs, reads_of([(b, a) for a, b in pairs[::-1]]).moved_to(xp), sample="s"))
    monkeypatch.setattr(contig_alignment, "_BATCH", 40)
    found.append(depth_in_sample(contigs, reads_of(pairs).moved_to(xp), sample="s"))
    for other in found[1:]:
        assert other.counts == found[0].counts
        np.testing.assert_array_equal(other.mean, found[0].mean)
        np.testing.assert_array_equal(other.variance, found[0].variance)
    assert found[0].counts["reads_multi_mapped"] > 0


def test_reads_of_a_repeat_are_shared_by_the_depth_of_its_contigs():
    deep, thin, repeat = (simulated_genome(length=n, seed=n) for n in (3000, 3001, 1500))
    codes = [np.concatenate([own, repeat, own[::-1]]) for own in (deep, thin)]
    contigs = [Contig(name, own, 1.0, 1, is_circular=False, unitig=-1) for name, own in zip("ab", codes, strict=True)]
    texts = [text for own, fold in zip(codes, (40, 4), strict=True) for text in simulated_texts(own, fold=fold)]
    found = depth_in_sample(contigs, Reads.from_strings(texts), sample="s")
    assert found.mean == pytest.approx([40, 4], rel=0.06)
    assert found.counts["reads_multi_mapped"] > 300


def test_two_samples_separate_genomes_that_one_does_not(run_cli, tmp_path):
    """Both have the same composition, and the same depth in the sample that they were assembled of."""
    genomes = [simulated_genome(length=30_000, seed=seed) for seed in (1, 2)]
    parts = [part for genome in genomes for part in cut(genome, [3000])]
    contigs, samples = tmp_path / "contigs.fasta", []
    write_fasta(contigs, [f"c{i}" for i in range(20)], [""] * 20, parts)
    for name, folds in (("first", (6, 6)), ("second", (10, 3))):
        texts = [
            t for own, fold in zip(genomes, folds, strict=True) for t in simulated_texts(own, fold=fold, seed=fold)
        ]
        (tmp_path / name).write_text(fastq(texts))
        samples.append(words_of(name, (tmp_path / name,)))
    bins = []
    for n in (1, 2):
        table, out = tmp_path / f"{n}.tsv", tmp_path / f"bins_{n}"
        assert run_cli("depth", contigs, *samples[:n], "-o", table, *CPU)[0] == 0
        options = ("--window", 1000, "--min-map-contig", 1000, "--min-bin", 10_000)
        assert run_cli("bin", contigs, "--depth", table, *options, "-o", out, *CPU)[0] == 0
        bins.append([row["bin"] for row in rows_of(out / "contigs.tsv")])
    assert set(bins[0]) == {"bin_001"}
    assert sorted({tuple(bins[1][:10]), tuple(bins[1][10:])}) == [("bin_001",) * 10, ("bin_002",) * 10]


@pytest.mark.parametrize(
    ("samples_given", "code", "message"),
    [
        ((), 2, "expected samples, found none"),
        (("=reads",), 2, "expected a name of letters"),
        (("--single", "reads", "--name", "a b"), 2, "expected a name of letters"),
        (("s=reads,reads",), 2, "reads twice"),
        (("s=reads", "s=reads"), 2, "reads twice"),
        (("s=-",), 2, "found standard input"),
        (("s=reads", "s=a,b"), 2, "lanes that all have reads_2, or none"),
        (("s=reads", "s-var=reads"), 2, "two columns 's-var'"),
        (("s=reads", "--single", "other", "--name", "s"), 2, "two columns 's'"),
        (("s=missing",), 66, "missing: expected a readable file"),
        (("missing",), 66, "missing: expected"),
        (("reads",), 65, "reads: expected NAME=FILES, or a sample sheet with the column sample"),
        (("s=empty",), 65, "empty: expected"),
        (("s=short",), 65, "31 bases"),
        (("s=empty", "--skip-bad"), 65, "expected a sample that can be used, found none; empty: expected"),
        (("s=reads", "-o", "reads"), 2, "the input reads, which is the same file"),
    ],
)
def test_what_cannot_be_used_is_refused(run_cli, tmp_path, monkeypatch, contigs, samples_given, code, message):
    monkeypatch.chdir(tmp_path)
    for name, text in (("reads", fastq(PAIRS[0])), ("empty", ""), ("short", fastq(["ACGT" * 7]))):
        Path(name).write_text(text)
    found, _, err = run_cli("depth", contigs, "-o", "table", *samples_given, *CPU)
    assert found == code
    assert message in err
    assert not Path("table").exists()


def test_bad_samples_are_left_out_on_request(run_cli, tmp_path, contigs):
    (tmp_path / "empty").write_text("")
    files, out, run = write_pairs(tmp_path, PAIRS), tmp_path / "table", tmp_path / "run.json"
    samples = (words_of("bad", (tmp_path / "empty",)), words_of("good", files), f"lost={tmp_path}/lost")
    code, printed, err = run_cli("depth", contigs, *samples, "--skip-bad", "-o", out, "--json", run, *CPU)
    assert (code, printed) == (0, f"{out}: depth of 2 contigs, samples: 1\n")
    assert "left out: bad: " in err
    assert out.read_text().startswith(f"{JGI}\tgood\tgood-var\n")
    results = json.loads(run.read_text())["results"]
    assert [row["sample"] for row in results["left_out"]] == ["bad", "lost"]
    (counts,) = results["samples"]
    assert (counts["name"], counts["reads"]) == ("good", 2 * len(PAIRS))
    assert counts["reads_aligned"] > 0.98 * counts["reads"]


@pytest.mark.parametrize(("text", "rows"), [("", ""), (">tiny\nACGT\n>n\nNN\n", "tiny\t4{0}\nn\t2{0}\n")])
def test_contigs_that_no_read_aligns_to_have_no_depth(run_cli, tmp_path, text, rows):
    contigs, files = tmp_path / "contigs.fasta", write_pairs(tmp_path, PAIRS[:5])
    contigs.write_text(text)
    code, table, err = run_cli("depth", contigs, words_of("s", files), "-o", "-", *CPU)
    assert (code, err) == (0, "")
    assert table == f"{JGI}\ts\ts-var\n" + rows.format("\t0.0000" * 3)


def test_a_sample_may_be_called_as_a_variance_is(run_cli, tmp_path, contigs):
    table = tmp_path / "table"
    assert run_cli("depth", contigs, words_of("a-var", write_pairs(tmp_path, PAIRS)), "-o", table, *CPU)[0] == 0
    samples, depth = read_depth_table(table, ["own"])
    assert samples == ["a-var"]
    assert depth[0, 0] == pytest.approx(15, rel=0.03)


def test_tables_whose_samples_have_one_name_keep_their_columns(run_cli, tmp_path):
    contigs, tables = tmp_path / "contigs.fasta", [tmp_path / f"{i}.tsv" for i in range(2)]
    contigs.write_text(f">c\n{decode(simulated_genome(length=4000))}\n")
    for depth, table in zip((2, 7), tables, strict=True):
        table.write_text(f"{JGI}\treads\treads-var\nc\t4000\t{depth}\t{depth}\t1\n")
    out = tmp_path / "out"
    assert run_cli("bin", contigs, "--depth", tables[0], "--depth", tables[1], "-o", out, *CPU)[0] == 0
    for table in ("bins.tsv", "contigs.tsv"):
        (row,) = rows_of(out / table)
        assert [float(row[name]) for name in ("depth_reads", "depth_reads_2")] == [2, 7]


def test_samples_are_cleaned_as_the_first_and_divided_by_the_option_of_their_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a,b", "c", "d,e"):
        Path(name).write_text(fastq(PAIRS[0]))
    options = OptionalReads(single=(Path("c"),), trim="yes", deduplicate=True)
    first, second, third = samples_of_reads(["x=a,b", "y=c,d,e"], options, name="first")
    assert (first.name, first.inputs) == ("first", options)
    assert (second.name, second.inputs.single) == ("x", (Path("a,b"),))
    assert (third.inputs.first, third.inputs.second) == ((Path("c"),), (Path("d,e"),))
    assert {sample.inputs.cleaning["trim"] for sample in (first, second, third)} == {"yes"}
    with pytest.raises(UsageError, match="two columns 'x'"):
        samples_of_reads(["x=c"], options, name="x")


def test_a_verdict_states_the_depth_of_bins_in_the_first_sample():
    run = Run("a", Path())
    row = {"bin": "bin_001", "bases": "600000", "sureness": "1", "depth_a": "40.0", "depth_b": "2.0"}
    run.binning = BinnedContigs([row], [], [], [], 600_000, 600_000)
    assert evidence_of(run).details["bins"] == "1 bins: 600,000 bases at 40.0-fold with 100% of the reads"
