"""``gpuasm identify``: contigs, bins and other reads are named by a database of sketches, which sourmash searches."""

from __future__ import annotations

import csv
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from gpuasm.io.signature_databases import NO_DATABASE
from gpuasm.io.signatures import Signature, write_signatures
from gpuasm.report import add_identities, render
from gpuasm.report.identities import expected_genome_size, tables_of_identities
from gpuasm.report.inputs import ContigRow, Run
from gpuasm.report.verdict_evidence import evidence_of
from gpuasm.samples.sketches import SketchKind, sketch_text
from gpuasm.sequence.reads import Reads
from tests.oracles.reads import fastq
from tests.read_files import genome_text, simulated_pairs, write_pairs

A, B, C, UNKNOWN = (
    genome_text(length=length, seed=seed) for length, seed in ((9000, 1), (6000, 2), (5000, 3), (3000, 4))
)
SCALED = 5


def signature(name: str, text: str, k: int) -> Signature:
    """Return a sketch; of k = 51, which gpuasm does not make, one of other hashes."""
    kind = SketchKind.scaled(min(k, 31), SCALED)
    return Signature(name, f"{name}.fasta", k, 0, kind.max_hash, 42, sketch_text(Reads.from_strings([text]), kind))


@pytest.fixture
def database(tmp_path: Path) -> Path:
    pytest.importorskip("sourmash")
    path = tmp_path / "known.sig"
    genomes = {"Alpha one": A, "Beta two": B, "Gamma three": C}
    write_signatures(path, [signature(name, text, k) for name, text in genomes.items() for k in (21, 31, 51)])
    return path


def write_fasta(path: Path, **sequences: str) -> Path:
    path.write_text("".join(f">{name} length={len(text)}\n{text}\n" for name, text in sequences.items()))
    return path


def identities(folder: Path) -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = {}
    with (folder / "identities.tsv").open(newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            found.setdefault(row["subject"], []).append(row)
    return found


def results(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "run.json").read_text())["results"]


def test_contigs_bins_and_other_reads(run_cli, database, tmp_path):
    contigs = write_fasta(tmp_path / "contigs.fasta", a1=A[:5000], a2=A[4970:], b=B, x=UNKNOWN)
    bins, out = tmp_path / "contigs2bin.tsv", tmp_path / "out"
    bins.write_text("a1\tbin_001\na2\tbin_001\nb\tbin_002\n")
    reads = write_pairs(tmp_path, simulated_pairs(A, fold=20) + simulated_pairs(C, fold=10, seed=7))
    options = ("--database", database, "--bins", bins, "-1", reads[0], "-2", reads[1], "-o", out)
    code, printed, err = run_cli("identify", "-q", contigs, *options)
    assert (code, err) == (0, "")
    assert printed == f"Alpha one\t{out / 'identities.tsv'}\n"
    found = identities(out)
    names = {subject: [row["name"] for row in rows] for subject, rows in found.items()}
    assert names == {
        "contigs": ["Alpha one", "Beta two", ""],
        "bin_001": ["Alpha one", ""],
        "bin_002": ["Beta two", ""],
        "reads not in contigs": ["Gamma three", ""],
    }
    first, second, rest = found["contigs"]
    assert [float(row["share"]) for row in (first, second, rest)] == pytest.approx([9 / 18, 6 / 18, 3 / 18], abs=0.03)
    assert float(first["ani"]) > 0.999
    assert float(first["genome_share"]) > 0.98
    assert sum(float(row["share"]) for row in found["reads not in contigs"]) == pytest.approx(1, abs=1e-4)
    known = results(out)
    assert (known["species"], known["ani"] > 0.999) == ("Alpha one", True)
    assert known["expected_genome_size"] == pytest.approx(len(A), rel=0.1)
    assert known["subjects"][3]["share_of_reads"] == pytest.approx(50 / 230, abs=0.05)


def test_a_relative_is_no_measure_of_the_genome(run_cli, database, tmp_path):
    """Of a genome that differs in one base of ten the species is another one, so its size is not expected."""
    other = "".join(base if i % 10 else "ACGT"["CGTA".index(base)] for i, base in enumerate(A[:4000])) + A[8000:8200]
    contigs = write_fasta(tmp_path / "contigs.fasta", a=other)
    assert run_cli("identify", "-q", contigs, "--database", database, "-o", tmp_path / "out")[0] == 0
    known = results(tmp_path / "out")
    assert known["species"] == "Alpha one"
    assert known["ani"] < 0.95
    assert known["expected_genome_size"] is None


@pytest.mark.parametrize("contigs", [{}, {"x": UNKNOWN}, {"short": "ACGT"}])
def test_nothing_known(run_cli, database, tmp_path, contigs):
    path, out = write_fasta(tmp_path / "contigs.fasta", **contigs), tmp_path / "out"
    code, printed, _ = run_cli("identify", "-q", path, "--database", database, "-o", out)
    assert (code, printed.split("\t")[0]) == (0, "no known species")
    assert [(row["name"], row["share"]) for row in identities(out)["contigs"]] == [("", "1")]
    assert results(out)["species"] is None


