"""Reads aligned to contigs as BAM: each record agrees with the read, the contig and the record of the mate."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pysam
import pytest

from gpuasm.assembly.alignment.reads_on_unitigs import repack
from gpuasm.assembly.contig import Contig
from gpuasm.cli.aligned_reads import require_memory_for, write_aligned_reads
from gpuasm.errors import ResourceError
from gpuasm.io import read_reads
from gpuasm.sequence.encoding import encode
from gpuasm.sequence.reads import Reads
from tests.oracles.kmers import reverse_complement
from tests.oracles.reads import fastq, random_sequences
from tests.read_files import simulated_pairs

CIRCLE, LINEAR, OTHER, FOREIGN = (random_sequences(n, 1, n)[0] for n in (700, 2500, 400, 120))
REPEAT = LINEAR[300:600]
LONG = LINEAR + REPEAT + OTHER


def contig(name: str, text: str, *, is_circular: bool = False) -> Contig:
    return Contig(name, encode(text), 20.0, 1, is_circular, 0)


CONTIGS = [contig("long", LONG), contig("circle", CIRCLE, is_circular=True)]
TEXTS = {"long": LONG, "circle": CIRCLE}


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Return mates of both contigs, two reads of neither, one of both without its middle, and reads with N."""
    pairs = simulated_pairs(LONG, circular=False, fold=12, error_rate=0.004, seed=1)
    pairs += simulated_pairs(CIRCLE, fold=20, error_rate=0.004, seed=2)
    pairs += [(LONG[:100], FOREIGN), (FOREIGN[:60] + "N", FOREIGN[50:]), (CIRCLE[:50] + LONG[800:880], "NN")]
    pairs += [(LONG[100:140] + "N" + LONG[141:230], reverse_complement(LONG[200:290]))]
    return [read for pair in pairs for read in pair]


