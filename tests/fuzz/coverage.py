"""Lines of gpuasm that inputs reach: an input that reaches new ones is worth keeping.

Python 3.12 reports each line once, and then no more, which costs next to nothing. Earlier versions call a function for
each call and line, and functions whose lines have all been reached are left alone.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter, defaultdict
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import gpuasm

_PACKAGE = str(Path(gpuasm.__file__).parent)
_TOOL = 3
_PATIENCE, _SAMPLED = 50, 16
"""A function that often reached no new line is watched in one call of several."""


class MonitoredLines:
    """Lines by target, from `sys.monitoring`."""

    def __init__(self) -> None:
        self._monitoring = sys.monitoring
        self._reached: dict[str, set[tuple[CodeType, int]]] = defaultdict(set)
        self._now, self._n_before = self._reached[""], 0
        events = self._monitoring.events
        self._monitoring.use_tool_id(_TOOL, "fuzzer")
        self._monitoring.register_callback(_TOOL, events.PY_START, self._start)
        self._monitoring.register_callback(_TOOL, events.LINE, self._line)
        self._monitoring.set_events(_TOOL, events.PY_START)

    def select(self, name: str) -> None:
        """Count for a target from now on."""
        self._now = self._reached[name]
        self._n_before = len(self._now)
        self._monitoring.restart_events()

    def has_new(self) -> bool:
        """Return whether lines have been reached since the last call that were not before."""
        before, self._n_before = self._n_before, len(self._now)
        return self._n_before > before

    def stop(self) -> None:
        """Watch no more."""
        self._monitoring.set_events(_TOOL, 0)
        self._monitoring.free_tool_id(_TOOL)

    def _start(self, code: CodeType, _: int) -> Any:
        if code.co_filename.startswith(_PACKAGE):
            self._monitoring.set_local_events(_TOOL, code, self._monitoring.events.LINE)
        return self._monitoring.DISABLE

    def _line(self, code: CodeType, line: int) -> Any:
        self._now.add((code, line))
        return self._monitoring.DISABLE


class TracedLines:
    """Lines by target, from `sys.settrace`."""

    def __init__(self) -> None:
        self._left: dict[str, dict[CodeType, set[int]]] = defaultdict(dict)
        self._now, self._is_new = self._left[""], False
        self._calls: Counter[CodeType] = Counter()
        threading.settrace(self._call)
        sys.settrace(self._call)

    def select(self, name: str) -> None:
        """Count for a target from now on."""
        self._now, self._is_new = self._left[name], False
        self._calls.clear()

    def has_new(self) -> bool:
        """Return whether lines have been reached since the last call that were not before."""
        before, self._is_new = self._is_new, False
        return before

    def stop(self) -> None:
        """Watch no more."""
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]

    def _call(self, frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        left = self._now.get(code)
        if left is None:
            is_ours = code.co_filename.startswith(_PACKAGE)
            left = self._now[code] = {line for *_, line in code.co_lines() if line} if is_ours else set()
        if not left:
            return None
        self._calls[code] += 1
        if self._calls[code] > _PATIENCE and self._calls[code] % _SAMPLED:
            return None
        frame.f_trace_opcodes = False
        return self._line

    def _line(self, frame: FrameType, event: str, _: Any) -> Any:
        left = self._now.get(frame.f_code)
        if left and event == "line" and frame.f_lineno in left:
            left.discard(frame.f_lineno)
            self._is_new = True
        return self._line


Lines = MonitoredLines if sys.version_info >= (3, 12) else TracedLines
