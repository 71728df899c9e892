"""Probability that two samples share as many hashes by chance."""

from __future__ import annotations

import numpy as np
from scipy.special import bdtrc

from gpuasm.samples.comparison import Comparison


def p_values(comparison: Comparison, bases: np.ndarray) -> np.ndarray:
    """Return the probability that random genomes of these lengths share as many of the compared hashes, or more.

    As in Mash (Ondov et al. 2016, doi:10.1186/s13059-016-0997-x): a k-mer is in a random genome of L bases with
    probability 1 / (1 + 4^k / L), which gives the probability r that a hash of the union is in both. The number of
    shared hashes is binomial with the number of compared ones and r. It does not measure distance: among genomes it is
    0 for all but the most remote pairs.

    Parameters
    ----------
    comparison
        The shared hashes.
    bases : (n,) float64
        Lengths of the samples' genomes.

    Returns
    -------
    (n, n) float64, symmetric; 1 for pairs without shared hashes.
    """
    there = 1.0 / (1.0 + 4.0**comparison.kind.k / np.maximum(bases, 1.0))
    values = np.ones(comparison.shared.shape)
    one, other = np.nonzero(comparison.shared)
    both = there[one] * there[other]
    share = both / (there[one] + there[other] - both)
    shared, compared = comparison.shared[one, other], comparison.compared[one, other]
    values[one, other] = bdtrc(shared - 1.0, compared.astype(np.int64), share)
    return values
