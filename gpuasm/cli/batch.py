"""``gpuasm batch``: assemble the samples of a sheet, several at a time."""

from __future__ import annotations

import copy
import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from gpuasm.cli import assemble
from gpuasm.cli.options import CommonOptions, common_options, parse_ks, parse_min_count
from gpuasm.cli.paths import INPUT, OutputFile, OutputFolder
from gpuasm.cli.ranges import Whole
from gpuasm.errors import UsageError

if TYPE_CHECKING:
    from gpuasm.cli.batch_sheet import SheetSample
    from gpuasm.cli.batch_workers import Outcome

_LOG = logging.getLogger(__name__)
_TABLE = "batch.tsv"
_SHOWN = ("sample", "contigs", "total_length", "n50", "wall_s")
_MESSAGE, _WARNING = "gpuasm: ", "gpuasm: warning: "
_OF_ONE_SAMPLE = {"reads", "first", "second", "interleaved", "single", "bam", "output", "prefix", "resuming"}
"""Parameters of `assemble` that a batch sets for each sample."""


@click.command(short_help="Assemble the samples of a sheet, several at a time.")
@click.argument("sheet", type=INPUT, metavar="SHEET")
@click.option(
    "-o",
    "--output",
    type=OutputFolder(_TABLE),
    required=True,
    metavar="DIR",
    help="Folder for the results; those of each sample are in DIR/SAMPLE.",
)
@click.option("--subfolder", default="", metavar="NAME", help="Put results in DIR/SAMPLE/NAME.  [default: DIR/SAMPLE]")
@click.option("--table", type=OutputFile(), metavar="FILE", help=f"The table of samples.  [default: DIR/{_TABLE}]")
@click.option("-j", "--jobs", type=Whole(1), metavar="N", help="Samples at a time.  [default: by cores and memory]")
@click.option("--prefix-samples", is_flag=True, help="Put the name of its sample before the name of each sequence.")
@click.option("--resume", "resuming", is_flag=True, help="Keep finished samples, and continue those that are not.")
@common_options
@click.pass_context
def command(
    context: click.Context,
    *,
    sheet: Path,
    output: Path,
    subfolder: str,
    table: Path | None,
    jobs: int | None,
    prefix_samples: bool,
    resuming: bool,
    common: CommonOptions,
    **shared: Any,
) -> None:
    """Assemble the samples of SHEET.

    SHEET is a table with tabs between the columns sample, reads_1 and reads_2, as that of the workflow. Lines of one
    name are lanes of one sample. The files of each sample are those of 'gpuasm assemble', byte for byte.

    A sample that fails stops no other one. DIR/batch.tsv has a line for each sample with its exit code. The command
    ends with the code of the failure that matters most: of gpuasm, then of the machine, the options and the reads.

    --device may name several devices, as cuda:0,1, or all of them. --threads are those of all samples together.

    \b
    Examples:
      gpuasm batch samples.tsv -o assemblies
      gpuasm batch samples.tsv -o assemblies --mode isolate --device all
      gpuasm batch samples.tsv -o assemblies --resume
    """
    from gpuasm.cli.batch_sheet import read_sheet
    from gpuasm.cli.folders import make_folder

    if Path(subfolder).name != subfolder:
        raise UsageError("--subfolder with the name of a folder", repr(subfolder), "write for example assembly")
    if shared["ks"] != "auto":
        parse_ks(shared["ks"])
    parse_min_count(shared["min_count"])
    samples = read_sheet(sheet)
    make_folder(output)
    run = _Run(
        output, subfolder, table or output / _TABLE, options=_given(context, shared), prefix_samples=prefix_samples
    )
    code = run.assemble(samples, common, jobs=jobs, resuming=resuming)
    context.exit(code)


def _shared_options() -> Iterator[click.Parameter]:
    """Yield the options of `assemble` that hold for all samples; an output is a file in the folder of each sample."""
    here = {parameter.name for parameter in command.params}
    for parameter in assemble.command.params:
        if parameter.name in _OF_ONE_SAMPLE | here:
            continue
        if isinstance(parameter.type, OutputFile) and isinstance(parameter, click.Option):
            parameter = copy.copy(parameter)  # noqa: PLW2901
            parameter.type = click.STRING
            parameter.help = f"{parameter.help} FILE is within the folder of the sample."
        yield parameter


command.params[-6:-6] = list(_shared_options())


def _given(context: click.Context, shared: dict[str, Any]) -> list[_Given]:
    """Return the options of `assemble` that the command line has."""
    parameters = {parameter.name: parameter for parameter in assemble.command.params}
    return [
        _Given(parameters[name], value)
        for name, value in shared.items()
        if context.get_parameter_source(name) == ParameterSource.COMMANDLINE
    ]


