"""Distances between samples from the hashes they share."""

from __future__ import annotations

import numpy as np

from gpuasm.checks import array_of, instance
from gpuasm.errors import DataError, UsageError
from gpuasm.samples.comparison import Comparison


def jaccard(comparison: Comparison) -> np.ndarray:
    """Return the share of compared hashes that both samples have, (n, n) float64; 0 for empty samples."""
    instance(comparison, Comparison, "a comparison")
    return comparison.shared / np.maximum(comparison.compared, 1)


def mash_distance(comparison: Comparison) -> np.ndarray:
    """Return Mash's distance, an estimate of substitutions per base: -ln(2 j / (1 + j)) / k, from 0 to 1.

    Ondov et al. 2016, doi:10.1186/s13059-016-0997-x. Samples without a shared hash, and empty ones, have
    distance 1.

    Returns
    -------
    (n, n) float64, symmetric, 0 on the diagonal.
    """
    distance = _of_share(jaccard(comparison), comparison.kind.k, both=True)
    np.fill_diagonal(distance, 0.0)
    return distance


def containment(comparison: Comparison) -> np.ndarray:
    """Return the share of the row's hashes that the column's sample has, (n, n) float64; for scaled sketches.

    Raises
    ------
    UsageError
        If the sketches are bottom sketches, which keep fewer shared hashes of larger samples.
    """
    instance(comparison, Comparison, "a comparison")
    if not comparison.kind.is_scaled:
        raise UsageError("scaled sketches for containment", "sketches of a size", "sketch with scaled")
    return comparison.shared / np.maximum(comparison.sizes, 1)[:, None]


def containment_distance(comparison: Comparison) -> np.ndarray:
    """Return 1 - ANI of the larger of the two containments, (n, n) float64, symmetric; for scaled sketches.

    The average nucleotide identity is the containment's k-th root (Hera et al. 2023, doi:10.1101/gr.277651.123). Parts
    that one of two samples lacks, such as unread ones, do not raise the distance, unlike that by Jaccard.
    """
    share = containment(comparison)
    distance = 1.0 - np.maximum(share, share.T) ** (1.0 / comparison.kind.k)
    np.fill_diagonal(distance, 0.0)
    return distance


def _of_share(share: np.ndarray, k: int, *, both: bool) -> np.ndarray:
    in_both = 2.0 * share / (1.0 + share) if both else share
    # Mash negates first, which changes the last bits.
    with np.errstate(divide="ignore"):
        distance = np.minimum(-np.log(in_both) / k, 1.0)
    return np.where(share >= 1.0, 0.0, distance)


def checked_distances(distance: np.ndarray, n: int | None = None) -> np.ndarray:
    """Return distances of n samples, or of any number, as (n, n) float64.

    Raises
    ------
    DataError
        If they have another shape or type, are not symmetric, or one is negative or not finite.
    """
    array_of(distance, "distances of all samples to all", "iuf", (n, n))
    distance = distance.astype(np.float64, copy=False)
    is_sound = distance.shape[0] == distance.shape[1] and bool((np.isfinite(distance) & (distance >= 0)).all())
    if not is_sound or not np.array_equal(distance, distance.T):
        raise DataError("a symmetric matrix of finite distances from 0 on", "another", "compute the distances anew")
    return distance
