"""Genomes in FASTA, GenBank and EMBL: sequences, topology, copies, and refusals."""

from __future__ import annotations

import gzip
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from Bio import SeqIO
from Bio.Seq import Seq
from Bio.SeqRecord import SeqRecord

from gpuasm.errors import DataError
from gpuasm.io.genomes import fasta_records, read_genome
from gpuasm.sequence.encoding import decode

CHROMOSOME, PLASMID = "ACGTTGCAAC" * 13, "ggcatn" * 11


def flat_file(file_format: str, *, topology: str = "circular") -> str:
    """Return a chromosome and a linear plasmid as Biopython writes them."""
    shared = {"molecule_type": "DNA"}
    records = [
        SeqRecord(Seq(CHROMOSOME), id="XY0001.2", name="XY0001", annotations={**shared, "topology": topology}),
        SeqRecord(Seq(PLASMID), id="XY0002.1", name="XY0002", description="plasmid copies=3", annotations=shared),
    ]
    file = StringIO()
    SeqIO.write(records, file, file_format)
    return file.getvalue()


@pytest.mark.parametrize("file_format", ["genbank", "embl"])
@pytest.mark.parametrize("compress", [False, True])
def test_flat_files_give_names_bases_topology_and_copies(tmp_path: Path, file_format: str, compress: bool) -> None:
    path, text = tmp_path / "genome", flat_file(file_format).encode()
    path.write_bytes(gzip.compress(text) if compress else text)
    chromosome, plasmid = read_genome(path)
    assert (chromosome.name, chromosome.circular, chromosome.copies) == ("XY0001.2", True, 1.0)
    assert decode(chromosome.codes) == CHROMOSOME
    assert (plasmid.name, plasmid.circular, plasmid.copies) == ("XY0002.1", False, 3.0)
    assert decode(plasmid.codes) == PLASMID.upper()
    assert all(molecule.circular for molecule in read_genome(path, circular=True))


def test_a_linear_chromosome_is_linear(tmp_path: Path) -> None:
    path = tmp_path / "genome.gb"
    path.write_text(flat_file("genbank", topology="linear"))
    assert not read_genome(path)[0].circular


def test_fasta_gives_the_molecules_of_the_flat_files(tmp_path: Path) -> None:
    path = tmp_path / "genome.fasta"
    path.write_bytes(
        f"\n>XY0001.2 topology=circular\r\n{CHROMOSOME[:60]}\r\n\r\n{CHROMOSOME[60:]}\r\n"
        f">XY0002.1\tcopies=3\n{PLASMID[:9]} {PLASMID[9:20]}\t{PLASMID[20:]}".encode()
    )
    chromosome, plasmid = read_genome(path)
    assert (chromosome.name, chromosome.circular, chromosome.copies) == ("XY0001.2", True, 1.0)
    assert (plasmid.name, plasmid.circular, plasmid.copies) == ("XY0002.1", False, 3.0)
    assert (decode(chromosome.codes), decode(plasmid.codes)) == (CHROMOSOME, PLASMID.upper())


def test_sequences_without_a_name_are_numbered(tmp_path: Path) -> None:
    path = tmp_path / "genome.fasta"
    path.write_text(">\nACGT\n>b\nAC\n> c d\nA\n")
    assert [record.name for record in fasta_records(path)] == ["sequence_1", "b", "c"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "an empty file"),
        ("@read\nACGT\n+\nIIII\n", "FASTA, GenBank or EMBL"),
        (">a\nA\n>b\n>c\nA\n", "none after the header b"),
        (flat_file("genbank").replace("ORIGIN", "CONTIG      join(AB1.1:1..130)\nORIGIN", 1)[:400], "GenBank"),
        (flat_file("genbank")[:-150], "GenBank"),
        (flat_file("embl")[:-120], "EMBL"),
        (flat_file("genbank").replace("acgttgcaac acgttgcaac", "acgttgcaac", 1), "Expected sequence length"),
        (flat_file("genbank").replace("130 bp    DNA", "130 aa       ", 1), "a protein|GenBank"),
        ("LOCUS       nonsense\n", "GenBank"),
        ("LOCUS       x 9223372036854775808 bp DNA circular\nORIGIN\n//\n", "GenBank"),
    ],
)  # fmt: skip
def test_bad_genomes_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "genome"
    path.write_text(text)
    with pytest.raises(DataError, match=message) as caught:
        read_genome(path)
    assert caught.value.path == path
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("read", [read_genome, lambda path: list(fasta_records(path))])
def test_protein_is_refused(tmp_path: Path, read) -> None:
    """All of its letters that are no nucleotides were taken for N."""
    path = tmp_path / "protein.fasta"
    path.write_text(">a\nACGTNXRY-*acgt\n>b\nMKVLAAGE\n")
    with pytest.raises(DataError, match=r"record 2: expected letters of nucleotides .* found 'L' in the sequence"):
        read(path)
    path.write_text(">a\nACGTNXRY-*acgt\n")
    assert len(read(path)) == 1


def test_biopython_is_imported_only_where_genomes_are_read() -> None:
    code = "import gpuasm.io.genomes, gpuasm.io.contigs, gpuasm.cli.simulate, sys; sys.exit('Bio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