def test_the_k_of_the_database(run_cli, database, tmp_path):
    contigs = write_fasta(tmp_path / "contigs.fasta", a=A)
    for options, k in (((), 31), (("-k", 21), 21)):
        code, _, _ = run_cli("identify", "-q", contigs, "--database", database, *options, "-o", tmp_path / "out")
        parameters = json.loads((tmp_path / "out" / "run.json").read_text())["parameters"]
        assert (code, parameters["k"], parameters["scaled"], parameters["sketches"]) == (0, k, SCALED, 3)
    code, _, err = run_cli("identify", "-q", contigs, "--database", database, "-k", 25, "-o", tmp_path / "out")
    assert (code, "scaled sketches of DNA of k = 25, found k = 21, 31" in err) == (65, True)


def test_a_zipped_database(run_cli, database, tmp_path):
    from sourmash import load_file_as_signatures
    from sourmash.sourmash_args import SaveSignaturesToLocation

    zipped, contigs = tmp_path / "known.sig.zip", write_fasta(tmp_path / "contigs.fasta", a=A, b=B)
    with SaveSignaturesToLocation(str(zipped)) as file:
        file.add_many(load_file_as_signatures(str(database)))
    tables = []
    for path in (database, zipped):
        assert run_cli("identify", "-q", contigs, "--database", path, "-o", tmp_path / "out")[0] == 0
        tables.append((tmp_path / "out" / "identities.tsv").read_bytes())
    assert tables[0] == tables[1]
    broken = tmp_path / "broken.zip"
    with zipfile.ZipFile(zipped) as whole, zipfile.ZipFile(broken, "w") as part:
        for name in whole.namelist():
            part.writestr(name, b"" if name.endswith(".gz") else whole.read(name))
    code, _, err = run_cli("identify", "-q", contigs, "--database", broken, "-o", tmp_path / "out")
    assert (code, "expected a database of sketches, found another file" in err) == (65, True)


@pytest.mark.parametrize("content", [b"", b"[]", b"sample\tfile\n", b"PK\3\4 and no more", fastq(["ACGT"]).encode()])
def test_another_file_is_refused(run_cli, database, tmp_path, content):
    (tmp_path / "other").write_bytes(content)
    contigs = write_fasta(tmp_path / "contigs.fasta", a=A)
    code, _, err = run_cli("identify", "-q", contigs, "--database", tmp_path / "other", "-o", tmp_path / "out")
    assert (code, len(err.splitlines())) == (65, 1)
    code, _, err = run_cli("identify", "-q", contigs, "--database", tmp_path / "none", "-o", tmp_path / "out")
    assert (code, "expected a file of sketches, found none" in err) == (66, True)


@pytest.mark.parametrize("line", ["a\n", "other\tbin_001\n", "a\tbin_001\tmore\n"])
def test_wrong_bins_are_refused(run_cli, database, tmp_path, line):
    contigs, bins = write_fasta(tmp_path / "contigs.fasta", a=A), tmp_path / "bins.tsv"
    bins.write_text(line)
    options = ("--database", database, "--bins", bins, "-o", tmp_path / "out")
    code, _, err = run_cli("identify", "-q", contigs, *options)
    assert (code, "line 1: expected a contig of the assembly and its bin" in err) == (65, True)


def test_without_sourmash(run_cli, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sourmash.index", None)
    paths = [write_fasta(tmp_path / name, a=A) for name in ("contigs.fasta", "known.sig")]
    code, _, err = run_cli("identify", "-q", paths[0], "--database", paths[1], "-o", tmp_path / "out")
    assert (code, "pip install 'gpuasm[identify]'" in err) == (69, True)


def run_of(tmp_path: Path, identity: Any) -> Run:
    run = Run("s", tmp_path, manifest={"command": "assemble"})
    folder = tmp_path / "s" / "identity"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(identity if isinstance(identity, str) else json.dumps(identity))
    add_identities([run], [folder, tmp_path / "other" / "identity"])
    return run


def test_the_page_shows_the_species(tmp_path):
    matches = [{"name": f"<b>{n}", "share": 0.1, "ani": 0.98765, "genome_share": 0.5} for n in range(6)]
    subject = {"name": "reads not in contigs", "share_of_reads": 0.25, "unknown_share": 0.4, "matches": matches}
    run = run_of(tmp_path, {"results": {"expected_genome_size": 5000, "subjects": [subject]}})
    (table,) = tables_of_identities(run)
    assert table.rows[0] == ("reads not in contigs (25.0% of all)", "<b>0", "10.0%", "98.77%", "50.0%", "")
    assert [row[1] for row in table.rows[5:]] == ["1 more", "unknown"]
    assert expected_genome_size(run) == 5000
    run.contigs = [ContigRow("a", 6000, 30.0, 1.0, circular=False, gc=0.5)]
    assert evidence_of(run).values["size"] == 1.2
    assert "&lt;b&gt;0" in render([run])


@pytest.mark.parametrize(
    "identity", ["", "[]", "{", '{"results": 3}', '{"results": {"subjects": [{"matches": 1}, 2]}}']
)
def test_a_page_without_a_database_says_so(tmp_path, identity):
    run = run_of(tmp_path, identity)
    assert expected_genome_size(run) is None
    page = render([run])
    assert (NO_DATABASE in page) == ("subjects" not in identity)
    assert tables_of_identities(Run("b", tmp_path, manifest={"command": "bin"})) == []
