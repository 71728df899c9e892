"""The record of a run: stages with progress, wall and CPU time, memory and counts."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from gpuasm import arrays

_SECONDS_BETWEEN_EVENTS = 0.1


@dataclass
class StageRecord:
    """The record of one stage.

    Attributes
    ----------
    name, parameters
        The operation and its settings.
    depth
        0 for a stage of the run, 1 for a stage within that, and so on.
    wall_s, cpu_s
        Seconds from start to end, and seconds of all threads and child processes in that time.
    peak_rss_bytes
        Peak resident memory of the process: exact if the stage raised the peak of the whole process, else the
        largest of the samples taken at start, end and each report of progress.
    device_bytes
        Size of the memory pool of the device at the end, which is its peak.
    counts
        Numbers or short texts about the result.
    """

    name: str
    parameters: dict[str, Any] = field(default_factory=dict)
    depth: int = 0
    wall_s: float = 0.0
    cpu_s: float = 0.0
    peak_rss_bytes: int = 0
    device_bytes: int = 0
    counts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StageEvent:
    """The start, the progress or the end of a stage, as passed to the listener."""

    kind: Literal["start", "advance", "end"]
    record: StageRecord
    done: int
    total: int | None
    unit: str
    elapsed_s: float
    failed: bool = False


class Stage:
    """A running stage; made by :meth:`Stages.stage`."""

    def __init__(self, record: StageRecord, *, total: int | None, unit: str, owner: Stages) -> None:
        self.record, self.total, self.unit, self.done = record, total, unit, 0
        self._owner, self._lock = owner, threading.Lock()
        self._started_wall, self._started_cpu = time.perf_counter(), _cpu_seconds()
        self._process_peak, self._last_event = _peak_rss_bytes(), 0.0
        record.peak_rss_bytes = _rss_bytes()

    def advance(self, amount: int = 1) -> None:
        """Report that ``amount`` more units are done; any thread may call this."""
        with self._lock:
            self.done += amount
            now = time.perf_counter()
            if now - self._last_event < _SECONDS_BETWEEN_EVENTS:
                return
            self._last_event = now
            self.record.peak_rss_bytes = max(self.record.peak_rss_bytes, _rss_bytes())
        self._notify("advance")

    def set_total(self, total: int) -> None:
        """Set how many units there are, if that becomes known only during the stage."""
        self.total = total

    def note(self, **counts: Any) -> None:
        """Record counts with the timings: numbers or short texts, written to run.json."""
        self.record.counts.update(counts)

    def _end(self, *, failed: bool) -> None:
        record, process_peak = self.record, _peak_rss_bytes()
        record.wall_s = time.perf_counter() - self._started_wall
        record.cpu_s = _cpu_seconds() - self._started_cpu
        record.peak_rss_bytes = max(record.peak_rss_bytes, _rss_bytes())
        if process_peak > self._process_peak:
            record.peak_rss_bytes = process_peak
        record.device_bytes = arrays.device_memory_used()
        self._notify("end", failed=failed)

    def _notify(self, kind: Literal["start", "advance", "end"], *, failed: bool = False) -> None:
        if self._owner.listener is not None:
            elapsed = time.perf_counter() - self._started_wall
            self._owner.listener(StageEvent(kind, self.record, self.done, self.total, self.unit, elapsed, failed))


class _NoStage:
    """A stage that is not recorded."""

    def advance(self, amount: int = 1) -> None:
        """Do nothing."""

    def note(self, **counts: Any) -> None:
        """Do nothing."""


class NoStages:
    """A substitute for :class:`Stages` that records nothing, where microseconds matter."""

    @contextmanager
    def stage(self, name: str, **parameters: Any) -> Iterator[_NoStage]:  # noqa: ARG002 - as Stages.stage
        """Open a stage that is not recorded."""
        yield _NoStage()


class Stages:
    """The stages of one run, in the order of their starts.

    Parameters
    ----------
    listener
        Called with each :class:`StageEvent`; without one, stages are silent and only keep records.

    Examples
    --------
    >>> stages = Stages()
    >>> with stages.stage("count k-mers", total=2, unit="reads", k=31) as stage:
    ...     stage.advance(2)
    ...     stage.note(distinct=240)
    >>> stages.records[0].counts
    {'distinct': 240}
    """

    def __init__(self, listener: Callable[[StageEvent], None] | None = None) -> None:
        self.listener = listener
        self.records: list[StageRecord] = []
        self.started = datetime.now(UTC)
        self._depth = 0

    @contextmanager
    def stage(self, name: str, *, total: int | None = None, unit: str = "", **parameters: Any) -> Iterator[Stage]:
        """Open a stage for a ``with`` block; one thread opens all stages of a run.

        Parameters
        ----------
        name
            The operation, as a verb phrase: "count k-mers".
        total
            The number of units of work, if it is known.
        unit
            The unit, in the plural: "reads", "bytes".
        **parameters
            Settings to record with the name: ``k=31``.
        """
        stage = Stage(StageRecord(name, parameters, self._depth), total=total, unit=unit, owner=self)
        self.records.append(stage.record)
        self._depth += 1
        stage._notify("start")  # noqa: SLF001 - Stage and Stages are one thing in two classes
        failed = True
        try:
            yield stage
            failed = False
        finally:
            self._depth -= 1
            stage._end(failed=failed)  # noqa: SLF001

    @property
    def peak_rss_bytes(self) -> int:
        """Peak resident memory of this process so far, in bytes."""
        return _peak_rss_bytes()

    @property
    def wall_s(self) -> float:
        """Seconds since the run began."""
        return (datetime.now(UTC) - self.started).total_seconds()


def _cpu_seconds() -> float:
    children = os.times()
    return time.process_time() + children.children_user + children.children_system


def _peak_rss_bytes() -> int:
    # The peak is not reset at each stage by /proc/self/clear_refs: time(1) and batch systems read the same peak.
    return _status_bytes("VmHWM:")


def _rss_bytes() -> int:
    return _status_bytes("VmRSS:")


def _status_bytes(key: str) -> int:
    try:
        text = Path("/proc/self/status").read_text()
    except OSError:  # no /proc: nothing is known
        return 0
    return 1024 * int(text.partition(key)[2].split(maxsplit=1)[0])
