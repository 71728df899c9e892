"""The warm-up of an assembly: one of few simulated reads, which loads all code that an assembly needs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from gpuasm.assembly.options import AssemblyOptions
from gpuasm.assembly.pipeline import assemble
from gpuasm.parallel import called_before_loops
from gpuasm.sequence.encoding import pack
from gpuasm.sequence.reads import Reads
from gpuasm.stages import NoStages

_GENOME, _READ, _INSERT, _SPREAD, _DEPTH, _ERROR = 8000, 150, 350, 20, 28, 0.004
_REPEATS = ((0, 2000, 250, False), (500, 3500, 500, True), (1200, 5000, 700, False), (6500, 7300, 170, False))
"""Source, target and length of each repeat copy, and whether it is on the other strand."""


class _StoppedError(Exception):
    """The warm-up is stopped."""


def warm_up(xp: Any, *, should_stop: Callable[[], bool], mode: str = "auto", depth: int = _DEPTH) -> None:
    """Assemble a few simulated reads on this thread's current device, and discard the contigs.

    The first use of a kernel or compiled loop in a process takes a hundred times as long as the next one: its code is
    found, read from disk and loaded on the device. For all of them this takes half a second, during which files can be
    read. ``should_stop`` is called before each loop over elements; the warm-up ends when it returns true.
    """

    def check() -> None:
        if should_stop():
            raise _StoppedError

    with suppress(_StoppedError), called_before_loops(check):
        assemble(_reads(depth).moved_to(xp), AssemblyOptions(mode=mode), stages=NoStages())  # type: ignore[arg-type]


def _reads(depth: int) -> Reads:
    """Simulate read pairs with errors, of a genome with repeats, ``depth`` bases over each of its bases."""
    random = np.random.default_rng(5)
    genome = random.integers(0, 4, _GENOME, np.uint8)
    for source, target, n, is_reversed in _REPEATS:
        copy = genome[source : source + n]
        genome[target : target + n] = 3 - copy[::-1] if is_reversed else copy
    n_pairs = depth * _GENOME // (2 * _READ)
    insert = np.rint(random.normal(_INSERT, _SPREAD, n_pairs)).astype(np.int64)
    first = random.integers(0, _GENOME - insert)
    along = np.arange(_READ)
    codes = np.empty((n_pairs, 2, _READ), np.uint8)
    codes[:, 0] = genome[first[:, None] + along]
    codes[:, 1] = 3 - genome[(first + insert - 1)[:, None] - along]
    is_wrong = random.random(codes.shape) < _ERROR
    codes[is_wrong] = (codes[is_wrong] + 1) & 3
    n = 2 * n_pairs
    return Reads(pack(codes.ravel()), np.arange(n) * _READ, np.full(n, _READ, np.int32), np.arange(n), n, paired=True)
