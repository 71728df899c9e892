"""docs/run_json.md lists the keys that commands write into run.json, and no others."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpuasm
from gpuasm.cli import main
from gpuasm.cli.manifest import SCHEMA_VERSION
from gpuasm.io import write_fasta
from gpuasm.io.adapters import ADAPTERS
from gpuasm.report import inputs
from tests.communities import community
from tests.oracles.reads import fastq, random_sequences
from tests.read_files import genome_text

READS = Path(__file__).parents[2] / "golden" / "reads.fastq.gz"
PAGE = Path(gpuasm.__file__).parents[1] / "docs" / "run_json.md"
OF_EVERY_COMMAND, OF_READS, STAGES = "Every command", "Files of reads", "Stages"
COMMANDS_WITH_READS = {"assemble", "count", "unitigs", "partition", "identify", "depth"}
HAS_SOURMASH = find_spec("sourmash") is not None
WITH_SOURMASH = {"identify", "open database", "search database", "sketch contigs", "sketch reads"}
IN_LONG_RUNS_ONLY = {"close gaps", "merge final variants", "join dominant paths"}
"""Stages of communities and of long runs: their keys must be in the source instead."""
WITH_A_GPU = {f"machine.device.{name}" for name in ("name", "compute_capability", "total_bytes", "free_bytes")}

Key = tuple[str, str]


def listed_keys() -> set[Key]:
    """Return (section, key) of each key of the page, and of stages (name of the stage, key)."""
    found, section, stages = set(), "", [""]
    for line in PAGE.read_text().splitlines():
        if line.startswith("## "):
            section = line.removeprefix("## ").strip("`")
        if not line.startswith("| ") or line.startswith(("| key", "| stage |")):
            continue
        cells = [re.findall("`([^`]+)`", cell) for cell in line.split("|")[1:]]
        if section == STAGES:
            stages = cells[0] or stages
            found |= {(stage, key) for stage in stages for key in cells[1]}
        else:
            found |= {(section, key) for key in cells[0]}
    return found


def keys_of(value: Any, path: str = "") -> Iterator[str]:
    """Yield the path of each value of a manifest, stages aside: those of lists end in []."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            name = "NAME" if path == "versions" else "K" if key.isdecimal() else key
            yield from keys_of(item, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for item in value:
            yield from keys_of(item, path + "[]")
    elif value != {}:
        yield path


def written_keys(manifest: dict[str, Any]) -> Iterator[Key]:
    """Yield (section, key) of each key of a manifest: the first section that lists it, else that of its command."""
    listed, command = listed_keys(), manifest["command"]
    sections = [OF_EVERY_COMMAND, *([OF_READS] if command in COMMANDS_WITH_READS else []), command]
    for key in keys_of({name: value for name, value in manifest.items() if name != "stages"}):
        yield next(((section, key) for section in sections if (section, key) in listed), (command, key))
    for stage in manifest["stages"]:
        yield from ((OF_EVERY_COMMAND, f"stages[].{key}") for key in stage)
        yield from ((stage["name"], key) for key in keys_of(stage["parameters"] | stage["counts"]))


def names_in_source() -> set[str]:
    """Return the texts and names of keyword arguments and fields in the package."""
    found: set[str] = set()
    for path in Path(gpuasm.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.keyword) and node.arg:
                found.add(node.arg)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found.add(node.target.id)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
    return found


def run(*arguments: Any) -> None:
    with pytest.raises(SystemExit) as end:
        main([*map(str, arguments), "--device", "cpu", "-t", "1", "-q"])
    assert end.value.code == 0


def write_inputs(folder: Path) -> None:
    """Write a graph, a table, places, contigs of three genomes, and three genomes."""
    rng = np.random.default_rng(1)
    (folder / "graph.txt").write_text("a -> b, c\nb -> c, a\nc -> a, d\nd -> a, b\n")
    edges = "".join(f"{a} {b}\n" for a, b in rng.integers(0, 40, (160, 2)).tolist() if a != b)
    (folder / "large.txt").write_text(edges)
    rows = [f"r{i}\t{rng.normal() + 5 * (i % 2)}\t{rng.normal()}\t{'xy'[i % 2]}\n" for i in range(60)]
    (folder / "table.tsv").write_text("name\ta\tb\tsort\n" + "".join(rows))
    reads = fastq([text + ADAPTERS["MGI"][0] for text in random_sequences(3, 40, length=50)])
    (folder / "with_adapters.fastq").write_text(reads)
    (folder / "labels").write_text("0 1 2\n1 3 4\n2 5 6\n3 7 8\n4 1 1\n5 2 2\n6 3 3\n")
    contigs, _ = community(3)
    codes = [contigs.codes[a:b] for a, b in zip(contigs.start, contigs.start[1:], strict=False)]
    write_fasta(folder / "contigs.fasta", contigs.names, [f"depth={x:.2f}" for x in contigs.depth[:, 0]], codes)
    for i in range(3):
        (folder / f"genome_{i}.fasta").write_text(f">s{i}\n{genome_text(length=3000, seed=i)}\n")


@pytest.fixture(scope="module")
def manifests(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Run every command that writes run.json, and read what they wrote."""
    folder = tmp_path_factory.mktemp("runs")
    write_inputs(folder)
    made = folder.joinpath
    (folder / "primers.fasta").write_text(">p\nACGTTGCATGCATTAGCCAT\n")
    cleaning = ("--trim", "yes", "--deduplicate", "--remove-phix", "--primers", made("primers.fasta"))
    host = made("genome_0.fasta")
    cleaning = (*cleaning, "--primers-reference", host, "--remove", host, "--depth", 500, "--genome-size", "4k")
    run(
        "assemble",
        "--interleaved",
        READS,
        "--mode",
        "isolate",
        *cleaning,
        "--checkpoint-after",
        0,
        "-o",
        made("assembly"),
        "--bam-out",
        made("r.bam"),
    )
    run("count", READS, "-o", made("counts.npz"), "--json", made("count.json"))
    run("count", made("with_adapters.fastq"), "--trim", "yes", "-o", made("k.npz"), "--json", made("trimmed.json"))
    run("unitigs", READS, "-k", 61, "-o", made("unitigs.gfa"), "--json", made("unitigs.json"))
    run("partition", READS, "--buckets", 1, "-o", made("buckets"), "--json", made("partition.json"))
    bucket = made("buckets") / "bucket_0000.superkmers"
    run("compact", bucket, "--spectrum-only", "-o", made("spectrum.tsv"), "--json", made("spectrum.json"))
    run("compact", bucket, "--spectrum", made("spectrum.tsv"), "-o", made("pieces"), "--json", made("compact.json"))
    run("join", made("pieces"), "-o", made("first_graph"), "--json", made("join.json"))
    run("depth", made("genome_1.fasta"), "--single", READS, "-o", made("depth.tsv"), "--json", made("depth.json"))
    run("bin", made("contigs.fasta"), "--min-bin", 100_000, "-o", made("bins"))
    small = ("--size", "6x8", "--epochs", 2, "--lvq", 2)
    run("som", "train", made("table.tsv"), "--class-column", "sort", *small, "-o", made("map"))
    run(
        "relate", *(made(f"genome_{i}.fasta") for i in range(3)), "-o", made("relation"), "--sketches", made("some.sig")
    )
    run("relate", made("some.sig"), READS, "-o", made("relation_of_reads"))
    if HAS_SOURMASH:
        run("identify", host, "--database", made("some.sig"), "--single", READS, "-o", made("identity"))
    for name, *options in (
        ("k", "-k", 5),
        ("any",),
        ("batches", "--method", "batches"),
        ("block", "-k", 5, "--bipartite"),
    ):
        run("densest", made("large.txt"), *options, "-o", made("members"), "--json", made(f"densest_{name}.json"))
    run("densest", made("unitigs.gfa"), "--assembly", "-k", 9999, "-o", made("tangle"), "--json", made("densest.json"))
    run("pagerank", made("graph.txt"), "--compare", "-o", made("ranks"), "--json", made("pagerank.json"))
    options = ("--holdout", 0.4, "--json", made("geolocate.json"))
    run("geolocate", made("large.txt"), made("labels"), "--label-base", 0, *options, "-o", made("places"))
    sheet = "sample\tlatitude\tlongitude\tcity\n" + "".join(f"genome_{i}\t{i}\t{i}\tAB\n" for i in range(3))
    made("sheet.tsv").write_text(sheet)
    options = ("--holdout", 0.4, "--json", made("related.json"))
    run("geolocate", made("relation") / "graph.npz", made("sheet.tsv"), *options, "-o", made("placed"))
    paths = [*folder.glob("*.json"), *folder.glob("*/run.json")]
    return [json.loads(path.read_text()) for path in paths]


def test_every_written_key_is_listed(manifests: list[dict[str, Any]]) -> None:
    assert {key for manifest in manifests for key in written_keys(manifest)} - listed_keys() == set()


def test_every_listed_key_is_written(manifests: list[dict[str, Any]]) -> None:
    left = listed_keys() - {key for manifest in manifests for key in written_keys(manifest)}
    left -= {(OF_EVERY_COMMAND, key) for key in WITH_A_GPU}
    assert {name for stage, name in left if stage in IN_LONG_RUNS_ONLY} <= names_in_source()
    left = {key for key in left if key[0] not in IN_LONG_RUNS_ONLY}
    left = {key for key in left if HAS_SOURMASH or key[0] not in WITH_SOURMASH}
    assert sorted(left) == []


def test_the_schema_is_that_of_the_page_and_of_the_reader() -> None:
    assert f"key of schema {SCHEMA_VERSION} with" in PAGE.read_text()
    assert inputs.SCHEMA_VERSION == SCHEMA_VERSION
