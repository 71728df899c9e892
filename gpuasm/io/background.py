"""Work ahead in another thread: decompression and parsing overlap, and memory stays bounded by a short queue."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Generic, TypeVar

Item = TypeVar("Item")

_POLL_SECONDS = 0.1


class Background(Generic[Item]):
    """Iterate over ``source`` in a thread that stays at most ``depth`` items ahead.

    An exception of the source is raised in the consumer, after the items that came before it. Use it in a ``with``
    block: leaving the block stops the thread. The thread is a daemon, since nothing can interrupt a read from a pipe
    that stays silent, and Ctrl-C must end the process nevertheless.
    """

    def __init__(self, source: Iterable[Item], *, depth: int = 2) -> None:
        self._source = source
        self._queue: queue.Queue[tuple[str, object]] = queue.Queue(depth)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, name="gpuasm-io", daemon=True)
        self._thread.start()

    def __enter__(self) -> Background[Item]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stopped.set()

    def __iter__(self) -> Iterator[Item]:
        while True:
            kind, value = self._queue.get()
            if kind == "end":
                return
            if kind == "error":
                raise value  # type: ignore[misc]
            yield value  # type: ignore[misc]

    def _work(self) -> None:
        try:
            for item in self._source:
                if not self._put("item", item):
                    break
            self._put("end", None)
        except BaseException as error:  # handed to the consumer, which raises it
            self._put("error", error)
        finally:
            close = getattr(self._source, "close", None)
            if close is not None:
                close()

    def _put(self, kind: str, value: object) -> bool:
        while not self._stopped.is_set():
            try:
                self._queue.put((kind, value), timeout=_POLL_SECONDS)
            except queue.Full:
                continue
            return True
        return False
