"""The command line: one module a subcommand, loaded when it is called; the only place that exits."""

from __future__ import annotations

from gpuasm import first_signals, unfinished
from gpuasm.cli import interruption

if first_signals.is_command():  # before anything else is imported
    interruption.end_on_signals()

import atexit
import errno
import gc
import importlib
import os
import resource
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

import click
from click.shell_completion import shell_complete

from gpuasm.cli.streams import STREAM_NAMES, prepare_standard_streams
from gpuasm.errors import GpuasmError, one_line

SECTIONS = {
    "Assembly": {
        "assemble": "Assemble reads into contigs.",
        "batch": "Assemble the samples of a sheet, several at a time.",
        "check": "Examine reads before work starts: mates, lengths, quality, truncation.",
        "count": "Count k-mers and write their spectrum.",
        "unitigs": "Build the compacted de Bruijn graph of reads.",
        "partition": "Cut reads into buckets of super-k-mers, for compact.",
        "compact": "Compact one bucket of super-k-mers into pieces of unitigs, for join.",
        "join": "Join the pieces of all buckets to the first graph, for assemble --first-graph.",
        "depth": "Compute the depth of contigs in the reads of several samples.",
        "bin": "Sort contigs into bins, one for each genome.",
    },
    "Samples": {
        "geolocate": "Infer where vertices or samples are from their neighbours.",
        "identify": "Name the species of contigs, bins and reads by a database of sketches.",
        "relate": "Compare samples by their k-mers: distances, graph, clusters, tree.",
        "workflow": "Write the Snakemake workflow for many samples to a folder.",
    },
    "Maps": {
        "som": "Train self-organising maps of tables, and draw them.",
    },
    "Graphs": {
        "graph": "Generate, describe, convert and draw directed graphs.",
        "euler": "Find Euler circuits and paths.",
        "densest": "Find the densest subgraph, of K vertices or of any size.",
        "pagerank": "Rank the vertices of a graph by PageRank.",
        "debruijn": "Write de Bruijn sequences of any alphabet and order.",
        "bench": "Time what gpuasm is made of on this machine.",
    },
    "Data and reports": {
        "simulate": "Simulate genomes, and reads with errors.",
        "report": "Write an HTML page about one or more runs.",
    },
    "This machine": {
        "devices": "List the devices that gpuasm can use here.",
        "selftest": "Show that every device and number of threads gives the same contigs.",
        "warmup": "Compile ahead what assemblies need on this machine.",
    },
}
"""Subcommands and their summaries, by section of the help; NAME is the object ``command`` of gpuasm.cli.NAME."""

EXIT_CODES = {
    0: "done",
    1: "a bug in gpuasm, or a test that failed",
    2: "options that are wrong or contradict each other",
    65: "input whose content is wrong",
    66: "an input that is missing or unreadable",
    69: "no such device, or a library for it is missing",
    73: "an output that cannot be created",
    74: "a read or write that failed",
    75: "memory or disk that does not suffice",
    130: "interrupted (Ctrl-C)",
    141: "whoever read our output closed it",
    143: "terminated (SIGTERM), as by a batch system",
}

_WITHOUT_MATRICES = {
    "assemble", "batch", "check", "compact", "count", "depth", "join", "partition", "unitigs",
}  # fmt: skip
"""Subcommands that multiply none: importing numpy would make a thread for each core, which wait for work in a loop."""

_NO_MEMORY = ("failed to map segment", "annot allocate memory", "can't start new thread")
"""Parts of the messages of the loader of libraries, the system and Python."""

_COMPLETION = "_GPUASM_COMPLETE"
"""The variable by which shells ask for completion; click's name for it."""

_NEW_OBJECTS = 400_000
"""New objects after which garbage is collected: more than the libraries of a command make, which all stay."""
_COLLECT_LATER = {"assemble"}
"""Subcommands that load most of what they need by themselves, and have garbage collected when they have done so."""

_PIPE_CLOSED, _READ_OR_WRITE_FAILED, _OUT_OF_RESOURCES = 141, 74, 75


