"""Files in and out: reads of any common format, FASTA, GFA, tables and JSON.

Each name is imported when it is first used: files are being read before what parses them has been loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuasm.lazy import names_from

if TYPE_CHECKING:
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

_HOMES = {
    "fasta": ["write_fasta"],
    "gfa": ["Link", "Path", "Segment", "write_gfa"],
    "output": ["atomic_output"],
    "reading": ["read_reads"],
    "summary": ["FileSummary", "ReadSet"],
    "tables": ["write_json", "write_tsv"],
}
__getattr__ = names_from(__name__, {name: f"{__name__}.{home}" for home, names in _HOMES.items() for name in names})
