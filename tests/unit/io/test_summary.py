"""Figures of files: quality coding, N50, expected errors; adapters; what an examination finds."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.errors import NoInputError
from gpuasm.io import read_reads
from gpuasm.io.adapters import ADAPTERS, survey_adapters
from gpuasm.io.examination import examine
from gpuasm.io.growing_array import GrowingArray
from gpuasm.io.length_statistics import n50_and_l50
from gpuasm.io.phix import phix_genome
from gpuasm.io.summary import quality_offset
from gpuasm.sequence.reads import Reads
from tests.oracles import reads as oracle

SEQUENCES = oracle.random_sequences(9, 50)


def counts_of(text: str) -> np.ndarray:
    return np.bincount(np.frombuffer(text.encode("latin-1"), np.uint8), minlength=256)


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("#,:F", 33),
        ("IIII", 33),
        ("<AFK", 33),
        ("K", 33),
        ("<=>?@ABCDEFGHIJKLMNOPQRS", 33),
        ("efgh", 64),
        ("~~~~", 33),
        ("BCDEhh", 64),
        ("@h", 64),
        (";h", None),
        ("?Z", None),
        ("!~", 33),
        ("", None),
    ],
)
def test_quality_coding(text, offset):
    assert quality_offset(counts_of(text)) == offset


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [([], (0, 0)), ([0, 0], (0, 0)), ([5], (5, 1)), ([1, 1, 2, 4], (4, 1)), ([4, 2, 3], (3, 2)), ([3, 3, 3], (3, 2))],
)
def test_n50(lengths, expected):
    assert n50_and_l50(lengths) == expected
    assert n50_and_l50(*np.unique(np.array(lengths, dtype=np.int64), return_counts=True)) == expected


def test_very_long_reads_share_a_bin_but_not_their_figures(tmp_path):
    path = tmp_path / "chromosomes.fa"
    lengths = [3_000_000, 1_200_000, 50]
    path.write_text("".join(f">{n}\n{'ACGT' * (n // 4)}{'AC' * (n % 4 // 2)}\n" for n in lengths))
    found = read_reads(single=[path])
    (file,) = found.files
    assert (file.n_bases, file.min_length, file.n50_length, file.max_length) == (4_200_050, 50, 3_000_000, 3_000_000)
    assert found.reads.length.tolist() == lengths
    assert (found.length_histogram.size, found.length_histogram[50], found.length_histogram[-1]) == (2**20 + 1, 1, 2)


def test_mean_quality_and_expected_errors(tmp_path):
    path = tmp_path / "reads"
    path.write_text("@a\nACGT\n+\n!!++\n@b\nACGT\n+\nIIII\n")
    (file,) = read_reads(single=[path]).files
    assert file.mean_quality == 22.5
    assert file.expected_errors == pytest.approx(100 * (2 + 0.2 + 0.0004) / 8, abs=1e-3)
    assert (file.quality_offset, file.quality_range, file.q30_share) == (33, (33, 73), 0.5)
    path.write_text(">a\nACGT\n")
    (file,) = read_reads(single=[path]).files
    assert (file.format, file.mean_quality, file.expected_errors, file.quality_range) == ("fasta", None, None, None)
    assert "length_histogram" not in file.as_dict()


def test_growing_arrays_hold_what_was_appended():
    growing, expected = GrowingArray(np.int64), []
    for size in (0, 3, 70_000, 1, 500_000, 0):
        part = np.arange(size)
        growing.append(part)
        expected.append(part)
    np.testing.assert_array_equal(growing.finish(), np.concatenate(expected))
    assert GrowingArray(np.int32).finish().size == 0


def test_the_first_probe_of_each_read_counts():
    truseq, nextera, mgi = (ADAPTERS[f"{kit}"][0][:13] for kit in ("Illumina TruSeq", "Illumina Nextera", "MGI"))
    texts = [f"ACGT{truseq}ACGT", "ACGT" * 20, f"{truseq}N{truseq}", nextera, truseq[:-1], f"CCNC{mgi}{truseq}"]
    survey = survey_adapters(Reads.from_strings(texts), 0)
    assert survey.kit.tolist() == [0, -1, 0, 1, -1, 3]
    assert survey.position[survey.kit >= 0].tolist() == [4, 0, 0, 3]
    assert survey.runs_into_adapter.tolist() == [True, False, True, True, False, True]
    assert survey.name == "Illumina TruSeq"


def test_a_good_pair(tmp_path):
    paths = tmp_path / "1", tmp_path / "2"
    for path, step in zip(paths, (1, -1), strict=True):
        path.write_text(oracle.fastq([sequence[::step] for sequence in SEQUENCES]))
    seen = []
    found = examine({"pairs": [paths]}, each=seen.append)
    assert (found.problems, found.warnings, found.n_pairs) == ([], [], 50)
    assert [reads.n_reads for reads in seen] == [100]
    assert [file.path for file in found.files] == [str(path) for path in paths]
    assert found.as_dict()["usable"] is True


def test_all_problems_are_found_at_once(tmp_path):
    names = [f"r{i}" for i in range(50)]
    files = {
        "1": oracle.fastq(SEQUENCES, names=names),
        "2": oracle.fastq(SEQUENCES[1:], names=names[1:]),
        "unclear": oracle.fastq(SEQUENCES, quality=";") + oracle.fastq(SEQUENCES[:1], quality="h"),
        "short": oracle.fastq([sequence[:30] for sequence in SEQUENCES]),
        "broken": oracle.fastq(SEQUENCES)[:-1000],
    }
    paths = {name: tmp_path / name for name in files}
    for name, text in files.items():
        paths[name].write_text(text)
    found = examine(
        {"pairs": [(paths["1"], paths["2"])], "single": [paths["unclear"], paths["short"], paths["broken"]]}
    )
    problems = "\n".join(map(str, found.problems))
    for text in ("found 'r0' and 'r1'", "record 46"):
        assert text in problems
    assert [len(found.problems), [file.n_reads for file in found.files]] == [2, [50, 49, 51, 50]]
    warnings = "\n".join(found.warnings)
    for text in ("qualities from ';' to 'h' fit neither", "no read has more than 30 bases"):
        assert text in warnings
    assert found.as_dict()["problems"][0]["remedy"].startswith("bring the files back into step")


def test_warnings(tmp_path):
    adapter = ADAPTERS["Illumina TruSeq"][0]
    texts = {
        "adapters": oracle.fastq([f"{sequence}{adapter}" for sequence in SEQUENCES]),
        "bad": oracle.fastq([f"{sequence}NNNNN" for sequence in SEQUENCES], quality="+"),
        "shorts": oracle.fastq([*SEQUENCES, *(sequence[:20] for sequence in SEQUENCES)]),
        "long": oracle.fastq(["".join(SEQUENCES)]),
        "control": oracle.fastq([phix_genome()[:100], *SEQUENCES]),
        "phage": oracle.fastq([phix_genome()[i : i + 100] for i in range(200)]),
        "unclear": oracle.fastq([s[::-1] for s in SEQUENCES], quality=";") + oracle.fastq(SEQUENCES[:1], quality="h"),
        "empty": "",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    found = examine({"single": [tmp_path / name for name in texts]})
    assert found.problems == []
    warnings = "\n".join(found.warnings)
    for name, text in (
        ("adapters", "100.0% of the reads run into an adapter (Illumina TruSeq)"),
        ("bad", "250 letters are not A, C, G or T"),
        ("bad", "mean quality is 10.0"),
        ("shorts", "50 reads have less than 31 bases"),
        ("long", "look like long reads"),
        ("control", "2.0% of the reads are of phage PhiX174, which sequencers run as a control; --remove-phix"),
        ("unclear", "qualities from ';' to 'h' fit neither"),
        ("empty", "an empty file, which adds nothing"),
        ("phage", "100.0% of the reads are of phage PhiX174; if it is not the sample, --remove-phix"),
    ):
        assert f"{tmp_path / name}: " in warnings
        assert text in warnings
    assert len(found.warnings) == 9


def test_a_missing_file_ends_an_examination(tmp_path):
    with pytest.raises(NoInputError):
        examine({"single": [tmp_path / "missing"]})
