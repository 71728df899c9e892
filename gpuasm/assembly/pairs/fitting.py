"""Fitting: which pairs go as the walk chosen for their link does, and whether a walk is of one copy.

Where both ends of a link are repeats, its pairs come from several copies. If these do not all go one way, the likeliest
walk may be half of one copy and half of another, and the link decides nothing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.assembly.carrying.insert_sizes import InsertSizes
from gpuasm.assembly.pairs.choosing import Chosen, fits_threads
from gpuasm.assembly.pairs.links import Links
from gpuasm.assembly.pairs.threading import MOST_UNITIGS
from gpuasm.assembly.pairs.walks import MOST_STEPS
from gpuasm.parallel import for_each

_ALL = 95
"""Hundredths of a link's pairs that are all of them but for errors and chimeras."""


def fitting_pairs(links: Links, chosen: Chosen, inserts: InsertSizes) -> tuple[Array, Array]:
    """Return which pairs fit the certain walk of their link, and the link of each: (n_pairs,) bool and int64."""
    xp, n_pairs, link = array_namespace(links.source), int(links.left.size), links.of_pairs
    fits = xp.zeros(n_pairs, np.uint8)
    threads = (links.left_thread, links.right_thread, chosen.unitigs, chosen.size)
    _mark_fitting(n_pairs, link, *threads, MOST_STEPS, MOST_UNITIGS, fits)
    insert = links.left + links.right + chosen.gap[link]
    return (fits == 1) & (insert >= inserts.shortest) & (insert <= inserts.longest), link


def without_mixed(links: Links, chosen: Chosen, is_repeat: Array, inserts: InsertSizes) -> tuple[Chosen, int]:
    """Leave out the walks between two repeats that some of their pairs do not fit.

    Parameters
    ----------
    links, chosen, inserts
        Links, the walk of each, and which lengths a fragment can have.
    is_repeat : (n_unitigs,) bool
        Which unitigs are there more than once.

    Returns
    -------
    The walks, and how many are left out.
    """
    xp = array_namespace(links.source)
    fits, _ = fitting_pairs(links, chosen, inserts)
    before = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(fits.astype(np.int64))])
    n_fitting = before[links.first[1:]] - before[links.first[:-1]]
    is_mixed = is_repeat[links.source >> 1] & is_repeat[links.target >> 1] & (chosen.size > 0)
    is_mixed &= 100 * n_fitting < _ALL * (links.first[1:] - links.first[:-1])
    return replace(chosen, size=xp.where(is_mixed, 0, chosen.size).astype(np.int32)), int(is_mixed.sum())


@for_each
def _mark_fitting(p, link, left_thread, right_thread, unitigs, size, most_steps, per_thread, fits):
    n = np.int64(size[link[p]])
    if n > 0 and fits_threads(p, left_thread, right_thread, unitigs, most_steps * link[p], n, per_thread):
        fits[p] = 1
