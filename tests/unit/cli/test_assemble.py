"""``gpuasm assemble`` from files to files."""

from __future__ import annotations

import csv
import gzip
import json
import random
import re
import shutil
from pathlib import Path

import numpy as np
import pysam
import pytest

from gpuasm.cli import main
from tests.oracles.kmers import reverse_complement
from tests.oracles.reads import fasta, fastq
from tests.read_files import (
    OUTPUTS,
    fasta_records,
    files_in,
    genome_text,
    outputs_of,
    simulated_pairs,
    write_pairs,
)

GENOME = genome_text()
PAIRS = simulated_pairs(GENOME)


def singles(pairs):
    return [read for pair in pairs for read in pair]


def is_rotation(text: str, circle: str) -> bool:
    return len(text) == len(circle) and (text in circle * 2 or reverse_complement(text) in circle * 2)


@pytest.fixture
def assemble(run_cli, tmp_path, pages_without_figures):
    """Run the command into a folder, in silence but for one warning; return the folder."""

    def run(*arguments, into="out", warning=""):
        code, out, err = run_cli("assemble", "-q", *arguments, "-o", tmp_path / into)
        assert (code, len(err.splitlines()), warning in err) == (0, bool(warning), True)
        assert out.startswith(str(tmp_path / into / "contigs.fasta"))
        return tmp_path / into

    return run


def assembled(*arguments):
    """Run the command in silence, for results that several tests read."""
    with pytest.raises(SystemExit) as end:
        main(["assemble", "-q", *map(str, arguments)])
    assert not end.value.code
    return Path(arguments[-1])


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    return write_pairs(tmp_path_factory.mktemp("pairs"), PAIRS)


@pytest.fixture(scope="module")
def of_pairs(pair, tmp_path_factory):
    return assembled("-1", pair[0], "-2", pair[1], "-o", tmp_path_factory.mktemp("of_pairs") / "sample")


@pytest.fixture(scope="module")
def of_singles(tmp_path_factory):
    folder = tmp_path_factory.mktemp("of_singles")
    return assembled(*handed_over("single", folder), "-o", folder / "out")


@pytest.fixture(scope="module")
def branching_reads(tmp_path_factory):
    """Reads of a genome with repeats, whose graph keeps links, and of a small circular plasmid."""
    folder = tmp_path_factory.mktemp("branching")
    chromosome, plasmid = genome_text(length=9000, repeats=4, seed=5), genome_text(length=700, seed=6)
    pairs = simulated_pairs(chromosome, circular=False, seed=7) + simulated_pairs(plasmid, fold=80, seed=8)
    return write_pairs(folder, pairs)


@pytest.fixture(scope="module")
def branching(branching_reads, tmp_path_factory):
    return assembled("-1", branching_reads[0], "-2", branching_reads[1], "-o", tmp_path_factory.mktemp("out"))


def test_a_circular_genome_is_one_circular_contig(of_pairs):
    assert files_in(of_pairs) == OUTPUTS
    ((header, contig),) = fasta_records(of_pairs / "contigs.fasta")
    assert header.startswith("contig_000001 length=4000 depth=")
    assert header.endswith("copies=1 circular=yes")
    assert is_rotation(contig, GENOME)


def test_another_process_makes_the_same_page_of_many_reads(assemble, pair, of_pairs, monkeypatch):
    monkeypatch.setattr("gpuasm.cli.assembly_page.LEAST_BYTES_APART", 0)
    monkeypatch.setattr("gpuasm.report.page.write_run_report", lambda _: pytest.fail("made here"))
    copy = assemble("-1", pair[0], "-2", pair[1], into="copy/sample")
    assert outputs_of(copy) == outputs_of(of_pairs)
    figures = [
        re.findall(r"<svg.*?</svg>", (folder / "report.html").read_text(), re.DOTALL) for folder in (of_pairs, copy)
    ]
    assert figures[0] == figures[1]
    assert len(figures[0]) == 3


