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
from gpuasm.io.sources import is_regular
from gpuasm.io.text_tables import read_rows

_DEPTH = re.compile(r"(?:\bdepth=|\bmulti=|_cov_)([0-9]{1,30}(?:\.[0-9]{1,30})?)(?![0-9.eE])", re.ASCII)
"""As gpuasm, MEGAHIT and SPAdes write it."""
_JGI = ("contigName", "contigLen", "totalAvgDepth")
_PROGRAMS = {
    ("#rname", "startpos", "endpos"): "meandepth",
    ("#ID", "Avg_fold", "Length"): "Avg_fold",
    ("chrom", "length", "bases"): "mean",
    ("#CHROM", "POS"): "",
}
"""The first titles of tables of samtools coverage, BBMap, mosdepth and samtools depth, and that of the mean depth."""

_COVERM = ("contig", "genome")
_COVERM_METHODS = (
    " Mean", " Covered Fraction", " Covered Bases", " Variance", " Length", " Read Count", " Reads per base", " RPKM",
    " TPM", " Relative Abundance (%)",
)  # fmt: skip
_NO_DEPTH = frozenset(
    (
        "length len contiglen contig_length size start end pos position startpos endpos numreads reads read_count"
        " covbases covered_bases coverage% gc gc_content circular copies variance meanbaseq meanmapq totalavgdepth"
        " sd stdev std_dev var tpm rpkm fpkm effectivelength est_counts"
    ).split()
)
"""Titles of columns that hold something else than depth."""


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
    if is_regular(path) and Path(path).stat().st_size == 0:
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
        Tab-separated with a header line: as MetaBAT's jgi_summarize_bam_contig_depths and ``gpuasm assemble``
        (depth.tsv), CoverM, samtools coverage, BBMap's pileup or mosdepth (summary) write it; or contigs.tsv; or contig
        names in the first column and the depth in a sample in each other.
    names
        The requested contigs; the table may contain others too.

    Returns
    -------
    The names of the samples, and (contigs, samples) float64.

    Raises
    ------
    DataError
        If a contig is missing or has two lines, a depth is no number from 0 on, or a column is known to hold something
        else than depth.
    NoInputError
        If the file is not there.
    """
    rows = read_rows(path)
    _, header = next(rows, (1, []))
    try:
        columns = _sample_columns(header)
    except DataError as error:
        raise error.of_file(path) from error
    depth: dict[str, tuple[int, list[str]]] = {}
    for number, row in rows:
        if row[0] in depth:
            found = f"{quoted(row[0])} again"
            raise DataError("a line for each contig", found, "remove one", path=path, place=f"line {number}")
        depth[row[0]] = (number, row)
    missing = next((name for name in names if name not in depth), None)
    if missing is not None:
        raise DataError(f"the depth of {missing}", "no line for it", "give the table of these contigs", path=path)
    values = [[_number(depth[name][1], column, path, depth[name][0]) for column in columns] for name in names]
    return [header[column] for column in columns], np.array(values, np.float64).reshape(len(names), len(columns))


def _sample_columns(header: list[str]) -> list[int]:
    """Return the columns of depth by the titles, by which the programs that write such tables are known."""
    titles = [title.strip() for title in header]
    if len(titles) < 2 or any(real_number(title) is not None for title in titles[1:]):
        found = quoted("\t".join(titles)) if titles else "nothing"
        raise DataError("a header with a column of names and a column of depth", found, "add it, tabs between")
    if tuple(titles[:3]) == _JGI:
        variances = {f"{title}-var" for title in titles[3:]}
        columns = [i for i in range(3, len(titles)) if titles[i] not in variances]
    elif known := next((title for begin, title in _PROGRAMS.items() if tuple(titles[: len(begin)]) == begin), None):
        columns = [i for i, title in enumerate(titles) if title == known]
    elif titles[0].lower() in _COVERM and any(title.endswith(_COVERM_METHODS) for title in titles):
        columns = _of_coverm(titles)
    elif "depth" in titles[1:]:
        columns = [titles.index("depth")]
    else:
        columns = list(range(1, len(titles)))
        other = next((title for title in titles[1:] if title.lower() in _NO_DEPTH), None)
        if other is not None:
            remedy = "leave all columns out but names and depths, or call the column of depth 'depth'"
            raise DataError("a column of depth for each sample", f"a column {quoted(other)}", remedy)
    if not columns:
        raise DataError("a column of depth", quoted("\t".join(titles)), "write the table with the mean depth")
    return columns


def _of_coverm(titles: list[str]) -> list[int]:
    """Return the columns of mean depth, or else of trimmed means."""
    trimmed = [i for i, title in enumerate(titles) if title.endswith(" Trimmed Mean")]
    return [i for i, title in enumerate(titles) if title.endswith(" Mean") and i not in trimmed] or trimmed


def _number(row: list[str], column: int, path: str | Path, line: int) -> float:
    text = row[column] if column < len(row) else ""
    value = real_number(text)
    if value is None or not (math.isfinite(value) and value >= 0):
        raise DataError(
            "a depth, a number from 0 on", quoted(text), "correct the table", path=path, place=f"line {line}"
        )
    return value
