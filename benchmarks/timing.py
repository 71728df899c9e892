"""Time what runs on the host or on a device."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from gpuasm import arrays


def timed(xp: Any, work: Callable[[], Any], repeat: int = 2) -> tuple[float, Any]:
    """Return the least time of some runs, and the result; one run more where the first compiles."""
    least, result = np.inf, None
    for _ in range(repeat):
        arrays.synchronize(xp)
        began = time.perf_counter()
        result = work()
        arrays.synchronize(xp)
        least = min(least, time.perf_counter() - began)
    return least, result
