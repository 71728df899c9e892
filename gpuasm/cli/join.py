"""``gpuasm join``: the pieces of all buckets to unitigs, the last of three steps to the first graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpuasm.cli.options import CommonOptions, common_options
from gpuasm.cli.paths import INPUT, NAMED_OUTPUT, OUTPUT
from gpuasm.errors import DataError, UsageError

if TYPE_CHECKING:
    import numpy as np

    from gpuasm.assembly.graph.unitig_graph import CountedGraph
    from gpuasm.cli.bucket_files import PiecesFile
    from gpuasm.cli.session import Session
    from gpuasm.kmers.pieces import Pieces


@click.command(short_help="Join the pieces of all buckets to the first graph, for assemble --first-graph.")
@click.argument("files", nargs=-1, required=True, type=INPUT, metavar="PIECES...")
@click.option("-o", "--output", type=NAMED_OUTPUT, metavar="FILE", help="The graph, for assemble --first-graph.")
@click.option("--gfa", type=OUTPUT, metavar="FILE", help="The graph, as GFA 1.")
@click.option("--fasta", type=OUTPUT, metavar="FILE", help="The unitigs, as FASTA.")
@click.option("--json", "json_path", type=OUTPUT, metavar="FILE", help="Manifest of the run.")
@common_options
def command(
    *,
    files: tuple[Path, ...],
    output: Path | None,
    gfa: Path | None,
    fasta: Path | None,
    json_path: Path | None,
    common: CommonOptions,
) -> None:
    """Join the pieces of unitigs of all buckets to unitigs: the graph that one count of all reads would give.

    PIECES are the files that gpuasm compact wrote, one of each bucket, in any order. Unitigs are joined where reads
    show one k-mer after the other at least twice, or at least once with --min-count 1.

    \b
    Example:
      gpuasm join pieces/*.pieces -o first_graph --gfa unitigs.gfa
    """
    if not (output or gfa or fasta):
        raise UsageError("an output", "none", "name one with -o, --gfa or --fasta")
    from gpuasm.cli.bucket_files import write_first_graph
    from gpuasm.cli.outputs import write_graph, write_unitigs
    from gpuasm.cli.session import run_session

    with run_session(common) as session:
        counted = _joined(files, session)
        graph = counted.joined.graph
        with session.stages.stage("write unitigs"):
            if output:
                write_first_graph(output, counted)
            if gfa:
                write_graph(gfa, graph)
            if fasta:
                write_unitigs(fasta, graph)
        if json_path:
            session.write_manifest(
                json_path,
                command="join",
                parameters={},
                inputs=[{"path": str(path)} for path in files],
                results={"unitigs": graph.n, "bases": int(graph.bases.size), "kmers": int(graph.n_kmers.sum())},
            )


def _joined(paths: tuple[Path, ...], session: Session) -> CountedGraph:
    from gpuasm.assembly.graph.piece_joining import PieceLinks, all_pieces, join_pieces
    from gpuasm.assembly.graph.unitig_graph import CountedGraph

    with session.stages.stage("read pieces") as stage:
        first, histogram, parts = _read_all(paths)
        held = [all_pieces(parts)]
        stage.note(pieces=held[0].n)
    if not held[0].n:
        raise DataError(
            f"k-mers that occur at least {first.min_count} times", f"none among {int(histogram.sum())}",
            "give more reads, or set --min-count 1 for gpuasm compact",
        )  # fmt: skip
    with session.stages.stage("join pieces", k=first.pieces.k) as stage:
        links = PieceLinks.of(held[0], session.xp, min_follow=min(2, first.min_count))
        joined = join_pieces(held, links)
        stage.note(unitigs=joined.graph.n)
    return CountedGraph(joined, first.min_count, histogram, first.n_windows)


def _read_all(paths: tuple[Path, ...]) -> tuple[PiecesFile, np.ndarray, list[Pieces]]:
    """Return one of the files, the spectrum of all buckets, and their pieces in the order of the buckets.

    Raises
    ------
    DataError
        If the files are not those of all buckets of the same reads.
    """
    import numpy as np

    from gpuasm.cli.bucket_files import read_pieces
    from gpuasm.kmers.tally import MAX_MULTIPLICITY

    first, parts, histogram = None, {}, np.zeros(MAX_MULTIPLICITY + 1, np.int64)
    for path in paths:
        file = read_pieces(path)
        first = first or file
        if _kind(file) != _kind(first):
            raise DataError(f"{_kind(first)}, as the first file", _kind(file), _ALL, path=path)
        if file.number in parts:
            raise DataError("each bucket once", f"bucket {file.number} again", _ALL, path=path)
        parts[file.number], histogram = file.pieces, histogram + file.histogram
    if first is None or len(parts) < first.n_buckets:
        n, missing = (first.n_buckets, min(set(range(first.n_buckets)) - set(parts))) if first else (1, 0)
        raise DataError(f"{n} buckets", f"{len(parts)}, without bucket {missing}", _ALL)
    return first, histogram, [parts.pop(number) for number in range(first.n_buckets)]


def _kind(file: PiecesFile) -> str:
    """Return what the files of one graph have in common."""
    reads = f"{file.n_windows} windows of {file.pieces.k} bases"
    return f"one of {file.n_buckets} buckets of {reads}, with k-mers that occur {file.min_count} times"


_ALL = "give the pieces of all buckets of the same reads, and of the same --min-count or spectra"
