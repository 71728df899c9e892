"""The guard of the workflow's steps: bad data are recorded, later steps skipped, everything else fails."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpuasm.cli import guarded_step

READS = Path(__file__).parents[2] / "golden" / "reads.fastq.gz"


@pytest.fixture
def guarded(tmp_path, monkeypatch, capsys):
    """Return a function that runs Python code as a guarded step: its exit code, its status, its messages."""
    monkeypatch.setattr(guarded_step, "_GPUASM", (sys.executable, "-c"))

    def run(code, *options, step="step", after=()):
        status, output = tmp_path / f"{step}.json", tmp_path / "folder" / f"{step}.txt"
        arguments = ["--sample", "s", "--status", status, "--output", output, *options, "--", code, *after]
        with pytest.raises(SystemExit) as exit_:
            guarded_step.main(list(map(str, arguments)))
        found = json.loads(status.read_text()) if status.exists() else None
        return exit_.value.code, found, capsys.readouterr().err, output

    return run


def failing(code, message="gpuasm: error: a.fq: expected reads, found none; give some"):
    return f"import sys; print('working', file=sys.stderr); print({message!r}, file=sys.stderr); sys.exit({code})"


def test_success_is_recorded(guarded):
    code, status, messages, output = guarded("import sys; print('fine', file=sys.stderr)")
    assert code == 0
    assert status == {"sample": "s", "step": "step", "status": "ok", "exit_code": 0, "message": ""}
    assert messages == "fine\n"
    assert output.exists()


@pytest.mark.parametrize("exit_code", [65, 66])
def test_bad_data_are_recorded_and_outputs_are_there(guarded, exit_code):
    code, status, messages, output = guarded(failing(exit_code))
    assert code == 0
    assert (status["status"], status["exit_code"]) == ("failed", exit_code)
    assert status["message"] == "a.fq: expected reads, found none; give some"
    assert messages.startswith("working\n")
    assert output.read_text() == ""


@pytest.mark.skipif(not shutil.which("fastp"), reason="needs fastp")
def test_fastp_looks_at_reads(guarded, tmp_path):
    """Its figures are those of the reads; reads that it does not take are a note in the status."""
    out = tmp_path / "a.fastp.json"
    outputs = ("--json", out, "--html", tmp_path / "a.html")
    code, status, _, _ = guarded("-i", "--program", "fastp", after=(READS, *outputs))
    assert (code, status["status"]) == (0, "ok")
    assert json.loads(out.read_text())["summary"]["before_filtering"]["total_reads"] == 2174
    code, status, _, _ = guarded("-i", "--program", "fastp", after=(tmp_path / "none.fastq", *outputs))
    assert (code, status["status"]) == (0, "failed")


@pytest.mark.parametrize(("exit_code", "options"), [(255, []), (3, []), (1, ["--fail"])])
def test_each_error_of_another_program_is_one_of_the_data(guarded, exit_code, options):
    code, status, _, _ = guarded("-c", "--program", sys.executable, *options, after=(failing(exit_code),))
    assert (code, status and status["status"]) == ((1, None) if options else (0, "failed"))


def test_a_program_that_is_not_there_fails(guarded):
    code, status, messages, _ = guarded("-i", "--program", "no_such_program")
    assert (code, status) == (69, None)
    assert messages == "gpuasm: error: expected the program no_such_program, found none on the PATH; install it\n"


@pytest.mark.parametrize("exit_code", [1, 2, 74, 75])
def test_what_is_not_the_data_s_fault_fails(guarded, exit_code):
    code, status, _, output = guarded(failing(exit_code))
    assert code == exit_code
    assert status is None
    assert not output.exists()


def test_bad_data_fail_if_configured(guarded):
    code, status, *_ = guarded(failing(65), "--fail")
    assert (code, status) == (65, None)


def test_steps_after_a_failure_are_skipped_with_its_reason(guarded, tmp_path):
    guarded(failing(65), step="first")
    code, status, _, output = guarded("raise SystemExit(3)", "--after", tmp_path / "first.json", step="second")
    assert code == 0
    assert (status["step"], status["status"], status["exit_code"]) == ("second", "skipped", 65)
    assert status["message"] == "a.fq: expected reads, found none; give some"
    assert output.exists()


def test_the_reason_is_the_error_on_any_line(guarded):
    code = "import sys; sys.stderr.write('gpuasm: error: bad; fix it\\nlater\\n'); sys.exit(65)"
    assert guarded(code)[1]["message"] == "bad; fix it"


def test_steps_after_a_success_run(guarded, tmp_path):
    guarded("pass", step="first")
    assert guarded(failing(65), "--after", tmp_path / "first.json", step="second")[1]["status"] == "failed"


@pytest.mark.parametrize(("number", "to_all", "code", "message"), [
    (signal.SIGTERM, False, 143, "terminated"), (signal.SIGINT, True, 130, "interrupted"),
])  # fmt: skip
def test_a_signal_ends_the_command_and_its_message_is_printed(tmp_path, number, to_all, code, message):
    pipe = tmp_path / "reads.fq"
    os.mkfifo(pipe)
    arguments = ["--sample", "a", "--status", tmp_path / "check.json", "--", "check", pipe]
    # Shells let their background jobs ignore Ctrl-C.
    setup = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    process = subprocess.Popen(
        [sys.executable, "-c", setup + "from gpuasm.cli.guarded_step import main; main()", *map(str, arguments)],
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    writer = os.open(pipe, os.O_WRONLY)  # opens once the command reads
    time.sleep(0.2)
    (os.killpg if to_all else os.kill)(process.pid, number)
    _, errors = process.communicate(timeout=60)
    os.close(writer)
    assert (process.returncode, f"gpuasm: error: {message}" in errors) == (code, True), errors
    assert not (tmp_path / "check.json").exists()


@pytest.mark.parametrize("data", [b"", b"\xff", b"[]", b"[" * 100_000, b'{"status": "ok"}'])
def test_a_damaged_outcome_of_the_step_before_ends_in_one_line(tmp_path, data):
    before = tmp_path / "before.json"
    before.write_bytes(data)
    command = [sys.executable, "-m", "gpuasm.cli.guarded_step", "--sample", "a", "--status", str(tmp_path / "x.json")]
    done = subprocess.run([*command, "--after", str(before), "check"], capture_output=True, text=True, check=False)
    assert done.returncode == 65
    assert len(done.stderr.splitlines()) == 1
    assert "remove it" in done.stderr
