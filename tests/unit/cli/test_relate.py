"""``gpuasm relate``: from files to tables, graph and tree; and what it refuses."""

from __future__ import annotations

import gzip
import io
import json

import numpy as np
import pytest
from Bio import Phylo

from gpuasm.io.graphs import read_weighted_graph
from gpuasm.io.signatures import read_signatures
from tests.tables import rows_of

FILES = {
    "samples.tsv", "distances.tsv", "distances.phylip", "graph.tsv", "graph.mtx", "graph.names", "graph.npz",
    "tree.nwk", "distances.svg", "run.json",
}  # fmt: skip


def texts_of(n: int = 5, length: int = 3000, rate: float = 0.004) -> list[str]:
    rng = np.random.default_rng(5)
    codes, found = rng.integers(0, 4, length), []
    for _ in range(n):
        codes = np.where(rng.random(length) < rate, (codes + rng.integers(1, 4, length)) % 4, codes)
        found.append("".join("ACGT"[code] for code in codes))
    return found


@pytest.fixture
def genomes(tmp_path):
    """Write five genomes, each a mutant of the one before, to files; return the files."""
    paths = []
    for number, text in enumerate(texts_of()):
        paths.append(tmp_path / f"g{number}.fasta.gz")
        paths[-1].write_bytes(gzip.compress(f">contig of {number}\n{text}\n".encode()))
    return paths


def test_files_of_a_run(run_cli, genomes, tmp_path):
    code, out, err = run_cli("relate", *genomes, "-o", tmp_path / "out", "--neighbours", 2, "-q")
    assert (code, err) == (0, "")
    assert "samples\t5" in out
    folder = tmp_path / "out"
    assert {path.name for path in folder.iterdir()} == FILES
    samples = rows_of(folder / "samples.tsv")
    assert [row["sample"] for row in samples] == [f"g{i}" for i in range(5)]
    assert samples[0]["nearest"] == "g1"
    assert [(row["kind"], row["bases"], row["cluster"], row["kmers"]) for row in samples] == [
        ("assembly", "3000", "1", "2980")
    ] * 5
    pairs = rows_of(folder / "distances.tsv")
    assert len(pairs) == 10
    assert {row["p_value"] for row in pairs} == {"0"}
    assert float(pairs[0]["containment_distance"]) == pytest.approx(0.004, rel=0.5)
    first = (folder / "distances.phylip").read_text().splitlines()
    assert first[0] == "5"
    assert first[1].split("\t")[:2] == ["g0", "0"]
    tree = Phylo.read(io.StringIO((folder / "tree.nwk").read_text()), "newick")
    assert sorted(leaf.name for leaf in tree.get_terminals()) == [f"g{i}" for i in range(5)]
    assert (folder / "distances.svg").read_text().startswith("<svg")
    run = json.loads((folder / "run.json").read_text())
    assert run["inputs"][0] == {"path": str(genomes[0]), "kind": "assembly", "samples": 1, "bases": 3000}
    assert (run["status"], run["results"]["sketches"]) == ("done", "scaled by 1 of 64 bits, k = 21, seed 42")


def test_pairs_within_a_distance(run_cli, genomes, tmp_path):
    assert run_cli("relate", *genomes, "-o", tmp_path / "all")[0] == 0
    assert run_cli("relate", *genomes, "-o", tmp_path / "near", "--pairs-within", 0.006)[0] == 0
    lines = (tmp_path / "all" / "distances.tsv").read_text().splitlines()
    near = [line for line in lines[1:] if float(line.split("\t")[-1]) <= 0.006]
    assert 0 < len(near) < 10
    assert (tmp_path / "near" / "distances.tsv").read_text().splitlines() == [lines[0], *near]
    graphs = [(tmp_path / folder / "graph.tsv").read_bytes() for folder in ("all", "near")]
    assert graphs[0] == graphs[1]


