"""Outputs are whole or not there, whatever happens while they are written."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from gpuasm.errors import GpuasmError, OutputError, ReadWriteError, ResourceError
from gpuasm.io import atomic_output, write_json, write_tsv
from gpuasm.io.output import move_output, outputs_at_once, outputs_together


def files_in(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(("mode", "data"), [("w", "tëxt\n"), ("wb", b"\0bytes")])
def test_a_new_and_a_replaced_output(tmp_path, mode, data):
    path = tmp_path / "out"
    for _ in range(2):
        with atomic_output(path, mode) as file:
            file.write(data)
            file.flush()
            assert len(files_in(tmp_path)) == (2 if path.exists() else 1)
        assert path.read_bytes() == (data.encode() if mode == "w" else data)
    assert files_in(tmp_path) == ["out"]


def test_permissions_follow_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        with atomic_output(tmp_path / "out"):
            pass
    finally:
        os.umask(before)
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, SystemExit])
def test_an_error_leaves_nothing_new_and_the_old_as_it_was(tmp_path, error):
    def lines():
        yield "new\n" * 10_000
        raise error

    path = tmp_path / "out"
    path.write_text("old")
    with pytest.raises(error), atomic_output(path) as file:
        file.writelines(lines())
    assert files_in(tmp_path) == ["out"]
    assert path.read_text() == "old"


@pytest.mark.parametrize(
    ("number", "kind", "code"),
    [
        (errno.ENOSPC, ResourceError, 75),
        (errno.EDQUOT, ResourceError, 75),
        (errno.EFBIG, ResourceError, 75),
        (errno.EIO, ReadWriteError, 74),
    ],
)
@pytest.mark.parametrize("when", ["write", "fsync", "replace"])
def test_a_disk_that_fails(tmp_path, monkeypatch, number, kind, code, when):
    def fail(*args):
        raise OSError(number, os.strerror(number))

    path = tmp_path / "out"
    if when == "fsync":
        monkeypatch.setattr(os, "fsync", fail)
    if when == "replace":
        monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(kind) as caught, atomic_output(path) as file:
        file.writelines(fail() for _ in range(when == "write"))
    assert caught.value.exit_code == code
    assert str(path) in str(caught.value)
    assert os.strerror(number) in str(caught.value)
    monkeypatch.undo()
    assert files_in(tmp_path) == []


def test_a_disk_that_is_full_at_once(tmp_path, monkeypatch):
    def fail(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.open", fail)
        with pytest.raises(ResourceError), atomic_output(tmp_path / "out"):
            pass


def test_a_real_limit_on_file_sizes(tmp_path):
    code = f"""
import resource, sys
from gpuasm.errors import GpuasmError
from gpuasm.io import write_fasta
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
try:
    write_fasta({str(tmp_path / "out")!r}, ["a"], [""], ["ACGT" * 50_000])
except GpuasmError as error:
    print(error)
    sys.exit(error.exit_code)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 75, done.stderr
    assert "expected room on the disk" in done.stdout
    assert files_in(tmp_path) == []


