"""Outcomes of the samples of a group in one."""

from __future__ import annotations

import json

import pytest

from gpuasm.cli import gathered_status


@pytest.fixture
def gathered(tmp_path):
    """Return a function that gathers outcomes, given as (status, exit code, message)."""

    def gather(*outcomes):
        paths = [tmp_path / f"{i}.json" for i in range(len(outcomes))]
        for path, outcome in zip(paths, outcomes, strict=True):
            path.write_text(json.dumps(dict(zip(("status", "exit_code", "message"), outcome, strict=True))))
        status = tmp_path / "partition_reads.json"
        with pytest.raises(SystemExit) as end:
            gathered_status.main(["--group", "gut", "--status", str(status), *map(str, paths)])
        assert end.value.code == 0
        return json.loads(status.read_text())

    return gather


def test_a_group_of_good_samples_is_good(gathered):
    assert gathered(("ok", 0, ""), ("ok", 0, "")) == {
        "sample": "gut", "step": "partition_reads", "status": "ok", "exit_code": 0, "message": "",
    }  # fmt: skip


def test_one_bad_sample_fails_its_group(gathered):
    found = gathered(("ok", 0, ""), ("skipped", 65, "a.fq: cut off"), ("failed", 66, "b.fq: none"))
    assert (found["status"], found["exit_code"], found["message"]) == ("failed", 65, "a.fq: cut off")
