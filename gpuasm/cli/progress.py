"""Progress on standard error: bars with the time left on a terminal, lines elsewhere, JSON for programs, or nothing."""

from __future__ import annotations

import json
import logging
import sys
import time
from dataclasses import asdict
from typing import Any, TextIO

from gpuasm.resources import format_bytes
from gpuasm.stages import StageEvent, StageRecord, Stages

_SECONDS_BETWEEN_LINES = 5.0


class NoProgress:
    """Show nothing of the stages; messages still come out."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def __call__(self, event: StageEvent) -> None:
        """Show the event of a stage."""

    def message(self, text: str, level: str) -> None:
        """Print a message of the program."""
        prefix = "" if level == "info" else f"{level}: "
        print(f"gpuasm: {prefix}{text}", file=self._out, flush=True)

    def finish(self, stages: Stages) -> None:
        """Close the display at the end of the run, successful or not."""


class PlainProgress(NoProgress):
    """A line at the end of each stage, and one every few seconds within it."""

    def __init__(self, out: TextIO) -> None:
        super().__init__(out)
        self._last_line = time.monotonic()

    def __call__(self, event: StageEvent) -> None:
        now = time.monotonic()
        if event.kind == "end":
            self._line(end_text(event))
        elif event.kind == "advance" and now - self._last_line >= _SECONDS_BETWEEN_LINES:
            self._line(advance_text(event))

    def finish(self, stages: Stages) -> None:
        self._line(timings_table(stages), prefix="")

    def _line(self, text: str, prefix: str = "gpuasm: ") -> None:
        self._last_line = time.monotonic()
        print(f"{prefix}{text}", file=self._out, flush=True)


class JsonProgress(NoProgress):
    """One JSON object a line: start, advance and end of stages, messages, and the whole run at its end."""

    def __call__(self, event: StageEvent) -> None:
        facts: dict[str, Any] = {"event": event.kind, "stage": event.record.name, "depth": event.record.depth}
        if event.kind == "end":
            facts |= asdict(event.record) | {"failed": event.failed}
            del facts["name"]
        else:
            facts |= {"done": event.done, "total": event.total, "unit": event.unit, "elapsed_s": event.elapsed_s}
        self._write(facts)

    def message(self, text: str, level: str) -> None:
        self._write({"event": "message", "level": level, "text": text})

    def finish(self, stages: Stages) -> None:
        self._write({"event": "finish", "wall_s": stages.wall_s, "peak_rss_bytes": stages.peak_rss_bytes})

    def _write(self, facts: dict[str, Any]) -> None:
        print(json.dumps(facts, default=str), file=self._out, flush=True)


class BarProgress(NoProgress):
    """A bar for the current stage, and a permanent line for each finished stage."""

    def __init__(self, out: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        super().__init__(out)
        self._bars = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=Console(file=out, highlight=False, markup=False),
            transient=True,
        )
        self._tasks: dict[int, Any] = {}
        self._bars.start()

    def __call__(self, event: StageEvent) -> None:
        key = id(event.record)
        if event.kind == "start":
            self._tasks[key] = self._bars.add_task(title(event.record), total=event.total, rate="")
        elif event.kind == "advance":
            self._bars.update(self._tasks[key], completed=event.done, total=event.total, rate=_rate(event))
        else:
            self._bars.remove_task(self._tasks.pop(key))
            self._print(end_text(event))

    def message(self, text: str, level: str) -> None:
        self._print(text if level == "info" else f"{level}: {text}")

    def finish(self, stages: Stages) -> None:
        self._bars.stop()
        print(timings_table(stages), file=self._out, flush=True)

    def _print(self, text: str) -> None:
        self._bars.console.print(text, soft_wrap=True)


class MessageHandler(logging.Handler):
    """Hands log records to the display and keeps the warnings for run.json."""

    def __init__(self, display: NoProgress) -> None:
        super().__init__()
        self._display, self.warnings = display, list[str]()

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.levelno >= logging.WARNING:
            self.warnings.append(text)
        self._display.message(text, record.levelname.lower())


def make_progress(mode: str, out: TextIO | None = None) -> NoProgress:
    """Return the display for a value of ``--progress``: auto, plain, json or none.

    Parameters
    ----------
    mode
        "auto" draws bars where ``out`` is a terminal and writes lines where it is not.
    out
        Standard error, if None.
    """
    out = sys.stderr if out is None else out
    if mode == "auto":
        return BarProgress(out) if out.isatty() else PlainProgress(out)
    return {"plain": PlainProgress, "json": JsonProgress, "none": NoProgress}[mode](out)


def title(record: StageRecord) -> str:
    """Return the stage's name and parameters, indented by its depth: "count k-mers (k=31)"."""
    parameters = ", ".join(f"{name}={value}" for name, value in record.parameters.items())
    return "  " * record.depth + record.name + (f" ({parameters})" if parameters else "")


