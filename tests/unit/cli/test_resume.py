"""Checkpoints: a run that was killed continues, to the same bytes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from gpuasm.assembly.iteration.next_graph import build_next_graph
from gpuasm.assembly.options import STAGES
from gpuasm.cli import main
from gpuasm.cli.assemble import LOG
from gpuasm.cli.checkpoint import NAME, Checkpoint, remove_leftovers
from gpuasm.cli.run_folder import INCOMPLETE
from tests.oracles.reads import fastq
from tests.read_files import OUTPUTS, files_in, genome_text, outputs_of, simulated_pairs, write_pairs

pytestmark = pytest.mark.usefixtures("pages_without_figures")

KILLED_AFTER_SAVING = """
import os, sys
from gpuasm.cli import main
from gpuasm.cli.checkpoint import Checkpoint
save = Checkpoint.save
def save_and_die(*args):
    save(*args)
    os.kill(os.getpid(), 9)
Checkpoint.save = save_and_die
main(sys.argv[1:])
"""
KILLED_WHILE_WRITING = """
import os, sys
from gpuasm.cli import main
def die(descriptor):
    if "/.{name}." in os.readlink(f"/proc/self/fd/{{descriptor}}"):
        os.kill(os.getpid(), 9)
os.fsync = die
main(sys.argv[1:])
"""


@pytest.fixture(scope="module")
def reads(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reads")
    return write_pairs(folder, simulated_pairs(genome_text(length=8000, repeats=4), circular=False))


@pytest.fixture(scope="module")
def arguments(reads):
    return ["-q", "-1", reads[0], "-2", reads[1], "--checkpoint-after", 0]


@pytest.fixture(scope="module")
def whole(arguments, tmp_path_factory):
    """The folder of a run that nothing interrupted."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.raises(SystemExit) as end:
        main(["assemble", *map(str, arguments), "-o", str(folder)])
    assert not end.value.code
    return folder


@pytest.fixture
def uninterrupted(whole):
    return outputs_of(whole)


@pytest.fixture(scope="module")
def checkpoints():
    """The bytes of a checkpoint for each number of them that a run has saved."""
    return {}


@pytest.fixture
def interrupted(run_cli, arguments, tmp_path, monkeypatch, checkpoints):
    """Return a function that returns the folder of a run that was stopped after so many checkpoints."""

    def stop(*, after=1):
        if after in checkpoints:
            (tmp_path / "out").mkdir()
            (tmp_path / "out" / NAME).write_bytes(checkpoints[after])
            return tmp_path / "out"
        saved, save = [], Checkpoint.save

        def save_and_stop(self, state):
            save(self, state)
            saved.append(state.kmer_graph.graph.k)
            if len(saved) == after:
                raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(Checkpoint, "save", save_and_stop)
            assert run_cli("assemble", *arguments, "-o", tmp_path / "out")[0] == 130
        assert files_in(tmp_path / "out") == [NAME, LOG]
        checkpoints[after] = (tmp_path / "out" / NAME).read_bytes()
        return tmp_path / "out"

    return stop


def killed(script, arguments, folder):
    command = [sys.executable, "-c", script, "assemble", *map(str, arguments), "-o", str(folder)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == -signal.SIGKILL


def first_stages(folder):
    return [stage["name"] for stage in json.loads((folder / "run.json").read_text())["stages"]]


def test_kill_and_resume(run_cli, arguments, whole, uninterrupted, tmp_path):
    folder = tmp_path / "out"
    killed(KILLED_AFTER_SAVING, arguments, folder)
    assert files_in(folder) == [NAME, INCOMPLETE, LOG, "run.json"]
    assert json.loads((folder / "run.json").read_text())["status"] == "running"
    assert run_cli("assemble", *arguments, "--resume", "-o", folder)[0] == 0
    assert files_in(folder) == OUTPUTS
    assert outputs_of(folder) == uninterrupted
    assert "count k-mers" not in first_stages(folder)[:2]
    expected, resumed = (json.loads((f / "run.json").read_text()) for f in (whole, folder))
    assert resumed["results"] == expected["results"]
    assert resumed["inputs"] == expected["inputs"]


@pytest.mark.parametrize("name", [NAME, "contigs.fasta", "run.json"])
def test_kill_in_the_middle_of_writing_and_resume(run_cli, arguments, uninterrupted, tmp_path, name):
    folder = tmp_path / "out"
    killed(KILLED_WHILE_WRITING.format(name=name), arguments, folder)
    assert not (set(files_in(folder)) & set(OUTPUTS)) - {LOG, "run.json", "report.html"}
    assert run_cli("assemble", *arguments, "--resume", "-o", folder)[0] == 0
    assert files_in(folder) == OUTPUTS
    assert outputs_of(folder) == uninterrupted


@pytest.mark.parametrize("after", [1, 2, 3])
@pytest.mark.parametrize("other", [["-t", 1], ["-t", 2, "--memory", "3G"]])
def test_resume_after_any_k_with_other_threads_and_memory(run_cli, arguments, uninterrupted, interrupted, after, other):
    folder = interrupted(after=after)
    assert run_cli("assemble", *arguments, *other, "--resume", "-o", folder)[0] == 0
    assert outputs_of(folder) == uninterrupted
    assert files_in(folder) == OUTPUTS


def test_a_resumed_run_can_be_interrupted_again(run_cli, arguments, uninterrupted, interrupted, monkeypatch):
    folder, save = interrupted(), Checkpoint.save
    before = (folder / NAME).read_bytes()

    def save_and_stop(self, state):
        save(self, state)
        if state.kmer_graph.graph.k > 31:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "save", save_and_stop)
        assert run_cli("assemble", *arguments, "--resume", "-o", folder)[0] == 130
    assert (folder / NAME).read_bytes() != before
    assert run_cli("assemble", *arguments, "--resume", "-o", folder)[0] == 0
    assert outputs_of(folder) == uninterrupted


