"""Which worker of a batch assembles which sample: memory, failures, second tries, signals."""

from __future__ import annotations

import logging
import queue
from collections import Counter, deque

import numpy as np
import pytest

from gpuasm import unfinished
from gpuasm.cli import batch_process, batch_workers, device_names
from gpuasm.cli.batch_ledger import Ledger, Need
from gpuasm.cli.batch_plan import settings_of
from gpuasm.cli.batch_process import Setting, Task
from gpuasm.cli.batch_results import worst_of
from gpuasm.cli.batch_workers import Workers
from gpuasm.cli.device_names import devices_of
from gpuasm.cli.inputs import begin_ahead, end_ahead, first_files, read_ahead
from gpuasm.cli.options import CommonOptions, ReadInputs
from gpuasm.cli.session import run_session, shared_setting
from gpuasm.errors import DeviceError
from gpuasm.resources import begin_new_peak
from gpuasm.stages import Stages
from tests.read_files import write_pairs

SETTING = Setting(CommonOptions(threads=1, device="cpu"), ahead=1)


def tasks(*names):
    return [Task(name, (), ()) for name in names]


class Fake:
    """A worker without a process: what becomes of a sample is in its name, "name:answer:answer of the second try"."""

    alive: list[Fake] = []
    tries: list[str] = []
    alone: list[bool] = []
    devices: list[str] = []

    def __init__(self, setting, events):
        self.setting, self.tasks, self._events = setting, deque(), events
        Fake.alive.append(self)

    def take(self, task):
        self.tasks.append(task)  # the end of the sample before, if there is one, is an event already
        need = {"host": 60, "held": 10, "device_bytes": 0, "device_free": 0}
        self._events.put((self, {"event": "forecast", "need": need}))

    def admit(self):
        name = self.tasks[0].name
        Fake.tries.append(name)
        Fake.devices.append(self.setting.common.device)
        Fake.alone.append(sum(bool(worker.tasks) for worker in Fake.alive) == 1)
        kind = (name.split(":") + ["0"] * 3)[Fake.tries.count(name)]
        answer = None if kind == "dies" else {"event": "end", "code": int(kind), "message": kind}
        self._events.put((self, {"event": "message", "text": "begins"}))
        self._events.put((self, answer))

    def close(self):
        pass

    def end(self):
        if self in Fake.alive:
            Fake.alive.remove(self)
        return -9

    def last_message(self):
        return "message"


@pytest.fixture
def fakes(monkeypatch):
    monkeypatch.setattr(batch_workers, "Worker", Fake)
    for found in (Fake.alive, Fake.tries, Fake.alone, Fake.devices):
        found.clear()


def outcomes(names, *, n=2, memory=1000):
    lines = []
    found = list(Workers([SETTING] * n, memory, lambda *line: lines.append(line)).outcomes(tasks(*names)))
    assert set(lines) == {(name, "begins") for name in names}
    assert Fake.alive == []
    return {outcome.name: outcome.exit_code for outcome in found}


@pytest.mark.parametrize("n", [1, 2, 5])
def test_each_sample_is_assembled_once(fakes, n):
    names = [f"sample{i}" for i in range(12)]
    assert outcomes(names, n=n) == dict.fromkeys(names, 0)
    assert sorted(Fake.tries) == sorted(names)


def test_failures_stop_no_other_sample_and_workers_are_replaced(fakes):
    names = ["a", "b:65", "c:1", "d:dies:dies", *"efgh"]
    assert outcomes(names) == dict.fromkeys(names, 0) | {"b:65": 65, "c:1": 1, "d:dies:dies": 75}


def test_a_sample_without_memory_is_tried_again_alone(fakes):
    names = ["a:75", "b:dies", *"cdefg", "h:75:75"]
    assert outcomes(names, n=3) == dict.fromkeys(names, 0) | {"h:75:75": 75}
    assert sorted(Fake.tries[-3:]) == ["a:75", "b:dies", "h:75:75"]
    assert all(Fake.alone[-3:])
    assert not any(Fake.alone[:3])


def test_a_signal_ends_all_workers(fakes):
    before = set(unfinished._undo)
    running = Workers([SETTING] * 2, 1000, lambda *_: None).outcomes(tasks(*"abcd"))
    next(running)
    (undo,) = [unfinished._undo[number] for number in set(unfinished._undo) - before]
    assert Fake.alive
    undo()
    assert not Fake.alive
    running.close()
    assert set(unfinished._undo) == before


def test_samples_are_admitted_in_turn_as_they_fit_the_host():
    ledger = Ledger(100)
    for name, host in (("a", 60), ("b", 60), ("c", 30)):
        ledger.ask(name, Need(host, held=5))
    assert ledger.admit() == ["a"]  # c fits, but must not overtake b for ever
    ledger.release("a")
    assert ledger.admit() == ["b", "c"]
    ledger.release("b")
    ledger.release("c")
    ledger.ask("larger than all", Need(500, held=5))
    assert ledger.admit() == ["larger than all"]


def test_samples_are_admitted_as_they_fit_their_device():
    ledger = Ledger(1000)
    ledger.ask("a", Need(1, 1, "cuda:0", 70, 100))
    assert ledger.admit() == ["a"]
    ledger.ask("b", Need(1, 1, "cuda:0", 40, 100))  # a has not taken its memory yet
    assert ledger.admit() == []
    ledger.release("a")
    ledger.ask("c", Need(1, 1, "cuda:1", 90, 100))
    assert ledger.admit() == ["b", "c"]


