"""Axes along which windows of different contigs differ more than windows of one contig.

Windows of one contig are of one genome, so their scatter is noise: sampling noise or variation within the genome. A
linear discriminant with contigs as classes whitens this noise: windows of one genome then differ by about 1 in every
direction, and the distances between genomes are greatest. The largest variance of pure noise follows from the numbers
of windows; axes of larger variance distinguish genomes. An isolate has no such axes, or almost none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.threads import single_threaded_blas

EXPECTED_NOISE = 2.0
"""Variance of 4-mers between windows of a bacterial genome, relative to that of random 4-mers."""
PRIOR_WEIGHT = 2
"""Weight of the expected noise, in windows per column; it dominates if few contigs have several windows."""
MIN_AXES = 2
"""Least number of axes, even without differences between genomes: a map has two dimensions."""


@dataclass(frozen=True)
class Contrast:
    """Transformation of tetranucleotide counts to coordinates.

    Attributes
    ----------
    scale : (c,) float64
        Square root of each column's mean share.
    mean : (c,) float64
        Mean of the scaled shares.
    axes : (c, d) float64
        Axes along which the windows of one contig have a variance of about 1; strongest first.
    strength : (c - 1,) float64
        Variance of all windows along every possible axis, descending; 1 is noise.
    threshold : float
        Expected largest strength of pure noise.
    """

    scale: np.ndarray
    mean: np.ndarray
    axes: np.ndarray
    strength: np.ndarray
    threshold: float

    @property
    def n_discriminating(self) -> int:
        """Number of axes that distinguish genomes; more may be kept."""
        return int((self.strength > self.threshold).sum())

    def place(self, counts: np.ndarray) -> np.ndarray:
        """Return the coordinates of rows of counts, (n, d) float64."""
        with single_threaded_blas():
            return (_scaled_shares(counts, self.scale) - self.mean) @ self.axes


def find_contrast(counts: np.ndarray, contig: np.ndarray, window: int) -> Contrast:
    """Find the axes for a set of windows.

    Parameters
    ----------
    counts : (n, c) int
        Tetranucleotide counts of each window, with a sum of at least 1.
    contig : (n,) int
        The contig of each window, ascending.
    window
        Bases of a window.

    Notes
    -----
    Shares are divided by the root of their mean, which makes the variance of random tetranucleotides equal in all
    columns and, unlike for logarithms, independent of the length of a window. The largest eigenvalue of noise whitened
    by an estimate of noise is that of a multivariate F matrix (doi:10.1137/0516047).
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
    return Contrast(scale, mean, axes=_with_fixed_signs(axes[:, :n_kept]), strength=strength, threshold=threshold)


def largest_of_noise(n_columns: int, n: int, freedom: float) -> float:
    """Return the largest variance of noise of ``n`` rows along any axis, whitened by an estimate of noise.

    Parameters
    ----------
    n_columns
        Number of dimensions.
    n
        Number of rows.
    freedom
        Degrees of freedom of the estimate, more than the dimensions.
    """
    by_rows, by_noise = n_columns / max(1, n), n_columns / freedom
    return float(((1 + np.sqrt(by_rows + by_noise - by_rows * by_noise)) / (1 - by_noise)) ** 2)


def _scaled_shares(counts: np.ndarray, scale: np.ndarray) -> np.ndarray:
    return counts / np.maximum(1, counts.sum(axis=1, keepdims=True)) / scale


def _scatter_within(rows: np.ndarray, contig: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the sum of squares of windows around their contigs' means, and its degrees of freedom."""
    first = np.flatnonzero(np.diff(contig, prepend=-1))
    size = np.diff(first, append=contig.size)
    mean = np.add.reduceat(rows, first, axis=0) / size[:, None]
    apart = rows - np.repeat(mean, size, axis=0)
    return apart.T @ apart, int(contig.size - first.size)


def _inverse_root(noise: np.ndarray) -> np.ndarray:
    """Return a matrix that whitens the noise; it has no noise in one direction, as shares sum to 1."""
    variance, directions = np.linalg.eigh(noise)
    is_real = variance > 1e-9 * variance[-1]
    return directions[:, is_real] / np.sqrt(variance[is_real])


def _with_fixed_signs(axes: np.ndarray) -> np.ndarray:
    """Make the largest component of each axis positive, as eigenvectors are unique up to sign."""
    largest = np.abs(axes).argmax(axis=0)
    return axes * np.sign(axes[largest, np.arange(axes.shape[1])])
