"""Axes along which pieces of different contigs differ more than pieces of one contig do.

Pieces of one contig are of one genome, so how they scatter is noise, be it chance or the genome's own unevenness. Seen
through the inverse of that noise (a linear discriminant with contigs as classes), parts of one genome lie about 1 apart
in every direction, and genomes lie as far apart as they can be told apart. How large the strongest direction of pure
noise may become follows from the numbers of pieces alone: what is beyond it is what tells genomes apart. An isolate has
none, or next to none, which is how one genome is known to be one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.parallel import single_threaded_blas

EXPECTED_NOISE = 2.0
"""Variance of 4-mers between pieces of a bacterial genome, in that of words drawn at random: 1.2 to 2 in 20 genomes."""
PRIOR_WEIGHT = 2
"""How many pieces a column the expected noise counts for: it stands in where contigs of several pieces are few."""
MIN_AXES = 2
"""Axes to keep even where none tells anything: a map has two sides."""


@dataclass(frozen=True)
class Contrast:
    """How counts of words become coordinates.

    Attributes
    ----------
    scale : (c,) float64
        Square root of each column's mean share.
    mean : (c,) float64
        Mean of the scaled shares.
    axes : (c, d) float64
        Along each the pieces of one contig have about variance 1; strongest first.
    strength : (c - 1,) float64
        Variance of all pieces along every axis there could be, falling; 1 is noise.
    threshold : float
        What the largest strength would be if there were nothing but noise.
    """

    scale: np.ndarray
    mean: np.ndarray
    axes: np.ndarray
    strength: np.ndarray
    threshold: float

    @property
    def n_telling(self) -> int:
        """The axes that tell genomes apart; there may be fewer than are kept."""
        return int((self.strength > self.threshold).sum())

    def place(self, counts: np.ndarray) -> np.ndarray:
        """Return the coordinates of rows of counts, (n, d) float64."""
        with single_threaded_blas():
            return (_scaled_shares(counts, self.scale) - self.mean) @ self.axes


def find_contrast(counts: np.ndarray, contig: np.ndarray, window: int) -> Contrast:
    """Find the axes of pieces.

    Parameters
    ----------
    counts : (n, c) int
        Words of each piece, at least one each.
    contig : (n,) int
        The contig of each piece, ascending.
    window
        Bases of a piece.

    Notes
    -----
    Shares are divided by the root of their mean, which makes the variance of words drawn at random the same in all
    columns and, unlike logarithms, does not depend on the length of a piece. The largest eigenvalue of noise seen
    through an estimate of noise is that of a multivariate F matrix (doi:10.1137/0516047).
    """
    n, n_columns = counts.shape
    share = counts.sum(axis=0) / counts.sum()
    scale = np.sqrt(np.where(share > 0, share, 1.0))
    rows = _scaled_shares(counts, scale)
    mean = rows.mean(axis=0)
    rows -= mean
    with single_threaded_blas():
        total = rows.T @ rows
        within, freedom = _scatter_within(rows, contig)
        root = np.sqrt(share)
        by_chance = (np.eye(n_columns) - np.outer(root, root)) / window
        weight = PRIOR_WEIGHT * n_columns
        noise = (within + weight * EXPECTED_NOISE * by_chance) / (freedom + weight)
        whitening = _inverse_root(noise)
        strength, directions = np.linalg.eigh(whitening.T @ total @ whitening / max(1, n - 1))
        axes = whitening @ directions[:, ::-1]
    strength = np.maximum(0.0, strength[::-1])
    threshold = largest_of_noise(whitening.shape[1], n, freedom + weight)
    n_kept = max(MIN_AXES, int((strength > threshold).sum()))
    return Contrast(scale, mean, axes=_turned(axes[:, :n_kept]), strength=strength, threshold=threshold)


def largest_of_noise(n_columns: int, n: int, freedom: float) -> float:
    """Return the largest variance that noise of ``n`` rows has along any axis, seen through an estimate of noise.

    Parameters
    ----------
    n_columns
        Dimensions.
    n
        Rows.
    freedom
        Degrees of freedom of the estimate, more than the dimensions.
    """
    by_rows, by_noise = n_columns / max(1, n), n_columns / freedom
    return float(((1 + np.sqrt(by_rows + by_noise - by_rows * by_noise)) / (1 - by_noise)) ** 2)


def _scaled_shares(counts: np.ndarray, scale: np.ndarray) -> np.ndarray:
    return counts / np.maximum(1, counts.sum(axis=1, keepdims=True)) / scale


def _scatter_within(rows: np.ndarray, contig: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the sum of squares of pieces around their contigs' means, and its degrees of freedom."""
    first = np.flatnonzero(np.diff(contig, prepend=-1))
    size = np.diff(first, append=contig.size)
    mean = np.add.reduceat(rows, first, axis=0) / size[:, None]
    apart = rows - np.repeat(mean, size, axis=0)
    return apart.T @ apart, int(contig.size - first.size)


def _inverse_root(noise: np.ndarray) -> np.ndarray:
    """Return a matrix that makes the noise 1 in every direction it has; shares add up to 1, so one it has not."""
    variance, directions = np.linalg.eigh(noise)
    is_real = variance > 1e-9 * variance[-1]
    return directions[:, is_real] / np.sqrt(variance[is_real])


def _turned(axes: np.ndarray) -> np.ndarray:
    """Let the largest part of each axis be positive: eigenvectors may point either way."""
    largest = np.abs(axes).argmax(axis=0)
    return axes * np.sign(axes[largest, np.arange(axes.shape[1])])
