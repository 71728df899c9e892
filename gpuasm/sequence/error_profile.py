"""Error rates and qualities of a sequencer, as tables by mate, cycle and grade of the read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.errors import UsageError

N_LEVELS = 16
"""Equally frequent grades of reads, from few to many errors, so that errors accumulate in some reads."""

N_JITTERS = 16
"""Equally frequent deviations of a base's quality from the curve of its read."""

MEAN_RATES = (0.0020, 0.0030)
"""Substitutions per base of the first and second mate, near those of ART's profile HS25 (HiSeq 2500)."""

_JITTER = np.concatenate([[-18.0, -7.0], np.linspace(-2, 2, N_JITTERS - 2)])
"""Phred deviations: most bases are near the curve; one in sixteen is far below, like single bad bases of real reads."""

_WORST_RATE = 0.6
_QUALITY_RANGE = (2, 41)
_PHRED_OFFSET = 33


@dataclass(frozen=True)
class ErrorProfile:
    """Look-up tables of the read simulation.

    Attributes
    ----------
    threshold : (2, N_LEVELS, length, N_JITTERS) uint32
        A base is substituted if 32 random bits are below it.
    quality : (2, N_LEVELS, length, N_JITTERS) uint8
        The quality character, Phred + 33.
    """

    threshold: np.ndarray
    quality: np.ndarray


def hiseq_profile(length: int, *, error_rate: float | None = None) -> ErrorProfile:
    """Return a profile like HiSeq 2500's: best after the first cycles, worse at the end and in the second mate.

    Parameters
    ----------
    length
        Bases of a read.
    error_rate
        Mean substitutions per base over both mates, 0.0025 if None. 0 gives reads without errors.

    Raises
    ------
    UsageError
        If the rate lies outside 0 to 0.25.
    """
    if error_rate is not None and not 0 <= error_rate <= 0.25:
        raise UsageError("an error rate from 0 to 0.25", f"{error_rate:g}", "give it as a share: 0.002 for 0.2 %")
    scale = 1.0 if error_rate is None else error_rate / (sum(MEAN_RATES) / 2)
    rate = np.stack([_scaled(_shape(length, mate), MEAN_RATES[mate] * scale) for mate in (0, 1)])
    phred = -10 * np.log10(np.maximum(rate, 1e-9))
    quality = np.clip(np.rint(phred), *_QUALITY_RANGE).astype(np.uint8) + np.uint8(_PHRED_OFFSET)
    return ErrorProfile(np.rint(rate * 2.0**32).astype(np.uint32), quality)


def _shape(length: int, mate: int) -> np.ndarray:
    """Return (N_LEVELS, length, N_JITTERS) error rates before they are scaled to their mean."""
    cycle = (np.arange(length) + 0.5) / length
    grade = ((np.arange(N_LEVELS) + 0.5) / N_LEVELS)[:, None]
    settling = 6 * np.exp(-np.arange(length) / 4)  # lower quality in the first cycles
    decline = (3 + 1.5 * mate + 26 * grade**6) * cycle**2
    phred = 40 - settling - decline
    return 10 ** (-(phred[:, :, None] + _JITTER) / 10)


def _scaled(rate: np.ndarray, mean: float) -> np.ndarray:
    if mean == 0:
        return np.zeros_like(rate)
    for _ in range(20):  # the upper limit lowers the mean, so scaling is repeated
        rate = np.minimum(rate * (mean / rate.mean()), _WORST_RATE)
    return rate
