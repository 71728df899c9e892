"""Blocks of lines, which all readers of text share; and graphs as adjacency lists."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator

from gpuasm.errors import DataError, ResourceError
from gpuasm.graph.building import from_numbered_strings
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.io.compression import BrokenStreamError
from gpuasm.io.graph_formats import is_lone_name
from gpuasm.io.memory_bound import MemoryBound
from gpuasm.io.sources import Source

_UTF8_MARK = b"\xef\xbb\xbf"
_TIMES_LINE = 3  # while a long line is joined and taken apart
_TIMES_BLOCK = 32  # of what readers make of a block; it is small
_SAMPLE_BYTES = 1 << 12
_RAW_BYTES, _ALWAYS_TEXT = 64 << 10, 16 << 20  # lines take longer to read than bytes to decode


class LineBlocks:
    """The decompressed text of a file in blocks of whole lines, each ending in a newline, within a bound of memory.

    Parameters
    ----------
    path
        The file; "-" is standard input.
    memory
        Bytes that the process may take in all; None: those of the run.

    Attributes
    ----------
    later_per_line : int
        Bytes that the reader takes for each line when it has read all of them; it may be set at any time.
    per_line : int
        Bytes that the reader takes for each line at once; likewise.
    """

    def __init__(self, path: str | os.PathLike[str], memory: int | None = None) -> None:
        self.path, self.later_per_line, self.per_line = os.fspath(path), 0, 0
        self.bound = MemoryBound(path, memory)
        self._memory = memory

    def __iter__(self) -> Iterator[bytes]:
        """Yield the blocks.

        Raises
        ------
        DataError
            If compressed data are damaged.
        NoInputError, ReadWriteError
            If the file cannot be opened, or a read fails.
        ResourceError
            If the reader would exceed the memory.
        """
        pending: list[bytes] = []
        size = n_lines = 0
        try:
            for block in itertools.chain(self._blocks(), [b""]):
                end = block.rfind(b"\n") + 1
                if block and not end:
                    pending.append(block)
                    size += len(block)
                    self.bound.require(_TIMES_LINE * size)
                    continue
                text = b"".join([*pending, block[:end]]) if pending else block[:end]
                if not block:
                    text += b"\n" if text else b""
                pending, size = ([block[end:]], len(block) - end) if end < len(block) else ([], 0)
                n_new = text[:_SAMPLE_BYTES].count(b"\n") * len(text) // max(1, min(len(text), _SAMPLE_BYTES))
                n_lines += n_new
                for_lines = self.per_line * n_new + self.later_per_line * n_lines
                self.bound.require(_TIMES_BLOCK * len(text) + for_lines)
                if text:
                    yield text
        except BrokenStreamError as error:
            remedy = "copy or compress the file anew"
            raise DataError("complete compressed data", str(error), remedy, path=self.path) from error
        except ResourceError as error:
            raise error.of_file(self.path) from error

    def _blocks(self) -> Iterator[bytes]:
        blocks = Source(self.path, memory=self._memory, raw_bytes=_RAW_BYTES, always=_ALWAYS_TEXT).blocks()
        yield next(blocks, b"").removeprefix(_UTF8_MARK)
        yield from filter(None, blocks)


def joined(blocks: Iterable[bytes], bound: MemoryBound) -> bytes:
    """Return blocks as one, if there is memory for it and for what is made of it.

    Raises
    ------
    ResourceError
        If there is not.
    """
    parts, size = [], 0
    for block in blocks:
        parts.append(block)
        size += len(block)
        bound.require(2 * size)
    return b"".join(parts)


def line_blocks(path: str | os.PathLike[str], memory: int | None = None) -> Iterator[bytes]:
    """Yield the blocks of `LineBlocks`."""
    return iter(LineBlocks(path, memory))


def numbered_lines(blocks: Iterable[bytes]) -> Iterator[tuple[int, str]]:
    """Yield each line with its number, from 1 on, without its end; of a block of blanks only the last line."""
    number = 0
    for block in blocks:
        if not block.strip(b" \t\r\n"):
            number += block.count(b"\n")
            yield number, ""
            continue
        for line in block.split(b"\n")[:-1]:
            number += 1
            bad = line.find(b"\0")  # of a text in UTF-16, or of no text at all
            try:
                text = line.decode()
            except UnicodeDecodeError as error:
                bad = error.start
            if bad >= 0:
                remedy = "give the right file, or convert this one"
                raise bad_line(number, "text in UTF-8", f"byte {line[bad]:#x}", remedy)
            yield number, text.rstrip("\r")


def lines_of_file(path: str | os.PathLike[str], *, per_line: int = 0) -> Iterator[tuple[int, str]]:
    """Yield each line of a text file with its number, from 1 on, without its end.

    Parameters
    ----------
    path
        The file; "-" is standard input.
    per_line
        Bytes that the reader keeps for each line, its text aside.

    Raises
    ------
    DataError
        If the file is no text, or compressed data are damaged.
    NoInputError, ReadWriteError
        If the file cannot be opened, or a read fails.
    ResourceError
        If the lines exceed the memory.
    """
    blocks = LineBlocks(path)
    blocks.per_line = per_line
    try:
        yield from numbered_lines(blocks)
    except DataError as error:
        raise error.of_file(path) from error


def bad_line(number: int, expected: str, found: str, remedy: str) -> DataError:
    """Return the error for a line of a graph file."""
    return DataError(expected, found, remedy, place=f"line {number}")


def quoted(text: str) -> str:
    """Return a line as it is shown in an error."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


def read_adjacency(blocks: Iterable[bytes], *, names_alone: bool = False) -> DirectedGraph:
    """Read "a -> b, c" lines; see `gpuasm.graph.building.from_strings`.

    Parameters
    ----------
    blocks
        Of whole lines.
    names_alone
        Whether lines without arrows must be one name each, without anything that may separate two: so are those of a
        file that is taken for adjacency text though it begins without arrows.

    Raises
    ------
    DataError
        If a line has another form.
    """
    lines = numbered_lines(blocks)
    return from_numbered_strings(map(_checked_name, lines) if names_alone else lines)


def _checked_name(numbered: tuple[int, str]) -> tuple[int, str]:
    number, line = numbered
    if "->" not in line and not line.lstrip().startswith("#") and not is_lone_name(line.encode()):
        raise bad_line(number, "a vertex without edges, as before", quoted(line), "give --format adjacency or edges")
    return numbered