def test_without_resume_a_checkpoint_is_thrown_away(run_cli, arguments, uninterrupted, interrupted):
    folder = interrupted()
    assert run_cli("assemble", *arguments, "-o", folder)[0] == 0
    assert files_in(folder) == OUTPUTS
    assert outputs_of(folder) == uninterrupted


def test_resume_without_a_checkpoint_starts_from_the_beginning(run_cli, arguments, uninterrupted, tmp_path):
    assert run_cli("assemble", *arguments, "--resume", "-o", tmp_path / "out")[0] == 0
    assert outputs_of(tmp_path / "out") == uninterrupted


@pytest.mark.parametrize(
    "other", [["-k", "31,61"], ["--min-count", "3"], ["--min-contig", "300"], ["--single", __file__]]
)
def test_resume_with_other_options_or_files_is_refused(run_cli, arguments, interrupted, other):
    folder = interrupted()
    checkpoint = (folder / NAME).read_bytes()
    code, out, err = run_cli("assemble", *arguments, *other, "--resume", "-o", folder)
    assert (code, out) == (2, "")
    assert f"{folder / NAME}: expected a checkpoint of the same reads, options and version, found one of others" in err
    assert err.endswith("; run again without --resume, or into another folder\n")
    assert err.count("\n") == 1
    assert files_in(folder) == [NAME, LOG]
    assert (folder / NAME).read_bytes() == checkpoint


@pytest.mark.parametrize("kind", ["relative", "link", "copy"])
def test_resume_with_the_same_files_by_another_path(run_cli, reads, uninterrupted, interrupted, tmp_path, kind):
    folder, others = interrupted(), []
    for path in reads:
        other = tmp_path / f"{kind}_{path.name}"
        match kind:
            case "relative":
                other = os.path.relpath(path)
            case "link":
                other.symlink_to(path)
            case "copy":
                shutil.copy2(path, other)
        others.append(other)
    arguments = ["-q", "-1", others[0], "-2", others[1], "--checkpoint-after", 0, "--resume"]
    assert run_cli("assemble", *arguments, "-o", folder)[0] == 0
    assert "count k-mers" not in first_stages(folder)[:2]
    assert outputs_of(folder) == uninterrupted


def test_resume_after_mates_are_swapped_is_refused(run_cli, reads, interrupted):
    folder = interrupted()
    arguments = ["-q", "-1", reads[1], "-2", reads[0], "--checkpoint-after", 0, "--resume"]
    assert run_cli("assemble", *arguments, "-o", folder)[0] == 2