def test_a_linear_genome_is_one_contig_of_nearly_full_length(assemble, tmp_path):
    first, second = write_pairs(tmp_path, simulated_pairs(GENOME, circular=False))
    ((header, contig),) = fasta_records(assemble("-1", first, "-2", second) / "contigs.fasta")
    assert header.endswith("circular=no")
    assert contig in GENOME or reverse_complement(contig) in GENOME
    assert len(contig) > 3900


def test_fasta_and_table_agree(branching):
    records = fasta_records(branching / "contigs.fasta")
    with (branching / "contigs.tsv").open() as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert len(records) == len(rows) > 2
    for number, ((header, contig), row) in enumerate(zip(records, rows, strict=True), start=1):
        assert row["name"] == f"contig_{number:06d}"
        fields = [f"{name}={row[name]}" for name in ("length", "depth", "copies", "circular")]
        assert header == " ".join([row["name"], *fields])
        assert len(contig) == int(row["length"])
        gc = (contig.count("G") + contig.count("C")) / len(contig)
        assert float(row["gc"]) == pytest.approx(gc, abs=1e-4)
    lengths = [int(row["length"]) for row in rows]
    assert lengths == sorted(lengths, reverse=True)
    assert [row["circular"] for row in rows].count("yes") == 1


def test_the_graph_holds_the_contigs_and_its_links_overlap_by_k_minus_1(branching):
    k = json.loads((branching / "run.json").read_text())["results"]["k"][-1]
    lines = [line.split("\t") for line in (branching / "graph.gfa").read_text().splitlines()]
    assert lines[0] == ["H", "VN:Z:1.0"]
    segments = {line[1]: line[2] for line in lines if line[0] == "S"}
    links = [line[1:] for line in lines if line[0] == "L"]
    paths = {line[1]: line[2] for line in lines if line[0] == "P"}
    for header, contig in fasta_records(branching / "contigs.fasta"):
        step = paths[header.split()[0]]
        segment = segments[step[:-1]] if step[-1] == "+" else reverse_complement(segments[step[:-1]])
        if header.endswith("circular=yes"):  # a circular segment: its first k - 1 bases are repeated at its end
            assert segment[: k - 1] == segment[1 - k :]
            assert contig in 2 * segment[: 1 - k]
        else:
            # The overlap of neighbours, at most k - 1 bases, is in one of them only; reads extend dead ends.
            assert segment[k - 1 : 1 - k] in contig
            assert len(contig) < len(segment) + 100
    assert len(links) > 3
    seen = set()
    for first, strand, second, other_strand, overlap in links:
        assert overlap == f"{k - 1}M"
        source = segments[first] if strand == "+" else reverse_complement(segments[first])
        target = segments[second] if other_strand == "+" else reverse_complement(segments[second])
        assert source[1 - k :] == target[: k - 1]
        twin = (second, "-+"[other_strand == "-"], first, "-+"[strand == "-"])
        assert not {(first, strand, second, other_strand), twin} & seen
        seen.add((first, strand, second, other_strand))


def test_the_spectrum_and_the_manifest(branching, branching_reads):
    rows = [tuple(map(int, line.split("\t"))) for line in (branching / "spectrum.tsv").read_text().splitlines()[1:]]
    run = json.loads((branching / "run.json").read_text())
    assert run["status"] == "done"
    assert run["command"] == "assemble"
    assert [file["path"] for file in run["inputs"]] == [str(path) for path in branching_reads]
    assert all(len(file["sha256"]) == 64 for file in run["inputs"])
    assert sum(kmers for _, kmers in rows) == run["results"]["spectrum"]["distinct_kmers"]
    windows = sum(file["n_bases"] - 30 * file["n_reads"] for file in run["inputs"])
    assert sum(multiplicity * kmers for multiplicity, kmers in rows) == windows
    lines = (branching / "insert_sizes.tsv").read_text().splitlines()
    assert lines[0] == "insert_size\tpairs"
    sizes = [tuple(map(int, line.split("\t"))) for line in lines[1:]]
    assert sum(pairs for _, pairs in sizes) > 200
    assert all(195 <= size <= 305 for size, _ in sizes)
    records = fasta_records(branching / "contigs.fasta")
    assert run["results"]["contigs"] == len(records)
    assert run["results"]["total_length"] == sum(len(contig) for _, contig in records)
    assert run["results"]["longest"] == len(records[0][1])
    assert {"count k-mers", "build graph", "clean graph", "write results"} <= {s["name"] for s in run["stages"]}
    assert "contig_000001" in (branching / "report.html").read_text()


