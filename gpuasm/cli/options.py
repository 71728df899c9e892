"""The options that commands share, each group handed to the command as one object."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from gpuasm.cli.paths import INPUT, READS
from gpuasm.cli.ranges import Bases, Finite, Whole
from gpuasm.errors import UsageError
from gpuasm.io.numbers import whole_number


@dataclass(frozen=True)
class CommonOptions:
    """How to run: the values of ``--threads``, ``--device``, ``--memory``, ``--device-memory`` and so on."""

    threads: int | None = None
    device: str = "auto"
    memory: str | None = None
    device_memory: str | None = None
    progress: str = "auto"
    quiet: bool = False
    verbose: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class ReadInputs:
    """The files of reads: the values of ``-1``, ``-2``, ``--interleaved``, ``--single``, ``--bam`` and READS.

    And how to clean them, in commands that do: the values of ``--trim``, ``--deduplicate``, ``--remove-phix``,
    ``--remove``, ``--primers``, ``--primers-reference``, ``--depth`` and ``--genome-size``.
    """

    first: tuple[Path, ...] = ()
    second: tuple[Path, ...] = ()
    interleaved: tuple[Path, ...] = ()
    single: tuple[Path, ...] = ()
    bam: tuple[Path, ...] = ()
    reads: tuple[Path, ...] = ()
    trim: str = "no"
    deduplicate: bool = False
    remove_phix: bool = False
    remove: tuple[Path, ...] = ()
    primers: Path | None = None
    primers_reference: Path | None = None
    depth: float | None = None
    genome_size: int | None = None

    def __post_init__(self) -> None:
        if len(self.first) != len(self.second):
            raise UsageError(
                "as many files after -1 as after -2",
                f"{len(self.first)} and {len(self.second)}",
                "give both files of each pair",
            )
        if self.primers_reference and not self.primers:
            raise UsageError("--primers with --primers-reference", "none", "give the primers, or leave it out")
        if not any(self.as_arguments().values()):
            raise UsageError(
                "reads", "none", "name files with -1 and -2, --interleaved, --single or --bam; - is standard input"
            )

    def as_arguments(self) -> dict[str, Any]:
        """Return the keyword arguments of :func:`gpuasm.io.read_reads`."""
        return {
            "pairs": list(zip(self.first, self.second, strict=True)),
            "interleaved": list(self.interleaved),
            "single": [*self.single, *self.reads],
            "bam": list(self.bam),
        }

    @property
    def files(self) -> list[Path]:
        """All files, in the order of `as_arguments`."""
        items = [item for group in self.as_arguments().values() for item in group]
        return [path for item in items for path in (item if isinstance(item, tuple) else (item,))]

    @property
    def cleaning(self) -> dict[str, Any]:
        """How to clean the reads, for run.json; what is given rarely is there only if it is given."""
        always = {"trim": self.trim, "deduplicate": self.deduplicate, "remove_phix": self.remove_phix}
        files = {name: [str(path) for path in paths] for name, paths in self.cleaning_files.items()}
        others = {"depth": self.depth, "genome_size": self.genome_size}
        return {**always, **files, **{name: value for name, value in others.items() if value is not None}}

    @property
    def cleaning_files(self) -> dict[str, tuple[Path, ...]]:
        """The files that are given to clean the reads, by option."""
        named = {"remove": self.remove, "primers": (self.primers,), "primers_reference": (self.primers_reference,)}
        found = {name: tuple(path for path in paths if path is not None) for name, paths in named.items()}
        return {name: paths for name, paths in found.items() if paths}


class OptionalReads(ReadInputs):
    """The same where reads need not be given."""

    def __post_init__(self) -> None:
        if self.files or self.first or self.second:
            super().__post_init__()


def common_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of every command that computes, as its keyword argument ``common``."""
    return gathered(command, CommonOptions, "common", _COMMON)


def read_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that name reads, as its keyword argument ``inputs``."""
    return gathered(command, ReadInputs, "inputs", _READS)


def cleaned_read_options(*, trim: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the options that name reads and clean them, as its argument ``inputs``.

    Parameters
    ----------
    trim
        The default of ``--trim``: "auto", "yes" or "no".
    """
    return lambda command: gathered(command, ReadInputs, "inputs", [*_READS, *_cleaning_options(trim)])


