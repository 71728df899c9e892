"""``gpuasm partition``, ``compact`` and ``join``: the graph of reads in parts, against that of one count."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from gpuasm.cli import partition
from gpuasm.cli.bucket_files import read_bucket, read_first_graph
from gpuasm.kmers import buckets
from tests.samples import simulated_genome, simulated_pairs

N_BUCKETS = 3
GENOME = simulated_genome(length=6000, repeats=3)


def write_reads(folder, seed):
    texts = simulated_pairs(GENOME, fold=12, length=100, seed=seed)
    path = folder / f"{seed}.fastq"
    path.write_text("".join(f"@{i}\n{text}\n+\n{'I' * len(text)}\n" for i, text in enumerate(texts)))
    return path


@pytest.fixture
def chunks(tmp_path, run_cli):
    """Reads in two files, and the folders of their buckets."""
    reads = [write_reads(tmp_path, seed) for seed in (1, 2)]
    folders = [tmp_path / f"chunk_{i}" for i in range(2)]
    for path, folder in zip(reads, folders, strict=True):
        code, _, err = run_cli("partition", path, "--trim", "no", "--buckets", N_BUCKETS, "-o", folder, "-q")
        assert (code, err) == (0, "")
        assert sorted(file.name for file in folder.iterdir()) == [f"bucket_{i:04d}.superkmers" for i in range(3)]
    return reads, folders


def bucket_files(folders, number):
    return [folder / f"bucket_{number:04d}.superkmers" for folder in folders]


def compact_all(run_cli, folder, folders, *options):
    paths = [folder / f"{number}.pieces" for number in range(N_BUCKETS)]
    for number, path in enumerate(paths):
        assert run_cli("compact", *bucket_files(folders, number), *options, "-o", path, "-q")[0] == 0
    return paths


def test_graph_of_buckets_is_that_of_all_reads(tmp_path, run_cli, chunks):
    reads, folders = chunks
    spectra = [tmp_path / f"{number}.tsv" for number in range(N_BUCKETS)]
    for number, path in enumerate(spectra):
        assert run_cli("compact", *bucket_files(folders, number), "--spectrum-only", "-o", path, "-q")[0] == 0
    pieces = compact_all(run_cli, tmp_path, folders, *(part for path in spectra for part in ("--spectrum", path)))
    graph, gfa, fasta = (tmp_path / name for name in ("first_graph", "own.gfa", "own.fasta"))
    assert run_cli("join", *pieces[::-1], "-o", graph, "--gfa", gfa, "--fasta", fasta, "-q")[0] == 0
    found = read_first_graph(graph)
    least = found.min_count
    assert least == 2
    expected = [tmp_path / name for name in ("all.gfa", "all.fasta")]
    options = ("--edges", "observed", "--min-count", least, "-o", expected[0], "--fasta", expected[1])
    assert run_cli("unitigs", *reads, *options, "-q")[0] == 0
    assert [path.read_bytes() for path in (gfa, fasta)] == [path.read_bytes() for path in expected]
    assert found.n_windows == sum(read_bucket(bucket_files([folder], 0)[0]).n_windows for folder in folders)
    assert found.histogram[least:].sum() == found.joined.count.size


def test_least_multiplicity_may_be_given(tmp_path, run_cli, chunks):
    reads, folders = chunks
    pieces = compact_all(run_cli, tmp_path, folders, "--min-count", 1)
    assert run_cli("join", *pieces, "--gfa", tmp_path / "own.gfa", "-q")[0] == 0
    options = ("--edges", "observed", "--min-count", 1, "-o", tmp_path / "all.gfa")
    assert run_cli("unitigs", *reads, *options, "-q")[0] == 0
    assert (tmp_path / "own.gfa").read_bytes() == (tmp_path / "all.gfa").read_bytes()


def test_buckets_do_not_depend_on_passes_and_packed_reads(tmp_path, run_cli, chunks, monkeypatch):
    cut, passes = buckets.cut_buckets, []
    monkeypatch.setattr(partition, "_BYTES_PER_WINDOW", 1 << 40)
    monkeypatch.setattr(buckets, "cut_buckets", lambda *args, **options: passes.append(1) or cut(*args, **options))
    (path, _), (folder, _) = chunks
    packed = tmp_path / "reads.fastq.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    other = tmp_path / "other"
    assert run_cli("partition", packed, "--trim", "no", "--buckets", N_BUCKETS, "-o", other, "-q")[0] == 0
    assert len(passes) == N_BUCKETS
    for number in range(N_BUCKETS):
        one, two = (read_bucket(bucket_files([own], number)[0]) for own in (folder, other))
        for name in ("length", "flanks", "packed"):
            assert np.array_equal(getattr(one.text, name), getattr(two.text, name)), name


def test_files_that_do_not_belong_together_are_refused(tmp_path, run_cli, chunks):
    _, folders = chunks
    both = [bucket_files(folders[:1], number)[0] for number in (0, 1)]
    code, _, err = run_cli("compact", *both, "--min-count", 2, "-o", tmp_path / "wrong", "-q")
    assert code == 65
    assert "bucket 0 of 3 at k = 31" in err
    pieces = compact_all(run_cli, tmp_path, folders, "--min-count", 2)
    code, _, err = run_cli("join", *pieces[:2], "-o", tmp_path / "wrong", "-q")
    assert code == 65
    assert "without bucket 2" in err
    code, _, err = run_cli("join", *pieces, pieces[0], "-o", tmp_path / "wrong", "-q")
    assert code == 65
    assert "bucket 0 again" in err
    assert not (tmp_path / "wrong").exists()


@pytest.mark.parametrize("options", [(), ("--min-count", 2, "--spectrum-only")])
def test_one_source_of_the_least_multiplicity_is_required(tmp_path, run_cli, options):
    code, _, err = run_cli("compact", tmp_path / "bucket", *options, "-o", tmp_path / "out")
    assert code == 2
    assert "--spectrum-only, --spectrum and --min-count" in err


@pytest.mark.parametrize("name", ["length", "flanks", "packed"])
def test_damaged_buckets_are_refused(tmp_path, run_cli, chunks, name):
    path = bucket_files(chunks[1], 0)[0]
    with np.load(path) as file:
        arrays = dict(file)
    arrays[name] = arrays[name][:-1]
    np.savez(path.open("wb"), **arrays)
    code, _, err = run_cli("compact", path, "--min-count", 2, "-o", tmp_path / "out", "-q")
    assert code == 65
    assert str(path) in err


def test_assembly_from_the_first_graph_is_that_of_the_reads(tmp_path, run_cli, chunks):
    reads, folders = chunks
    pieces, graph = compact_all(run_cli, tmp_path, folders, "--min-count", 2), tmp_path / "first_graph"
    assert run_cli("join", *pieces, "-o", graph, "-q")[0] == 0
    single = [part for path in reads for part in ("--single", path)]
    options = ("--trim", "no", "-k", "31", "--stop-after", "first-graph", "-q", "--device", "cpu")
    for name, more in (("whole", ()), ("joined", ("--first-graph", graph))):
        assert run_cli("assemble", *single, *options, *more, "-o", tmp_path / name)[0] == 0
    for name in ("contigs.fasta", "graph.gfa", "spectrum.tsv"):
        assert (tmp_path / "joined" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    code, _, err = run_cli("assemble", *single[:2], *options, "--first-graph", graph, "-o", tmp_path / "other")
    assert code == 65
    assert "as the first graph" in err
    code, _, err = run_cli("assemble", *single, *options, "-k", 29, "--first-graph", graph, "-o", tmp_path / "other")
    assert code == 2
    assert "begin -k with 31" in err
