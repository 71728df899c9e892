"""Distances between samples from the hashes they share."""

from __future__ import annotations

import numpy as np

from gpuasm.samples.comparison import Comparison


def jaccard(comparison: Comparison) -> np.ndarray:
    """Return the share of compared hashes that both samples have, (n, n) float64; 0 for empty samples."""
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
    ValueError
        If the sketches are bottom sketches, which keep fewer shared hashes of larger samples.
    """
    if not comparison.kind.is_scaled:
        msg = "containment needs scaled sketches"
        raise ValueError(msg)
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
