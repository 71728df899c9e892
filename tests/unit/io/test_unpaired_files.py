"""Files of mates that were given as reads without mates are found by their names."""

from __future__ import annotations

import json

import pytest

from gpuasm.io import read_reads
from gpuasm.io.examination import examine
from gpuasm.io.unpaired_files import find_unpaired_files
from tests.oracles import reads as oracle
from tests.read_files import genome_text, simulated_pairs

SEQUENCES = oracle.random_sequences(11, 30)


def found_in(folder, *names):
    """Return the names of the files that are found, for files whose records have these names."""
    paths = [folder / str(number) for number in range(len(names))]
    for path, own in zip(paths, names, strict=True):
        path.write_text(oracle.fastq(SEQUENCES[: len(own)], names=own))
    lost = find_unpaired_files(read_reads(single=paths).files)
    return [tuple(path.removeprefix(f"{folder}/") for path in own.paths) for own in lost]


def numbered(form, numbers=range(20)):
    return [form.format(i) for i in numbers]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (numbered("r{}"), numbered("r{}"), [("0", "1")]),
        (numbered("r{} 1:N:0:AC"), numbered("r{} 2:N:0:AC"), [("0", "1")]),
        (numbered("r{}/1"), numbered("r{}/2"), [("0", "1")]),
        (numbered("r{}/2"), numbered("r{}/1"), [("1", "0")]),
        (numbered("S.{}.1"), numbered("S.{}.2"), [("0", "1")]),
        (numbered("r{}", range(0, 20, 2)), numbered("r{}"), [("0", "1")]),  # some mates were left out
        (numbered("r{}", range(15)), numbered("r{}", range(10, 25)), []),
        (numbered("SRR1.{}"), numbered("SRR2.{}"), []),
        (["r1"], ["r1"], []),
        ([], [], []),
    ],
)
def test_two_files(tmp_path, first, second, expected):
    if first:
        assert found_in(tmp_path, first, second) == expected
    assert find_unpaired_files([]) == []


def test_names_of_three_files_are_numbers(tmp_path):
    assert found_in(tmp_path, *[numbered("r{}")] * 3) == []
    assert found_in(tmp_path, *[numbered("r{}")] * 2, numbered("s{}")) == [("0", "1")]


@pytest.mark.parametrize(
    ("names", "is_found"),
    [
        ([f"r{i // 2}" for i in range(20)], True),
        ([f"r{i // 2}/{i % 2 + 1}" for i in range(20)], True),
        ([f"r{i // 2}_{i % 2 + 1}:N:0:AC" for i in range(20)], True),
        ([f"r{i // 2}_R{i % 2 + 1}" for i in range(20)], True),
        ([f"r{i // 2}.{'fr'[i % 2]}" for i in range(20)], True),
        ([f"r{i // 2}-{i % 2 + 1}" for i in range(20)], True),
        ([f"r-{i}" for i in range(20)], False),
        ([f"r{i // 2}" for i in range(21)], True),  # the last one's mate may be in no file
        ([f"r{i}" for i in range(20)], False),
        ([f"SRR1.{i}" for i in range(20)], False),
        (["r1", "r1"], False),
        (["read"] * 20, False),
    ],
)
def test_one_file(tmp_path, names, is_found):
    assert found_in(tmp_path, names) == ([("0",)] if is_found else [])


def test_mates_in_turn_among_reads_without(run_cli, tmp_path):
    names = [f"r{i}/{mate}" for i in range(40) for mate in (1, 2) if mate == 1 or i % 3]
    assert found_in(tmp_path, names[:30]) == [("0",)]
    pairs = simulated_pairs(genome_text())[:40]
    mates = [text for pair in pairs for text in pair] * 2
    path = tmp_path / "reads.fq"
    path.write_text(oracle.fastq(mates[: len(names)], names=names))
    code, _, err = run_cli("assemble", "-q", path, "-o", tmp_path / "out")
    assert (code, "mates in turn among other reads" in err) == (0, True)


def test_many_blocks_do_not_matter(tmp_path):
    path = tmp_path / "reads"
    path.write_text(oracle.fastq(SEQUENCES * 10, names=[f"r{i // 2}" for i in range(300)]))
    (one,), (other,) = (read_reads(single=[path], block_bytes=n).files for n in (300, 1 << 20))
    assert one.first_names == other.first_names == tuple(f"r{i // 2}" for i in range(100))


@pytest.fixture
def mates(tmp_path):
    """A pair of files and one in which the same mates come in turn."""
    pairs = simulated_pairs(genome_text())
    texts = (
        oracle.fastq([pair[0] for pair in pairs]),
        oracle.fastq([pair[1] for pair in pairs]),
        oracle.fastq([mate for pair in pairs for mate in pair], names=[f"r{i // 2}" for i in range(2 * len(pairs))]),
    )
    paths = [tmp_path / name for name in ("R1.fq", "R2.fq", "both.fq")]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    return paths


def test_assemble_asks_for_pairs(run_cli, mates, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first, second, both = (path.name for path in mates)
    code, out, err = run_cli("assemble", "-q", first, second, "-o", tmp_path / "out")
    assert (code, out) == (2, "")
    assert f"write -1 {first} -2 {second}, or --single before each file" in err
    code, _, err = run_cli("assemble", "-q", both, "-o", tmp_path / "out")
    assert code == 2
    assert f"write --interleaved {both}, or --single" in err


def test_who_writes_single_is_warned(run_cli, mates, tmp_path):
    code, _, err = run_cli("assemble", "-q", "--single", mates[0], "--single", mates[1], "-o", tmp_path / "out")
    assert code == 0
    assert f"-1 {mates[0]} -2 {mates[1]} takes them as pairs" in err
    (warning,) = json.loads((tmp_path / "out" / "run.json").read_text())["warnings"]
    assert warning in err


def test_examination_names_them(mates):
    first, second, both = mates
    warnings = examine({"single": mates}).warnings
    for remedy in (f"-1 {first} -2 {second}", f"--interleaved {both}"):
        assert sum(f"give them as {remedy}" in text for text in warnings) == 1
    assert not any("give them as" in text for text in examine({"pairs": [(first, second)], "single": []}).warnings)
