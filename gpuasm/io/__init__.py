"""Files in and out: reads of any common format, FASTA, GFA, tables and JSON."""

from __future__ import annotations

from gpuasm.io.fasta import write_fasta
from gpuasm.io.gfa import Link, Path, Segment, write_gfa
from gpuasm.io.output import atomic_output
from gpuasm.io.reading import read_reads
from gpuasm.io.summary import FileSummary, ReadSet
from gpuasm.io.tables import write_json, write_tsv

__all__ = [
    "FileSummary",
    "Link",
    "Path",
    "ReadSet",
    "Segment",
    "atomic_output",
    "read_reads",
    "write_fasta",
    "write_gfa",
    "write_json",
    "write_tsv",
]