def test_ctrl_c_in_the_middle_of_a_write(tmp_path):
    code = f"""
import itertools, sys
from gpuasm.io import write_tsv
def endless():
    for i in itertools.count():
        if i == 100_000:
            print("writing", flush=True)
        yield i
from gpuasm.io import atomic_output
with atomic_output({str(tmp_path / "out")!r}) as file:
    file.writelines(f"{{i}}\\n" for i in endless())
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout.readline() == b"writing\n"
    assert len(files_in(tmp_path)) == 1
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) != 0
    process.stdout.close()
    assert files_in(tmp_path) == []


def test_ctrl_c_while_a_pipe_stays_silent(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    code = f"import gpuasm.io as io; print('reading', flush=True); io.read_reads(single=[{str(pipe)!r}])"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout.readline() == b"reading\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) != 0
    process.stdout.close()


@pytest.mark.parametrize("path", ["missing/out", "file/out"])
def test_an_output_that_cannot_be_created(tmp_path, path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="check that the folder exists") as caught, atomic_output(tmp_path / path):
        pass
    assert caught.value.exit_code == 73
    with pytest.raises(OutputError), atomic_output(tmp_path):
        pass


def test_errors_of_other_files_stay_as_they_are(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, atomic_output(tmp_path / "out"):
        open(tmp_path / "other")  # noqa: SIM115 - does not open
    assert not isinstance(caught.value, GpuasmError)
    for error in (OutputError("a", "b", "c"), BrokenPipeError()):
        with pytest.raises(type(error)) as caught, atomic_output(tmp_path / "out"):
            raise error
        assert caught.value is error
    assert files_in(tmp_path) == []


def test_standard_output(capfdbinary):
    with atomic_output("-") as file:
        file.write("text\n")
    with atomic_output("-", "wb") as file:
        file.write(b"bytes\n")
    assert capfdbinary.readouterr().out == b"text\nbytes\n"


def test_a_link_stays_a_link(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "target")
    write_tsv(link, {"a": [1]})
    assert link.is_symlink()
    assert (tmp_path / "target").read_text() == "a\n1\n"


def test_devices_are_written_as_they_are():
    with atomic_output("/dev/null") as file:
        file.write("text")
    with pytest.raises(ResourceError, match="No space left"), atomic_output("/dev/full") as file:
        file.write("text")


def test_a_name_of_any_length(tmp_path):
    path = tmp_path / ("x" * 255)
    with atomic_output(path) as file:
        file.write("text")
    assert path.read_text() == "text"


def test_bytes_of_names_that_are_no_text_do_not_stop_an_output(tmp_path):
    name = os.fsdecode(b"caf\xe9_1.fastq")
    write_json(tmp_path / "run.json", {"path": name})
    assert json.loads((tmp_path / "run.json").read_text(encoding="utf-8")) == {"path": name}
    write_tsv(tmp_path / "table.tsv", {"file": [name]})
    assert (tmp_path / "table.tsv").read_text(encoding="utf-8") == "file\ncaf\\udce9_1.fastq\n"


def test_outputs_appear_together(tmp_path):
    (tmp_path / "a").write_text("old")
    with outputs_together():
        for name in "ab":
            write_tsv(tmp_path / name, {"new": [1]})
        assert (tmp_path / "a").read_text() == "old"
        assert not (tmp_path / "b").exists()
    assert [(tmp_path / name).read_text() for name in "ab"] == ["new\n1\n"] * 2
    assert files_in(tmp_path) == ["a", "b"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_no_output_appears_if_one_fails(tmp_path, error):
    (tmp_path / "a").write_text("old")

    def write_all():
        with outputs_together():
            write_tsv(tmp_path / "a", {"new": [1]})
            with atomic_output(tmp_path / "b") as file:
                file.write("new")
                raise error

    with pytest.raises(error):
        write_all()
    assert (tmp_path / "a").read_text() == "old"
    assert files_in(tmp_path) == ["a"]
    write_tsv(tmp_path / "c", {"new": [1]})  # at once again
    assert files_in(tmp_path) == ["a", "c"]


def test_outputs_within_outputs_that_appear_together(tmp_path):
    with outputs_together(), outputs_at_once():
        write_tsv(tmp_path / "a", {"new": [1]})
        assert files_in(tmp_path) == ["a"]


def test_what_is_undone_when_a_signal_ends_the_process(tmp_path):
    """In another process, as nothing may be made any more afterwards."""
    code = f"""
from gpuasm import unfinished
from gpuasm.io.output import atomic_output, outputs_together
with outputs_together(), atomic_output({str(tmp_path / "a")!r}) as file:
    with atomic_output({str(tmp_path / "b")!r}):
        pass
    number = unfinished.register(lambda: print("never", flush=True))
    unfinished.forget(number)
    unfinished.register(lambda: 1 / 0)
    unfinished.undo_all(1)
    import os; os._exit(0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")
    assert files_in(tmp_path) == []


def test_a_complete_file_is_moved_or_copied(tmp_path, monkeypatch):
    for is_far in (False, True):
        (tmp_path / "source").write_text("new")
        (tmp_path / "link").unlink(missing_ok=True)
        (tmp_path / "link").symlink_to("target")
        with monkeypatch.context() as patch:
            if is_far:
                patch.setattr("pathlib.Path.replace", _replace_near)
            move_output(tmp_path / "source", tmp_path / "link")
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "target").read_text() == "new"
        assert files_in(tmp_path) == ["link", "target"]


def _replace_near(path, target):
    if path.name == "source":
        raise OSError(errno.EXDEV, "Invalid cross-device link")
    os.replace(path, target)  # noqa: PTH105 - `Path.replace` is this function
