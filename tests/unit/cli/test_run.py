"""The process that runs a command: what it says, its exit code, and what is done at its end."""

from __future__ import annotations

import subprocess
import sys

import pytest


def python(code, *arguments, **options):
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False, **options
    )


RUN = "from gpuasm.cli import run; run()"


@pytest.mark.parametrize(("arguments", "code"), [(["--version"], 0), (["assemble"], 2), (["check", "nothing.fq"], 66)])
def test_exit_codes(arguments, code):
    assert python(RUN, *arguments).returncode == code


def test_what_is_printed_comes_out_whole_through_a_pipe():
    done = python("print('x' * 100_000, end='');" + RUN, "--version")
    assert done.stdout.startswith("x" * 100_000 + "gpuasm")
    assert done.stdout.endswith("\n")


def test_what_others_registered_for_the_end_is_done():
    code = "import atexit; atexit.register(print, 'last words'); import sys; sys.stderr.write('no end of line');" + RUN
    done = python(code, "--version")
    assert done.stdout.splitlines()[-1] == "last words"
    assert done.stderr == "no end of line"


def test_closed_streams_are_no_matter():
    code = "import sys; sys.stderr = None;" + RUN
    assert python(code, "--version").returncode == 0


@pytest.mark.parametrize(("command", "threads"), [("assemble", "1"), ("som", "None")])
def test_threads_of_matrix_products_are_made_where_there_are_any(command, threads, monkeypatch):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    code = "import atexit, os; atexit.register(lambda: print(os.environ.get('OPENBLAS_NUM_THREADS')));" + RUN
    assert python(code, command, "--help").stdout.splitlines()[-1] == threads