def test_all_forms_of_the_graph_are_the_same(run_cli, genomes, tmp_path):
    assert run_cli("relate", *genomes, "-o", tmp_path / "out", "--neighbours", 2)[0] == 0
    graph, weights = read_weighted_graph(tmp_path / "out" / "graph.npz")
    assert list(graph.names) == (tmp_path / "out" / "graph.names").read_text().split()
    assert weights.max() == 1.0
    others = [read_weighted_graph(tmp_path / "out" / f"graph.{suffix}") for suffix in ("mtx", "tsv")]
    for other, other_weights in others:
        names = other.names or graph.names
        found = {
            (names[a], names[b]): weight
            for a, b, weight in zip(*map(np.ndarray.tolist, (*other.edges(), other_weights)), strict=True)
        }
        expected = zip(*map(np.ndarray.tolist, (*graph.edges(), weights)), strict=True)
        assert found == pytest.approx({(graph.names[a], graph.names[b]): weight for a, b, weight in expected})


def test_each_sequence_is_a_sample_and_runs_agree(run_cli, tmp_path):
    path = tmp_path / "all.fasta"
    path.write_text("".join(f">s{i} x\n{text}\n" for i, text in enumerate(texts_of())))
    for number, threads in enumerate((1, 2)):
        options = ("--each-sequence", "-t", threads, "-s", 400)
        assert run_cli("relate", path, "-o", tmp_path / f"out{number}", *options)[0] == 0
    one, other = tmp_path / "out0", tmp_path / "out1"
    for name in FILES - {"run.json", "graph.npz"}:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name
    assert [row["sample"] for row in rows_of(one / "samples.tsv")] == [f"s{i}" for i in range(5)]
    assert "containment_1" not in rows_of(one / "distances.tsv")[0]


def test_reads_sketches_sheets_and_names(run_cli, genomes, tmp_path):
    text = texts_of()[0]
    reads = tmp_path / "reads.fastq"
    pieces = [text[at : at + 100] for at in range(0, 2900, 7)]
    reads.write_text("".join(f"@r{i}\n{piece}\n+\n{'I' * len(piece)}\n" for i, piece in enumerate(pieces)))
    options = ("-s", 500)
    assert run_cli("relate", *genomes[:2], "-o", tmp_path / "first", "--sketches", tmp_path / "a.sig", *options)[0] == 0
    sheet = tmp_path / "sheet.tsv"
    sheet.write_text(f"sample\tfile\tlatitude\nsheet_1\t{genomes[2]}\t\nsheet_2\t{genomes[3]}\t1.5\n")
    arguments = (f"mine={reads}", sheet, tmp_path / "a.sig")
    code, _, err = run_cli("relate", *arguments, "-o", tmp_path / "out", "--min-count", 3, *options)
    assert code == 0, err
    rows = {row["sample"]: row for row in rows_of(tmp_path / "out" / "samples.tsv")}
    assert list(rows) == ["mine", "sheet_1", "sheet_2", "g0", "g1"]
    assert [row["kind"] for row in rows.values()] == ["reads", "assembly", "assembly", "sketch", "sketch"]
    assert (rows["mine"]["min_count"], rows["mine"]["nearest"]) == ("3", "g0")
    assert float(rows["mine"]["distance"]) < 0.0005
    # Without a requested size, sequences are sketched as the sketches given are.
    again = ("-o", tmp_path / "again", "--sketches", tmp_path / "again.sig", "--min-count", 3)
    assert run_cli("relate", *arguments, *again)[0] == 0
    assert {signature.size for signature in read_signatures(tmp_path / "again.sig")} == {500}


