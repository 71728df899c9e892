"""Files in and out: reads of any common format, FASTA, GFA, tables and JSON."""

from __future__ import annotations

from gpuasm.io.reading import read_reads
from gpuasm.io.summary import FileSummary, ReadSet

__all__ = ["FileSummary", "ReadSet", "read_reads"]
