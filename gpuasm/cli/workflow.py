"""``gpuasm workflow``: the Snakemake workflow, written to a folder and ready to run."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from gpuasm import unfinished
from gpuasm.cli.folders import check_folder, make_folder
from gpuasm.cli.paths import OutputFolder
from gpuasm.errors import OutputError

SHIPPED = Path(__file__).parents[1] / "workflow_files"
"""The workflow within the package: in a checkout, links to the files at its top level."""


@click.command(name="workflow", short_help="Write the Snakemake workflow for many samples to a folder.")
@click.argument("folder", type=OutputFolder(), metavar="DIR")
@click.option(
    "--force",
    is_flag=True,
    help="Write to a folder that is not empty. Files that differ are kept as FILE.old; others stay as they are.",
)
def command(*, folder: Path, force: bool) -> None:
    """Write the Snakemake workflow for many samples to DIR.

    DIR receives Snakefile, workflow/ and config/, with the sample sheet and the genomes of the example. 'snakemake
    --cores all' in DIR runs it. Edit config/samples.tsv to name your own reads. The jobs use the gpuasm that is
    installed with Snakemake.

    \b
    Examples:
      gpuasm workflow demo
      cd demo && snakemake --cores all
    """
    _check(folder, force=force)
    with _staged(folder) as staged:
        kept = _put(staged, folder)
    for path in kept:
        click.echo(f"kept as {path}")
    click.echo(f"{folder}: Snakefile, workflow, config; run 'snakemake --cores all' there")


def files_of_workflow() -> list[Path]:
    """Return the files of the workflow as paths within `SHIPPED`, in sorted order."""
    found = (Path(folder, name) for folder, _, names in os.walk(SHIPPED, followlinks=True) for name in names)
    return sorted(path.relative_to(SHIPPED) for path in found)


def _check(folder: Path, *, force: bool) -> None:
    """Refuse a folder that is not empty without ``force``, and one where another path has a name that is needed."""
    check_folder(folder)
    if not folder.is_dir():
        return
    if not force and any(folder.iterdir()):
        raise OutputError("a new or empty folder", "one with files", "name another, or give --force", path=folder)
    for name in files_of_workflow():
        path = folder / name
        if path.is_dir():
            raise OutputError("a file to write", "a folder of this name", "rename that folder", path=path)
        for place in path.parents[: len(name.parents) - 1]:
            check_folder(place)


@contextmanager
def _staged(folder: Path) -> Iterator[Path]:
    """Give a hidden folder on the disk of ``folder`` with all files of the workflow; remove it at the end."""
    parent = folder if folder.is_dir() else folder.absolute().parent
    staged = parent / f".gpuasm-workflow-{os.getpid()}"
    number = unfinished.register(lambda: shutil.rmtree(staged, ignore_errors=True))
    try:
        for name in files_of_workflow():
            make_folder((staged / name).parent)
            shutil.copyfile(SHIPPED / name, staged / name)
        yield staged
    finally:
        shutil.rmtree(staged, ignore_errors=True)
        unfinished.forget(number)


def _put(staged: Path, folder: Path) -> list[Path]:
    """Move the staged files to their places, a new folder as a whole; return the names under which others are kept."""
    kept: list[Path] = []
    with unfinished.MAKING:
        if not folder.exists():
            staged.rename(folder)
            return kept
        for name in files_of_workflow():
            target = folder / name
            make_folder(target.parent)
            if target.is_file() and target.read_bytes() != (staged / name).read_bytes():
                kept.append(_free_name(target))
                target.rename(kept[-1])
            (staged / name).replace(target)
    return kept


def _free_name(path: Path) -> Path:
    """Return the first unused name of the list FILE.old, FILE.old2 and so on."""
    names = itertools.chain([f"{path.name}.old"], (f"{path.name}.old{n}" for n in itertools.count(2)))
    return next(path.with_name(name) for name in names if not path.with_name(name).exists())
