"""Make the page of an assembly in another process while the assembly continues."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from gpuasm.cli.inputs import size_of_inputs
from gpuasm.errors import NoInputError

if TYPE_CHECKING:
    from gpuasm.cli.options import ReadInputs
    from gpuasm.cli.run_folder import RunFolder
    from gpuasm.kmers.spectrum import Spectrum
    from gpuasm.report.process import ReportProcess

LEAST_BYTES_APART = 4 << 20
"""Bytes of files from which on another process makes the page: what is less is assembled before it is ready."""


def page_process_ahead(inputs: ReadInputs) -> contextlib.AbstractContextManager[None]:
    """Start the process that makes the page of a run of some files; it loads its libraries while those of the run load.

    The first `AssemblyPage` in the block takes it over.
    """
    try:
        is_apart = _is_apart(size_of_inputs(inputs))
    except NoInputError:  # the reader reports it
        is_apart = False
    if not is_apart:
        return contextlib.nullcontext()
    from gpuasm.report.process import process_ahead

    return process_ahead()


def _is_apart(n_bytes: int | None) -> bool:
    """Return whether another process makes the page of files that are so large, or may have any size (None)."""
    return n_bytes is None or n_bytes >= LEAST_BYTES_APART


class AssemblyPage:
    """report.html of a run; closing it ends the other process, if there is one.

    Parameters
    ----------
    folder
        Of the run: its files are complete in ``folder.files`` before they get their places.
    """

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._process: ReportProcess | None = None
        self._is_spectrum_sent = False
        self._ending = contextlib.ExitStack()

    def close(self) -> None:
        """End the other process."""
        self._ending.close()

    @property
    def is_apart(self) -> bool:
        """Whether another process makes the page."""
        return self._process is not None

    def begin(self, n_bytes: int | None) -> None:
        """Start the other process, if files are large enough for it, or may be (None)."""
        if _is_apart(n_bytes):
            from gpuasm.report.process import ReportProcess

            self._process = self._ending.enter_context(ReportProcess(self._folder.files, self._folder.name))

    def draw_spectrum(self, spectrum: Spectrum) -> None:
        """Let the spectrum be drawn; it stays the same from the first k on."""
        if self._process and not self._is_spectrum_sent:
            from gpuasm.cli.outputs import rows_of_spectrum

            rows = zip(*(column.tolist() for column in rows_of_spectrum(spectrum.histogram)), strict=True)
            self._process.draw_spectrum(rows, threshold=spectrum.threshold, peak=spectrum.peak)
            self._is_spectrum_sent = True

    def draw_contigs(self) -> None:
        """Let the figures of contigs.tsv be drawn; it has been written."""
        if self._process:
            self._process.draw_contigs()

    def write(self) -> None:
        """Write the page; all other files of the run have been written."""
        from gpuasm.report import write_run_report

        if self._process:
            self._process.write()
        else:
            write_run_report(self._folder.files, self._folder.name)
