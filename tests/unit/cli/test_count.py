"""``gpuasm count`` against plain Python."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

from tests.oracles.kmers import count_kmers
from tests.oracles.reads import fastq
from tests.unit.kmers.test_tally import noisy_reads

TEXTS = noisy_reads(4, 120)


@pytest.fixture
def reads(tmp_path):
    path = tmp_path / "reads.fq"
    path.write_text(fastq(TEXTS))
    return path


def spelled(row: np.ndarray, k: int) -> str:
    return "".join("ACGT"[int(bases) >> (62 - 2 * i) & 3] for bases in row for i in range(32))[:k]


def counts_in(stored) -> dict[str, int]:
    k = int(stored["k"])
    assert stored["kmers"].dtype == np.uint64
    assert stored["counts"].dtype == np.uint32
    texts = [spelled(row, k) for row in stored["kmers"]]
    assert texts == sorted(texts)
    return dict(zip(texts, stored["counts"].tolist(), strict=True))


def spectrum_in(path) -> dict[int, int]:
    header, *rows = path.read_text().splitlines()
    assert header == "multiplicity\tkmers"
    return {int(m): int(n) for m, n in (row.split("\t") for row in rows)}


@pytest.mark.parametrize("min_count", [1, 2, 5])
@pytest.mark.parametrize("k", [5, 31, 33, 63, 127])
def test_counts_and_spectrum_equal_the_oracle(run_cli, reads, tmp_path, k, min_count):
    output, spectrum = tmp_path / "counts.npz", tmp_path / "spectrum.tsv"
    arguments = ["-k", k, "--min-count", min_count, "-o", output, "--spectrum", spectrum]
    code, out, err = run_cli("count", "-q", reads, *arguments)
    assert (code, err) == (0, "")
    expected = count_kmers(TEXTS, k)
    assert counts_in(np.load(output)) == {kmer: n for kmer, n in expected.items() if n >= min_count}
    assert spectrum_in(spectrum) == Counter(expected.values())
    assert out.splitlines()[0] == f"distinct {k}-mers\t{len(expected)}"


def test_counts_alone_are_the_same(run_cli, reads, tmp_path):
    expected = count_kmers(TEXTS, 63)
    code, out, _ = run_cli("count", "-q", reads, "-k", 63, "--min-count", 2, "-o", tmp_path / "counts.npz")
    assert code == 0
    kept = {kmer: n for kmer, n in expected.items() if n >= 2}
    assert counts_in(np.load(tmp_path / "counts.npz")) == kept
    # Rare 31-mers were not kept apart, so the spectrum omits the 63-mers that contain them.
    assert out == f"63-mers counted at least 2 times\t{len(kept)}\n"


@pytest.mark.parametrize("k", [31, 63])
def test_a_summary_without_outputs_is_exact(run_cli, reads, k):
    code, out, _ = run_cli("count", "-q", reads, "-k", k)
    assert code == 0
    lines = dict(line.split("\t") for line in out.splitlines())
    assert lines[f"distinct {k}-mers"] == str(len(count_kmers(TEXTS, k)))
    assert "solid threshold" in lines


def test_the_summary_estimates(run_cli, tmp_path):
    from tests.samples import simulated_genome, simulated_texts

    genome = simulated_genome(length=20_000)
    path = tmp_path / "reads.fq"
    path.write_text(fastq(simulated_texts(genome, fold=50, error_rate=0.005)))
    _, out, _ = run_cli("count", "-q", path)
    lines = dict(line.split("\t") for line in out.splitlines())
    assert int(lines["genome size"].split()[0]) == pytest.approx(20_000, rel=0.1)
    assert float(lines["error rate"].split()[0]) == pytest.approx(0.5, rel=0.2)
    assert int(lines["k-mer depth"]) == pytest.approx(50 * 120 / 150 * 0.995**31, rel=0.15)


def test_standard_output_holds_counts_only(reads):
    command = [sys.executable, "-m", "gpuasm", "count", "-q", str(reads), "-k", "5", "--min-count", "1", "-o", "-"]
    out = subprocess.run(command, capture_output=True, check=True).stdout
    assert counts_in(np.load(io.BytesIO(out))) == count_kmers(TEXTS, 5)
    assert out.rfind(b"PK\x05\x06") == len(out) - 22  # nothing follows the archive


def test_standard_output_holds_the_spectrum_only(run_cli, reads, tmp_path):
    _, out, _ = run_cli("count", "-q", reads, "-k", 21, "--spectrum", "-")
    (tmp_path / "out.tsv").write_text(out)
    assert spectrum_in(tmp_path / "out.tsv") == Counter(count_kmers(TEXTS, 21).values())


def test_the_manifest(run_cli, reads, tmp_path):
    path = tmp_path / "run.json"
    assert run_cli("count", "-q", reads, "-k", 33, "--json", path)[0] == 0
    run = json.loads(path.read_text())
    assert (run["command"], run["status"]) == ("count", "done")
    assert run["parameters"] == {"k": 33, "min_count": 2, "trim": "no", "deduplicate": False, "remove_phix": False}
    assert run["results"]["distinct_kmers"] == len(count_kmers(TEXTS, 33))
    assert run["inputs"][0]["path"] == str(reads)
    assert "count k-mers" in [stage["name"] for stage in run["stages"]]
    _, out, _ = run_cli("count", "-q", reads, "-k", 33, "--json", "-")
    assert json.loads(out)["results"] == run["results"]


def test_threads_and_order_of_reads_change_nothing(run_cli, reads, tmp_path):
    other = tmp_path / "other.fq"
    other.write_text(fastq(TEXTS[::-1]))
    outputs = []
    for number, (path, threads) in enumerate([(reads, 1), (reads, 2), (other, 2)]):
        output = tmp_path / f"{number}.npz"
        assert run_cli("count", "-q", path, "-k", 45, "-t", threads, "-o", output)[0] == 0
        stored = np.load(output)
        outputs.append({name: stored[name].tobytes() for name in stored.files})
    assert outputs[0] == outputs[1] == outputs[2]


def test_k_mers_that_are_all_rare_leave_no_counts(run_cli, tmp_path):
    path = tmp_path / "reads.fq"
    path.write_text(fastq(["ACGTTGCAACGTTTGCAGGCATTACGGACTA"]))
    code, out, _ = run_cli("count", "-q", path, "-o", tmp_path / "counts.npz", "--spectrum", tmp_path / "s.tsv")
    assert code == 0
    assert out.startswith("distinct 31-mers\t1\n")
    stored = np.load(tmp_path / "counts.npz")
    assert (stored["kmers"].shape, stored["counts"].shape) == ((0, 1), (0,))
    assert spectrum_in(tmp_path / "s.tsv") == {1: 1}


def test_reads_shorter_than_k_are_refused(run_cli, tmp_path):
    path = tmp_path / "reads.fq"
    path.write_text(fastq(["ACGT" * 5, "N" * 40]))
    code, out, err = run_cli("count", "-q", path, "-o", tmp_path / "counts.npz")
    assert (code, out) == (65, "")
    assert "expected reads of at least k = 31 bases, found no read longer than 20; give longer reads, or a" in err
    assert not (tmp_path / "counts.npz").exists()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["-k", "30"], 2),
        (["-k", "1"], 2),
        (["-k", "0"], 2),
        (["-k", "-31"], 2),
        (["--min-count", "0"], 2),
        (["-o", "absent/counts.npz"], 73),
        (["--spectrum", "absent/spectrum.tsv"], 73),
    ],
)
def test_refusals(run_cli, reads, monkeypatch, tmp_path, arguments, code):
    monkeypatch.chdir(tmp_path)
    found, out, err = run_cli("count", "-q", reads, *arguments)
    assert (found, out) == (code, "")
    assert err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["reads.fq"]
