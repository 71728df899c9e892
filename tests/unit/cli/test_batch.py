"""``gpuasm batch``: the files of each sample are those of ``gpuasm assemble``, and no sample stops another."""

from __future__ import annotations

import csv
import os

import pytest

from gpuasm.cli import batch_workers, main
from tests.read_files import OUTPUTS, SEQUENCE_OUTPUTS, genome_text, simulated_pairs, write_pairs

NAMES = ["paired", "damaged", "lanes", "missing"]


def run(*arguments):
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    return int(end.value.code or 0)


def table(path):
    with path.open(newline="") as file:
        return {row["sample"]: row for row in csv.DictReader(file, delimiter="\t")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a sheet of samples, and what a batch made of it."""
    folder = tmp_path_factory.mktemp("batch")
    paired = write_pairs(folder, simulated_pairs(genome_text()), compress=True)
    lanes = write_pairs(folder, simulated_pairs(genome_text(seed=5), seed=2), name="lane")
    damaged = folder / "damaged.fastq"
    damaged.write_text("nonsense\n")
    lines = [
        "# a comment",
        "sample\treads_1\treads_2\tgenome\tlatitude\tlongitude",
        f"paired\t{paired[0]}\t{paired[1]}\t\t47.5\t8.25",
        f"damaged\t{damaged}",
        f"lanes\t{lanes[0]}",
        f"missing\t{folder / 'none.fastq'}",
        f"lanes\t{lanes[1]}",
    ]
    (folder / "sheet.tsv").write_text("\n".join(lines) + "\n")
    arguments = ["-o", folder / "out", "--jobs", 1, "--device", "cpu", "--min-contig", 300, "--prefix-samples", "-q"]
    assert run("batch", folder / "sheet.tsv", *arguments) == 66
    return folder


@pytest.mark.parametrize(
    ("name", "arguments"), [("paired", ["-1", "reads_1.fastq.gz", "-2", "reads_2.fastq.gz"]),
                        ("lanes", ["--single", "lane_1.fastq", "--single", "lane_2.fastq"])],
)  # fmt: skip
def test_the_files_of_a_sample_are_those_of_assemble(folder, tmp_path, name, arguments):
    reads = [own if own.startswith("-") else folder / own for own in arguments]
    alone = tmp_path / name
    assert not run("assemble", "-q", "--device", "cpu", "--min-contig", 300, "--prefix", name, *reads, "-o", alone)
    assert {path.name for path in (folder / "out" / name).iterdir()} == {path.name for path in alone.iterdir()}
    assert set(OUTPUTS) <= {path.name for path in alone.iterdir()}
    for file in SEQUENCE_OUTPUTS:
        assert (folder / "out" / name / file).read_bytes() == (alone / file).read_bytes(), file


def test_a_sample_that_fails_is_told_and_stops_no_other(folder):
    rows = table(folder / "out" / "batch.tsv")
    assert list(rows) == NAMES
    assert [row["exit_code"] for row in rows.values()] == ["0", "65", "0", "66"]
    assert [row["status"] for row in rows.values()] == ["done", "failed", "done", "failed"]
    assert (rows["paired"]["total_length"], rows["paired"]["verdict"]) == ("4000", "pass")
    assert "damaged.fastq, record 1: expected" in rows["damaged"]["message"]
    assert "none.fastq: expected a readable file" in rows["missing"]["message"]


def test_resume_keeps_finished_samples_of_the_same_reads_and_options(folder, tmp_path, monkeypatch):
    tried = []

    class Recorded(batch_workers.Workers):
        def outcomes(self, tasks):
            tried.append([task.name for task in tasks])
            return [batch_workers.Outcome(task.name, 0, "") for task in tasks]

    monkeypatch.setattr(batch_workers, "Workers", Recorded)
    again = ["batch", folder / "sheet.tsv", "-o", folder / "out", "--table", tmp_path / "table.tsv", "--resume", "-q"]
    same = ["--prefix-samples", "--min-contig", 300, "--device", "cpu", "-t", 3]
    run(*again, *same)
    assert [row["status"] for row in table(tmp_path / "table.tsv").values()] == ["kept", "done", "kept", "done"]
    run(*again, *same, "--min-count", 3)
    os.utime(folder / "lane_2.fastq", (2**32, 2**32))
    run(*again, *same)
    assert tried == [["damaged", "missing"], NAMES, ["damaged", "lanes", "missing"]]


def test_options_of_all_samples_are_refused_before_any_is_assembled(folder, capsys):
    sheet, into = folder / "sheet.tsv", folder / "refused"
    for wrong in (["-k", "30"], ["--min-count", "few"], ["--subfolder", "a/b"], ["--device", "cuda:0,99"]):
        assert run("batch", sheet, "-o", into, *wrong) in (2, 69)
        assert "gpuasm: error: expected" in capsys.readouterr().err
    assert run("batch", sheet, "-o", into, "--table", into / "lanes") == 2
    assert not into.exists() or not list(into.iterdir())
