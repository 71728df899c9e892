"""Plasmids and phages make circular contigs of one round; linear molecules make linear contigs."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.assembly import assemble
from gpuasm.sequence.encoding import decode, reverse_complement
from gpuasm.sequence.genomes import Molecule
from gpuasm.sequence.reads import Reads
from gpuasm.sequence.simulation import ReadOptions, ReadSimulation, read_texts


def assembled(*molecules, single=False, fold=40):
    simulation = ReadSimulation([molecules], ReadOptions(fold, single=single))
    return assemble(Reads.from_strings(read_texts(simulation), paired=not single))


def is_whole_circle(contig, codes):
    text = decode(codes) * 2
    same = contig.sequence in text or reverse_complement(contig.codes).tobytes() in np.tile(codes, 2).tobytes()
    return contig.is_circular and contig.length == codes.size and same


@pytest.fixture(scope="module")
def chromosome():
    return np.random.default_rng(11).integers(0, 4, 12_000).astype(np.uint8)


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("length", [220, 330, 500, 1200, 2500])
def test_small_plasmids_are_circular(chromosome, rng, length, single):
    plasmid = rng.integers(0, 4, length).astype(np.uint8)
    molecules = Molecule("chromosome", chromosome, True), Molecule("plasmid", plasmid, True, 10)
    found = assembled(*molecules, single=single).contigs
    assert len(found) == 2
    assert is_whole_circle(found[0], chromosome)
    assert is_whole_circle(found[1], plasmid)
    assert found[1].depth / found[0].depth == pytest.approx(10, rel=0.15)
    assert found[1].copies == round(found[1].depth / found[0].depth)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("repeat", [100, 250])
def test_circular_contig_with_a_repeat_spanned_by_pairs_is_closed(chromosome, rng, repeat, reverse):
    element = rng.integers(0, 4, repeat).astype(np.uint8)
    other = reverse_complement(element) if reverse else element
    circle = np.concatenate([element, chromosome[:7000], other, chromosome[7000:]])
    (contig,) = assembled(Molecule("circle", circle, True), fold=60).contigs
    assert is_whole_circle(contig, circle)


def test_linear_molecule_is_linear(chromosome):
    (contig,) = assembled(Molecule("linear", chromosome)).contigs
    assert not contig.is_circular
    assert contig.length > 11_900


@pytest.mark.parametrize("repeat", [100, 160, 500])
def test_phage_with_terminal_repeats_is_whole(chromosome, rng, repeat):
    end = rng.integers(0, 4, repeat).astype(np.uint8)
    (contig,) = assembled(Molecule("phage", np.concatenate([end, chromosome, end])), fold=60).contigs
    assert contig.length == pytest.approx(12_000 + repeat, abs=30)


def test_output_files_agree(run_cli, tmp_path, chromosome):
    simulation = ReadSimulation(
        [[Molecule("chromosome", chromosome), Molecule("plasmid", chromosome[:900][::-1].copy(), True, 5)]],
        ReadOptions(30),
    )
    (tmp_path / "reads.fa").write_text(
        "".join(f">r{i // 2}/{i % 2 + 1}\n{t}\n" for i, t in enumerate(read_texts(simulation)))
    )
    code, _, err = run_cli("assemble", "-q", "--interleaved", tmp_path / "reads.fa", "-o", tmp_path / "out")
    assert code == 0, err
    headers = [line[1:].split() for line in (tmp_path / "out/contigs.fasta").read_text().splitlines() if line[0] == ">"]
    rows = [line.split("\t") for line in (tmp_path / "out/contigs.tsv").read_text().splitlines()[1:]]
    assert [[field.partition("=")[2] or field for field in header] for header in headers] == [row[:5] for row in rows]
    depths = [line.split("\t") for line in (tmp_path / "out/depth.tsv").read_text().splitlines()[1:]]
    assert [row[:2] for row in depths] == [row[:2] for row in rows]
    assert [f"{float(row[2]):.1f}" for row in depths] == [row[2] for row in rows]
    lines = [line.split("\t") for line in (tmp_path / "out/graph.gfa").read_text().splitlines()]
    segments = {line[1]: float(line[-1].rpartition(":")[2]) for line in lines if line[0] == "S"}
    paths = {line[1]: line[2][:-1] for line in lines if line[0] == "P"}
    assert all(f"{segments[paths[row[0]]]:.1f}" == row[2] for row in rows)
    closed = {line[1] for line in lines if line[0] == "L" and line[1] == line[3]}
    assert closed == {paths[row[0]] for row in rows if row[4] == "yes"}
