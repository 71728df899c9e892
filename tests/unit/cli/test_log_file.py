"""assemble.log: the lines of standard error with their times, also of runs that fail."""

from __future__ import annotations

import logging
import re

import pytest

from gpuasm import unfinished
from gpuasm.cli.log_file import RunLog
from gpuasm.errors import DataError, OutputError
from gpuasm.stages import Stages

TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ ")
_LOG = logging.getLogger("gpuasm.tests")


def lines_of(path):
    lines = path.read_text().splitlines()
    assert all(map(TIME.match, lines))
    return [TIME.sub("", line) for line in lines]


def test_lines_before_the_file_is_opened_are_in_it(tmp_path):
    stages = Stages()
    with RunLog(stages) as log:
        _LOG.warning("early")
        log.open(tmp_path / "log")
        with stages.stage("count", k=3) as stage:
            stage.note(distinct=1200)
        _LOG.info("late")
        _LOG.debug("not shown")
        seen = lines_of(tmp_path / "log")
        assert (seen[1], *seen[3:]) == ("gpuasm: warning: early", "gpuasm: late")
    lines = lines_of(tmp_path / "log")
    assert lines[0].startswith("gpuasm: version ")
    assert re.fullmatch(r"gpuasm: count \(k=3\): [\d.]+ s, distinct=1,200", lines[2])
    assert lines[4].startswith("stage  ")
    assert lines[-1].startswith("total")


def test_a_failed_run_ends_with_its_error_and_the_next_one_appends(tmp_path):
    error = DataError("reads", "none", "look")

    def fail(failure):
        with RunLog(Stages()) as log:
            log.open(tmp_path / "log")
            raise failure

    for failure in (error, ZeroDivisionError("of the test")):
        with pytest.raises(type(failure)):
            fail(failure)
    lines = lines_of(tmp_path / "log")
    assert f"gpuasm: error: {error}" in lines
    assert lines[-1] == "ZeroDivisionError: of the test"
    assert sum(line.startswith("gpuasm: version ") for line in lines) == 2


def test_a_signal_is_noted_while_the_run_lasts(tmp_path):
    with RunLog(Stages()) as log:
        log.open(tmp_path / "log")
        (undo,) = list(unfinished._undo.values())[-1:]
        undo()
        assert lines_of(tmp_path / "log")[-1] == "gpuasm: error: ended by a signal"


def test_what_standard_error_shows_does_not_depend_on_the_log(tmp_path):
    shown = []
    handler = logging.Handler()
    handler.emit = lambda record: shown.append(record.getMessage())
    logger = logging.getLogger("gpuasm")
    logger.addHandler(handler)
    logger.setLevel(logging.WARNING)
    with RunLog(Stages()) as log:
        log.open(tmp_path / "log")
        _LOG.info("quiet")
        _LOG.warning("loud")
    assert shown == ["loud"]
    assert {"gpuasm: quiet", "gpuasm: warning: loud"} <= set(lines_of(tmp_path / "log"))


def test_a_folder_of_its_name_is_refused_and_a_full_disk_is_not(tmp_path):
    (tmp_path / "log").mkdir()
    with pytest.raises(OutputError, match="rename what is there"), RunLog(Stages()) as log:
        log.open(tmp_path / "log")
    with RunLog(Stages()) as log:
        log.open(type(tmp_path)("/dev/full"))
        _LOG.warning("lost")
