"""What signals did to commands, counted and written to a file of results while trials go on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.result_files import host_of, read_entries, write_entries
from gpuasm.cli.manifest import machine, versions

SOON_S = 2.0
_Given, _Found = TypeVar("_Given"), TypeVar("_Found")


@dataclass
class Outcome:
    """What one signal did.

    Attributes
    ----------
    signal, command : str
        Names of both.
    moment : float
        Seconds after the start of the process at which it was sent.
    twice : bool
        Whether it was sent a second time at once.
    by_python : bool
        Whether Python ended the process, before it ran anything of gpuasm.
    seconds : float
        From the signal to the end of the process.
    wrong : list of str
        What is not as it must be.
    """

    signal: str
    command: str
    moment: float
    twice: bool = False
    by_python: bool = False
    seconds: float = 0.0
    wrong: list[str] = field(default_factory=list)


@dataclass
class Row:
    """Counts of the outcomes of one signal to one command."""

    signal: str
    command: str
    signals: int = 0
    within_two_seconds: int = 0
    twice: int = 0
    by_python: int = 0
    most_seconds: float = 0.0
    wrong: int = 0

    def add(self, outcome: Outcome) -> None:
        """Count an outcome."""
        self.signals += 1
        self.within_two_seconds += outcome.moment < SOON_S
        self.twice += outcome.twice
        self.by_python += outcome.by_python
        self.most_seconds = max(self.most_seconds, round(outcome.seconds, 2))
        self.wrong += bool(outcome.wrong)


def in_parallel(trial: Callable[[_Given], _Found], given: Iterable[_Given], *, jobs: int) -> Iterator[_Found]:
    """Yield what trials find, in the order of what they are given, so many at a time."""
    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(trial, given)


def counted(outcomes: Iterable[Outcome], path: Path | None) -> int:
    """Count outcomes, print what is wrong, write a file of results after each; return how many are wrong.

    Rows of other signals and commands that the file has of this machine are kept.
    """
    rows: dict[tuple[str, str], Row] = {}
    about = {"date": datetime.now(UTC).date().isoformat(), "machine": machine("cpu"), "versions": versions()}
    for outcome in outcomes:
        row = rows.setdefault((outcome.signal, outcome.command), Row(outcome.signal, outcome.command))
        row.add(outcome)
        for text in outcome.wrong:
            print(f"{outcome.command}, {outcome.signal} at {outcome.moment:.3f} s: {text}", flush=True)
        if path is not None:
            _write(path, about, rows)
    for row in rows.values():
        print(", ".join(f"{name} {value}" for name, value in asdict(row).items()), flush=True)
    return sum(row.wrong for row in rows.values())


def _write(path: Path, about: dict[str, Any], rows: dict[tuple[str, str], Row]) -> None:
    entries, host = read_entries(path), host_of(about["machine"])
    before = {(row["signal"], row["command"]): row for row in entries.get(host, {}).get("rows", [])}
    merged = before | {key: asdict(row) for key, row in rows.items()}
    entries[host] = {**about, "parameters": {}, "rows": [merged[key] for key in sorted(merged)]}
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    write_entries(temporary, "signals", entries)
    temporary.replace(path)