def test_sheets_that_other_programs_wrote(run_cli, genomes, tmp_path):
    text = f"# of the lab\r\nsample\tfile\r\none\t{genomes[0]}\r\n\r\ntwo\t{genomes[1]}\r\n"
    (tmp_path / "sheet.tsv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    (tmp_path / "sheet.tsv.gz").write_bytes(gzip.compress(text.encode()))
    for sheet in ("sheet.tsv", "sheet.tsv.gz"):
        code, _, err = run_cli("relate", tmp_path / sheet, "-o", tmp_path / "out")
        assert code == 0, err
        assert [row["sample"] for row in rows_of(tmp_path / "out" / "samples.tsv")] == ["one", "two"]
    for bad, message in (
        (b"three\t\n", "line 6: expected a name and a file"),
        (b"\xff\tx\n", "line 6: expected text in UTF"),
    ):
        (tmp_path / "bad.tsv").write_bytes(text.encode() + bad)
        code, _, err = run_cli("relate", tmp_path / "bad.tsv", "-o", tmp_path / "out")
        assert (code, f"bad.tsv, {message}" in err) == (65, True), err


def test_long_samples_are_sketched_as_the_sketches_before_them(run_cli, tmp_path):
    paths = []
    for number, text in enumerate(texts_of(2, 60_000, 0.01)):
        paths.append(tmp_path / f"long{number}.fasta")
        paths[-1].write_text(f">a\n{text}\n")
    arguments = ("relate", *paths, "-o", tmp_path / "out")
    assert run_cli(*arguments, "--scaled", 20, "--sketches", tmp_path / "a.sig")[0] == 0
    expected = (tmp_path / "out" / "distances.tsv").read_text()
    more = (tmp_path / "a.sig", f"third={paths[1]}")
    assert run_cli("relate", *more, "-o", tmp_path / "out")[0] == 0
    rows = rows_of(tmp_path / "out" / "distances.tsv")
    assert (rows[0]["shared"], rows[1]["shared"]) == (expected.splitlines()[1].split("\t")[2],) * 2
    assert run_cli(*arguments)[0] == 0
    assert {row["hashes"] for row in rows_of(tmp_path / "out" / "samples.tsv")} == {"1000"}


def test_mates_of_a_sheet(run_cli, genomes, tmp_path):
    text = texts_of()[0]
    for mate in (1, 2):
        reads = ((at, text[at + 5 * mate :][:80]) for at in range(0, 2900, 9))
        lines = (f"@r{at}/{mate}\n{read}\n+\n{'I' * len(read)}\n" for at, read in reads)
        (tmp_path / f"m_{mate}.fastq").write_text("".join(lines))
    sheet = tmp_path / "sheet.tsv"
    sheet.write_text(f"sample\treads_1\treads_2\na\t{tmp_path}/m_1.fastq\t{tmp_path}/m_2.fastq\n")
    assert run_cli("relate", sheet, genomes[0], "-o", tmp_path / "out")[0] == 0
    row = rows_of(tmp_path / "out" / "samples.tsv")[0]
    assert (row["sequences"], row["nearest"]) == ("646", "g0")


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (">a\nACGTACGT\n", (), "21 bases A, C, G or T in a row"),
        (">a\nNNNNNNNNNNNNNNNNNNNNNNNNNNNNNN\n", (), "found 0"),
        ("", (), "an empty file"),
        ("hello\n", (), "FASTA, FASTQ, a signature or a sample sheet"),
        ("@r\n" + "ACGTTGCAACGGATTACCGATTAACC" + "\n+\n" + "I" * 26 + "\n", (), "21-mers that occur 2 times"),
        ("@r\nACGT\n+\nIIII\n", ("-k", 20), "an odd k"),
        ("[]", (), "a sketch of DNA"),
        ("sample\tplace\na\tb\n", (), "a column file"),
        ("sample\tfile\na\t\n", (), "a name and a file"),
        ("sample\tfile\na\t/nowhere/x.fa\n", (), "/nowhere/x.fa"),
    ],
)
def test_samples_that_cannot_be_used(run_cli, genomes, tmp_path, text, options, message):
    path = tmp_path / "bad.txt"
    path.write_text(text)
    code, _, err = run_cli("relate", *genomes[:2], path, "-o", tmp_path / "out", *options)
    assert code in (2, 65, 66)
    assert message in err
    assert "bug" not in err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-k", 33), "k from 3 to 31"),
        (("-s", 10, "--scaled", 10), "leave one out"),
        (("-s", 10, "--distance", "containment"), "add --scaled"),
        (("--min-count", "few"), "--min-count auto or a number"),
    ],
)
def test_options_that_cannot_be(run_cli, genomes, tmp_path, options, message):
    code, _, err = run_cli("relate", *genomes, "-o", tmp_path / "out", *options)
    assert code == 2
    assert message in err


def test_names_must_differ_and_hold(run_cli, genomes, tmp_path):
    other = tmp_path / "other" / "g0.fa"
    other.parent.mkdir()
    other.write_text(f">x\n{texts_of()[0]}\n")
    code, _, err = run_cli("relate", *genomes, other, "-o", tmp_path / "out", "--skip-bad")
    assert code == 2
    assert "write NAME=FILE" in err
    assert run_cli("relate", genomes[0], f"again={other}", "-o", tmp_path / "out")[0] == 0
    for name in ("a b", "a,b", "bell\a", "\x1b[2J"):
        code, _, err = run_cli("relate", *genomes, f"{name}={other}", "-o", tmp_path / "out")
        assert (code, "without blanks and commas" in err) == (2, True)


