"""Counts of fuzzed inputs by target: what comes next, files of results, and the inputs that fail."""

from __future__ import annotations

import os
import re
import zlib
from collections import Counter, defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.result_files import host_of, read_entries, write_entries
from gpuasm.cli.manifest import machine, versions
from tests.fuzz.fuzzing import Outcome
from tests.fuzz.targets import TARGETS

_LEAST_INPUTS = 3000
"""So many inputs of each target come before any target gets more by its speed."""
_MOST_KEPT = 5
_BENCHMARK = "fuzz"
_PLACE = re.compile(r'File ".*?(gpuasm/[^"]*|tests/[^"]*)", line (\d+)')


class Counts:
    """What came of the inputs of all targets so far.

    Parameters
    ----------
    names
        The targets.
    keep
        The folder for inputs that fail.
    """

    def __init__(self, names: list[str], *, keep: Path) -> None:
        self._of = {name: Outcome() for name in names}
        self._failures: dict[str, Counter[str]] = defaultdict(Counter)
        self._begun = dict.fromkeys(names, 0.0)
        self._keep = keep

    @property
    def n_failures(self) -> int:
        """How many inputs failed."""
        return sum(found.total() for found in self._failures.values())

    def next_target(self, seconds: float) -> str:
        """Return the target to fuzz next, for a time.

        Time is spread evenly until each target has some thousand inputs, and then half of it by speed.
        """
        few = [name for name in self._of if self._n_inputs(name) < _LEAST_INPUTS]
        speed = {name: self._n_inputs(name) / max(1e-9, found.seconds) for name, found in self._of.items()}
        total = sum(speed.values()) or 1.0
        share = {name: 1.0 if few else 0.5 / len(speed) + 0.5 * speed[name] / total for name in self._of}
        name = min(few or self._of, key=lambda name: self._begun[name] / share[name])
        self._begun[name] += seconds
        return name

    def add(self, name: str, outcome: Outcome) -> None:
        """Add what came of some inputs, and keep those that failed."""
        found = self._of[name]
        found.counts += outcome.counts
        found.seconds += outcome.seconds
        found.peak_bytes = max(found.peak_bytes, outcome.peak_bytes)
        for data, text in outcome.failures:
            kind = _kind_of(text)
            self._failures[name][kind] += 1
            n = self._failures[name][kind]
            if n > _MOST_KEPT:
                continue
            self._keep.mkdir(parents=True, exist_ok=True)
            stem = f"{re.sub(r'[^A-Za-z0-9]+', '_', name)}_{zlib.crc32(kind.encode())}_{n}"
            (self._keep / stem).write_bytes(data)
            (self._keep / f"{stem}.txt").write_text(text, errors="replace")
            if n == 1:
                print(f"{name}: {kind} ({self._keep / stem})", flush=True)

    def line(self) -> str:
        """Return the counts of all targets together, in a line."""
        n, least = sum(map(self._n_inputs, self._of)), min(map(self._n_inputs, self._of))
        return f"{n:,} inputs, {least:,} of each target or more, {self.n_failures} failures"

    def table(self) -> str:
        """Return a line for each target."""
        return "\n".join(
            f"{row['format']}: {row['inputs']:,} inputs, {row['inputs'] / max(1e-9, row['seconds']):,.0f} a second, "
            f"{row['exit_codes']}, {row['failures']} failures, {row['peak_bytes'] >> 20} MiB"
            for row in self.rows()
        )

    def write(self, path: Path | None) -> None:
        """Write the counts as a file of results of a benchmark; see benchmarks/result_files.py."""
        if path is None:
            return
        about = machine("cpu")
        entry = {
            "date": datetime.now(UTC).date().isoformat(),
            "machine": about,
            "versions": versions(),
            "parameters": {},
            "rows": self.rows(),
        }
        whole = path.with_name(f".{path.name}.{os.getpid()}")
        write_entries(whole, _BENCHMARK, read_entries(path) | {host_of(about): entry})
        whole.replace(path)

    def read(self, path: Path) -> None:
        """Begin with the counts of a file that an earlier run on this machine wrote."""
        for row in read_entries(path).get(host_of(machine("cpu")), {}).get("rows", []):
            if found := self._of.get(row["format"]):
                found.counts = Counter({"read": row["read"], **row["exit_codes"]})
                found.seconds, found.peak_bytes = row["seconds"], row["peak_bytes"]
                self._begun[row["format"]] = found.seconds
                self._failures[row["format"]] = Counter(row["failed"])

    def _n_inputs(self, name: str) -> int:
        return self._of[name].counts.total() + self._failures[name].total()

    def rows(self) -> list[dict[str, Any]]:
        """Return the figures of each target."""
        return [
            {
                "kind": TARGETS[name].kind,
                "format": name,
                "inputs": self._n_inputs(name),
                "read": found.counts["read"],
                "refused": found.counts.total() - found.counts["read"],
                "failures": self._failures[name].total(),
                "exit_codes": {code: n for code, n in sorted(found.counts.items()) if code != "read"},
                "failed": dict(self._failures[name]),
                "seconds": round(found.seconds, 1),
                "peak_bytes": found.peak_bytes,
            }
            for name, found in self._of.items()
        ]


def _kind_of(text: str) -> str:
    """Return what failed, and where: equal for inputs that fail alike."""
    lines = text.strip().splitlines() or [""]
    last = next((line for line in reversed(lines) if re.match(r"\w*(Error|Exception|Interrupt)\b", line)), lines[-1])
    places = _PLACE.findall(text)
    where = next((":".join(place) for place in reversed(places) if place[0].startswith("gpuasm")), "")
    return f"{last.partition(':')[0][:80]} {where}".strip() if where else last[:120]
