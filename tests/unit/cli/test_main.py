"""The command line as a whole: help, errors and exit codes."""

from __future__ import annotations

import errno
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import gpuasm
from gpuasm import cli, errors

Run = Callable[..., tuple[int, str, str]]
COMMANDS = [name for section in cli.SECTIONS.values() for name in section]


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], None]:
    """Let ``gpuasm devices`` raise a given error."""

    def let_fail(error: BaseException) -> None:
        @click.command()
        def command() -> None:
            raise error

        monkeypatch.setattr(cli.cli, "get_command", lambda _context, _name: command)

    return let_fail


def test_help_lists_commands_by_section_and_exit_codes(run_cli: Run) -> None:
    code, out, _ = run_cli("--help")
    assert code == 0
    for expected in [*cli.SECTIONS, *COMMANDS, "Exit codes", "130  interrupted"]:
        assert expected in out


def test_version(run_cli: Run) -> None:
    assert run_cli("--version") == (0, f"gpuasm {gpuasm.__version__}\n", "")


def names_of_commands(group: click.Group, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the names of every command, groups included."""
    context = click.Context(group)
    for name in group.list_commands(context):
        names = (*before, name)
        yield names
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from names_of_commands(command, names)


@pytest.mark.parametrize("names", list(names_of_commands(cli.cli)), ids=" ".join)
def test_each_command_has_help_with_an_example(run_cli: Run, names: tuple[str, ...]) -> None:
    code, out, _ = run_cli(*names, "--help")
    assert code == 0
    assert f"  gpuasm {' '.join(names)}" in out.split("\n", 1)[1], "no example"
    assert " RANGE" not in out
    assert " FLOAT" not in out
    assert " TEXT" not in out


def test_unknown_command_and_option_are_usage_errors(run_cli: Run) -> None:
    assert run_cli("assembel") == (2, "", "gpuasm: error: No such command 'assembel'; see 'gpuasm --help'\n")
    code, out, err = run_cli("devices", "--colour")
    assert (code, out) == (2, "")
    assert err.startswith("gpuasm: error: No such option '--colour'")
    assert err.endswith("; see 'gpuasm devices --help'\n")
    assert err.count("\n") == 1


def test_a_group_without_a_command_shows_its_help(run_cli: Run) -> None:
    code, out, err = run_cli("graph")
    assert (code, out) == (2, "")
    assert err.startswith("Usage: gpuasm graph")


def test_user_errors_are_one_line(run_cli: Run, failing: Any) -> None:
    failing(errors.DataError("4 lines", "3", "fetch the file again", path="a.fq", place="record 7"))
    code, out, err = run_cli("devices")
    assert (code, out) == (65, "")
    assert err == "gpuasm: error: a.fq, record 7: expected 4 lines, found 3; fetch the file again\n"


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (click.Abort(), 130, "interrupted"),
        (MemoryError(), 75, "out of memory: the system gave no more; run"),
        (MemoryError("std::bad_alloc"), 75, "the device is out of memory: std::bad_alloc; run with --device cpu"),
        (type("OutOfMemoryError", (MemoryError,), {})("of 8 TB"), 75, "the device is out of memory: of 8 TB; run with"),
        (MemoryError("an array of 8 TB"), 75, "out of memory: an array of 8 TB; run"),
        (ImportError("lib.so: failed to map segment from shared object"), 75, "out of memory"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), 75, "out of memory"),
        (RuntimeError("can't start new thread"), 75, "out of memory"),
        (ImportError("no module named odd"), 1, "please report"),
        (OSError(errno.ENOSPC, "No space left", "x.tmp"), 75, "x.tmp: no space left"),
        (RuntimeError("odd"), 1, "please report"),
        (SystemExit(5), 5, ""),
    ],
)
def test_other_errors_have_their_codes(run_cli: Run, failing: Any, error: BaseException, code: int, text: str) -> None:
    failing(error)
    found, _, err = run_cli("devices")
    assert found == code
    assert text in err
    assert ("Traceback" in err) == (code == 1)


def test_exit_codes_of_all_errors_are_documented() -> None:
    kinds = [errors.GpuasmError, *errors.GpuasmError.__subclasses__()]
    assert {kind.exit_code for kind in kinds} <= set(cli.EXIT_CODES)


def test_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "gpuasm", "--version"]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout.startswith("gpuasm ")


def test_closed_pipe_ends_quietly() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "gpuasm", "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() in (0, 141)  # 0 if all was written before the pipe was closed


def test_interrupt_from_outside() -> None:
    code = (
        "import click, time, gpuasm.cli as c\n"
        "@click.command()\n"
        "def command():\n    print('ready', flush=True)\n    time.sleep(60)\n"
        "c.cli.get_command = lambda *_: command\n"
        "c.main(['devices'])"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, "gpuasm: error: interrupted\n")


def test_readme_lists_the_same_exit_codes() -> None:
    text = (Path(__file__).parents[3] / "README.md").read_text()
    assert [int(code) for code in re.findall(r"^\| (\d+) \|", text, re.MULTILINE)] == list(cli.EXIT_CODES)


@pytest.mark.parametrize("command", ["assemble", "count"])
def test_garbage_is_collected_once_libraries_are_loaded(command: str, tmp_path: Path) -> None:
    """In a process of its own; in this one, `main` leaves the collector as it is."""
    reads = tmp_path / "reads.fa"
    reads.write_text(f">a\n{'ACGTTGCAAC' * 10}\n" * 3)
    code = (
        "import atexit, gc; atexit.register(lambda: print('enabled', gc.isenabled()))\n"
        "from gpuasm.cli import run; run()"
    )
    arguments = {"assemble": ["--single", str(reads), "-o", str(tmp_path / "out")], "count": [str(reads), "-k", "31"]}
    extra = {"assemble": [], "count": ["-o", str(tmp_path / "counts.npz")]}
    names = [sys.executable, "-c", code, command, *arguments[command], *extra[command], "-t", "1", "--device", "cpu"]
    out = subprocess.run(names, capture_output=True, text=True, check=False).stdout
    assert "enabled True" in out