def test_sketches_that_do_not_fit(run_cli, genomes, tmp_path):
    for number, options in enumerate((("-s", 100), ("--scaled", 5), ("-s", 100, "--seed", 1), ("-s", 100, "-k", 31))):
        arguments = (*genomes[:2], "-o", tmp_path / "before", "--sketches", tmp_path / f"{number}.sig")
        assert run_cli("relate", *arguments, *options)[0] == 0
    sketches = [tmp_path / f"{number}.sig" for number in range(4)]
    for arguments, message in (
        ((sketches[0], f"x={genomes[3]}", "-s", 200), "sketches to be made of 200 hashes"),
        ((sketches[0], "-k", 31), "ask for -k 21"),
        ((sketches[1], genomes[3], "-s", 50), "sketch all samples alike"),
        ((sketches[2], genomes[3], "-s", 50), "seed 1"),
    ):
        code, _, err = run_cli("relate", *arguments, "-o", tmp_path / "out")
        assert code == 65, err
        assert message in err
    assert run_cli("relate", sketches[0], genomes[3], "-s", 50, "-o", tmp_path / "out")[0] == 0


def test_one_sample_and_none(run_cli, genomes, tmp_path):
    code, _, err = run_cli("relate", genomes[0], "-o", tmp_path / "out")
    assert (code, "two samples or more, found 1" in err) == (65, True)
    bad = tmp_path / "bad.fasta"
    bad.write_text("")
    for arguments in ((bad, genomes[0]), (bad,)):
        assert run_cli("relate", *arguments, "--skip-bad", "-o", tmp_path / "out")[0] == 0
        assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
        run = json.loads((tmp_path / "out" / "run.json").read_text())
        assert run["status"].startswith("nothing to compare")
        assert [(row["sample"], "empty file" in row["reason"]) for row in run["results"]["left_out"]] == [("bad", True)]


def test_hashes_of_32_bits_are_no_signatures(run_cli, genomes, tmp_path):
    arguments = (*genomes, "-k", 15, "-s", 200, "-o", tmp_path / "out")
    assert run_cli("relate", *arguments)[0] == 0
    code, _, err = run_cli("relate", *arguments, "--sketches", tmp_path / "a.sig")
    assert (code, "take --scaled, or a larger -k" in err) == (2, True)
    assert (
        run_cli("relate", *genomes, "-k", 15, "--scaled", 2, "-o", tmp_path / "out", "--sketches", tmp_path / "a.sig")[
            0
        ]
        == 0
    )


def test_too_many_for_memory(run_cli, genomes, tmp_path):
    code, _, err = run_cli("relate", *genomes, "-o", tmp_path / "out", "--memory", "1K")
    assert code == 75
    assert "--memory" in err


def test_folder_of_another_command(run_cli, genomes, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "run.json").write_text('{"command": "bin"}')
    code, _, err = run_cli("relate", *genomes, "-o", tmp_path / "out")
    assert (code, "results of gpuasm bin" in err) == (2, True)


@pytest.mark.gpu
@pytest.mark.parametrize("options", [(), ("-s", 300), ("--scaled", 3, "-k", 31)], ids=str)
def test_devices_write_the_same_files(run_cli, genomes, tmp_path, options):
    for device in ("cpu", "cuda"):
        assert run_cli("relate", *genomes, "-o", tmp_path / device, "--device", device, *options)[0] == 0
    for name in FILES - {"run.json", "graph.npz"}:
        assert (tmp_path / "cpu" / name).read_bytes() == (tmp_path / "cuda" / name).read_bytes(), name


def test_a_folder_that_can_never_be_made_is_refused_first(run_cli, genomes, tmp_path, monkeypatch):
    monkeypatch.setattr("gpuasm.cli.relate._Run.read", lambda *_: pytest.fail("samples were read"))
    (tmp_path / "file").touch()
    code, _, err = run_cli("relate", *genomes, "-o", tmp_path / "file" / "out")
    assert code == 73
    assert "expected a folder that can be made, found a file of the name" in err
    monkeypatch.setattr("os.access", lambda *_: False)
    assert run_cli("relate", *genomes, "-o", tmp_path / "new" / "out")[0] == 73
    assert not (tmp_path / "new").exists()
