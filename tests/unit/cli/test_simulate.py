"""The simulate command: files, names, and refusals."""

from __future__ import annotations

import gzip

import pytest

from gpuasm.cli import main


def run(*args):
    with pytest.raises(SystemExit) as exit_:
        main(["simulate", *map(str, args)])
    return exit_.value.code


@pytest.fixture
def genome(tmp_path):
    path = tmp_path / "genome.fasta"
    assert run("genome", "--length", 5000, "--circular", "--plasmid", "2000:4", "--seed", 3, "-o", path) == 0
    return path


def test_headers_of_a_genome_give_topology_and_copies(genome):
    text = genome.read_text()
    headers = [line for line in text.splitlines() if line.startswith(">")]
    assert headers == [
        ">genome length=5000 circular=yes copies=1",
        ">genome_plasmid_1 length=2000 circular=yes copies=4",
    ]
    assert len(text.replace("\n", "")) == 7000 + sum(map(len, headers))


def test_reads_are_the_same_plain_and_compressed(tmp_path, genome):
    plain, packed = [
        [tmp_path / f"{kind}_{mate}.fastq{end}" for mate in (1, 2)] for kind, end in (("p", ""), ("g", ".gz"))
    ]
    for first, second in (plain, packed):
        assert run("reads", genome, "--fold", 10, "--seed", 4, "-1", first, "-2", second) == 0
    for one, other in zip(plain, packed, strict=True):
        assert one.read_bytes() == gzip.decompress(other.read_bytes())


def test_copies_of_the_header_and_truth_of_every_read(tmp_path, genome):
    first, second, truth = tmp_path / "1.fq", tmp_path / "2.fq", tmp_path / "truth.tsv"
    assert run("reads", genome, "--fold", 30, "-1", first, "-2", second, "--truth", truth) == 0
    header, *rows = [line.split("\t") for line in truth.read_text().splitlines()]
    assert header == ["read", "genome", "position", "strand", "insert"]
    names = [
        line[1:]
        for pair in zip(*(f.read_text().splitlines()[::4] for f in (first, second)), strict=True)
        for line in pair
    ]
    assert [row[0] for row in rows] == names
    n_plasmid = sum(row[1] == "genome_plasmid_1" for row in rows)
    assert n_plasmid / len(rows) == pytest.approx(8000 / 13000, abs=0.05)
    assert all(rows[i][3] != rows[i + 1][3] for i in range(0, len(rows), 2))


def test_truth_positions_give_the_reads_back(tmp_path, genome):
    first, second, truth = tmp_path / "1.fq", tmp_path / "2.fq", tmp_path / "truth.tsv"
    assert run("reads", genome, "--fold", 10, "--error-rate", 0, "-1", first, "-2", second, "--truth", truth) == 0
    records = genome.read_text().split(">")[1:]
    bases = {record.split()[0]: "".join(record.splitlines()[1:]) for record in records}
    reads = [
        line for pair in zip(*(f.read_text().splitlines()[1::4] for f in (first, second)), strict=True) for line in pair
    ]
    for row, read in zip(truth.read_text().splitlines()[1:], reads, strict=True):
        _, name, position, strand, _ = row.split("\t")
        found = (bases[name] * 2)[int(position) : int(position) + 150]
        if strand == "-":
            found = found[::-1].translate(str.maketrans("ACGT", "TGCA"))
        assert found == read


def test_single_reads_to_standard_output(capfdbinary, genome):
    assert run("reads", genome, "--fold", 2, "--single", "-1", "-") == 0
    out = capfdbinary.readouterr().out
    assert out.startswith(b"@genome")
    assert out.count(b"\n") == 4 * round(2 * (5000 + 4 * 2000) / 150)


@pytest.mark.parametrize(
    "args",
    [
        ["-1", "a.fq"],
        ["-1", "a.fq", "-2", "a.fq"],
        ["-1", "a.fq", "-2", "b.fq", "--single"],
        ["-1", "a.fq", "-2", "b.fq", "--insert", "20"],
    ],
)
def test_options_that_contradict_each_other_are_refused(tmp_path, genome, monkeypatch, args):
    monkeypatch.chdir(tmp_path)
    assert run("reads", genome, *args) == 2
    assert list(tmp_path.iterdir()) == [genome]


def test_bad_plasmid_is_refused(capsys):
    assert run("genome", "--length", 100, "--plasmid", "big") == 2
    assert "8000:10" in capsys.readouterr().err


def test_genomes_that_are_missing_or_wrong(tmp_path, capsys):
    outputs = ["-1", tmp_path / "1.fq", "-2", tmp_path / "2.fq"]
    assert run("reads", tmp_path / "absent.fasta", *outputs) == 66
    wrong = tmp_path / "wrong.fasta"
    wrong.write_text("@read\nACGT\n+\nIIII\n")
    assert run("reads", wrong, *outputs) == 65
    wrong.write_text(">empty\n>other\nACGT\n")
    assert run("reads", wrong, *outputs) == 65
    assert "record 1" in capsys.readouterr().err
    cut = tmp_path / "cut.fasta.gz"
    cut.write_bytes(gzip.compress(b">a\n" + b"ACGT" * 1000)[:-20])
    assert run("reads", cut, *outputs) == 65
    assert not list(tmp_path.glob("*.fq"))
