"""Print the summary of a command, in lines of a title and a value."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click


def print_summary(lines: Iterable[str], written: Iterable[Path | None], *, quiet: bool) -> None:
    """Print a summary; on standard error, unless quiet, if a file of the run is written to standard output.

    Parameters
    ----------
    lines
        The summary.
    written
        The outputs of the run; "-" is standard output.
    quiet
        Whether standard error is for warnings and errors alone.
    """
    aside = "-" in {str(path) for path in written}
    if not (aside and quiet):
        click.echo("\n".join(lines), err=aside)
