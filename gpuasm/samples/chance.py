"""How likely two samples share so many hashes by chance."""

from __future__ import annotations

import numpy as np
from scipy.special import bdtrc

from gpuasm.samples.comparison import Comparison


def p_values(comparison: Comparison, bases: np.ndarray) -> np.ndarray:
    """Return the probability that random genomes of these lengths share as many of the compared hashes, or more.

    As Mash has it (Ondov et al. 2016, doi:10.1186/s13059-016-0997-x): a k-mer is in a random genome of L bases with
    probability 1 / (1 + 4^k / L), hashes of the union are in both with the probability r that follows, and the shared
    ones are distributed as a binomial of the compared ones and r. It is no measure of distance: among genomes it is 0
    for all but the most remote pairs.

    Parameters
    ----------
    comparison
        What samples share.
    bases : (n,) float64
        Of the samples' genomes.

    Returns
    -------
    (n, n) float64, symmetric; 1 where nothing is shared.
    """
    there = 1.0 / (1.0 + 4.0**comparison.kind.k / np.maximum(bases, 1.0))
    values = np.ones(comparison.shared.shape)
    one, other = np.nonzero(comparison.shared)
    both = there[one] * there[other]
    share = both / (there[one] + there[other] - both)
    shared, compared = comparison.shared[one, other], comparison.compared[one, other]
    values[one, other] = bdtrc(shared - 1.0, compared.astype(np.int64), share)
    return values