def test_the_same_bytes_whatever_the_threads_the_order_and_the_compression(
    assemble, branching_reads, branching, tmp_path
):
    texts = [path.read_text().splitlines()[1::4] for path in branching_reads]
    pairs = list(zip(*texts, strict=True))
    expected = outputs_of(branching)
    assert outputs_of(assemble("-1", branching_reads[0], "-2", branching_reads[1], "-t", 1, into="one")) == expected
    random.Random(1).shuffle(pairs)
    shuffled = write_pairs(tmp_path, pairs, name="shuffled", compress=True)
    swapped = write_pairs(tmp_path, [pair[::-1] for pair in pairs], name="swapped")
    for number, (first, second) in enumerate([branching_reads, shuffled, swapped]):
        found = outputs_of(assemble("-1", first, "-2", second, "-t", 2, into=f"two_{number}"))
        assert found == expected, number


def handed_over(kind, folder):
    """Write the same reads in one of many forms; return the arguments that name them."""
    reads = singles(PAIRS)
    names = [f"r{i // 2 if kind == 'interleaved' else i}" for i in range(len(reads))]
    path, half = folder / "all", len(PAIRS) // 2
    if kind == "bam":
        return ["--bam", bam_file(path, reads)]
    if kind == "two libraries":
        a, b = (write_pairs(folder, part, name=n) for n, part in (("a", PAIRS[:half]), ("b", PAIRS[half:])))
        return ["-1", a[0], "-2", a[1], "-1", b[0], "-2", b[1]]
    if kind == "gz pieces":
        path.write_bytes(b"".join(gzip.compress(fastq(reads[i::3]).encode()) for i in range(3)))
        return [path]
    path.write_text(fasta(reads) if kind == "fasta" else fastq(reads, names=names))
    return [path] if kind in ("argument", "fasta") else [f"--{kind}", path]


@pytest.mark.parametrize("kind", ["interleaved", "bam", "two libraries"])
def test_all_forms_of_pairs_give_the_same_contigs(assemble, of_pairs, tmp_path, kind):
    assert outputs_of(assemble(*handed_over(kind, tmp_path))) == outputs_of(of_pairs)


@pytest.mark.parametrize("kind", ["argument", "fasta", "gz pieces"])
def test_all_forms_of_single_reads_give_the_same_contigs(assemble, of_singles, tmp_path, kind):
    assert outputs_of(assemble(*handed_over(kind, tmp_path))) == outputs_of(of_singles)


def test_pairs_and_single_reads_give_one_circular_contig(of_pairs, of_singles):
    """Fragments of pairs allow a larger k, so the graphs differ; the sequence must not."""
    for folder in (of_pairs, of_singles):
        ((_, contig),) = fasta_records(folder / "contigs.fasta")
        assert is_rotation(contig, GENOME)
    last = [json.loads((folder / "run.json").read_text())["results"]["k"][-1] for folder in (of_pairs, of_singles)]
    assert last[0] > last[1]


def bam_file(path, reads):
    header = {"HD": {"VN": "1.6", "SO": "unsorted"}}
    with pysam.AlignmentFile(str(path), "wb", header=header) as file:
        for number, text in enumerate(reads):
            record = pysam.AlignedSegment(file.header)
            record.query_name, record.flag = f"r{number // 2}", 0x1 | 0x4 | 0x8 | (0x80 if number % 2 else 0x40)
            record.query_sequence = text
            record.query_qualities = pysam.qualitystring_to_array("I" * len(text))
            file.write(record)
    return path


