"""Reference sequences of CRAM files: only those that the user names by REF_PATH or REF_CACHE, never the header's paths.

The library that decodes CRAM opens whatever the header names as `UR:`, and REF_PATH may name servers. A list of the
reference sequences that are in no file keeps it from both.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

_SERVERS = re.compile(r"://|URL=|\|")
_PART = re.compile(r"%(\d*)s")
_MOST_BYTES = 16 << 20
"""Of the file; where it ends before a stretch, the library prints a line, but takes no more memory."""
_LINES = "1\t2"
"""A base and a newline, as the index claims: the library notices that there is none and refuses the sequence."""


def are_all_local(sequences: Sequence[Mapping[str, str]], environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether REF_PATH or REF_CACHE have all the reference sequences of a header as local files.

    Parameters
    ----------
    sequences
        The fields of its ``@SQ`` lines.
    environment
        Where the two variables are.
    """
    variables = [environment.get("REF_CACHE", ""), environment.get("REF_PATH", "")]
    if not sequences or not any(variables) or any(map(_SERVERS.search, variables)):
        return False
    patterns = [pattern for pattern in [variables[0], *variables[1].split(":")] if pattern]
    return all(_is_local(sequence.get("M5", ""), patterns) for sequence in sequences)


def write_missing_references(folder: str, sequences: Sequence[Mapping[str, object]]) -> str:
    """Write a file without sequences whose index lists them all, and return its path.

    Parameters
    ----------
    folder
        An empty one.
    sequences
        The fields of the ``@SQ`` lines of a header.
    """
    path = Path(folder) / "reference.fa"
    with path.open("wb") as file:
        file.truncate(_MOST_BYTES)  # takes no place on the disk
    lines = [f"{sequence['SN']}\t{sequence['LN']}\t0\t{_LINES}\n" for sequence in sequences]
    Path(f"{path}.fai").write_text("".join(lines), encoding="utf-8", errors="surrogateescape")
    return str(path)


def _is_local(checksum: str, patterns: Sequence[str]) -> bool:
    if not re.fullmatch("[0-9A-Fa-f]{32}", checksum):
        return False
    paths = (_path_of(pattern, checksum) for pattern in patterns)
    return next((path.is_file() for path in paths if path.exists()), False)


def _path_of(pattern: str, checksum: str) -> Path:
    """Return the path that a pattern, such as "/cache/%2s/%2s/%s", gives for a checksum."""

    def part(match: re.Match[str]) -> str:
        nonlocal checksum
        size = int(match[1] or len(checksum))
        taken, checksum = checksum[:size], checksum[size:]
        return taken

    path = _PART.sub(part, pattern)
    return Path(path, checksum) if checksum else Path(path)
