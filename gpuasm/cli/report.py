"""``gpuasm report``: an HTML page about one or more runs."""

from __future__ import annotations

import glob
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpuasm.cli.file_uses import note_input
from gpuasm.cli.paths import INPUT, NAMED_OUTPUT
from gpuasm.cli.verdicts import read_verdict_thresholds, thresholds_option
from gpuasm.errors import DataError, NoInputError, UsageError

if TYPE_CHECKING:
    from gpuasm.report import LocatedSamples, Run

_FILES_OF_RUNS = ("run.json", "contigs.tsv", "spectrum.tsv", "bins.tsv", "map.tsv", "training.tsv")


@click.command(name="report")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--status", multiple=True, metavar="FILES", help="Status files of the workflow's steps, or a pattern.")
@click.option("--checks", multiple=True, metavar="FILES", help="Files SAMPLE/check.json of gpuasm check, or a pattern.")
@click.option("--benchmarks", multiple=True, metavar="FILES", help="Files SAMPLE/benchmarks/RULE.tsv, or a pattern.")
@click.option("--bins", multiple=True, metavar="FOLDERS", help="Folders SAMPLE/bins of gpuasm bin, or a pattern.")
@click.option(
    "--identities", multiple=True, metavar="FOLDERS", help="Folders SAMPLE/identity of gpuasm identify, or a pattern."
)
@click.option("--locations", type=INPUT, metavar="FILE", help="GeoJSON of gpuasm geolocate: a map of the samples.")
@thresholds_option
@click.option("--summary", type=NAMED_OUTPUT, metavar="FILE", help="Write a tab-separated line for each run here.")
@click.option(
    "--multiqc",
    type=NAMED_OUTPUT,
    metavar="FILE",
    help="Write the same as a section of MultiQC here; its name ends in _mqc.tsv.",
)
@click.option(
    "-o", "--output", type=NAMED_OUTPUT, default=Path("report.html"), show_default=True, help="The HTML page."
)
def command(
    *,
    runs: tuple[str, ...],
    status: tuple[str, ...],
    checks: tuple[str, ...],
    benchmarks: tuple[str, ...],
    bins: tuple[str, ...],
    identities: tuple[str, ...],
    locations: Path | None,
    verdict_thresholds: Path | None,
    summary: Path | None,
    multiqc: Path | None,
    output: Path,
) -> None:
    """Write an HTML page about RUNs: folders that 'gpuasm assemble -o' wrote, or NAME=FOLDER.

    Each run gets a verdict, by --verdict-thresholds, else by the thresholds that its assembly had.
    Nothing in the page comes from a network. A folder whose files are missing or empty is shown as failed. The
    page of more than 12 runs has no figures; it links to the pages of each.

    \b
    gpuasm report assembly -o report.html
    gpuasm report first=results/1 second=results/2 --summary summary.tsv -o report.html
    """
    from gpuasm import report
    from gpuasm.io.output import outputs_together

    if multiqc is not None and not multiqc.name.endswith(report.MULTIQC_SUFFIX):
        raise UsageError(
            f"a name that ends in {report.MULTIQC_SUFFIX}", repr(multiqc.name), "rename it, as MultiQC finds no others"
        )
    read = [_read(text) for text in runs]
    names = [run.name for run in read]
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise UsageError("runs with names of their own", f"two named {repeated[0]!r}", "write NAME=FOLDER")
    report.add_status(read, _expanded(status))
    report.add_checks(read, _expanded(checks))
    report.add_benchmarks(read, _expanded(benchmarks))
    report.add_bins(read, _expanded(bins))
    report.add_identities(read, _expanded(identities))
    thresholds = read_verdict_thresholds(verdict_thresholds)
    for run in read:
        run.thresholds = thresholds
    located = _located(locations) if locations is not None else None
    with outputs_together():
        report.write_report(read, output, located=located)
        if summary is not None:
            report.write_summary(read, summary)
        if multiqc is not None:
            report.write_multiqc(read, multiqc)


def _located(path: Path) -> LocatedSamples:
    """Read where samples are; the page notes a damaged file."""
    from gpuasm.report import LocatedSamples, read_located

    try:
        return read_located(path)
    except DataError as error:
        return LocatedSamples([], note=str(error))


def _expanded(patterns: tuple[str, ...]) -> list[str]:
    """Expand the patterns here: the files of a thousand samples would be too much for a shell."""
    paths = [path for pattern in patterns for path in sorted(glob.glob(pattern) or [pattern])]  # noqa: PTH207 - absolute patterns too
    for path in paths:
        _note_files_of(Path(path))
    return paths


def _note_files_of(path: Path) -> None:
    """Note a file, or the files of a folder of a run or of bins, as inputs."""
    for name in _FILES_OF_RUNS if path.is_dir() else ("",):
        note_input(path / name)


def _read(text: str) -> Run:
    from gpuasm.report import read_run

    name, separator, folder = text.partition("=")
    if not separator or Path(text).is_dir():
        name, folder = "", text
    if not Path(folder).is_dir():
        raise NoInputError("the folder of a run", "none", "name what 'gpuasm assemble -o' wrote", path=folder)
    _note_files_of(Path(folder))
    return read_run(folder, name or None)
