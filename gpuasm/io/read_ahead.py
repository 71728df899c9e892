"""Read and decode input files in threads while the parsing code is loaded."""

from __future__ import annotations

import os
from collections.abc import Iterable
from types import TracebackType
from typing import Self

from gpuasm.io.sources import BLOCK_BYTES, Source

_DEPTH = (128 << 20) // BLOCK_BYTES
"""Most decoded blocks of a file that wait, on a machine with few cores."""
_DEPTH_OF_MANY_CORES = (320 << 20) // BLOCK_BYTES
"""Decoding runs in parallel to all other work there; the text takes less than half of the memory that is planned."""
_MANY_CORES = 8
_MOST_OF_MEMORY = 8


class ReadAhead:
    """The first files of a run, read and decoded by one thread each until the reader takes them over.

    Pipes and paths that are no file are skipped: their reader reports the error. Use it in a ``with`` block, which ends
    the threads.

    Parameters
    ----------
    paths
        The files.
    memory
        Bytes that the process may take in all, of which the waiting blocks take an eighth at most; None if there is no
        limit.
    """

    def __init__(self, paths: Iterable[str | os.PathLike[str]], memory: int | None = None) -> None:
        names = {os.fspath(path) for path in paths}
        self._begun = {name: Source(name) for name in names if os.path.isfile(name)}  # noqa: PTH113 - "-" is no path
        depth = _depth()
        if memory is not None:
            depth = max(1, min(depth, memory // (_MOST_OF_MEMORY * BLOCK_BYTES * max(1, len(self._begun)))))
        for source in self._begun.values():
            source.begin(depth=depth)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for source in self._begun.values():
            with source.texts():  # leaving the block ends the thread
                pass

    def take(self, path: str) -> Source | None:
        """Return the source of a file that has been begun, once; None for others."""
        return self._begun.pop(path, None)


def text_ahead() -> int:
    """Return the most bytes of decoded text of a file that wait for the reader."""
    return _depth() * BLOCK_BYTES


def _depth() -> int:
    return _DEPTH if (os.cpu_count() or 1) < _MANY_CORES else _DEPTH_OF_MANY_CORES
