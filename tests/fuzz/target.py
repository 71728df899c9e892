"""What is fuzzed: a reader or a command, and valid files for it; and how a command is called in this process."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import itertools
import lzma
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zstandard

from gpuasm.cli import EXIT_CODES, main
from tests.fuzz.packed import bgzip

_LARGEST_MEMORY = "1500M"
_COMMON = f"-q -t 1 --device cpu --memory {_LARGEST_MEMORY}"
_MARK = "gpuasm: error: "
_REFUSALS = EXIT_CODES.keys() - {1}
_DRAWN = 32
"""One call in so many renders its figures, which takes longer than all the rest of a command."""
_calls = itertools.count()


@dataclass(frozen=True)
class Target:
    """A reader or a command.

    Attributes
    ----------
    kind
        The kind of format, a row of the table of counts.
    read
        Reads a file, and uses what it read as commands do.
    seeds
        Makes valid files, in a folder if need be.
    """

    kind: str
    read: Callable[[Path], Any]
    seeds: Callable[[Path], list[bytes]]


class RefusedError(Exception):
    """A command that ended with an exit code other than 0."""

    def __init__(self, exit_code: int, message: str) -> None:
        super().__init__(message)
        self.exit_code = exit_code


@dataclass
class Written:
    """Files written by functions, as bytes."""

    folder: Path
    found: list[bytes] = field(default_factory=list)

    def add(self, write: Callable[[Path], Any], suffix: str = ".npz") -> None:
        """Add the file that a function writes."""
        path = self.folder / f"seed{suffix}"
        write(path)
        self.found.append(path.read_bytes())


def texts(*plain: bytes) -> Callable[[Path], list[bytes]]:
    """Return the function that returns texts, and the first of them compressed."""
    return lambda _: [*plain, gzip.compress(plain[0], mtime=0), zstandard.ZstdCompressor().compress(plain[0])]


def packed(text: bytes) -> dict[str, bytes]:
    """Return a text in each compressed format, by its name."""
    half = len(text) // 2
    return {
        "gzip": gzip.compress(text[:half], mtime=0) + gzip.compress(text[half:], mtime=0),
        "BGZF": bgzip(text),
        "bzip2": bz2.compress(text),
        "xz": lzma.compress(text),
        "zstd": zstandard.ZstdCompressor().compress(text),
    }


def command(line: str, *, common: str = _COMMON) -> Callable[[Path], None]:
    """Return the function that calls a command with a file.

    Parameters
    ----------
    line
        The command line; ``{input}`` stands for the file, and ``{folder}`` for the folder that holds it.
    common
        Options that follow.
    """

    def call(path: Path) -> None:
        run([text.format(input=path, folder=path.parent) for text in shlex.split(f"{line} {common}")])

    return call


def run(arguments: list[str]) -> None:
    """Call the command line in this process.

    Raises
    ------
    RefusedError
        If the exit code is not 0.
    AssertionError
        If it says that there is a bug, is not documented, or comes without a line of explanation.
    """
    errors = io.StringIO()
    output = contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), "utf-8"))
    with contextlib.redirect_stderr(errors), output, _figures_now_and_then():
        try:
            main(arguments)
        except SystemExit as ended:
            code = int(ended.code or 0)
    said = errors.getvalue()
    assert code in _REFUSALS, f"exit code {code}: {said}"
    if code:
        _, mark, message = said.rpartition(_MARK)
        assert mark, f"exit code {code} without an explanation: {said}"
        raise RefusedError(code, message.removesuffix("\n"))


@contextlib.contextmanager
def _figures_now_and_then() -> Iterator[None]:
    """Let most calls draw figures, but not render them."""
    if next(_calls) % _DRAWN == 0:
        yield
        return
    from matplotlib.figure import Figure

    def save(_: Figure, file: Any, **__: object) -> None:
        file.write("<svg></svg>" if isinstance(file, io.TextIOBase) else b"")

    rendered, Figure.savefig = Figure.savefig, save
    try:
        yield
    finally:
        Figure.savefig = rendered