class _LazyGroup(click.Group):
    """A group that imports the module of a subcommand when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return [name for section in SECTIONS.values() for name in section]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.list_commands(ctx):
            return None
        if name in _WITHOUT_MATRICES:
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
            from gpuasm.resources import require_address_space

            require_address_space()  # libraries that do not fit end the process, which cannot be caught
        module = importlib.import_module(f"gpuasm.cli.{name}")
        if name not in _COLLECT_LATER:
            gc.enable()
        return module.command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), meaning) for code, meaning in EXIT_CODES.items()])


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="gpuasm", message="%(prog)s %(version)s")
def cli() -> None:
    """Assemble genomes from short reads, on CPUs and GPUs, to the same bytes.

    \b
    gpuasm assemble -1 reads_1.fastq.gz -2 reads_2.fastq.gz -o assembly

    'gpuasm COMMAND --help' describes a command and shows examples.
    """


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with one of the documented codes.

    Parameters
    ----------
    args
        The arguments after the program's name; those of the process, if None.

    Raises
    ------
    SystemExit
        Always; its code is one of ``EXIT_CODES``.
    """
    arguments = list(sys.argv[1:] if args is None else args)
    try:
        with cli.make_context("gpuasm", arguments.copy(), obj={"args": arguments}) as context:
            cli.invoke(context)
        sys.stdout.flush()
    except BaseException as error:  # the one place where any error becomes an exit code
        with unfinished.MAKING:  # what a signal undoes may be missed here, and is no error
            code = _exit_code(error)
        sys.exit(code)
    sys.exit(0)


def run() -> NoReturn:
    """Run the command line as a process does: as `main`, then exit without freeing the objects of the interpreter.

    The system frees the memory of the process and of its device faster than the interpreter would one by one. Functions
    registered for the exit are called. Garbage is not collected while the module of a subcommand loads, and seldom
    while its libraries do, as they produce none.
    """
    interruption.end_on_signals()
    gc.disable()
    gc.set_threshold(_NEW_OBJECTS)
    prepare_standard_streams()
    if request := os.environ.get(_COMPLETION):  # by the shell, for the arguments that may follow
        sys.exit(shell_complete(cli, {}, "gpuasm", _COMPLETION, request))
    try:
        main()
    except SystemExit as ended:
        code = int(ended.code or 0)
    atexit._run_exitfuncs()  # noqa: SLF001 - no public function does it
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, AttributeError):  # `main` has reported it; or there is no stream
            stream.flush()
    interruption.end_process(code)


def _exit_code(error: BaseException) -> int:
    """Print the error and return its exit code."""
    match error:
        case click.exceptions.Exit():
            return error.exit_code
        case click.exceptions.NoArgsIsHelpError():
            error.show()
            return error.exit_code
        case click.UsageError():
            where = error.ctx.command_path if error.ctx else "gpuasm"
            _print_error(f"{error.format_message().removesuffix('.')}; see '{where} --help'")
            return error.exit_code
        case click.ClickException():
            _print_error(error.format_message())
            return error.exit_code
        case GpuasmError():
            _print_error(str(error))
            return error.exit_code
        case KeyboardInterrupt() | click.Abort():
            _print_error("interrupted")
            return first_signals.INTERRUPTED
        case BrokenPipeError():
            # Python flushes stdout once more at exit, and would complain of the closed pipe then.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            return _PIPE_CLOSED
        case _ if _is_lack_of_memory(error):
            _print_error(
                "out of memory: the system gave no more to load libraries or start threads; raise the limit (ulimit -v)"
            )
            return _OUT_OF_RESOURCES
        case MemoryError() if type(error).__name__ == "OutOfMemoryError" or "bad_alloc" in str(error):
            _print_error(f"the device is out of memory: {error}; run with --device cpu, or on a device with more free")
            return _OUT_OF_RESOURCES
        case MemoryError():
            _print_error(
                f"out of memory: {str(error) or 'the system gave no more'}; run with less data, or where more is free"
            )
            return _OUT_OF_RESOURCES
        case OSError(errno=errno.ENOSPC | errno.EDQUOT | errno.EFBIG):
            file = STREAM_NAMES.get(error.filename, error.filename or "temporary file")
            _print_error(f"{file}: no space left on the disk; free some, or write to another")
            return _OUT_OF_RESOURCES
        case OSError(filename=filename) if filename in STREAM_NAMES:
            _print_error(f"{STREAM_NAMES[filename]}: {error.strerror}; check the disk")
            return _READ_OR_WRITE_FAILED
        case SystemExit(code=int(code)):
            return code
    traceback.print_exception(error)
    _print_error("this is a bug in gpuasm: please report it with the lines above and the command that you ran")
    return 1


def _is_lack_of_memory(error: BaseException | None) -> bool:
    """Return whether libraries could not be loaded, or threads not be started, for lack of memory."""
    if error is None:
        return False
    is_limited = resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
    signs = (*_NO_MEMORY, "load shared object") if is_limited else _NO_MEMORY  # llvmlite's message, whatever the cause
    is_such = isinstance(error, (ImportError, RuntimeError, OSError)) and any(sign in str(error) for sign in signs)
    return is_such or _is_lack_of_memory(error.__cause__)


def _print_error(message: str) -> None:
    click.echo(f"gpuasm: error: {one_line(message)}", err=True)
