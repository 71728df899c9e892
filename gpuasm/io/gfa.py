"""Assembly graphs out, in the Graphical Fragment Assembly format, version 1."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gpuasm.io.fasta import Sequence as Bases
from gpuasm.io.fasta import as_text
from gpuasm.io.output import atomic_output


class Segment(NamedTuple):
    """A node: its bases (text or codes), the sum of its k-mers' counts, and its depth.

    Either number may be None.
    """

    name: str
    sequence: Bases
    kmer_count: int | None = None
    depth: float | None = None


class Link(NamedTuple):
    """An edge from the end of one oriented segment ("+" or "-") to the beginning of another.

    ``overlap`` is the number of bases that the two share: k - 1.
    """

    first: str
    first_strand: str
    second: str
    second_strand: str
    overlap: int


class Path(NamedTuple):
    """A walk through the graph: segment names with their strands, ("unitig_1+", "unitig_7-")."""

    name: str
    steps: Sequence[str]


def write_gfa(
    path: str | os.PathLike[str], segments: Iterable[Segment], links: Iterable[Link], *, paths: Iterable[Path] = ()
) -> None:
    """Write a graph as GFA 1.

    Segments carry the tags LN (length), KC (sum of k-mer counts) and dp (depth); overlaps are CIGAR strings.

    Parameters
    ----------
    path
        The file; "-" is standard output.
    segments, links, paths
        The S, L and P lines.

    Raises
    ------
    OutputError, ReadWriteError, ResourceError
        As ``atomic_output``.
    """
    with atomic_output(path) as file:
        file.write("H\tVN:Z:1.0\n")
        file.writelines(map(_segment_line, segments))
        file.writelines(
            f"L\t{link.first}\t{link.first_strand}\t{link.second}\t{link.second_strand}\t{link.overlap}M\n"
            for link in links
        )
        file.writelines(f"P\t{walk.name}\t{','.join(walk.steps)}\t*\n" for walk in paths)


def _segment_line(segment: Segment) -> str:
    text = as_text(segment.sequence)
    count = "" if segment.kmer_count is None else f"\tKC:i:{segment.kmer_count}"
    depth = "" if segment.depth is None else f"\tdp:f:{segment.depth:.3f}"
    return f"S\t{segment.name}\t{text or '*'}\tLN:i:{len(text)}{count}{depth}\n"
