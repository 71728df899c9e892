"""What a run did and how long it took: stages with progress, wall and CPU time, memory and counts."""

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
    """What is known of one stage.

    Attributes
    ----------
    name, parameters
        What was done, and with which settings.
    depth
        0 for a stage of the run, 1 for a stage within that, and so on.
    wall_s, cpu_s
        Seconds from start to end, and seconds of all threads and child processes in that time.
    peak_rss_bytes
        Largest resident memory of the process: exact where the stage raised the mark of the whole process, else the
        largest of the samples taken at start, end and each report of progress.
    device_bytes
        What the memory pool of the device held at the end, which is its high-water mark.
    counts
        What the stage wishes to say of its result.
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
    """The start, the progress or the end of a stage, as its listener hears of it."""

    kind: Literal["start", "advance", "end"]
    record: StageRecord
    done: int
    total: int | None
    unit: str
    elapsed_s: float
    failed: bool = False


class Stage:
    """A stage under way; made by :meth:`Stages.stage`."""

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
        self._tell("advance")

    def set_total(self, total: int) -> None:
        """State how many units there are, where that becomes known on the way only."""
        self.total = total

    def note(self, **counts: Any) -> None:
        """Put counts beside the timings: numbers or short texts, as they shall stand in run.json."""
        self.record.counts.update(counts)

    def _end(self, *, failed: bool) -> None:
        record, process_peak = self.record, _peak_rss_bytes()
        record.wall_s = time.perf_counter() - self._started_wall
        record.cpu_s = _cpu_seconds() - self._started_cpu
        record.peak_rss_bytes = max(record.peak_rss_bytes, _rss_bytes())
        if process_peak > self._process_peak:
            record.peak_rss_bytes = process_peak
        record.device_bytes = arrays.device_memory_used()
        self._tell("end", failed=failed)

    def _tell(self, kind: Literal["start", "advance", "end"], *, failed: bool = False) -> None:
        if self._owner.listener is not None:
            elapsed = time.perf_counter() - self._started_wall
            self._owner.listener(StageEvent(kind, self.record, self.done, self.total, self.unit, elapsed, failed))


class _NoStage:
    """A stage that nobody hears of."""

    def advance(self, amount: int = 1) -> None:
        """Do nothing."""

    def note(self, **counts: Any) -> None:
        """Do nothing."""


class NoStages:
    """Stands in for :class:`Stages` where microseconds count: stages are not recorded at all."""

    @contextmanager
    def stage(self, name: str, **parameters: Any) -> Iterator[_NoStage]:  # noqa: ARG002 - as Stages.stage
        """Open a stage that leaves no trace."""
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
        """Open a stage for the length of a ``with`` block; the thread that runs the recipe opens them all.

        Parameters
        ----------
        name
            What is done, as a verb phrase: "count k-mers".
        total
            How many units there are to do, if that is known.
        unit
            What is counted, in the plural: "reads", "bytes".
        **parameters
            Settings to keep beside the name: ``k=31``.
        """
        stage = Stage(StageRecord(name, parameters, self._depth), total=total, unit=unit, owner=self)
        self.records.append(stage.record)
        self._depth += 1
        stage._tell("start")  # noqa: SLF001 - Stage and Stages are one thing in two classes
        failed = True
        try:
            yield stage
            failed = False
        finally:
            self._depth -= 1
            stage._end(failed=failed)  # noqa: SLF001

    @property
    def peak_rss_bytes(self) -> int:
        """Largest resident memory of this process so far, in bytes."""
        return _peak_rss_bytes()

    @property
    def wall_s(self) -> float:
        """Seconds since the run began."""
        return (datetime.now(UTC) - self.started).total_seconds()


def _cpu_seconds() -> float:
    children = os.times()
    return time.process_time() + children.children_user + children.children_system


def _peak_rss_bytes() -> int:
    # The mark is not reset at each stage (/proc/self/clear_refs could): time(1) and batch systems read the same mark.
    return _status_bytes("VmHWM:")


def _rss_bytes() -> int:
    return _status_bytes("VmRSS:")


def _status_bytes(key: str) -> int:
    try:
        text = Path("/proc/self/status").read_text()
    except OSError:  # no /proc: nothing is known
        return 0
    return 1024 * int(text.partition(key)[2].split(maxsplit=1)[0])