def optional_read_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that name reads and clean them, as its argument ``inputs``; there may be none."""
    return gathered(command, OptionalReads, "inputs", [*_READS[1:], *_cleaning_options("auto")])


def _cleaning_options(trim: str) -> list[Callable[..., Any]]:
    return [
        click.option(
            "--trim",
            type=click.Choice(["auto", "yes", "no"]),
            default=trim,
            show_default=True,
            help="Trim adapters from reads; auto if at least one read in 200 contains one.",
        ),
        click.option("--deduplicate", is_flag=True, help="Remove pairs that are duplicates of another one."),
        click.option("--remove-phix", is_flag=True, help="Remove reads of phage PhiX174, the control of sequencers."),
        *_CLEANING,
    ]


def parse_ks(text: str) -> tuple[int, ...]:
    """Read a list of k, "31,61,91": odd and rising.

    Raises
    ------
    UsageError
        If the text is no such list.
    """
    parts = text.split(",")
    ks = tuple(k for part in parts if (k := whole_number(part.strip())) is not None)
    if len(ks) != len(parts) or list(ks) != sorted(set(ks)) or any(k % 2 == 0 for k in ks):
        raise UsageError("rising odd numbers of at most 18 digits", repr(text), "write them as in -k 31,61,91")
    return ks


def parse_min_count(text: str) -> int | None:
    """Read ``--min-count``: a number of at least 1, or None for auto.

    Raises
    ------
    UsageError
        If the text is neither.
    """
    if text == "auto":
        return None
    count = whole_number(text)
    if not count:
        expected = "--min-count auto or a number of at least 1 and at most 18 digits"
        raise UsageError(expected, repr(text), "write for example --min-count 3")
    return count


def gathered(
    command: Callable[..., Any], kind: type, name: str, options: list[Callable[..., Any]]
) -> Callable[..., Any]:
    """Let ``command`` take the parameters of ``options`` as its argument ``name``, an object of class ``kind``."""

    @functools.wraps(command)
    def gathering(**arguments: Any) -> Any:
        values = {field.name: arguments.pop(field.name) for field in fields(kind) if field.name in arguments}
        return command(**arguments, **{name: kind(**values)})

    # A command of click keeps its options in this list; that of the wrapper must continue that of the wrapped function.
    for option in reversed(options):
        option(gathering)
    return gathering


_COMMON = [
    click.option("-t", "--threads", type=Whole(1), metavar="N", help="CPU threads.  [default: all allowed]"),
    click.option(
        "--device",
        default="auto",
        show_default=True,
        metavar="NAME",
        help="auto, cpu, cuda or cuda:N; auto takes a GPU where there is one.",
    ),
    click.option(
        "--memory",
        metavar="SIZE",
        help="Host memory to stay within, such as 4G.  [default: limit of container or job, else what is free]",
    ),
    click.option(
        "--device-memory",
        metavar="SIZE",
        help="Device memory for arrays to stay within, such as 8G.  [default: what is free]",
    ),
    click.option(
        "--progress",
        type=click.Choice(["auto", "plain", "json", "none"]),
        default="auto",
        show_default=True,
        help="How to show progress on standard error; auto draws bars on a terminal.",
    ),
    click.option("-q", "--quiet", is_flag=True, help="Show only warnings and errors."),
    click.option("-v", "--verbose", is_flag=True, help="Show more messages."),
]

_READS = [
    click.argument("reads", nargs=-1, type=READS),
    click.option("-1", "first", multiple=True, type=READS, metavar="FILE", help="First mates; may be repeated."),
    click.option("-2", "second", multiple=True, type=READS, metavar="FILE", help="Second mates, in the order of -1."),
    click.option("--interleaved", multiple=True, type=READS, metavar="FILE", help="Mates in turn in one file."),
    click.option("--single", multiple=True, type=READS, metavar="FILE", help="Reads without mates, as READS are."),
    click.option("--bam", multiple=True, type=READS, metavar="FILE", help="Unaligned BAM or CRAM."),
]

_CLEANING = [
    click.option(
        "--remove",
        multiple=True,
        type=INPUT,
        metavar="FASTA",
        help="Remove reads of these sequences, as those of a host or a spike-in; may be repeated.",
    ),
    click.option(
        "--primers",
        type=INPUT,
        metavar="FILE",
        help="Cut these primers of amplicons, FASTA or BED, from the ends of reads.",
    ),
    click.option(
        "--primers-reference",
        type=INPUT,
        metavar="FASTA",
        help="Sequences that BED without a column of bases refers to.",
    ),
    click.option(
        "--depth",
        type=Finite(min=0, min_open=True),
        metavar="N",
        help="Keep a random choice of reads, about N-fold, if there are more.",
    ),
    click.option(
        "--genome-size",
        type=Bases(),
        metavar="N",
        help="Bases of the genome, as 4.6M, for --depth and verdicts.  [default: estimate by k-mers for --depth]",
    ),
]


def warn_of_unused(options: Iterable[str], reason: str) -> None:
    """Warn of options that were given on the command line and have no effect.

    Parameters
    ----------
    options
        Names of parameters of the command, as "min_bin".
    reason
        Why, as "with --map".
    """
    context = click.get_current_context(silent=True)
    sources = {name: context.get_parameter_source(name) for name in options} if context else {}
    names = {parameter.name: parameter.opts[0] for parameter in context.command.params} if context else {}
    given = [names[name] for name, source in sources.items() if source is ParameterSource.COMMANDLINE]
    if given:
        logging.getLogger("gpuasm").warning("%s: no effect %s", ", ".join(given), reason)