def test_lower_case_and_crlf_change_nothing(assemble, of_singles, tmp_path):
    reads = singles(PAIRS)
    odd = tmp_path / "odd.fq"
    odd.write_bytes(fastq([r.lower() if i % 2 else r for i, r in enumerate(reads)], end="\r\n").encode())
    assert outputs_of(assemble(odd)) == outputs_of(of_singles)


def test_letters_that_are_no_bases_cut_reads(assemble, tmp_path):
    rng, reads = random.Random(2), singles(PAIRS)
    for number in range(0, len(reads), 3):
        at = rng.randrange(len(reads[number]))
        reads[number] = reads[number][:at] + rng.choice("NRYKn.") + reads[number][at + 1 :]
    path = tmp_path / "reads.fq"
    path.write_text(fastq(reads))
    ((_, contig),) = fasta_records(assemble(path) / "contigs.fasta")
    assert is_rotation(contig, GENOME)


def test_reads_of_several_lengths(assemble, tmp_path):
    rng = random.Random(3)
    reads = [read[: rng.choice([1, 20, 40, 75, 90, 100])] for read in singles(simulated_pairs(GENOME, fold=80))]
    path = tmp_path / "reads.fq"
    path.write_text(fastq(reads))
    ((_, contig),) = fasta_records(assemble(path, warning="reads have less than 31 bases") / "contigs.fasta")
    assert is_rotation(contig, GENOME)


@pytest.mark.parametrize(("ks", "used"), [("31,61", [31, 61]), ("21", [21]), (" 31, 61", [31, 61])])
def test_values_of_k(assemble, pair, ks, used):
    folder = assemble("-1", pair[0], "-2", pair[1], "-k", ks)
    assert json.loads((folder / "run.json").read_text())["results"]["k"] == used
    ((_, contig),) = fasta_records(folder / "contigs.fasta")
    assert is_rotation(contig, GENOME)


def test_k_as_long_as_the_reads(assemble, pair):
    folder = assemble("-1", pair[0], "-2", pair[1], "-k", "31,61,81,99")
    assert json.loads((folder / "run.json").read_text())["results"]["k"][-1] == 99
    assert sum(len(contig) for _, contig in fasta_records(folder / "contigs.fasta")) > 3900


def test_short_reads_have_a_smaller_k(assemble, tmp_path):
    path = tmp_path / "reads.fq"
    path.write_text(fastq(singles(simulated_pairs(GENOME, length=30, fold=100, error_rate=0))))
    folder = assemble(path, warning="no read has more than 30 bases")
    assert json.loads((folder / "run.json").read_text())["results"]["k"] == [19]
    assert sum(len(contig) for _, contig in fasta_records(folder / "contigs.fasta")) > 3500


def test_min_count_as_requested(assemble, pair):
    folder = assemble("-1", pair[0], "-2", pair[1], "--min-count", 7)
    spectrum = json.loads((folder / "run.json").read_text())["results"]["spectrum"]
    assert (spectrum["threshold"], spectrum["threshold_reason"]) == (7, "7, as requested")


def test_min_count_of_one_keeps_what_was_read_once(assemble, tmp_path):
    path = tmp_path / "genome.fa"
    path.write_text(fasta([GENOME]))
    folder = assemble(path, "--min-count", 1, "-k", 31, warning="these look like long reads")
    ((_, contig),) = fasta_records(folder / "contigs.fasta")
    assert contig in (GENOME, reverse_complement(GENOME))


def test_min_contig_leaves_short_ones_out_of_the_contigs_not_of_the_graph(assemble, branching_reads, branching):
    lengths = [len(contig) for _, contig in fasta_records(branching / "contigs.fasta")]
    bound = lengths[1]
    folder = assemble("-1", branching_reads[0], "-2", branching_reads[1], "--min-contig", bound, into="long")
    kept = [len(contig) for _, contig in fasta_records(folder / "contigs.fasta")]
    assert kept == [length for length in lengths if length >= bound]

    def segments(path):
        return [line.split("\t")[2] for line in path.read_text().splitlines() if line.startswith("S")]

    assert segments(folder / "graph.gfa") == segments(branching / "graph.gfa")