def advance_text(event: StageEvent) -> str:
    """Describe the progress of a stage: "count k-mers: 1,200 of 4,800 reads (25 %), 600 reads/s, 6 s left"."""
    rate = event.done / event.elapsed_s if event.elapsed_s else 0.0
    parts = [f"{event.done:,} {event.unit}".strip()]
    if event.total:
        parts = [f"{event.done:,} of {event.total:,} {event.unit} ({100 * event.done / event.total:.0f} %)"]
    if text := _rate(event):
        parts.append(text)
    if event.total and rate:
        parts.append(f"{duration((event.total - event.done) / rate)} left")
    return f"{title(event.record)}: {', '.join(parts)}"


def end_text(event: StageEvent) -> str:
    """Describe the outcome of a stage: "count k-mers (k=31): 2.4 s, distinct=4,710,112"."""
    counts = [f"{name}={_number(value)}" for name, value in event.record.counts.items()]
    outcome = "failed after " if event.failed else ""
    return f"{title(event.record)}: {', '.join([outcome + duration(event.record.wall_s), *counts])}"


def timings_table(stages: Stages) -> str:
    """Return the stages with wall time, CPU time and memory as a table of plain text."""
    with_device = any(record.device_bytes for record in stages.records)
    head = ["stage", "wall s", "CPU s", "peak memory", *(["GPU memory"] if with_device else [])]
    rows = [
        [
            title(record),
            f"{record.wall_s:.2f}",
            f"{record.cpu_s:.2f}",
            format_bytes(record.peak_rss_bytes),
            *([format_bytes(record.device_bytes)] if with_device else []),
        ]
        for record in stages.records
    ]
    total_cpu = sum(record.cpu_s for record in stages.records if record.depth == 0)
    total = ["total", f"{stages.wall_s:.2f}", f"{total_cpu:.2f}", format_bytes(stages.peak_rss_bytes)]
    rows.append(total + [""] * with_device)
    return aligned([head, *rows])


def aligned(rows: list[list[str]]) -> str:
    """Return rows of cells as lines with aligned columns: numbers to the right, other texts to the left."""
    columns = list(zip(*rows, strict=True))
    to_right = [all(cell[:1] in "0123456789-" for cell in column[1:]) and i > 0 for i, column in enumerate(columns)]
    widths = [max(map(len, column)) for column in columns]
    lines = []
    for row in rows:
        cells = zip(row, widths, to_right, strict=True)
        lines.append("  ".join(cell.rjust(width) if right else cell.ljust(width) for cell, width, right in cells))
    return "\n".join(line.rstrip() for line in lines)


def duration(seconds: float) -> str:
    """Write seconds for people: "0.04 s", "12.3 s", "2 min 05 s", "3 h 20 min"."""
    if seconds < 60:
        return f"{seconds:.2f} s" if seconds < 1 else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def _rate(event: StageEvent) -> str:
    if not event.done or not event.elapsed_s:
        return ""
    rate = event.done / event.elapsed_s
    return f"{rate:,.{0 if rate >= 100 else 1}f} {event.unit or 'steps'}/s"


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
