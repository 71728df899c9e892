"""The folder of a run: locked, and its files replaced together as the last act."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from gpuasm.cli import run_folder
from gpuasm.cli.run_folder import INCOMPLETE, RunFolder
from gpuasm.errors import OutputError, ResourceError, UsageError
from gpuasm.io import atomic_output, write_json
from gpuasm.io.output import outputs_together
from tests.read_files import files_in


def write(folder, text, status="done"):
    for name in ("a.txt", "b.txt"):
        with atomic_output(folder.files / name) as file:
            file.write(text)
    write_json(folder.files / "run.json", {"status": status, "command": "bin", "text": text})


def finished(path, text):
    with RunFolder(path, "bin") as folder:
        write(folder, text)
        folder.replace()


def failed(path, error):
    with RunFolder(path, "bin") as folder:
        write(folder, "new")
        raise error


def status_of(path):
    return json.loads((path / "run.json").read_text())["status"]


def texts(path):
    return [(path / name).read_text() for name in ("a.txt", "b.txt")]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "around" / "out"


def test_files_appear_together(path):
    with RunFolder(path, "bin") as folder:
        assert status_of(path) == "running"
        write(folder, "new")
        assert files_in(path) == [INCOMPLETE, "run.json"]
        folder.replace()
        assert status_of(path) == "done"
    assert files_in(path) == ["a.txt", "b.txt", "run.json"]


def test_run_json_states_running_until_the_last_file_is_in_place(path, monkeypatch):
    finished(path, "old")
    states, move = [], run_folder.move_output
    monkeypatch.setattr(run_folder, "move_output", lambda *files: (states.append(status_of(path)), move(*files)))
    finished(path, "new")
    assert states == ["running"] * 3
    assert (texts(path), status_of(path)) == (["new", "new"], "done")


@pytest.mark.parametrize("error", [KeyboardInterrupt, ResourceError("a", "b", "c"), ValueError])
def test_a_failed_run_leaves_the_older_results(path, error):
    finished(path, "old")
    before = (path / "run.json").read_bytes()
    with pytest.raises(type(error) if isinstance(error, Exception) else error):
        failed(path, error)
    assert (path / "run.json").read_bytes() == before
    assert texts(path) == ["old", "old"]
    assert files_in(path) == ["a.txt", "b.txt", "run.json"]


def test_a_failed_first_run_leaves_nothing(path):
    with pytest.raises(ValueError, match="odd"):
        failed(path, ValueError("odd"))
    assert files_in(path) == []


def test_a_second_run_is_refused(path):
    code = (
        "import sys; from pathlib import Path; from gpuasm.cli.run_folder import RunFolder\n"
        "with RunFolder(Path(sys.argv[1]), 'bin'):\n    print('ready', flush=True); sys.stdin.read()"
    )
    arguments = [sys.executable, "-c", code, str(path)]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        with pytest.raises(OutputError, match=f"in use by process {process.pid}") as caught, RunFolder(path, "bin"):
            pass
        assert caught.value.exit_code == 73
        assert status_of(path) == "running"
        process.communicate()
    finished(path, "new")
    assert files_in(path) == ["a.txt", "b.txt", "run.json"]


@pytest.mark.parametrize("when", ["writing", "replacing"])
def test_a_killed_run_leaves_its_state_and_the_next_one_cleans_up(path, when):
    finished(path, "old")
    code = (
        "import os, sys; from pathlib import Path; from gpuasm.cli import run_folder\n"
        "from tests.unit.cli.test_run_folder import write\n"
        "def move(source, target): os.replace(source, target); os.kill(os.getpid(), 9)\n"
        "run_folder.move_output = move\n"
        "with run_folder.RunFolder(Path(sys.argv[1]), 'bin') as folder:\n    write(folder, 'new')\n"
        "    os.kill(os.getpid(), 9) if sys.argv[2] == 'writing' else folder.replace()"
    )
    assert subprocess.run([sys.executable, "-c", code, str(path), when], check=False).returncode == -9
    assert status_of(path) == "running"
    assert texts(path) == (["old", "old"] if when == "writing" else ["new", "old"])
    with pytest.raises(ValueError, match="odd"), RunFolder(path, "bin"):
        raise ValueError("odd")
    assert status_of(path) == ("done" if when == "writing" else "running")
    finished(path, "newer")
    assert (texts(path), status_of(path)) == (["newer", "newer"], "done")
    assert files_in(path) == ["a.txt", "b.txt", "run.json"]


def test_files_of_an_earlier_run_are_removed(path):
    for numbers in ([1, 2, 3], [1]):
        with RunFolder(path, "bin") as folder:
            (folder.files / "bins").mkdir()
            for number in numbers:
                (folder.files / "bins" / f"bin_{number}").write_text("")
            write_json(folder.files / "run.json", {"status": "done", "command": "bin"})
            (path / "bins").mkdir(exist_ok=True)
            (path / "bins" / "notes").write_text("mine")
            folder.replace(is_old=lambda name: name.name.startswith("bin_"))
    assert files_in(path / "bins") == ["bin_1", "notes"]


def test_links_stay_links_and_pipes_are_written(path, tmp_path):
    path.mkdir(parents=True)
    (path / "a.txt").symlink_to(tmp_path / "elsewhere")
    (path / "b.txt").symlink_to("/dev/null")
    finished(path, "new")
    assert (path / "a.txt").is_symlink()
    assert (tmp_path / "elsewhere").read_text() == "new"


@pytest.mark.parametrize("name", ["a.txt", "run.json"])
def test_a_folder_in_the_place_of_a_file(path, name):
    (path / name).mkdir(parents=True)
    with pytest.raises(OutputError, match=name):
        finished(path, "new")


def test_results_of_another_command_are_kept(path):
    finished(path, "old")
    with pytest.raises(UsageError, match="results of gpuasm bin"), RunFolder(path, "relate"):
        pass
    assert texts(path) == ["old", "old"]


def test_errors_name_the_place_that_the_user_knows(path):
    with pytest.raises(ResourceError) as caught, RunFolder(path, "bin") as folder:
        raise ResourceError("room", "none", "free some", path=folder.files / "a.txt")
    assert str(caught.value).startswith(str(path / "a.txt"))
    assert INCOMPLETE not in str(caught.value)


def test_file_systems_without_locks(path, monkeypatch):
    def fail(*_):
        raise OSError(37, "No locks available")

    monkeypatch.setattr(run_folder.fcntl, "flock", fail)
    finished(path, "new")
    assert texts(path) == ["new", "new"]


def test_within_outputs_that_appear_together(path, tmp_path):
    with outputs_together():
        with RunFolder(path, "bin") as folder:
            write(folder, "new")
            assert files_in(folder.files) == ["a.txt", "b.txt", "run.json"]
            folder.replace()
        with atomic_output(tmp_path / "other") as file:
            file.write("x")
        assert not (tmp_path / "other").exists()
    assert (tmp_path / "other").read_text() == "x"


def test_two_assemblies_into_one_folder(run_cli, tmp_path):
    (tmp_path / "reads.fa").write_text(f">a\n{'ACGTTGCAAC' * 20}\n")
    with RunFolder(tmp_path / "out", "assemble"):
        code, out, err = run_cli("assemble", "-q", tmp_path / "reads.fa", "-o", tmp_path / "out")
    assert (code, out, err.count("\n")) == (73, "", 1)
    assert f"in use by process {os.getpid()}" in err
