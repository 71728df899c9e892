"""Where commands say what came out, in lines of a title and a value."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click


def tell(lines: Iterable[str], written: Iterable[Path | None], *, quiet: bool) -> None:
    """Print a summary: on standard error where a file of the run goes to standard output, unless to be quiet.

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
