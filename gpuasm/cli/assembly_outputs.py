"""The files of an assembly, and its key figures."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gpuasm.assembly.verification.contig_checks import Checked
from gpuasm.cli.depth_outputs import write_contig_table, writers_of_checked
from gpuasm.cli.naming import Naming, renamed
from gpuasm.cli.outputs import (
    describe_spectrum,
    write_graph,
    write_insert_sizes,
    write_spectrum,
    write_together,
    writers_of_scaffolds,
)
from gpuasm.io import write_gfa
from gpuasm.io.length_statistics import n50_and_l50
from gpuasm.io.phix import MOST_BASES, is_phix
from gpuasm.io.signature_databases import NO_DATABASE

if TYPE_CHECKING:
    from gpuasm.assembly import Assembly, AssemblyOptions


def write_assembly(folder: Path, assembly: Assembly, naming: Naming, *, table_written: Callable[[], None]) -> None:
    """Write every file but run.json and the page.

    Parameters
    ----------
    folder
        Where to write them.
    assembly
        What to write.
    naming
        How sequences are named.
    table_written
        Called when contigs.tsv is complete, before the other files.
    """
    named = renamed(assembly, naming)
    write_contig_table(folder / "contigs.tsv", named.checked)
    table_written()
    write_together(
        [
            *writers_of_checked(folder, named.checked, naming),
            *writers_of_scaffolds(folder, named.scaffolds, naming),
            partial(write_graph, folder / "graph.gfa", named.graph, named.contigs, naming=naming),
            partial(write_spectrum, folder / "spectrum.tsv", named.spectrum.histogram),
            partial(write_insert_sizes, folder / "insert_sizes.tsv", named.inserts),
        ]
    )


def write_no_assembly(folder: Path, naming: Naming) -> None:
    """Write every file but run.json and the page, without content."""
    nothing = Checked.by_kmers([], min_length=0)
    write_contig_table(folder / "contigs.tsv", nothing)
    write_together([*writers_of_checked(folder, nothing, naming), *writers_of_scaffolds(folder, [], naming)])
    write_gfa(folder / "graph.gfa", [], [])
    write_spectrum(folder / "spectrum.tsv", np.zeros(1, np.int64))
    write_insert_sizes(folder / "insert_sizes.tsv", None)


def results_of(assembly: Assembly) -> dict[str, Any]:
    """Return the results of an assembly, for run.json."""
    return {
        **_figures(assembly),
        "k": assembly.k,
        "mode": vars(assembly.mode),
        "spectrum": describe_spectrum(assembly.spectrum),
        "removed": assembly.removed,
        "checked": assembly.checked.counts,
        "phix_share": _phix_share(assembly),
        "species": NO_DATABASE,
    }


def _phix_share(assembly: Assembly) -> float:
    """Return the share of the aligned bases of reads on contigs of PhiX174."""
    short = [contig for contig in assembly.contigs if contig.length <= MOST_BASES and is_phix(contig.sequence)]
    on_phix, bases = (sum(c.length * c.depth for c in contigs) for contigs in (short, assembly.contigs))
    return round(on_phix / bases, 6) if on_phix else 0.0


def status_of(assembly: Assembly, options: AssemblyOptions) -> str:
    """Return the status of a run, for run.json."""
    if not assembly.contigs:
        return "no contig reaches the least length"
    return f"stopped after {options.stop_after}" if assembly.state else "done"


def summary_of(folder: Path, assembly: Assembly) -> str:
    """Return a line about an assembly, for the user."""
    found = _figures(assembly)
    return (
        f"{folder / 'contigs.fasta'}: {found['contigs']} contigs, {found['total_length']} bases, "
        f"longest {found['longest']}, N50 {found['n50']}, {found['circular']} circular"
    )


def _figures(assembly: Assembly) -> dict[str, int]:
    lengths = [contig.length for contig in assembly.contigs]
    return {
        "contigs": len(lengths),
        "total_length": sum(lengths),
        "longest": max(lengths, default=0),
        "n50": n50_and_l50(lengths)[0],
        "circular": sum(contig.is_circular for contig in assembly.contigs),
        "scaffolds": len(assembly.scaffolds),
        "scaffold_n50": n50_and_l50([scaffold.length for scaffold in assembly.scaffolds])[0],
    }
