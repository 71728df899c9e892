"""The recipe on a few made-up reads, so that all it needs has been loaded when the reads are there."""

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
"""Copied from, copied to, bases, and whether on the other strand."""


class _EnoughError(Exception):
    """Whoever rehearses is wanted on stage."""


def warm_up(xp: Any, *, should_stop: Callable[[], bool]) -> None:
    """Assemble a few made-up reads on a device and forget them.

    The first use of a kernel or of a compiled loop takes a hundred times as long as the next one: it is looked for,
    read from the disk and handed to the device. All together that is half a second in each process, which passes
    here while files are read.

    Parameters
    ----------
    xp
        The device's namespace; this thread's current device is used.
    should_stop
        Asked before each loop over elements; the rehearsal ends when it says so.
    """

    def go_on() -> None:
        if should_stop():
            raise _EnoughError

    with suppress(_EnoughError), called_before_loops(go_on):
        assemble(_reads().moved_to(xp), AssemblyOptions(), stages=NoStages())  # type: ignore[arg-type]


def _reads() -> Reads:
    """Make pairs of reads with errors, of a genome with repeats."""
    random = np.random.default_rng(5)
    genome = random.integers(0, 4, _GENOME, np.uint8)
    for source, target, n, is_turned in _REPEATS:
        copy = genome[source : source + n]
        genome[target : target + n] = 3 - copy[::-1] if is_turned else copy
    n_pairs = _DEPTH * _GENOME // (2 * _READ)
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
