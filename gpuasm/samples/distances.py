"""Distances between samples from the hashes they share."""

from __future__ import annotations

import numpy as np

from gpuasm.samples.comparison import Comparison


def jaccard(comparison: Comparison) -> np.ndarray:
    """Return the share of compared hashes that both samples have, (n, n) float64; 0 where there are none."""
    return comparison.shared / np.maximum(comparison.compared, 1)


def mash_distance(comparison: Comparison) -> np.ndarray:
    """Return Mash's distance, an estimate of the substitutions a base: -ln(2 j / (1 + j)) / k, from 0 to 1.

    Ondov et al. 2016, doi:10.1186/s13059-016-0997-x. Samples that share no hash are at 1; so is an empty sample from
    any other.

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
        If the sketches are bottom sketches, of which a larger sample keeps fewer shared hashes.
    """
    if not comparison.kind.is_scaled:
        msg = "containment needs scaled sketches"
        raise ValueError(msg)
    return comparison.shared / np.maximum(comparison.sizes, 1)[:, None]


def containment_distance(comparison: Comparison) -> np.ndarray:
    """Return 1 - ANI of the larger of the two containments, (n, n) float64, symmetric; for scaled sketches.

    The average nucleotide identity is the containment's k-th root (Hera et al. 2023, doi:10.1101/gr.277651.123). What
    one of two samples lacks, such as unread parts of a genome, does not set them apart, as it does by Jaccard.
    """
    share = containment(comparison)
    distance = 1.0 - np.maximum(share, share.T) ** (1.0 / comparison.kind.k)
    np.fill_diagonal(distance, 0.0)
    return distance


def _of_share(share: np.ndarray, k: int, *, both: bool) -> np.ndarray:
    doubled = 2.0 * share / (1.0 + share) if both else share
    # Mash takes the negative first: the same number but for its last bits.
    with np.errstate(divide="ignore"):
        distance = np.minimum(-np.log(doubled) / k, 1.0)
    return np.where(share >= 1.0, 0.0, distance)
