"""Stages: records, events, nesting, threads, failure."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from gpuasm.stages import StageEvent, Stages


def test_records_keep_order_parameters_and_counts() -> None:
    stages = Stages()
    with stages.stage("read", unit="reads") as stage:
        stage.note(reads=12)
    with stages.stage("count k-mers", k=31):
        pass
    assert [(r.name, r.parameters, r.counts) for r in stages.records] == [
        ("read", {}, {"reads": 12}),
        ("count k-mers", {"k": 31}, {}),
    ]


def test_times_are_measured() -> None:
    stages = Stages()
    with stages.stage("sleep"):
        time.sleep(0.05)
    assert 0.05 <= stages.records[0].wall_s < 5
    assert stages.records[0].cpu_s < 0.05
    assert stages.wall_s >= stages.records[0].wall_s


def test_peak_memory_of_a_stage_includes_what_was_freed_in_it() -> None:
    stages = Stages()
    before = stages.peak_rss_bytes
    with stages.stage("allocate"):
        size = before // 8 + (64 << 20)
        np.ones(size, np.float64)
    with stages.stage("rest"):
        pass
    assert stages.records[0].peak_rss_bytes >= 8 * size
    assert stages.records[1].peak_rss_bytes < stages.records[0].peak_rss_bytes


def test_listener_gets_start_progress_and_end() -> None:
    events: list[StageEvent] = []
    with Stages(events.append).stage("count", total=10, unit="reads") as stage:
        stage.advance(4)
        stage.advance(6)  # within a tenth of a second: not reported
    assert [(e.kind, e.done) for e in events] == [("start", 0), ("advance", 4), ("end", 10)]
    assert (events[-1].total, events[-1].unit, events[-1].failed) == (10, "reads", False)


def test_total_may_come_late() -> None:
    events: list[StageEvent] = []
    with Stages(events.append).stage("count") as stage:
        stage.set_total(5)
    assert [event.total for event in events] == [None, 5]


def test_stages_nest() -> None:
    stages = Stages()
    with stages.stage("assemble"), stages.stage("unitigs"):
        pass
    with stages.stage("write"):
        pass
    assert [(r.name, r.depth) for r in stages.records] == [("assemble", 0), ("unitigs", 1), ("write", 0)]


def test_a_failed_stage_ends_as_failed() -> None:
    events: list[StageEvent] = []
    stages = Stages(events.append)
    with pytest.raises(ValueError, match="boom"), stages.stage("count"):
        raise ValueError("boom")
    assert events[-1].failed
    with stages.stage("next"):
        pass
    assert stages.records[1].depth == 0


def test_advance_from_many_threads_loses_nothing() -> None:
    with Stages(lambda event: None).stage("count") as stage:
        workers = [threading.Thread(target=lambda: [stage.advance() for _ in range(2000)]) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert stage.done == 8000
