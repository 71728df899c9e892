"""The verdict of an assembly, and the option that names its thresholds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpuasm.cli.paths import INPUT

if TYPE_CHECKING:
    from gpuasm.assembly import Contig
    from gpuasm.report.verdict_thresholds import Threshold

thresholds_option = click.option(
    "--verdict-thresholds",
    type=INPUT,
    metavar="FILE",
    help="Table of what a sample must reach to pass: see docs/verdict.md.  [default: the shipped one]",
)
"""Gives a command the table of thresholds as its argument ``verdict_thresholds``."""


def read_verdict_thresholds(path: Path | None) -> tuple[Threshold, ...] | None:
    """Read the table that the option names; None without one.

    Raises
    ------
    DataError, NoInputError, ReadWriteError, ResourceError
        As `gpuasm.report.verdict_thresholds.read_thresholds`.
    """
    if path is None:
        return None
    from gpuasm.report.verdict_thresholds import read_thresholds

    return read_thresholds(path)


def verdict_of_assembly(
    contigs: Sequence[Contig], manifest: Mapping[str, Any], thresholds: tuple[Threshold, ...] | None
) -> dict[str, Any]:
    """Judge an assembly whose run.json is to be written.

    Parameters
    ----------
    contigs
        The contigs; they are judged by the digits that contigs.tsv has of them.
    manifest
        What run.json will have: parameters, inputs, stages, results and status.
    thresholds
        What the sample must reach; None for the shipped ones.
    """
    from gpuasm.cli.manifest import plain
    from gpuasm.report.inputs import ContigRow, Run
    from gpuasm.report.verdict import verdict_of

    rows = [
        ContigRow(c.name, c.length, round(c.depth, 1), c.copies, circular=c.is_circular, gc=round(c.gc, 4))
        for c in contigs
    ]
    run = Run("", Path(), manifest=plain(manifest), contigs=rows, thresholds=thresholds)
    return verdict_of(run).as_dict()


def describe_verdict(verdict: Mapping[str, Any]) -> str:
    """Return a verdict in a line, for the user."""
    return ": ".join(["verdict", verdict["level"], *(["; ".join(verdict["reasons"])] if verdict["reasons"] else [])])