@dataclass(frozen=True)
class _Given:
    """An option of `assemble` with its value."""

    parameter: click.Parameter
    value: Any

    def arguments(self, folder: Path) -> list[str]:
        """Return the arguments of a command line for the sample of a folder."""
        option, parameter = self.parameter.opts[-1], self.parameter
        if getattr(parameter, "is_flag", False):
            return [option if self.value else parameter.secondary_opts[-1]]
        values = self.value if parameter.multiple else [self.value]
        if isinstance(parameter.type, OutputFile):
            values = [folder / value for value in values]
        return [argument for value in values for argument in (option, str(value))]


class _Run:
    """The assembly of many samples into one folder."""

    def __init__(
        self, output: Path, subfolder: str, table: Path, *, options: list[_Given], prefix_samples: bool
    ) -> None:
        self._output, self._subfolder, self._table = output, subfolder, table
        self._options, self._prefix_samples = options, prefix_samples
        self._rows: dict[str, dict[str, Any]] = {}

    def assemble(self, samples: list[SheetSample], common: CommonOptions, *, jobs: int | None, resuming: bool) -> int:
        """Assemble samples, write the table, and return the exit code."""
        from gpuasm.cli.batch_results import worst_of, write_table
        from gpuasm.cli.progress import make_progress
        from gpuasm.cli.session import messages_to
        from gpuasm.stages import Stages

        self._check_places(samples)
        display = make_progress("none" if common.quiet else common.progress)
        stages = Stages(display)
        try:
            with messages_to(display, common):
                left = [sample for sample in samples if not (resuming and self._keep(sample))]
                with stages.stage("assemble samples", total=len(left), unit="samples") as stage:
                    for outcome in self._outcomes(left, common, jobs=jobs, resuming=resuming):
                        self._add(outcome)
                        stage.advance()
        finally:
            display.finish(stages)
        write_table(self._table, [self._rows[sample.name] for sample in samples])
        failed = [row for row in self._rows.values() if row["exit_code"]]
        click.echo(f"{self._table}: {len(samples)} samples, {len(failed)} failed")
        return worst_of(row["exit_code"] for row in self._rows.values())

    def _check_places(self, samples: list[SheetSample]) -> None:
        if not self._subfolder and any(self._folder(sample.name) == self._table for sample in samples):
            raise UsageError("a sample of another name than the table", self._table.name, "name the table with --table")

    def _folder(self, name: str) -> Path:
        return self._output / name / self._subfolder

    def _arguments(self, sample: SheetSample) -> list[str]:
        """Return the arguments of ``gpuasm`` that decide the results of a sample."""
        options = [argument for given in self._options for argument in given.arguments(self._folder(sample.name))]
        prefix = ["--prefix", sample.name] if self._prefix_samples else []
        return ["assemble", *options, *prefix, *sample.arguments()]

    def _keep(self, sample: SheetSample) -> bool:
        """Return whether the sample is finished; its row is that of the earlier run then."""
        from gpuasm.cli.batch_results import is_finished, row_of
        from gpuasm.cli.batch_workers import Outcome

        folder = self._folder(sample.name)
        if not is_finished(folder, self._arguments(sample), sample.files):
            return False
        self._rows[sample.name] = row_of(Outcome(sample.name, 0, ""), folder, is_kept=True)
        return True

    def _outcomes(
        self, samples: list[SheetSample], common: CommonOptions, *, jobs: int | None, resuming: bool
    ) -> Iterable[Outcome]:
        from gpuasm.cli.batch_plan import settings_of, size_of
        from gpuasm.cli.batch_process import Task
        from gpuasm.cli.batch_workers import Workers
        from gpuasm.resources import memory_budget

        if not samples:
            return []
        memory = memory_budget(common.memory)
        settings = settings_of(common, [size_of(sample.files) for sample in samples], jobs=jobs, memory=memory)
        own = settings[0].common
        _LOG.info("%d samples, %d at a time, with %d threads each", len(samples), len(settings), own.threads)
        rest = ("--resume",) if resuming else ()
        tasks = [
            Task(
                sample.name,
                (*self._arguments(sample), "--output", str(self._folder(sample.name)), *rest),
                sample.first_files,
            )
            for sample in samples
        ]
        return Workers(settings, memory, _show).outcomes(tasks)

    def _add(self, outcome: Outcome) -> None:
        from gpuasm.cli.batch_results import row_of

        row = self._rows[outcome.name] = row_of(outcome, self._folder(outcome.name))
        if outcome.exit_code:
            _LOG.error("%s: %s", outcome.name, outcome.message)
        else:
            _LOG.info("%s: %s contigs, %s bases, N50 %s, %.1f s", *(row[name] for name in _SHOWN))


def _show(name: str, line: str) -> None:
    """Show a line that the assembly of a sample printed."""
    if line.startswith(_WARNING):
        _LOG.warning("%s: %s", name, line.removeprefix(_WARNING))
    elif line.startswith(_MESSAGE):
        _LOG.debug("%s: %s", name, line.removeprefix(_MESSAGE))
    else:  # of Python, about a bug
        _LOG.warning("%s: %s", name, line)
