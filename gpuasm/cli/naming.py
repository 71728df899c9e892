"""Names of sequences in outputs: the prefix of a sample, and how headers state that a sequence is circular."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from gpuasm.cli.options import gathered
from gpuasm.errors import UsageError

if TYPE_CHECKING:
    from gpuasm.assembly import Assembly, Contig, Scaffold

_PREFIX = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_TITLES = ("contigName", "contigLen", "totalAvgDepth")
"""The other columns of depth.tsv."""


@dataclass(frozen=True)
class Naming:
    """How outputs name sequences.

    Attributes
    ----------
    prefix : str
        Put before each name, with an underscore; empty for none.
    topology : bool
        Whether headers state the topology by the keys that other programs read.

    Raises
    ------
    UsageError
        If the prefix has other characters than a sample's name may have.
    """

    prefix: str = ""
    topology: bool = False

    def __post_init__(self) -> None:
        if self.prefix and not _PREFIX.fullmatch(self.prefix):
            expected = "--prefix of letters, digits, dots, dashes and underscores, the first a letter or digit"
            raise UsageError(expected, repr(self.prefix), "write for example --prefix sample-1")

    @property
    def sample(self) -> str:
        """The name of the sample as the title of a column of depth, which none of variances has."""
        is_other = self.prefix in _TITLES or self.prefix.endswith("-var")
        return f"{self.prefix}.reads" if is_other else self.prefix or "reads"

    def name(self, name: str) -> str:
        """Return a name with the prefix."""
        return f"{self.prefix}_{name}" if self.prefix else name

    def shape(self, *, is_circular: bool) -> str:
        """Return the part of a header that states whether a sequence is circular."""
        if not self.topology:
            return f"circular={'yes' if is_circular else 'no'}"
        return "circular=true topology=circular" if is_circular else "circular=false topology=linear"


PLAIN = Naming()
"""Names without a prefix."""


def naming_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that name sequences, as its keyword argument ``naming``."""
    options = [
        click.option(
            "--prefix",
            default="",
            metavar="NAME",
            help="Name of the sample, put before the name of each sequence: NAME_contig_000001.  [default: none]",
        ),
        click.option(
            "--topology",
            is_flag=True,
            help="State circular=true topology=circular in FASTA headers, as annotation programs read it.",
        ),
    ]
    return gathered(command, Naming, "naming", options)


def renamed(assembly: Assembly, naming: Naming) -> Assembly:
    """Return an assembly whose contigs and scaffolds have the prefix."""
    if not naming.prefix:
        return assembly
    contigs = [_renamed_contig(contig, naming) for contig in assembly.contigs]
    scaffolds = [_renamed_scaffold(scaffold, naming) for scaffold in assembly.scaffolds]
    return replace(assembly, checked=replace(assembly.checked, contigs=contigs), scaffolds=scaffolds)


def _renamed_contig(contig: Contig, naming: Naming) -> Contig:
    from gpuasm.assembly.contig import changed

    return changed(contig, name=naming.name(contig.name))


def _renamed_scaffold(scaffold: Scaffold, naming: Naming) -> Scaffold:
    parts = tuple(replace(part, contig=_renamed_contig(part.contig, naming)) for part in scaffold.parts)
    return replace(scaffold, name=naming.name(scaffold.name), parts=parts)
