"""What a run shows on standard error."""

from __future__ import annotations

import io
import json
import logging
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from gpuasm.cli import progress
from gpuasm.cli import session as session_module
from gpuasm.cli.options import CommonOptions
from gpuasm.cli.session import run_session
from gpuasm.stages import StageEvent, StageRecord, Stages


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def event(kind: str = "advance", *, done: int = 0, total: int | None = None, elapsed_s: float = 0.0) -> StageEvent:
    record = StageRecord("count k-mers", {"k": 31}, wall_s=elapsed_s, counts={"distinct": 4710112, "why": "valley"})
    return StageEvent(kind, record, done, total, "reads", elapsed_s)  # type: ignore[arg-type]


def run(display: progress.NoProgress) -> Stages:
    stages = Stages(display)
    with stages.stage("read", unit="bytes", total=100) as stage:
        stage.advance(50)
    with stages.stage("count k-mers", k=31) as stage:
        display.message("solid threshold 4", "info")
        stage.note(distinct=4710112)
    display.finish(stages)
    return stages


def test_texts() -> None:
    assert progress.advance_text(event(done=1200, total=4800, elapsed_s=2.0)) == (
        "count k-mers (k=31): 1,200 of 4,800 reads (25 %), 600 reads/s, 6.0 s left"
    )
    assert progress.advance_text(event(done=5, elapsed_s=2.0)) == "count k-mers (k=31): 5 reads, 2.5 reads/s"
    assert progress.advance_text(event(total=10)) == "count k-mers (k=31): 0 of 10 reads (0 %)"
    assert progress.end_text(event("end", elapsed_s=2.4)) == (
        "count k-mers (k=31): 2.4 s, distinct=4,710,112, why=valley"
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.041, "0.04 s"), (12.34, "12.3 s"), (59.99, "60.0 s"), (125, "2 min 05 s"), (3600, "1 h 00 min")],
)
def test_durations(seconds: float, text: str) -> None:
    assert progress.duration(seconds) == text


def test_plain_lines_and_table() -> None:
    out = io.StringIO()
    run(progress.make_progress("plain", out))
    lines = out.getvalue().splitlines()
    assert lines[0].startswith("gpuasm: read: 0.0")
    assert lines[1] == "gpuasm: solid threshold 4"
    assert lines[2].startswith("gpuasm: count k-mers (k=31): 0.0")
    assert lines[3].split() == ["stage", "wall", "s", "CPU", "s", "peak", "memory"]
    assert [line.split()[0] for line in lines[4:]] == ["read", "count", "total"]