@pytest.fixture
def started(monkeypatch, tmp_path):
    """Return a function that starts a worker whose process runs a shell script, and its events."""

    def start(script):
        program = tmp_path / "program"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setattr(batch_process.sys, "executable", str(program))
        events = queue.SimpleQueue()
        return batch_process.Worker(SETTING, events), events

    return start


def test_answers_and_the_end_of_a_process_are_events(started):
    worker, events = started('read setting; read order; echo "$order"; echo last message >&2; kill -9 $$')
    worker.take(Task("a", ("assemble", "a.fq"), ("a.fq",)))
    order = events.get(timeout=20)[1]
    assert order["arguments"][:4] == ["assemble", "a.fq", "--threads", "1"]
    assert events.get(timeout=20) == (worker, None)
    assert (worker.end(), worker.last_message()) == (-9, "last message")


def test_a_process_that_does_not_end_is_killed(started, monkeypatch):
    monkeypatch.setattr(batch_process, "_PATIENCE_S", 0.05)
    worker, _ = started("exec sleep 60")
    assert worker.end() == -9


@pytest.fixture
def devices(monkeypatch):
    """Return a function that lets a machine have so many devices, and returns their names."""

    def make(n):
        names = [f"cuda:{number}" for number in range(n)]
        monkeypatch.setattr(device_names, "compute_capability", lambda name: (9, 0) if name in names else None)
        monkeypatch.setattr(device_names.importlib.util, "find_spec", lambda _: True)
        return names

    return make


@pytest.mark.parametrize("n", [1, 2, 4, 8])
def test_samples_are_spread_over_all_devices(fakes, devices, n):
    there = devices(n)
    settings = settings_of(CommonOptions(threads=64, device="all"), [1] * 96, jobs=None, memory=1 << 40)
    assert Counter(setting.common.device for setting in settings) == dict.fromkeys(there, min(8, 32 // n))
    names = [f"sample{i}" for i in range(96)]
    found = list(Workers(settings, 1 << 20, lambda *_: None).outcomes(tasks(*names)))
    assert sorted(outcome.name for outcome in found) == sorted(names)
    assert Counter(Fake.devices) == dict.fromkeys(there, 96 // n)


def test_named_devices_are_used_and_no_others(devices):
    devices(8)
    named = settings_of(CommonOptions(threads=64, device="cuda:5,2"), [1] * 96, jobs=3, memory=1 << 40)
    assert [setting.common.device for setting in named] == ["cuda:5", "cuda:2", "cuda:5"]


def test_all_devices_of_a_machine_without_one_are_an_error(devices):
    devices(0)
    with pytest.raises(DeviceError):
        devices_of("all")


def test_workers_share_cores_memory_and_devices(devices):
    devices(2)
    common = CommonOptions(threads=16, device="all")
    settings = settings_of(common, [1 << 20] * 50, jobs=None, memory=1 << 40)
    assert [setting.common.device for setting in settings] == ["cuda:0", "cuda:1"] * 4
    assert {setting.common.threads for setting in settings} == {2}
    assert len(settings_of(common, [1 << 20] * 3, jobs=None, memory=1 << 40)) == 3
    assert len(settings_of(common, [1 << 30] * 50, jobs=None, memory=7 << 30)) == 2
    assert len(settings_of(common, [1 << 30] * 50, jobs=5, memory=1 << 30)) == 5


def test_the_worst_failure_is_that_of_the_batch():
    assert worst_of([]) == worst_of([0, 0]) == 0
    assert worst_of([0, 65, 66]) == 66
    assert worst_of([2, 65, 75]) == 75
    assert worst_of([75, 1, 0]) == 1


def test_successive_runs_share_the_device_and_nothing_else():
    common, admitted = CommonOptions(threads=1, device="cpu", memory="1G", quiet=True), []
    with shared_setting(common, admit=admitted.append):
        with run_session(common) as first:
            logging.getLogger("gpuasm").warning("of the first")
        with run_session(common) as second:
            second.admit({"host_bytes": 1})
    assert first.namespace is second.namespace
    assert (first.warnings, second.warnings, admitted) == (["of the first"], [], [{"host_bytes": 1}])
    with run_session(common) as alone:
        alone.admit({"host_bytes": 2})
    assert alone.namespace is not first.namespace
    assert len(admitted) == 1


def test_a_run_takes_over_files_that_are_read_ahead(tmp_path):
    pair = write_pairs(tmp_path, [("ACGT", "TTTT")])
    inputs = ReadInputs(first=pair[:1], second=pair[1:])
    files = first_files(inputs)
    begin_ahead(files, 1 << 30)
    with read_ahead(inputs, None) as ahead:
        assert ahead.take(files[0]) is not None
    begin_ahead(files, 1 << 30)
    end_ahead(files)
    end_ahead(files)
    with read_ahead(inputs, None) as again:
        assert again is not ahead


def test_the_peak_of_a_sample_is_not_that_of_one_before():
    np.ones(200 << 20, np.uint8).sum()
    before = Stages().peak_rss_bytes
    begin_new_peak()
    assert before - Stages().peak_rss_bytes > 100 << 20