def test_no_contig_of_the_least_length_is_a_result(run_cli, pair, tmp_path):
    out = tmp_path / "out"
    code, _, err = run_cli("assemble", "-q", "-1", pair[0], "-2", pair[1], "--min-contig", 10_000, "-o", out)
    assert (code, err) == (0, "")
    assert files_in(out) == OUTPUTS
    assert (out / "contigs.fasta").read_text() == ""
    assert json.loads((out / "run.json").read_text())["status"] == "no contig reaches the least length"


def test_a_second_run_replaces_the_first(assemble, pair, of_pairs, tmp_path):
    first = outputs_of(of_pairs)
    shutil.copytree(of_pairs, tmp_path / "out")
    other = write_pairs(tmp_path, simulated_pairs(genome_text(seed=9)), name="other")
    second = outputs_of(assemble("--force", "-1", other[0], "-2", other[1]))
    assert second != first
    assert outputs_of(assemble("--force", "-1", pair[0], "-2", pair[1])) == first


def test_pairs_too_short_for_larger_k(run_cli, tmp_path):
    for length in (20, 25):
        pairs = [(first[:length], second[:length]) for first, second in simulated_pairs(genome_text(), fold=100)]
        first, second = write_pairs(tmp_path / str(length), pairs)
        code, _, err = run_cli("assemble", "-q", "-1", first, "-2", second, "-o", tmp_path / f"out{length}")
        assert (code, "Traceback" in err) == (0, False)
        assert json.loads((tmp_path / f"out{length}" / "run.json").read_text())["results"]["k"][0] <= 31


@pytest.mark.parametrize("bases", [0, 25])
def test_leftovers_do_not_choose_k(run_cli, tmp_path, bases):
    rng, pairs = np.random.default_rng(1), simulated_pairs(genome_text())
    leftovers = [("".join(rng.choice(list("ACGT"), 25)), "".join(rng.choice(list("ACGT"), 25))) for _ in range(4000)]
    files = write_pairs(tmp_path / "reads", [*leftovers, *pairs] if bases else pairs)
    code, *_ = run_cli("assemble", "-q", "-1", files[0], "-2", files[1], "-o", tmp_path / "out")
    results = json.loads((tmp_path / "out" / "run.json").read_text())["results"]
    assert (code, results["k"][:2], results["contigs"]) == (0, [31, 61], 1)


@pytest.mark.parametrize("orientation", ["RF", "FF"])
def test_pairs_that_do_not_face_each_other_are_noticed(run_cli, tmp_path, orientation):
    pairs = simulated_pairs(genome_text())
    if orientation == "RF":
        pairs = [(reverse_complement(first), reverse_complement(second)) for first, second in pairs]
    else:
        pairs = [(first, reverse_complement(second)) for first, second in pairs]
    first, second = write_pairs(tmp_path / "reads", pairs)
    code, _, err = run_cli("assemble", "-q", "-1", first, "-2", second, "-o", tmp_path / "out")
    assert (code, f"({orientation})" in err) == (0, True)


def test_long_noisy_reads_and_reads_without_mates_are_noticed(run_cli, tmp_path):
    first, second = write_pairs(tmp_path / "reads", simulated_pairs(genome_text()))
    long = tmp_path / "long.fq"
    long.write_text(f"@long\n{genome_text()}\n+\n{'*' * 4000}\n")
    code, _, err = run_cli("assemble", "-q", "-1", first, "-2", second, "--single", long, "-o", tmp_path / "out")
    assert code == 0
    assert "these look like long reads" in err
    assert "the mean quality is 9.0" in err
    assert "1 reads have no mate, and mates are used only where all reads have one" in err
