"""Ctrl-C and SIGTERM at any moment end a process with its exit code, one line and nothing left."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

from tests.fuzz.signals import CODES, MESSAGES, Samples, signalled, wrong_ends, wrong_mixtures


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    return Samples.make(tmp_path_factory.mktemp("samples"), 4000)


@pytest.mark.parametrize("number", CODES)
def test_a_signal_while_an_assembly_starts_or_works(samples, number):
    assert list(wrong_ends(samples, number, iter([0.25, 0.8, 1.3]), twice=False)) == []


def test_a_signal_twice_in_a_row(samples):
    assert list(wrong_ends(samples, signal.SIGINT, iter([0.4, 1.0]), twice=True)) == []


def test_a_kill_over_older_results(samples):
    assert list(wrong_mixtures(samples, iter([0.9]))) == []


SWALLOWING = """
import sys, time
sys.argv = ["gpuasm"]
import gpuasm.cli
class Swallowed:
    def __del__(self):
        print("ready", flush=True)
        time.sleep(60)  # Python prints exceptions here and goes on
{work}
"""


@pytest.mark.parametrize("number", CODES)
@pytest.mark.parametrize(
    "work",
    [
        "Swallowed()\ntime.sleep(60)",
        "import _imp; _imp.acquire_lock(); print('ready', flush=True); time.sleep(60)",
        "import threading\nlock = threading.Lock()\nlock.acquire()\nprint('ready', flush=True)\nlock.acquire()",
        "print('ready', flush=True)\nwhile True:\n    try: time.sleep(1)\n    except BaseException: pass",
        "import ctypes; print('ready', flush=True); ctypes.CDLL(None).sleep(60)",
    ],
    ids=["finalizer", "import lock", "lock", "caught", "compiled code"],
)
def test_a_signal_where_an_exception_would_be_lost(work, number):
    process = subprocess.Popen(
        [sys.executable, "-c", SWALLOWING.format(work=work)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    began = time.monotonic()
    process.send_signal(number)
    _, messages = process.communicate(timeout=30)
    assert (process.returncode, messages) == (CODES[number], MESSAGES[number])
    assert time.monotonic() - began < 10


def test_an_ignored_signal_stays_ignored():
    code = "import sys, signal, os; sys.argv = ['gpuasm']; import gpuasm.cli; os.kill(os.getpid(), 2); print('alive')"
    ignoring = f"trap '' INT; exec {sys.executable} -c \"$0\""
    assert subprocess.run(["sh", "-c", ignoring, code], capture_output=True, check=True).stdout == b"alive\n"


def test_a_library_keeps_the_handlers_of_its_program():
    code = "import signal, gpuasm.cli; print(signal.getsignal(2) is signal.default_int_handler)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == b"True\n"


def test_helpers_end_with_the_process_that_started_them():
    code = (
        "import os, sys; sys.argv = ['gpuasm']\nimport gpuasm.cli\nfrom gpuasm import precompilation, unfinished\n"
        "with unfinished.MAKING:\n    helper = precompilation._started()\n    unfinished.register(helper.kill)\n"
        "print(helper.pid, flush=True)\nhelper.stdout.read()"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    helper = int(process.stdout.readline())
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=30) == 143
    process.communicate()
    assert _has_ended(helper)


def _has_ended(process):
    for _ in range(100):
        try:
            with open(f"/proc/{process}/stat") as file:
                if file.read().split()[2] == "Z":
                    return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def test_the_pipe_of_messages_may_be_full():
    code = (
        "import os, sys, time; sys.argv = ['gpuasm']; import gpuasm.cli; os.set_blocking(2, False)\n"
        "try:\n    while True: os.write(2, b'x' * 4096)\nexcept BlockingIOError: pass\n"
        "os.set_blocking(2, True); print('ready', flush=True); time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 130
    process.communicate()


def test_signalled_reports_a_process_that_does_not_end(monkeypatch):
    monkeypatch.setattr("tests.fuzz.signals.PATIENCE_S", 0.5)
    code = "import signal, time; signal.signal(2, signal.SIG_IGN); time.sleep(60)"
    assert signalled([sys.executable, "-c", code], signal.SIGINT, 0.5)[0] is None
