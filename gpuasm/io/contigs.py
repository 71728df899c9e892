"""Read contigs of any assembler from FASTA, with the depth that their headers state, and tables of depth."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gpuasm.errors import DataError
from gpuasm.io.genomes import fasta_records
from gpuasm.io.graph_text import quoted
from gpuasm.io.numbers import real_number
from gpuasm.io.text_tables import read_rows

_DEPTH = re.compile(r"(?:\bdepth=|\bmulti=|_cov_)([0-9]+(?:\.[0-9]+)?)", re.ASCII)
"""As gpuasm, MEGAHIT and SPAdes write it."""
_JGI = ("contigName", "contigLen", "totalAvgDepth")


@dataclass(frozen=True)
class ContigRecord:
    """A contig of a file: codes (n,) uint8, its depth if the header states it, and whether it is circular."""

    name: str
    codes: np.ndarray
    depth: float | None
    is_circular: bool


def read_contigs(path: str | Path) -> list[ContigRecord]:
    """Read contigs; an empty file, as an assembly without contigs leaves it, has none.

    Parameters
    ----------
    path
        FASTA, plain or compressed; "-" is standard input. A header may contain ``depth=58.3`` (or ``multi=``, or end in
        ``_cov_58.3``) and ``circular=yes``.

    Raises
    ------
    DataError
        If the file is no FASTA, is cut off, or has two contigs of one name.
    NoInputError
        If it is not there.
    """
    if Path(path).is_file() and Path(path).stat().st_size == 0:
        return []
    found: list[ContigRecord] = []
    names: set[str] = set()
    for record in fasta_records(path):
        if record.name in names:
            raise DataError("a name of its own for each contig", f"{record.name} twice", "rename one", path=path)
        names.add(record.name)
        depth = _DEPTH.search(record.description)
        found.append(
            ContigRecord(record.name, record.codes, float(depth.group(1)) if depth else None, record.is_circular)
        )
    return found


def read_depth_table(path: str | Path, names: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """Read the depth of contigs in one or several samples.

    Parameters
    ----------
    path
        Tab-separated with a header line: as jgi_summarize_bam_contig_depths and ``gpuasm assemble`` (depth.tsv) write
        it; or contigs.tsv; or contig names in the first column and the depth in a sample in each other.
    names
        The requested contigs; the table may contain others too.

    Returns
    -------
    The names of the samples, and (contigs, samples) float64.

    Raises
    ------
    DataError
        If a contig is missing, or a depth is no number from 0 on.
    NoInputError
        If the file is not there.
    """
    rows = read_rows(path)
    _, header = next(rows, (1, []))
    columns = _sample_columns(header)
    if not columns:
        raise DataError(
            "a column of names and a column of depth", f"{len(header)} columns", "separate by tabs", path=path
        )
    depth = {row[0]: (number, row) for number, row in rows}
    missing = next((name for name in names if name not in depth), None)
    if missing is not None:
        raise DataError(f"the depth of {missing}", "no line for it", "give the table of these contigs", path=path)
    values = [[_number(depth[name][1], column, path, depth[name][0]) for column in columns] for name in names]
    return [header[column] for column in columns], np.array(values, np.float64).reshape(len(names), len(columns))


def _sample_columns(header: list[str]) -> list[int]:
    if tuple(header[:3]) == _JGI:
        return [i for i in range(3, len(header)) if not header[i].endswith("-var")]
    return [header.index("depth")] if "depth" in header[1:] else list(range(1, len(header)))


def _number(row: list[str], column: int, path: str | Path, line: int) -> float:
    text = row[column] if column < len(row) else ""
    value = real_number(text)
    if value is None or not (math.isfinite(value) and value >= 0):
        raise DataError(
            "a depth, a number from 0 on", quoted(text), "correct the table", path=path, place=f"line {line}"
        )
    return value