def test_resume_after_the_reads_have_changed_is_refused(run_cli, reads, arguments, interrupted):
    folder, before = interrupted(), reads[0].stat()
    os.utime(reads[0], ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    code, _, err = run_cli("assemble", *arguments, "--resume", "-o", folder)
    os.utime(reads[0], ns=(before.st_atime_ns, before.st_mtime_ns))
    assert code == 2
    assert "the same reads" in err


def test_reads_from_a_pipe_cannot_be_resumed(tmp_path):
    texts = [
        fastq([read for pair in simulated_pairs(genome_text(seed=seed)) for read in pair]).encode() for seed in (1, 2)
    ]
    arguments = ["assemble", "-q", "--single", "-", "--checkpoint-after", "0", "-o", str(tmp_path / "out")]
    first = subprocess.run(
        [sys.executable, "-c", KILLED_AFTER_SAVING, *arguments], input=texts[0], capture_output=True, check=False
    )
    assert first.returncode == -signal.SIGKILL
    second = subprocess.run(
        [sys.executable, "-m", "gpuasm", *arguments, "--resume"], input=texts[1], capture_output=True, check=False
    )
    assert second.returncode == 2
    assert b"the same reads" in second.stderr


def damage(kind, data):
    broken = bytearray(data)
    match kind:
        case "empty":
            return b""
        case "text":
            return b"not a checkpoint\n"
        case "cut":
            return data[: len(data) // 2]
        case "a changed byte":
            broken[len(data) // 2] ^= 1
    return bytes(broken)


@pytest.mark.parametrize("kind", ["empty", "text", "cut", "a changed byte"])
def test_a_damaged_checkpoint_is_refused(run_cli, arguments, interrupted, kind):
    folder = interrupted()
    (folder / NAME).write_bytes(damage(kind, (folder / NAME).read_bytes()))
    code, out, err = run_cli("assemble", *arguments, "--resume", "-o", folder)
    assert (code, out) == (65, "")
    assert f"{folder / NAME}: expected a checkpoint of this run, found a damaged file" in err
    assert err.count("\n") == 1
    assert err.endswith("; run again without --resume\n")


@pytest.mark.parametrize("missing", ["mark", "scalars", "graph_bases"])
def test_a_checkpoint_that_lacks_a_part_is_refused(run_cli, arguments, interrupted, missing):
    folder = interrupted()
    with np.load(folder / NAME) as stored:
        parts = {name: stored[name] for name in stored.files if name != missing}
    with (folder / NAME).open("wb") as file:
        np.savez(file, **parts)
    code, _, err = run_cli("assemble", *arguments, "--resume", "-o", folder)
    assert code == 65
    assert "found a damaged file" in err


def test_checkpoints_are_written_only_so_often(run_cli, reads, tmp_path, monkeypatch):
    saved = []
    monkeypatch.setattr(Checkpoint, "save", lambda self, state: saved.append(state.kmer_graph.graph.k))
    for seconds, expected in ((3600, 0), (0, 2)):
        saved.clear()
        arguments = ["-q", "-1", reads[0], "-2", reads[1], "-k", "31,61,91", "--checkpoint-after", seconds]
        assert run_cli("assemble", *arguments, "-o", tmp_path / "out")[0] == 0
        assert len(saved) == expected


def test_checkpoints_that_take_long_are_written_less_often(run_cli, reads, tmp_path, monkeypatch):
    """By a clock that moves on by 6 s with each k, and by 1 s with each checkpoint."""
    now, saved = [0.0], []

    def save(_, state):
        now[0] += 1.0
        saved.append(state.kmer_graph.graph.k)

    def build_slowly(state, k, stages):
        now[0] += 6.0
        return build_next_graph(state, k, stages)

    monkeypatch.setattr("gpuasm.cli.assemble.time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr("gpuasm.assembly.pipeline.build_next_graph", build_slowly)
    monkeypatch.setattr(Checkpoint, "save", save)
    arguments = ["-q", "-1", reads[0], "-2", reads[1], "-k", "31,41,51,61,71,81", "--checkpoint-after", 5]
    assert run_cli("assemble", *arguments, "-o", tmp_path / "out")[0] == 0
    assert saved == [41, 61]  # after 6 s, and not before 10 s more have passed


@pytest.mark.parametrize("stage", ["first-graph", "reads", "fragments", "pairs", "check"])
def test_stop_after_a_stage_and_resume(run_cli, arguments, uninterrupted, tmp_path, stage):
    folder = tmp_path / "out"
    assert run_cli("assemble", *arguments, "--stop-after", stage, "-o", folder)[0] == 0
    run = json.loads((folder / "run.json").read_text())
    is_last = stage == "check"
    assert files_in(folder) == (OUTPUTS if is_last else sorted([NAME, *OUTPUTS]))
    assert run["status"] == ("done" if is_last else f"stopped after {stage}")
    assert run["parameters"]["stop_after"] == stage
    assert run["results"]["contigs"] >= 1
    assert (run["results"]["k"] == [31]) == (stage == "first-graph")
    names = [stage["name"] for stage in run["stages"]]
    for name, stages in (("join mates", 2), ("join by pairs", 3), ("align reads to contigs", 4)):
        assert (name in names) == (stages <= STAGES.index(stage)), name
    assert run_cli("assemble", *arguments, "--resume", "-o", folder)[0] == 0
    assert outputs_of(folder) == uninterrupted
    assert files_in(folder) == OUTPUTS


def test_stopping_again_where_a_run_was_stopped_later_writes_what_there_is(run_cli, arguments, tmp_path):
    folder = tmp_path / "out"
    assert run_cli("assemble", *arguments, "--stop-after", "fragments", "-o", folder)[0] == 0
    before = outputs_of(folder)
    assert run_cli("assemble", *arguments, "--stop-after", "first-graph", "--resume", "-o", folder)[0] == 0
    assert outputs_of(folder) == before


def test_what_another_process_is_writing_is_left_alone(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    for number in (ended.pid, os.getpid()):
        (tmp_path / f".contigs.fasta.{number}-0123abcd.tmp").touch()
    remove_leftovers(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [f".contigs.fasta.{os.getpid()}-0123abcd.tmp"]