@pytest.fixture(scope="module")
def bam(texts, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("bam") / "reads.bam"
    counts = write_aligned_reads(path, CONTIGS, Reads.from_strings(texts, paired=True))
    assert counts["reads"] == len(texts)
    return path


def records_of(path: Path) -> list[pysam.AlignedSegment]:
    with pysam.AlignmentFile(path, check_sq=False) as file:
        return list(file.fetch(until_eof=True))


def number_of(record: pysam.AlignedSegment) -> int:
    return 2 * (int(record.query_name) - 1) + record.is_read2


def test_each_read_has_one_primary_record_with_its_bases(bam, texts):
    primary = {number_of(r): r for r in records_of(bam) if not r.is_supplementary}
    assert sorted(primary) == list(range(len(texts)))
    assert sum(not r.is_supplementary for r in records_of(bam)) == len(texts)
    for number, record in primary.items():
        found = record.query_sequence or ""
        found = reverse_complement(found) if record.is_reverse else found
        assert found in texts[number].split("N")


def test_records_agree_with_contigs(bam):
    records = [r for r in records_of(bam) if not r.is_unmapped]
    assert len(records) > 200
    for record in records:
        there = TEXTS[record.reference_name][record.reference_start : record.reference_end]
        own = record.query_alignment_sequence
        assert len(own) == len(there)
        assert record.get_tag("NM") == sum(a != b for a, b in zip(own, there, strict=True))
        assert record.get_tag("NM") <= len(own) // 8


def test_nearly_all_bases_are_aligned_and_the_circle_has_no_edge(bam):
    """Of a read across the origin of the circle both parts are aligned."""
    with pysam.AlignmentFile(bam) as file:
        depth = np.sum(file.count_coverage("circle", quality_threshold=0), axis=0)
        assert depth[[0, -1]].min() > 0.4 * np.median(depth)
        across = [r for r in file.fetch("circle") if r.is_supplementary]
        assert {r.reference_start for r in across} & {0}
        assert any(r.reference_end == len(CIRCLE) for r in across)
    aligned = sum(r.query_alignment_length for r in records_of(bam) if not r.is_unmapped)
    assert aligned > 0.97 * sum(r.query_length for r in records_of(bam) if not r.is_supplementary)


def test_records_are_sorted_and_agree_with_those_of_their_mates(bam):
    records = records_of(bam)
    places = [(r.reference_id if r.reference_id >= 0 else 1 << 30, r.reference_start) for r in records]
    assert places == sorted(places)
    primary = {number_of(r): r for r in records if not r.is_supplementary}
    proper = 0
    for record in records:
        mate = primary[number_of(record) ^ 1]
        assert record.is_paired
        assert record.is_read1 != record.is_read2
        assert (record.mate_is_unmapped, record.mate_is_reverse) == (mate.is_unmapped, mate.is_reverse)
        assert (record.next_reference_id, record.next_reference_start) == (mate.reference_id, mate.reference_start)
        if record.is_supplementary:
            continue
        assert record.template_length == -mate.template_length
        assert record.is_proper_pair == mate.is_proper_pair
        proper += record.is_proper_pair
        if record.is_proper_pair:
            left, right = sorted([record, mate], key=lambda r: r.reference_start)
            assert (left.is_reverse, right.is_reverse) == (False, True) or left.reference_start == right.reference_start
            span = max(left.reference_end, right.reference_end) - left.reference_start
            assert abs(record.template_length) == span
    assert proper > 0.8 * len(primary)


def test_unaligned_reads_lie_with_their_mates_or_last(bam, texts):
    n = len(texts)
    primary = {number_of(r): r for r in records_of(bam) if not r.is_supplementary}
    lone, alone = primary[n - 7], primary[n - 8]
    assert (lone.is_unmapped, alone.is_unmapped, alone.mate_is_unmapped) == (True, False, True)
    assert (lone.reference_name, lone.reference_start) == ("long", 0)
    assert [primary[i].reference_id for i in (n - 6, n - 5)] == [-1, -1]
    assert primary[n - 3].query_sequence is None
    assert [number_of(r) for r in records_of(bam)[-2:]] == [n - 6, n - 5]


def test_numbers_are_those_of_the_input_where_reads_were_removed(texts, tmp_path):
    reads = Reads.from_strings(texts, paired=True)
    write_aligned_reads(tmp_path / "rest.bam", CONTIGS, reads.select(reads.read >= 4))
    primary = {number_of(r): r for r in records_of(tmp_path / "rest.bam") if not r.is_supplementary}
    assert [(primary[i].is_unmapped, primary[i].query_sequence) for i in range(4)] == [(True, None)] * 4
    found = primary[4].query_sequence
    assert (reverse_complement(found) if primary[4].is_reverse else found) == texts[4]


def test_repeated_places_have_less_mapping_quality(bam):
    """A read of the repeat whose mate lies beside it is placed by the mate."""
    found: dict[int, set[int]] = {}
    for record in records_of(bam):
        if not (record.is_unmapped or record.is_supplementary) and record.reference_name == "long":
            begin, end = record.reference_start, record.reference_end
            is_repeated = any(begin < last and first < end for first, last in ((300, 600), (2500, 2800)))
            found.setdefault(record.mapping_quality, set()).add(is_repeated)
    assert found.keys() == {0, 20, 60}
    assert found[0] == {True}
    assert False in found[60]


def test_the_index_finds_reads(bam):
    with pysam.AlignmentFile(bam, index_filename=f"{bam}.bai") as file:
        assert file.header.to_dict()["HD"]["SO"] == "coordinate"
        assert [line.get("TP") for line in file.header.to_dict()["SQ"]] == ["linear", "circular"]
        here = [r.query_name for r in file.fetch("long", 1000, 1001)]
    there = [r for r in records_of(bam) if r.reference_name == "long" and not r.is_unmapped]
    assert here == [r.query_name for r in there if r.reference_start <= 1000 < r.reference_end]


@pytest.mark.skipif(shutil.which("samtools") is None, reason="samtools is not installed")
def test_samtools_accepts_the_file(bam):
    subprocess.run(["samtools", "quickcheck", "-v", bam], check=True)
    fixed = subprocess.run(f"samtools sort -n {bam} | samtools fixmate - - | samtools view -", shell=True, check=True,
                           capture_output=True, text=True).stdout  # fmt: skip
    assert len(fixed.splitlines()) == len(records_of(bam))


def test_single_reads_and_no_contigs(tmp_path):
    reads = Reads.from_strings([LONG[:100], reverse_complement(LONG[500:600]), "ACGT"])
    write_aligned_reads(tmp_path / "single.bam", CONTIGS, reads)
    found = [
        (r.query_name, r.flag, r.reference_start, r.next_reference_id) for r in records_of(tmp_path / "single.bam")
    ]
    assert found[0] == ("1", 0, 0, -1)
    assert found[-1] == ("3", 4, -1, -1)
    write_aligned_reads(tmp_path / "none.bam", [], Reads.from_strings([]))
    assert records_of(tmp_path / "none.bam") == []
    assert (tmp_path / "none.bam.bai").is_file()


QUALITIES = "".join(map(chr, range(33, 127)))


def reads_with_qualities(texts: list[str], names: list[str], seed: int = 5) -> dict[str, tuple[str, str]]:
    """Return bases and random qualities by name."""
    draws = np.random.default_rng(seed)
    return {
        name: (text, "".join(QUALITIES[i] for i in draws.integers(0, len(QUALITIES), len(text))))
        for name, text in zip(names, texts, strict=True)
    }


def as_fastq(reads: dict[str, tuple[str, str]], *, wrapped: bool = False) -> str:
    end = 40 if wrapped else 10_000
    lines = [
        "\n".join([f"@{name} a comment", text[:end], *filter(None, [text[end:]]), "+", quality[:end], quality[end:]])
        for name, (text, quality) in reads.items()
    ]
    return "\n".join(line.rstrip("\n") for line in lines) + "\n"


def written_with_texts(path: Path, **files: object) -> list[pysam.AlignedSegment]:
    with tempfile.TemporaryFile() as file:
        read_set = read_reads(**files, texts=file, block_bytes=3000)
        read_set.texts.locate(read_set.reads)
        options = {"n_pairs": read_set.n_pairs, "texts": read_set.texts}
        write_aligned_reads(path, CONTIGS, repack(read_set.reads), **options)
    return records_of(path)


def check_qualities(records: list[pysam.AlignedSegment], expected: dict[tuple[str, int], tuple[str, str]]) -> None:
    """Check that the bases of a record have the qualities that they have in the read of its name and mate."""
    primary = {}
    for record in records:
        key = record.query_name, 1 + record.is_read2 if record.is_paired else 0
        assert record.is_supplementary or primary.setdefault(key, record) is record
        if record.query_sequence:
            text, quality = expected[key]
            own = record.get_forward_sequence()
            found = pysam.qualities_to_qualitystring(record.get_forward_qualities())
            places = [i for i in range(len(text)) if text.startswith(own, i)]
            assert found in [quality[i : i + len(own)] for i in places]
    assert primary.keys() == expected.keys()


@pytest.mark.parametrize("kind", ["two files", "interleaved", "wrapped", "bam", "with single reads"])
def test_names_and_qualities_are_those_of_the_input(texts, tmp_path, kind):
    marks = ("", "") if kind == "bam" else ("/1", "/2")
    names = [f"run:1:{i // 2 + 1}.1{marks[i % 2]}" for i in range(len(texts))]
    mates = [reads_with_qualities(texts[first::2], names[first::2], seed=first) for first in range(2)]
    expected = {(name.removesuffix(mark), i + 1): read
                for i, mark in enumerate(marks) for name, read in mates[i].items()}  # fmt: skip
    paths = [tmp_path / f"{i}.fastq" for i in range(3)]
    for path, reads in zip(paths, mates, strict=False):
        path.write_text(as_fastq(reads, wrapped=kind == "wrapped"))
    files: dict[str, object] = {"pairs": [paths[:2]]}
    if kind == "interleaved":
        both = zip(mates[0].items(), mates[1].items(), strict=True)
        paths[2].write_text(as_fastq(dict(read for pair in both for read in pair)))
        files = {"interleaved": paths[2:]}
    elif kind == "bam":
        files = {"bam": [bam_of(tmp_path / "in.bam", mates)]}
    elif kind == "with single reads":
        single = reads_with_qualities([LONG[:90], LINEAR[40:120] + "N" + LINEAR[121:150]], ["s/1", "t.2"])
        paths[2].write_text(as_fastq(single))
        files["single"] = paths[2:]
        expected |= {(name, 0): read for name, read in single.items()}
    records = written_with_texts(tmp_path / "out.bam", **files)
    check_qualities(records, expected)
    pairs = [record for record in records if record.is_paired]
    assert all(record.is_read1 != record.is_read2 for record in pairs)
    assert len({record.query_name for record in pairs}) == len(texts) // 2


@pytest.mark.skipif(shutil.which("samtools") is None, reason="samtools is not installed")
def test_samtools_gives_the_reads_of_the_input_back(texts, tmp_path):
    whole = [pair for pair in zip(texts[::2], texts[1::2], strict=True) if not set("N") & set("".join(pair))]
    reads = [reads_with_qualities([pair[i] for pair in whole], [f"p{n}" for n in range(len(whole))], i) for i in (0, 1)]
    paths = [tmp_path / f"{i}.fastq" for i in range(4)]
    for path, mates in zip(paths, reads, strict=False):
        path.write_text(as_fastq(mates))
    written_with_texts(tmp_path / "out.bam", pairs=[paths[:2]])
    subprocess.run(["samtools", "quickcheck", "-v", tmp_path / "out.bam"], check=True)
    command = f"samtools collate -O {tmp_path}/out.bam | samtools fastq -n -1 {paths[2]} -2 {paths[3]} -"
    subprocess.run(command, shell=True, check=True, capture_output=True)
    for given, found in zip(reads, paths[2:], strict=True):
        lines = found.read_text().splitlines()
        again = {lines[i][1:]: (lines[i + 1], lines[i + 3]) for i in range(0, len(lines), 4)}
        assert again == given


def bam_of(path: Path, mates: list[dict[str, tuple[str, str]]]) -> Path:
    """Write mates as unaligned BAM, all first ones before the second ones."""
    with pysam.AlignmentFile(path, "wb", header={"HD": {"VN": "1.6"}}) as file:
        for mate, reads in enumerate(mates):
            for name, (text, quality) in reads.items():
                record = pysam.AlignedSegment()
                record.query_name, record.query_sequence = name, text
                record.query_qualities = pysam.qualitystring_to_array(quality)
                record.flag = 77 if mate == 0 else 141
                file.write(record)
    return path


def test_names_that_sam_cannot_hold_are_numbers(tmp_path):
    names = ["*", "a@b", "x" * 300, "é", "fine", ""]
    text = "".join(f">{name}\n{LONG[10 * i : 10 * i + 100]}\n" for i, name in enumerate(names))
    (tmp_path / "reads.fasta").write_text(text)
    records = written_with_texts(tmp_path / "out.bam", single=[tmp_path / "reads.fasta"])
    assert [record.query_name for record in records] == ["1", "2", "3", "4", "fine", "6"]
    assert all(record.query_qualities is None for record in records)


def test_qualities_of_trimmed_and_chosen_reads(run_cli, texts, tmp_path):
    primer, adapter = "GATTACAGATTACAGG", "AGATCGGAAGAGCACACGTCTGAACTCCAGTCA"
    own = [primer + text + adapter for text in texts]
    names = [f"r{i // 2}/{i % 2 + 1}" for i in range(len(own))]
    reads = reads_with_qualities(own, names)
    (tmp_path / "reads.fastq").write_text(as_fastq(reads))
    (tmp_path / "primers.fasta").write_text(f">p\n{primer}\n")
    code, _, err = run_cli(
        "assemble", "-q", "--interleaved", tmp_path / "reads.fastq", "-k", 31, "--primers", tmp_path / "primers.fasta",
        "--trim", "yes", "--depth", 10, "--genome-size", 3500, "-o", tmp_path / "out", "--bam-out", tmp_path / "r.bam",
    )  # fmt: skip
    assert code == 0, err
    records = records_of(tmp_path / "r.bam")
    check_qualities(records, {(name[:-2], int(name[-1])): read for name, read in reads.items()})
    assert {bool(record.query_sequence) for record in records} == {True, False}
    assert not any((record.get_forward_sequence() or "").startswith(primer) for record in records)


def test_assemble_writes_the_file_with_the_contigs(run_cli, tmp_path):
    reads = tmp_path / "reads.fastq"
    pairs = simulated_pairs(LINEAR, circular=False, fold=25, seed=3)
    reads.write_text(
        fastq(
            [read for pair in pairs for read in pair], names=[f"r{i // 2}/{i % 2 + 1}" for i in range(2 * len(pairs))]
        )
    )
    out = tmp_path / "out"
    arguments = ["assemble", "-q", "--interleaved", reads, "-k", 31, "--prefix", "s", "-o", out]
    code, _, err = run_cli(*arguments, "--bam-out", tmp_path / "nowhere" / "reads.bam")
    assert code == 73
    assert "is not there" in err
    assert not out.exists()
    assert run_cli(*arguments, "--bam-out", out / "bam" / "reads.bam")[0] == 0
    with pysam.AlignmentFile(out / "bam" / "reads.bam") as file:
        names = [line[1:].split()[0] for line in (out / "contigs.fasta").read_text().splitlines() if line[0] == ">"]
        assert list(file.references) == names
        assert sum(1 for _ in file.fetch(names[0])) > 100
    code, _, err = run_cli(*arguments, "--bam-out", out / "contigs.fasta")
    assert code == 2
    assert "same file" in err


def test_without_contigs_all_reads_are_unaligned(run_cli, tmp_path):
    (tmp_path / "reads.fasta").write_text(f">a\n{LINEAR[:100]}\n>b\n{CIRCLE[:100]}\n")
    code, _, _ = run_cli(
        "assemble", "-q", tmp_path / "reads.fasta", "-o", tmp_path / "out", "--bam-out", tmp_path / "r.bam"
    )
    assert code == 65
    assert [(r.query_name, r.is_unmapped) for r in records_of(tmp_path / "r.bam")] == [("a", True), ("b", True)]


def test_memory_that_does_not_suffice_is_refused_ahead():
    reads = Reads.from_strings([LONG[:100]] * 50)
    require_memory_for(reads, 1 << 40)
    with pytest.raises(ResourceError, match="of memory for writing the aligned reads"):
        require_memory_for(reads, 1 << 20)


def test_devices_write_the_same_bytes(xp, bam, texts, tmp_path):
    reads = Reads.from_strings(texts, paired=True).moved_to(xp)
    write_aligned_reads(tmp_path / "reads.bam", CONTIGS, reads)
    assert (tmp_path / "reads.bam").read_bytes() == bam.read_bytes()
