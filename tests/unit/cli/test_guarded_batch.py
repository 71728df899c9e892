"""The batches of the workflow: bad data stop one sample only, and all promised files exist."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpuasm.cli import guarded_batch


@pytest.fixture
def batch(tmp_path, monkeypatch):
    """Return a function that runs a guarded batch whose samples end with exit codes: its own code, and what ran."""

    def run(codes, *options, checked=65):
        ran = []
        for name in [*codes, "unchecked"]:
            (tmp_path / name / "status").mkdir(parents=True, exist_ok=True)
            status = {"status": "ok", "exit_code": 0, "message": ""}
            if name == "unchecked":
                status = {"status": "failed", "exit_code": checked, "message": "damaged"}
            (tmp_path / name / "status" / "check_reads.json").write_text(json.dumps(status))

        def run_command(command):
            ran.append([*command[3:4], Path(command[4]).read_text(), *command[5:9:2], *command[11:]])
            rows = [f"{name}\t{code}\tm" for name, code in codes.items()]
            Path(command[10]).write_text("\n".join(["sample\texit_code\tmessage", *rows]) + "\n")
            return max(codes.values()), ""

        monkeypatch.setattr(guarded_batch, "run_command", run_command)
        lines = [line for name in [*codes, "unchecked"] for line in (f"{name}\t{name}_1.fq\t{name}_2.fq",) * 2]
        arguments = ["--results", tmp_path, "--file", "contigs.fasta", *options, "--", *lines, "--", "--mode", "meta"]
        with pytest.raises(SystemExit) as end:
            guarded_batch.main(list(map(str, arguments)))
        return end.value.code, ran

    return run


def statuses(folder):
    found = [json.loads(path.read_text()) for path in sorted(folder.glob("*/status/assemble_contigs.json"))]
    return {status["sample"]: (status["status"], status["exit_code"], status["message"]) for status in found}


def test_bad_data_are_recorded_and_samples_of_a_failed_check_are_left_out(batch, tmp_path):
    code, ran = batch({"a": 0, "b": 65})
    sheet = "sample\treads_1\treads_2\n" + "a\ta_1.fq\ta_2.fq\n" * 2 + "b\tb_1.fq\tb_2.fq\n" * 2
    assert (code, ran) == (0, [["batch", sheet, "--output", "--subfolder", "--mode", "meta"]])
    assert statuses(tmp_path) == {
        "a": ("ok", 0, "m"),
        "b": ("failed", 65, "m"),
        "unchecked": ("skipped", 65, "damaged"),
    }
    assert all((tmp_path / name / "assembly" / "contigs.fasta").exists() for name in ("a", "b", "unchecked"))


@pytest.mark.parametrize(("codes", "options"), [({"a": 0, "b": 75}, []), ({"a": 0, "b": 65}, ["--fail"])])
def test_other_failures_fail_the_job(batch, tmp_path, codes, options):
    code, _ = batch(codes, *options)
    assert code == codes["b"]
    assert not statuses(tmp_path)


def test_nothing_is_run_if_all_reads_are_bad(batch, tmp_path):
    assert batch({}) == (0, [])
    assert statuses(tmp_path) == {"unchecked": ("skipped", 65, "damaged")}
