"""``gpuasm unitigs`` against plain Python."""

from __future__ import annotations

import json

import pytest

from tests.oracles import unitigs as oracle
from tests.oracles.kmers import count_followers, count_kmers, reverse_complement
from tests.oracles.reads import fastq, random_sequences
from tests.read_files import fasta_records
from tests.unit.kmers.test_tally import noisy_reads

TEXTS = noisy_reads(8, 120)


@pytest.fixture
def reads(tmp_path):
    path = tmp_path / "reads.fq"
    path.write_text(fastq(TEXTS))
    return path


def expected_unitigs(k, min_count, *, observed=False):
    kmers = {kmer for kmer, n in count_kmers(TEXTS, k).items() if n >= min_count}
    edges = count_followers(TEXTS, k)

    def successors(kmer):
        return [s for s in oracle.overlap_successors(kmers, kmer) if edges[kmer, s[-1]] >= min_count]

    return oracle.unitigs(kmers, successors if observed else None)


def gfa(path):
    lines = [line.split("\t") for line in path.read_text().splitlines()]
    assert lines[0] == ["H", "VN:Z:1.0"]
    return {line[1]: line[2:] for line in lines if line[0] == "S"}, [line[1:] for line in lines if line[0] == "L"]


@pytest.mark.parametrize("min_count", [1, 3])
@pytest.mark.parametrize("edges", ["overlap", "observed"])
@pytest.mark.parametrize("k", [5, 15, 31, 63])
def test_fasta_and_gfa_equal_the_oracle(run_cli, reads, tmp_path, k, edges, min_count):
    graph, fasta = tmp_path / "unitigs.gfa", tmp_path / "unitigs.fa"
    arguments = ["-k", k, "--edges", edges, "--min-count", min_count, "-o", graph, "--fasta", fasta]
    code, out, err = run_cli("unitigs", "-q", reads, *arguments)
    assert (code, err) == (0, "")
    expected = expected_unitigs(k, min_count, observed=edges == "observed")
    records = fasta_records(fasta)
    assert sorted((text, header.endswith("circular=yes")) for header, text in records) == expected
    segments, links = gfa(graph)
    assert [(name, fields[0]) for name, fields in segments.items()] == [(h.split()[0], t) for h, t in records]
    assert out == f"{len(expected)} unitigs, {sum(len(t) for t, _ in expected)} bases, longest {len(records[0][1])}\n"
    counts = count_kmers(TEXTS, k)
    for text, *tags in segments.values():
        windows = [text[i : i + k] for i in range(len(text) - k + 1)]
        total = sum(counts[min(w, reverse_complement(w))] for w in windows)
        assert tags == [f"LN:i:{len(text)}", f"KC:i:{total}", f"dp:f:{total / len(windows):.3f}"]
    for first, strand, second, other, overlap in links:
        source, target = segments[first][0], segments[second][0]
        source = source if strand == "+" else reverse_complement(source)
        target = target if other == "+" else reverse_complement(target)
        assert overlap == f"{k - 1}M"
        assert source[1 - k :] == target[: k - 1]


def test_observed_edges_are_a_part_of_the_overlap_edges(run_cli, reads, tmp_path):
    spelled = []
    for edges in ("overlap", "observed"):
        assert run_cli("unitigs", "-q", reads, "-k", 9, "--edges", edges, "--fasta", tmp_path / edges)[0] == 0
        spelled.append({text for _, text in fasta_records(tmp_path / edges)})
    assert spelled[0] != spelled[1]


def test_a_circle_links_to_itself(run_cli, tmp_path):
    circle = random_sequences(1, 1)[0]
    path = tmp_path / "reads.fa"
    path.write_text(f">a\n{circle * 3}\n")
    run_cli("unitigs", "-q", path, "-k", 21, "--min-count", 1, "-o", tmp_path / "out.gfa")
    segments, links = gfa(tmp_path / "out.gfa")
    assert links == [["unitig_000001", "+", "unitig_000001", "+", "20M"]]
    assert segments["unitig_000001"][0] == oracle.canonical_circle(circle + circle[:20], 21)


def test_min_count_from_the_spectrum(run_cli, tmp_path):
    from tests.samples import simulated_genome, simulated_texts

    texts = simulated_texts(simulated_genome(length=5000), fold=80, error_rate=0.01)
    path = tmp_path / "reads.fq"
    path.write_text(fastq(texts))
    assert run_cli("count", "-q", path, "--json", tmp_path / "count.json")[0] == 0
    threshold = json.loads((tmp_path / "count.json").read_text())["results"]["threshold"]
    assert threshold > 2
    for name, least in (("auto", "auto"), ("given", threshold)):
        assert run_cli("unitigs", "-q", path, "--min-count", least, "--fasta", tmp_path / name)[0] == 0
    assert (tmp_path / "auto").read_bytes() == (tmp_path / "given").read_bytes()


def test_the_manifest(run_cli, reads, tmp_path):
    path = tmp_path / "run.json"
    assert run_cli("unitigs", "-q", reads, "-k", 15, "--min-count", 2, "--json", path)[0] == 0
    run, expected = json.loads(path.read_text()), expected_unitigs(15, 2)
    parameters = {
        "k": 15,
        "min_count": "2",
        "edges": "overlap",
        "trim": "no",
        "deduplicate": False,
        "remove_phix": False,
    }
    assert (run["command"], run["parameters"]) == ("unitigs", parameters)
    assert run["results"] == {
        "unitigs": len(expected),
        "bases": sum(len(text) for text, _ in expected),
        "kmers": sum(len(text) - 14 for text, _ in expected),
    }


@pytest.mark.parametrize("option", ["-o", "--fasta", "--json"])
def test_standard_output_holds_the_output_only(run_cli, reads, tmp_path, option):
    code, out, _ = run_cli("unitigs", "-q", reads, "-k", 15, option, "-")
    assert code == 0
    if option == "--json":
        assert json.loads(out)["command"] == "unitigs"
    else:
        run_cli("unitigs", "-q", reads, "-k", 15, option, tmp_path / "out")
        assert out == (tmp_path / "out").read_text()


def test_no_solid_kmer_is_an_empty_graph(run_cli, reads, tmp_path):
    code, out, _ = run_cli("unitigs", "-q", reads, "-k", 31, "--min-count", 10_000, "-o", tmp_path / "out.gfa")
    assert (code, out) == (0, "0 unitigs, 0 bases, longest 0\n")
    assert (tmp_path / "out.gfa").read_text() == "H\tVN:Z:1.0\n"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["-k", "30"], 2), (["--min-count", "0"], 2), (["--min-count", "²"], 2), (["-o", "no/x"], 73)],
)
def test_refusals(run_cli, reads, monkeypatch, tmp_path, arguments, code):
    monkeypatch.chdir(tmp_path)
    found, out, err = run_cli("unitigs", "-q", reads, *arguments)
    assert (found, out) == (code, "")
    assert err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["reads.fq"]
