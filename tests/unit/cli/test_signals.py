"""Ctrl-C and SIGTERM at any moment end a process with its exit code, one line and nothing left."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import gpuasm
from tests.fuzz import outcomes
from tests.fuzz.signals import CODES, MESSAGES, Blow, End, Trials, struck
from tests.fuzz.small_commands import SmallCommands
from tests.fuzz.workflow_kills import Undisturbed

PACKAGE = Path(gpuasm.__file__).parent
INT, TERM, KILL = signal.SIGINT, signal.SIGTERM, signal.SIGKILL


@pytest.fixture(scope="module")
def commands(tmp_path_factory):
    return SmallCommands(tmp_path_factory.mktemp("commands"), ["assemble", "count"], length=4000)


def wrong(commands, name, blow, *, older):
    outcome = Trials(commands, blow.number).strike(name, blow, is_over_older=older)
    return outcome and outcome.wrong


@pytest.mark.parametrize(("number", "older"), list(zip(CODES, [False, True], strict=True)))
def test_a_signal_while_an_assembly_starts_or_works(commands, number, older):
    for moment in (0.25, 0.8):
        assert not wrong(commands, "assemble", Blow(number, moment), older=older)


def test_a_signal_to_a_command_that_writes_files(commands):
    assert not wrong(commands, "count", Blow(TERM, 0.4, to_all=False), older=True)


def test_a_signal_twice_in_a_row(commands):
    assert not wrong(commands, "assemble", Blow(INT, 0.6, twice=True), older=False)


@pytest.mark.parametrize("name", ["assemble", "count"])
def test_a_kill_over_older_results(commands, name):
    assert not wrong(commands, name, Blow(KILL, commands.seconds[name] * 0.7), older=True)


def test_mixed_and_cut_files_are_found(commands):
    files, other = commands.results[1]["assemble"], commands.results[0]["assemble"]
    mixed = files | {"contigs.fasta": other["contigs.fasta"], "run.json": other["run.json"]}
    assert commands.differing("assemble", 1, files) == []
    assert commands.differing("assemble", 1, mixed) == ["contigs.fasta", "run.json"]
    assert commands.differing("assemble", 1, files | {"more": b""}) == ["more"]


def test_a_mixture_within_the_workflow_is_found():
    whole = [
        {f"a/{name}": f"{name} {number}".encode() for name in ("one", "two")}
        | {"a/run.json": f'{{"status": "done", "sum": "sum{number}"}}'.encode()}
        for number in range(2)
    ]
    undisturbed = Undisturbed(whole, ["sum0", "sum1"])
    running = {"a/run.json": b'{"status": "running"}'}
    mixed = whole[0] | {"a/one": whole[1]["a/one"]}
    assert list(undisturbed.mixtures(whole[1])) == []
    assert list(undisturbed.mixtures({name: whole[0][name] for name in ("a/one", "a/run.json")})) == []
    assert list(undisturbed.mixtures(mixed | running)) == []
    incomplete = {"a/.incomplete/files/run.json": whole[1]["a/run.json"], "a/.incomplete/files/one": b""}
    assert list(undisturbed.mixtures(mixed | running | incomplete)) == []
    assert list(undisturbed.mixtures(mixed)) == ["two runs are mixed in a, and run.json states 'done'"]
    assert list(undisturbed.mixtures(whole[0] | {"a/run.json": whole[1]["a/run.json"]})) != []
    assert undisturbed.differing({**whole[1], "a/one": b""}, 1, may_miss=False) == ["a/one"]
    assert undisturbed.differing({"a/one": b"one 1"}, 1, may_miss=False) == ["a/run.json", "a/two"]


def test_what_python_does_before_it_runs_gpuasm_is_told_from_what_gpuasm_does():
    fatal = "Fatal Python error: init_import_site: Failed to import the site module\n"
    assert End(1, fatal, 0).is_of_python(INT)
    assert End(-INT, "", 0).is_of_python(INT)
    assert End(1, "Could not import runpy module\nTraceback (most recent call last):\n", 0).is_of_python(INT)
    assert End(-TERM, "", 0).is_of_python(TERM)
    assert not End(1, "gpuasm: error: this is a bug\n", 0).is_of_python(INT)
    assert not End(-INT, f'Traceback\n  File "{outcomes.__file__}"\n{PACKAGE}/cli/__init__.py', 0).is_of_python(INT)
    assert not End(None, "", 0).is_of_python(INT)


def test_outcomes_are_counted_and_merged_with_those_of_other_signals(tmp_path):
    path = tmp_path / "signals.json"
    right, bad = outcomes.Outcome("SIGINT", "count", 3.0), outcomes.Outcome("SIGINT", "count", 1.0, wrong=["hangs"])
    assert outcomes.counted([right, bad], path) == 1
    assert outcomes.counted([outcomes.Outcome("SIGKILL", "count", 1.0, twice=True)], path) == 0
    (entry,) = json.loads(path.read_text())["entries"].values()
    assert [(row["signal"], row["signals"], row["within_two_seconds"], row["wrong"]) for row in entry["rows"]] == [
        ("SIGINT", 2, 1, 1), ("SIGKILL", 1, 1, 0),
    ]  # fmt: skip
    assert list(tmp_path.iterdir()) == [path]


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
        # A signal ends the call, and a process that has nothing left to do may end before the signal is handled.
        "import ctypes; print('ready', flush=True)\nwhile True: ctypes.CDLL(None).sleep(60)",
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


UNDONE = """
import os, sys, threading
sys.argv = ["gpuasm", "nonsense"]
import gpuasm.cli
from pathlib import Path
from gpuasm import unfinished
from gpuasm.cli.run_folder import RunFolder
def undo():
    thread = threading.Thread(target=unfinished.undo_all, args=(5,))
    thread.start()
    thread.join()
    threading.Timer(0.5, os._exit, [130]).start()
{work}
"""


def run_after_undoing(work, folder):
    code = UNDONE.format(work=work)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, check=False)


def test_a_run_that_fails_because_a_signal_has_undone_it_changes_nothing_more(tmp_path):
    (tmp_path / "run.json").write_text('{"command": "bin", "status": "done"}')
    done = run_after_undoing("with RunFolder(Path(), 'bin') as folder:\n    undo()\n    raise ValueError", tmp_path)
    assert (done.returncode, done.stderr) == (130, "")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "run.json": '{"command": "bin", "status": "done"}'
    }


def test_an_error_that_follows_a_signal_is_not_printed(tmp_path):
    done = run_after_undoing("undo()\ngpuasm.cli.run()", tmp_path)
    assert (done.returncode, done.stderr) == (130, "")


def test_signals_are_handled_before_anything_else_is_imported():
    code = "import sys; sys.argv = ['gpuasm']; print('started', file=sys.stderr); from gpuasm.cli import run"
    done = subprocess.run([sys.executable, "-X", "importtime", "-c", code], capture_output=True, text=True, check=True)
    names = [line.rpartition("|")[2].strip() for line in done.stderr.partition("started\n")[2].splitlines()]
    assert set(names[: names.index("gpuasm.first_signals")]) <= {"__future__"}  # which first_signals imports
    assert names.index("gpuasm.cli.interruption") < names.index("click")


@pytest.mark.parametrize("number", CODES)
@pytest.mark.parametrize("name", ["__future__", "gpuasm.first_signals"])
def test_a_signal_during_the_first_imports_waits_for_its_handler(name, number):
    code = f"""
import os, sys
sys.argv = ["gpuasm"]
class Finder:
    def find_spec(name, *_):
        if name == {name!r}:
            os.kill(os.getpid(), {int(number)})
sys.modules.pop("__future__", None)
sys.meta_path.insert(0, Finder)
import gpuasm
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (CODES[number], MESSAGES[number])


def test_the_package_leaves_signals_of_other_programs_as_they_were():
    code = "import signal; import gpuasm; print(signal.pthread_sigmask(signal.SIG_BLOCK, []), signal.getsignal(2))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("set() <built-in function default_int_handler>")


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


def test_a_process_that_does_not_end_is_reported(monkeypatch):
    monkeypatch.setattr("tests.fuzz.signals.PATIENCE_S", 0.5)
    code = "import signal, time; signal.signal(2, signal.SIG_IGN); time.sleep(60)"
    assert struck([sys.executable, "-c", code], Blow(INT, 0.5)).code is None
