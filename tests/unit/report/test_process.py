"""The page made by another process is the page made here, and is made here where that process cannot."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys

import pytest

from gpuasm.errors import OutputError
from gpuasm.report import figures, write_run_report
from gpuasm.report import page as page_module
from gpuasm.report import process as process_module
from gpuasm.report.process import ReportProcess, shared_process
from tests.report_files import CONTIGS, MANIFEST, SPECTRUM


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "phage"
    folder.mkdir()
    for name, text in (("run.json", json.dumps(MANIFEST)), ("contigs.tsv", CONTIGS), ("spectrum.tsv", SPECTRUM)):
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def page(folder):
    """The page as this process makes it."""
    path = write_run_report(folder)
    text = path.read_text()
    path.unlink()
    return text


@pytest.fixture(scope="module")
def shared():
    """Let tests take over the process of one another; what needs a process of its own is above them."""
    with shared_process():
        yield


def rows():
    return [map(int, line.split("\t")) for line in SPECTRUM.splitlines()[1:]]


def test_successive_pages_are_made_by_one_process(folder, page):
    other_folder = folder.with_name("other")
    shutil.copytree(folder, other_folder)
    used = []
    with shared_process():
        for run in (other_folder, folder):
            with ReportProcess(run) as other:
                other.write()
                used.append(other._drawing.process)
    assert (folder / "report.html").read_text() == page
    assert "other" in (other_folder / "report.html").read_text()
    assert used[0] is used[1]
    assert used[0].poll() is not None


def test_a_process_started_ahead_makes_the_page(folder, page):
    with process_module.process_ahead():
        ahead = process_module._spare.get()
        process_module._spare.put(ahead)
        with ReportProcess(folder) as other:
            other.write()
        assert other._drawing is ahead
    assert (folder / "report.html").read_text() == page
    assert ahead.process.poll() is not None


def test_a_process_started_ahead_for_nothing_is_ended():
    with process_module.process_ahead():
        ahead = process_module._spare.get()
        process_module._spare.put(ahead)
    assert ahead.process.poll() is not None
    with shared_process(), process_module.process_ahead():
        assert process_module._spare.empty()


def test_without_another_process_the_page_is_made_here(folder, page, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(folder / "nothing"))
    with ReportProcess(folder) as other:
        other.draw_spectrum(rows(), threshold=3, peak=40)
        other.write()
    assert (folder / "report.html").read_text() == page


def test_where_the_other_process_dies_the_page_is_made_here(folder, page):
    with ReportProcess(folder) as other:
        other._talk.submit(int).result()  # it has been started
        other._drawing.process.kill()
        other.draw_contigs()
        other.write()
    assert (folder / "report.html").read_text() == page


def test_leaving_ends_the_process_whatever_it_does(folder):
    with contextlib.suppress(KeyboardInterrupt), ReportProcess(folder) as other:
        other.draw_spectrum(((n, n) for n in range(1, 100_000)), threshold=3, peak=40)  # more than a pipe holds
        raise KeyboardInterrupt
    assert other._drawing.process.poll() is not None


def test_the_process_ends_with_its_input(folder):
    orders = f'{json.dumps({"run": [str(folder), "phage"]})}\n{{"page": true}}\n'.encode()
    command = [sys.executable, "-m", "gpuasm.report.process"]
    done = subprocess.run(command, input=orders, capture_output=True, timeout=60, check=True)
    assert done.stdout == b"done\n"


def test_a_figure_is_drawn_once(monkeypatch):
    drawn = []
    monkeypatch.setattr(figures, "svg_figure", lambda *_, **__: drawn.append(1) or "svg")
    for _ in range(2):
        figures.spectrum_figure([(1, 10), (2, 5), (3, 11)], "drawn once", threshold=2, peak=3)
    figures.spectrum_figure([(1, 10), (2, 5), (3, 12)], "drawn once", threshold=2, peak=3)
    assert len(drawn) == 2


def test_the_page_is_the_same_with_figures_drawn_ahead(shared, folder, page, monkeypatch):
    monkeypatch.setattr(page_module, "write_run_report", lambda _: pytest.fail("made here"))
    with ReportProcess(folder) as other:
        other.draw_spectrum(rows(), threshold=3, peak=40)
        other.draw_contigs()
        other.write()
        assert (folder / "report.html").read_text() == page
        (folder / "report.html").unlink()
        other.write()  # again, in the same process
    assert (folder / "report.html").read_text() == page


def test_other_figures_do_not_change_the_page(shared, folder, page):
    with ReportProcess(folder) as other:
        other.draw_spectrum([(1, 5), (2, 7)], threshold=9, peak=None)
        other.write()
    assert (folder / "report.html").read_text() == page


def test_a_page_that_cannot_be_written_is_an_error_here(shared, folder):
    (folder / "report.html").mkdir()
    with ReportProcess(folder) as other, pytest.raises(OutputError):
        other.write()
