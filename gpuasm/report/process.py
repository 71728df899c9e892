"""Make the page of a run in another process, which loads matplotlib and draws while the run computes."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import queue
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from gpuasm import unfinished
from gpuasm.report.run_names import name_of_run

if TYPE_CHECKING:
    from gpuasm.report.inputs import ContigRow

_DONE = b"done\n"


class _Drawing(NamedTuple):
    """A process that draws, and its number in `gpuasm.unfinished`."""

    process: subprocess.Popen[bytes]
    number: int

    def end(self) -> None:
        """End the process."""
        self.process.kill()
        with contextlib.suppress(OSError):  # of what it had no time to read
            self.process.communicate()
        unfinished.forget(self.number)


_spare: queue.SimpleQueue[_Drawing] = queue.SimpleQueue()
"""The process that the next page takes over."""
_now = {"is_shared": False}


@contextlib.contextmanager
def shared_process() -> Iterator[None]:
    """Let the pages of successive runs in the block be made by one process, which loads matplotlib once."""
    _now["is_shared"] = True
    try:
        yield
    finally:
        _now["is_shared"] = False
        _end_spare()


@contextlib.contextmanager
def process_ahead() -> Iterator[None]:
    """Start the process of the next page now, for a page in the block; in a block of `shared_process` do nothing."""
    if not _now["is_shared"]:
        with contextlib.suppress(OSError, ValueError):
            _spare.put(_started())
    try:
        yield
    finally:
        if not _now["is_shared"]:
            _end_spare()


def _end_spare() -> None:
    while not _spare.empty():
        _spare.get().end()


class ReportProcess:
    """Makes report.html of a run in another process.

    Figures are drawn as soon as their data are known, and the page uses them. The contents of the page do not depend on
    that: if the other process fails or cannot be started, the page is made here. Use it in a ``with`` block, which ends
    the other process.

    Parameters
    ----------
    run_dir
        The folder that the page is about.
    name
        What to call the run; if None, as `gpuasm.report.run_names.name_of_run` does.
    """

    def __init__(self, run_dir: str | Path, name: str | None = None) -> None:
        self._folder = Path(run_dir).absolute()
        self._name = name or name_of_run(self._folder)
        self._talk = ThreadPoolExecutor(1, thread_name_prefix="gpuasm-report")  # nobody waits for a full pipe
        self._drawing: _Drawing | None = None
        self._talk.submit(self._start)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._talk.submit(self._end)
        self._kill()
        self._talk.shutdown()

    def draw_spectrum(self, spectrum: Iterable[Sequence[int]], *, threshold: int | None, peak: int | None) -> None:
        """Let the k-mer spectrum be drawn, of (multiplicity, distinct k-mers), in the background."""
        rows = [[int(number) for number in row] for row in spectrum]
        self._talk.submit(self._send, {"spectrum": rows, "threshold": threshold, "peak": peak})

    def draw_contigs(self) -> None:
        """Let the figures of contigs.tsv, which is in the folder by now, be drawn in the background."""
        self._talk.submit(self._send, {"contigs": True})

    def write(self) -> None:
        """Write the page; its inputs are in the folder by now.

        Raises
        ------
        OutputError, ReadWriteError, ResourceError
            If the page cannot be written.
        """
        if self._talk.submit(self._ask).result():
            self._kill()  # it ends while the run puts its files in their places
            return
        from gpuasm.report.page import write_run_report  # noqa: PLC0415 - most runs do without

        write_run_report(self._folder, self._name)

    def _kill(self) -> None:
        """Let the process end without waiting for that, unless it makes the next page too."""
        if self._drawing is not None and not _now["is_shared"]:
            self._drawing.process.kill()

    def _start(self) -> None:
        with contextlib.suppress(queue.Empty):
            self._drawing = _spare.get_nowait()
        if self._drawing is None:
            with contextlib.suppress(OSError, ValueError):
                self._drawing = _started()
        with contextlib.suppress(OSError):
            self._send({"run": [str(self._folder), self._name]})

    def _send(self, order: dict[str, Any]) -> None:
        if self._drawing is not None and self._drawing.process.stdin is not None:
            self._drawing.process.stdin.write(json.dumps(order).encode() + b"\n")
            self._drawing.process.stdin.flush()

    def _ask(self) -> bool:
        with contextlib.suppress(OSError):
            self._send({"page": True})
            return (
                self._drawing is not None
                and self._drawing.process.stdout is not None
                and self._drawing.process.stdout.readline() == _DONE
            )
        return False

    def _end(self) -> None:
        if self._drawing is None:
            return
        if _now["is_shared"] and self._drawing.process.poll() is None:
            _spare.put(self._drawing)
        else:
            self._drawing.end()


def _started() -> _Drawing:
    """Start a process of the same modules as here, whatever made them importable.

    In a session of its own, Ctrl-C is not for it.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path or str(Path.cwd()) for path in sys.path)}
    with unfinished.MAKING:
        process = subprocess.Popen(  # noqa: S603 - ourselves
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
        return _Drawing(process, unfinished.register(process.kill))


def serve() -> None:
    """Follow the orders that come by standard input, a line each, until it is closed; the first order names a run."""
    import multiprocessing.connection  # noqa: PLC0415 - for this process only, as all it loads
    import multiprocessing.popen_fork  # noqa: F401, PLC0415

    from gpuasm.report import figures  # noqa: PLC0415
    from gpuasm.report.inputs import read_run  # noqa: PLC0415
    from gpuasm.report.page import load_libraries, write_run_report  # noqa: PLC0415

    gc.disable()  # figures are many objects that refer to each other
    load_libraries()
    folder, name = Path(), ""
    for line in sys.stdin.buffer:
        order = json.loads(line)
        if "run" in order:
            folder, name = Path(order["run"][0]), order["run"][1]
        elif "spectrum" in order:
            rows = [(times, kmers) for times, kmers in order["spectrum"]]
            figures.spectrum_figure(rows, name, threshold=order["threshold"], peak=order["peak"])
        elif "contigs" in order:
            contigs = read_run(folder).contigs
            if len(contigs) > 1:
                _draw_contigs(contigs, name)
        else:
            write_run_report(folder, name)
            sys.stdout.buffer.write(_DONE)
            sys.stdout.buffer.flush()
            gc.collect()


def _draw_contigs(contigs: Sequence[ContigRow], name: str) -> None:
    """Draw the two figures that compare contigs at the same time; this process has no other threads."""
    import multiprocessing  # noqa: PLC0415 - as in `serve`

    from gpuasm.report import figures  # noqa: PLC0415

    fork = multiprocessing.get_context("fork")
    receiving, sending = fork.Pipe(duplex=False)
    child = fork.Process(target=lambda: sending.send(figures.depth_figure(contigs, name)), daemon=True)
    child.start()
    sending.close()
    figures.nx_figure(contigs, name)
    with contextlib.suppress(EOFError):  # without a picture from there, the page draws it
        figures.depth_figure.keep(receiving.recv(), contigs, name)
    child.join()


if __name__ == "__main__":
    serve()
