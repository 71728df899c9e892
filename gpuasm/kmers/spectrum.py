"""The k-mer spectrum: depth, genome size, error rate and solid threshold from the histogram of multiplicities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_PEAK_SHARE = 15
"""A threshold above peak / 15 would remove low-coverage parts of the genome."""
_PEAK_ABOVE_VALLEY = 1.5
"""Least ratio of peak to valley; a lower peak is noise of a falling histogram."""
_PEAK_HOLDS = 0.02
"""Least share of all occurrences from the valley on. A smaller share belongs to repeats of a mixture whose
genomes have no separate peaks; their depth is not that of the sample."""
_PEAK_NEAR = 4
"""A peak is the depth of the sample if half of all occurrences have less than so many times its multiplicity."""
_MOST = 20
"""Highest threshold: graph simplification, which compares with the surroundings, removes the remaining errors."""


@dataclass(frozen=True)
class Spectrum:
    """The analysis of a histogram of k-mer multiplicities.

    Attributes
    ----------
    k : int
    histogram : (m,) int64
        Distinct k-mers of each multiplicity.
    valley, peak : int or None
        Multiplicity of the least class between errors and genome, and of the genome's main class; None if the
        histogram only falls.
    threshold : int
        Least multiplicity of a solid k-mer.
    reason : str
        The reason for the threshold, in one sentence.
    genome_size : int or None
        Bases, repeats counted as often as they occur.
    error_rate : float or None
        Substitutions per base.
    """

    k: int
    histogram: np.ndarray
    valley: int | None
    peak: int | None
    threshold: int
    reason: str
    genome_size: int | None
    error_rate: float | None

    @property
    def is_low_coverage(self) -> bool:
        """Whether some windows of the genome are expected to be read at most once."""
        size = self.genome_size or int(self.histogram[2:].sum())
        return size * self.rare_share() >= 1

    def rare_share(self) -> float:
        """Return the share of the genome's windows that are expected to be read at most once.

        See `chance_of_one`. The depth is that of the peak. Without a peak, or if half of all occurrences lie above four
        times the peak, as in a mixture, it is the median multiplicity of occurrences.
        """
        median = _median_multiplicity(self.histogram)
        return float(chance_of_one(self.peak if self.peak and median <= _PEAK_NEAR * self.peak else median))


def chance_of_one(depth: np.ndarray | float) -> np.ndarray | float:
    """Return the probability that a window is read at most once if its expected depth is ``depth``.

    Poisson's distribution gives exp(-d) (1 + d) (Lander and Waterman 1988, doi:10.1016/0888-7543(88)90007-9).
    """
    return np.exp(-depth) * (1 + depth)


def analyse_spectrum(histogram: np.ndarray, k: int, *, min_count: int | None = None) -> Spectrum:
    """Find valley and peak of a spectrum and derive the solid threshold and the estimates.

    The valley is the first local minimum of the histogram smoothed over a tenth of the multiplicity, the peak the
    class of most k-mer occurrences beyond it. The threshold is the least of the valley, a fifteenth of the peak, and
    20, but at least 2 (without a valley, the median multiplicity of occurrences replaces the peak): it only has to
    reduce errors, as graph simplification removes the others. The genome size is the number of occurrences from the
    valley on divided by the peak. The error rate is 1 - (1 - f)^(1/k), with f the share of occurrences below the
    valley, since an error changes k windows (Chor et al. 2009,
    doi:10.1186/gb-2009-10-10-r108; Marcais and Kingsford 2011, doi:10.1093/bioinformatics/btr011).

    Parameters
    ----------
    histogram : (m,) int64
        Distinct k-mers of each multiplicity; the last class may include all higher ones.
    k
        Length of the k-mers.
    min_count
        A threshold chosen by the user; None: derive one.
    """
    valley, peak = _find_valley_and_peak(histogram)
    threshold, reason = _choose_threshold(valley, peak, _median_multiplicity(histogram), min_count=min_count)
    if valley is None or peak is None:
        return Spectrum(k, histogram, valley, peak, threshold, reason, None, None)
    occurrences = histogram * np.arange(histogram.size)
    solid, total = int(occurrences[valley:].sum()), int(occurrences.sum())
    error_rate = 1.0 - (solid / total) ** (1.0 / k)
    return Spectrum(k, histogram, valley, peak, threshold, reason, solid // peak, error_rate)


def _find_valley_and_peak(histogram: np.ndarray) -> tuple[int | None, int | None]:
    last = int(np.flatnonzero(histogram)[-1]) if histogram.any() else 0
    if last < 3:
        return None, None
    smooth = _smooth(histogram[: last + 2])
    rises = np.flatnonzero(smooth[2:] > smooth[1:-1]) + 1
    if rises.size == 0:
        return None, None
    valley = int(rises[0])
    if valley == 1:  # almost no errors: all classes belong to the genome
        occurrences = smooth * np.arange(smooth.size)
        return 1, int(np.argmax(occurrences[1:])) + 1
    occurrences = smooth * np.arange(smooth.size)
    peak = valley + int(np.argmax(occurrences[valley:]))
    is_high = occurrences[peak] >= _PEAK_ABOVE_VALLEY * occurrences[valley]
    is_much = _occurrences_from(histogram, valley) >= _PEAK_HOLDS * _occurrences_from(histogram, 1)
    return (valley, peak) if is_high and is_much else (None, None)


def _occurrences_from(histogram: np.ndarray, least: int) -> int:
    return int((histogram * np.arange(histogram.size))[least:].sum())


def _smooth(histogram: np.ndarray) -> np.ndarray:
    """Average each class with those within a tenth of its multiplicity."""
    size = histogram.size
    index = np.arange(size)
    reach = index // 10
    cumulative = np.concatenate([[0], np.cumsum(histogram)])
    low, high = np.maximum(index - reach, 0), np.minimum(index + reach + 1, size)
    return (cumulative[high] - cumulative[low]) / (high - low)


def _median_multiplicity(histogram: np.ndarray) -> int:
    """Return the multiplicity that half of all k-mer occurrences reach."""
    occurrences = np.cumsum(histogram * np.arange(histogram.size))
    return int(np.searchsorted(occurrences, (occurrences[-1] + 1) // 2)) if occurrences[-1] else 0


def _choose_threshold(valley: int | None, peak: int | None, median: int, *, min_count: int | None) -> tuple[int, str]:
    if min_count is not None:
        return min_count, f"{min_count}, as requested"
    if valley is None or peak is None:
        threshold = max(2, min(median // _PEAK_SHARE, _MOST))
        return threshold, (
            f"{threshold}, as there is no valley between errors and genome: a fifteenth of the median multiplicity "
            f"of occurrences ({median}), at least 2 and at most {_MOST}"
        )
    threshold = max(2, min(valley, peak // _PEAK_SHARE, _MOST))
    return threshold, (
        f"{threshold}, the least of the valley ({valley}), a fifteenth of the peak ({peak}) and {_MOST}, but at least 2"
    )
