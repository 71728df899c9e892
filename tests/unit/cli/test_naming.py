"""Names of sequences in outputs: ``--prefix`` and ``--topology``; and folders with results of other reads."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from gpuasm.assembly.contig import make_contigs
from gpuasm.assembly.graph.unitigs import unitigs_of_reads
from gpuasm.assembly.pairs.link_evidence import Gap
from gpuasm.assembly.pipeline import Assembly
from gpuasm.assembly.scaffold import make_scaffolds
from gpuasm.assembly.verification.contig_checks import Checked
from gpuasm.cli.assembly_outputs import write_assembly
from gpuasm.cli.folders import check_reads
from gpuasm.cli.naming import PLAIN, Naming
from gpuasm.errors import OutputError, UsageError
from gpuasm.sequence.reads import Reads
from tests.oracles.reads import random_sequences

K = 21


@pytest.fixture(scope="module")
def assembly():
    """Return a circle, two linear contigs with a gap between them, and unitigs that are no contigs."""
    first, second, circle, short = [
        t[:n] for t, n in zip(random_sequences(4, 4, 900), (900, 700, 500, 40), strict=True)
    ]
    graph = unitigs_of_reads(Reads.from_strings([first, second, circle + circle[: K - 1], short]), K, min_count=1)
    contigs = make_contigs(graph, min_length=100)
    ends = [contig.ends[0] for contig in contigs if not contig.is_circular]
    gap = Gap(ends[0], ends[1] ^ 1, 50, 5.0, 10)
    spectrum = SimpleNamespace(histogram=np.array([0, 1600]))
    return Assembly(
        Checked.by_kmers(contigs, min_length=1), graph, spectrum, (K,), {}, make_scaffolds(contigs, [gap], graph)
    )


@pytest.fixture(scope="module")
def files(assembly, tmp_path_factory):
    """Return the texts of the files of a plain run, and of those of sample a.1-b with the topology in headers."""
    written = []
    for naming in (PLAIN, Naming("a.1-b", topology=True)):
        folder = tmp_path_factory.mktemp("files")
        write_assembly(folder, assembly, naming, table_written=lambda: None)
        written.append({path.name: path.read_text() for path in folder.iterdir()})
    return written


CONTIG, SCAFFOLD = {"contig_": "a.1-b_contig_"}, {"scaffold_": "a.1-b_scaffold_"}
SHAPES = {"circular=no": "circular=false topology=linear", "circular=yes": "circular=true topology=circular"}
NEW_WORDS = {
    "contigs.fasta": CONTIG | SHAPES,
    "contigs.tsv": CONTIG,
    "depth.tsv": CONTIG | {"reads": "a.1-b"},
    "depth_windows.tsv": CONTIG,
    "gaps.tsv": CONTIG | SCAFFOLD,
    "graph.gfa": CONTIG | {"unitig_": "a.1-b_unitig_"},
    "insert_sizes.tsv": {},
    "scaffolds.agp": CONTIG | SCAFFOLD,
    "scaffolds.fasta": SCAFFOLD | SHAPES,
    "spectrum.tsv": {},
}


@pytest.mark.parametrize("name", NEW_WORDS)
def test_only_names_and_shapes_differ_from_those_of_a_plain_run(files, name):
    plain, named = files
    assert plain.keys() == named.keys() == NEW_WORDS.keys()
    text = plain[name]
    for old, new in NEW_WORDS[name].items():
        assert re.search(rf"\b{old}", text)
        text = re.sub(rf"\b{old}", new, text)
    assert named[name] == text


@pytest.mark.parametrize("prefix", ["a b", "-a", "a/b", "ä", ">a"])
def test_what_is_no_name_of_a_sample_is_refused(prefix):
    with pytest.raises(UsageError, match="expected --prefix of letters, digits, dots"):
        Naming(prefix)


@pytest.mark.parametrize(
    ("prefix", "title"), [("", "reads"), ("a", "a"), ("a-var", "a-var.reads"), ("contigLen", "contigLen.reads")]
)
def test_the_title_of_the_depth_is_no_other_column(prefix, title):
    assert Naming(prefix).sample == title


def test_a_plain_header_has_no_topology():
    assert [PLAIN.shape(is_circular=shape) for shape in (True, False)] == ["circular=yes", "circular=no"]


def test_results_of_other_reads_are_replaced_with_force_only(run_cli, tmp_path):
    known(tmp_path)
    other = tmp_path / "other.fastq"
    other.write_text("@r\nACGT\n+\nIIII\n")
    before = (tmp_path / "run.json").read_bytes()
    code, _, err = run_cli("assemble", "-q", other, "-o", tmp_path)
    assert code == 73
    assert err.endswith(
        f"{tmp_path}: expected a folder without results of other reads, found such results; name another with -o, or "
        "give --force to replace them\n"
    )
    assert (tmp_path / "run.json").read_bytes() == before
    code, _, err = run_cli("assemble", "-q", "--force", "--prefix", "a", other, "-o", tmp_path)
    assert (code, "found such results" in err) == (65, False)  # its read is too short
    assert json.loads((tmp_path / "run.json").read_text())["parameters"]["prefix"] == "a"
    assert (tmp_path / "depth.tsv").read_text() == "contigName\tcontigLen\ttotalAvgDepth\ta\ta-var\n"


def known(folder, **values):
    manifest = {"command": "assemble", "results": {"contigs": 2}, "inputs": [{"path": "x/a.fq", "size": 3}]}
    (folder / "run.json").write_text(json.dumps(manifest | values))


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"results": {"contigs": 0}, "inputs": []},
        {"status": "running", "results": None},
        {"inputs": [{"path": "-", "size": 9}]},
        {"inputs": "damaged"},
    ],
    ids=["same reads", "no contigs", "killed", "standard input", "damaged"],
)
def test_folders_that_hold_no_results_of_other_reads(tmp_path, values):
    known(tmp_path, **values)
    (tmp_path / "a.fq").write_text("abc")
    check_reads(tmp_path, [Path("-") if "standard input" in str(values) or "'-'" in str(values) else tmp_path / "a.fq"])
    check_reads(tmp_path, [tmp_path / "missing.fq"])
    check_reads(tmp_path / "no folder", [tmp_path / "a.fq"])


@pytest.mark.parametrize(("name", "text"), [("b.fq", "abc"), ("a.fq", "abcd")], ids=["name", "size"])
def test_files_of_other_names_or_sizes_are_other_reads(tmp_path, name, text):
    known(tmp_path)
    (tmp_path / name).write_text(text)
    with pytest.raises(OutputError, match="results of other reads"):
        check_reads(tmp_path, [tmp_path / name])