def test_plain_lines_within_a_long_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    out, clock = io.StringIO(), iter([0.0, 4.0, 5.0, 5.0, 6.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    display = progress.make_progress("plain", out)
    for done in (4, 5, 6):
        display(event(done=done, total=10, elapsed_s=float(done)))
    assert out.getvalue() == "gpuasm: count k-mers (k=31): 5 of 10 reads (50 %), 1.0 reads/s, 5.0 s left\n"


def test_json_lines() -> None:
    out = io.StringIO()
    run(progress.make_progress("json", out))
    facts = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [fact["event"] for fact in facts] == ["start", "advance", "end", "start", "message", "end", "finish"]
    assert facts[5]["counts"] == {"distinct": 4710112}
    assert facts[1]["done"] == 50


def test_none_shows_messages_only() -> None:
    out = io.StringIO()
    run(progress.make_progress("none", out))
    assert out.getvalue() == "gpuasm: solid threshold 4\n"


def test_bars_on_a_terminal() -> None:
    out = Terminal()
    display = progress.make_progress("auto", out)
    assert isinstance(display, progress.BarProgress)
    display(StageEvent("start", StageRecord("count [31]-mers"), 0, 10, "reads", 0.0))
    run(display)
    assert "count [31]-mers" in out.getvalue()
    assert "count k-mers (k=31): 0.0" in out.getvalue()
    assert "solid threshold 4" in out.getvalue()
    assert "peak memory" in out.getvalue()


def test_auto_without_a_terminal_is_plain() -> None:
    assert type(progress.make_progress("auto", io.StringIO())) is progress.PlainProgress


def test_table_shows_device_memory_where_there_is_some() -> None:
    stages = Stages()
    stages.records = [StageRecord("sort", wall_s=1.5, cpu_s=0.25, peak_rss_bytes=1 << 30, device_bytes=5 << 29)]
    lines = progress.timings_table(stages).splitlines()
    assert lines[0].endswith("GPU memory")
    assert lines[1].split() == ["sort", "1.50", "0.25", "1.0", "GB", "2.5", "GB"]


def test_session_shows_messages_and_keeps_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    with run_session(CommonOptions(threads=1, device="cpu", memory="1G", progress="none")) as session:
        assert (session.device, session.threads, session.memory) == ("cpu", 1, 1 << 30)
        logging.getLogger("gpuasm.kmers").info("a message")
        logging.getLogger("gpuasm.kmers").debug("a detail")
        logging.getLogger("gpuasm.kmers").warning("few reads")
    assert capsys.readouterr().err == "gpuasm: a message\ngpuasm: warning: few reads\n"
    assert session.warnings == ["few reads"]
    assert logging.getLogger("gpuasm").handlers == []


def test_quiet_session_shows_warnings_only(capsys: pytest.CaptureFixture[str]) -> None:
    with run_session(CommonOptions(device="cpu", quiet=True)) as session, session.stages.stage("count"):
        logging.getLogger("gpuasm").info("a message")
        logging.getLogger("gpuasm").warning("few reads")
    assert capsys.readouterr().err == "gpuasm: warning: few reads\n"


def test_failed_session_still_shows_timings(capsys: pytest.CaptureFixture[str]) -> None:
    common = CommonOptions(device="cpu", progress="plain")
    with pytest.raises(ValueError, match="boom"), run_session(common) as session, session.stages.stage("count"):
        raise ValueError("boom")
    assert "count: failed after 0.0" in capsys.readouterr().err


def test_the_requested_device_is_current_where_it_is_used(monkeypatch):
    """Each thread has a current device of its own, and another thread opens the device."""
    used = []

    class Device:
        def __init__(self, number):
            self.number = number

        def use(self):
            used.append((self.number, threading.current_thread() is threading.main_thread()))

    opened = SimpleNamespace(__name__="cupy", cuda=SimpleNamespace(Device=Device), zeros=np.zeros)
    monkeypatch.setattr(session_module.importlib.util, "find_spec", lambda _: True)
    monkeypatch.setattr(session_module, "has_driver", lambda: True)
    monkeypatch.setattr(session_module.arrays, "namespace_of", lambda _: opened)
    with run_session(CommonOptions(threads=1, device="cuda:1", quiet=True)) as session:
        assert session.xp is opened
    assert used == [(1, True)]


class _Xp(SimpleNamespace):
    """Replaces cupy."""

    def __init__(self):
        device = SimpleNamespace(use=lambda: None)
        super().__init__(__name__="cupy", cuda=SimpleNamespace(Device=lambda _: device), zeros=np.zeros)


@pytest.fixture
def opened(monkeypatch):
    xp = _Xp()
    monkeypatch.setattr(session_module.importlib.util, "find_spec", lambda _: True)
    monkeypatch.setattr(session_module, "has_driver", lambda: True)
    monkeypatch.setattr(session_module.arrays, "namespace_of", lambda _: xp)
    return xp


def test_an_open_device_is_warmed_up_until_it_is_requested(opened):
    begun, ended, calls = threading.Event(), threading.Event(), []

    def warm_up(xp, is_requested):
        calls.append((xp, is_requested()))
        begun.set()
        while not is_requested():
            ended.wait(0.001)
        ended.set()
        raise ValueError("not shown")

    with run_session(CommonOptions(threads=1, device="cuda", quiet=True), warm_up=warm_up) as session:
        assert begun.wait(10)
        assert session.xp is opened
        assert ended.wait(10)
    assert calls == [(opened, False)]


@pytest.mark.usefixtures("opened")
def test_messages_of_the_warm_up_are_hidden(capsys):
    begun = threading.Event()

    def warm_up(_xp, _is_requested):
        logging.getLogger("gpuasm.made_up").warning("about made-up reads")
        begun.set()

    with run_session(CommonOptions(threads=1, device="cuda", progress="plain"), warm_up=warm_up) as session:
        assert begun.wait(10)
        logging.getLogger("gpuasm.real").warning("about reads")
        assert session.warnings == ["about reads"]
    printed = capsys.readouterr().err
    assert "about reads" in printed
    assert "made-up" not in printed


@pytest.mark.parametrize(("chosen", "left"), [(None, []), ("cub", ["as chosen"])])
def test_reductions_are_plain_unless_the_user_chose(opened, monkeypatch, chosen, left):
    accelerators = [["as chosen"]]
    opened._core = SimpleNamespace(set_reduction_accelerators=accelerators.append)
    monkeypatch.delenv("CUPY_ACCELERATORS", raising=False)
    if chosen:
        monkeypatch.setenv("CUPY_ACCELERATORS", chosen)
    with run_session(CommonOptions(threads=1, device="cuda", quiet=True)) as session:
        assert session.xp is opened
    assert accelerators[-1] == left


@pytest.mark.parametrize(("device", "requested"), [("auto", "cpu"), ("cuda", "cuda")])
def test_without_a_driver_nothing_is_opened_in_a_thread(monkeypatch, device, requested):
    """Neither is cupy imported for nothing, nor does a run begin that cannot have its device."""
    names = []
    monkeypatch.setattr(session_module.importlib.util, "find_spec", lambda _: True)
    monkeypatch.setattr(session_module, "has_driver", lambda: False)
    monkeypatch.setattr(session_module.arrays, "namespace_of", lambda name: names.append(name) or np)
    with run_session(CommonOptions(threads=1, device=device, quiet=True)) as session:
        assert session.namespace.done()
        assert session.xp is np
    assert names == [requested]


def test_neither_a_cpu_nor_a_requested_device_is_warmed_up(opened, monkeypatch):
    called, is_open = [], threading.Event()

    def warm_up(*_):
        called.append(True)

    with run_session(CommonOptions(threads=1, device="cpu", quiet=True), warm_up=warm_up):
        pass

    def open_slowly(_):
        assert is_open.wait(10)
        return opened

    monkeypatch.setattr(session_module.arrays, "namespace_of", open_slowly)
    with run_session(CommonOptions(threads=1, device="cuda", quiet=True), warm_up=warm_up) as session:
        threading.Timer(0.05, is_open.set).start()
        assert session.xp is opened
        opener = [thread for thread in threading.enumerate() if thread.name == "open device"]
        for thread in opener:
            thread.join()
    assert called == []


def test_a_failed_run_waits_for_what_has_begun_on_the_device(opened):
    begun, ended = threading.Event(), []

    def warm_up(_, is_requested):
        begun.set()
        while not is_requested():
            time.sleep(0.001)
        time.sleep(0.05)
        ended.append(True)

    def fail():
        with run_session(CommonOptions(threads=1, device="cuda", quiet=True), warm_up=warm_up):
            assert begun.wait(10)
            raise ValueError("boom")

    with pytest.raises(ValueError, match="boom"):
        fail()
    assert ended == [True]


def test_messages_are_logged_again_after_a_quiet_run(caplog):
    logger = logging.getLogger("gpuasm")
    with caplog.at_level(logging.INFO, "gpuasm"):
        with run_session(CommonOptions(device="cpu", quiet=True)):
            logger.info("during the run")
        logger.info("after the run")
    assert caplog.messages == ["after the run"]
