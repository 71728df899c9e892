"""Pair consistency: find the pairs that agree with the walk of their link, and reject walks that mix copies.

If both ends of a link are repeats, its pairs come from several copies. If they do not all agree with one walk, the
likeliest walk may combine two copies, and the link is not used.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.assembly.alignment.read_threading import MOST_UNITIGS
from gpuasm.assembly.pairs.insert_sizes import InsertSizes
from gpuasm.assembly.pairs.links import Links
from gpuasm.assembly.parameters import PATHS
from gpuasm.assembly.paths.graph_walks import WALK_UNITIGS
from gpuasm.assembly.paths.path_choice import ChosenWalks, fits_threads
from gpuasm.parallel import for_each, signatures


def fitting_pairs(links: Links, chosen: ChosenWalks, inserts: InsertSizes) -> tuple[Array, Array]:
    """Return which pairs agree with the certain walk of their link, and the link of each: (n_pairs,) bool and int64."""
    xp, n_pairs, link = array_namespace(links.source), int(links.left.size), links.of_pairs
    fits = xp.zeros(n_pairs, np.uint8)
    threads = (links.left_thread, links.right_thread, chosen.unitigs, chosen.size)
    _mark_fitting(n_pairs, link, *threads, WALK_UNITIGS, MOST_UNITIGS, fits)
    insert = links.left + links.right + chosen.gap[link]
    return (fits == 1) & (insert >= inserts.shortest) & (insert <= inserts.longest), link


def without_inconsistent(
    links: Links, chosen: ChosenWalks, is_repeat: Array, inserts: InsertSizes
) -> tuple[ChosenWalks, int]:
    """Remove the walks between two repeats with which some of their pairs disagree.

    Parameters
    ----------
    links, chosen, inserts
        Links, the walk of each, and the possible lengths of fragments.
    is_repeat : (n_unitigs,) bool
        Which unitigs have several copies.

    Returns
    -------
    The walks, and how many are removed.
    """
    xp = array_namespace(links.source)
    fits, _ = fitting_pairs(links, chosen, inserts)
    before = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(fits.astype(np.int64))])
    n_fitting = before[links.first[1:]] - before[links.first[:-1]]
    is_mixed = is_repeat[links.source >> 1] & is_repeat[links.target >> 1] & (chosen.size > 0)
    is_mixed &= 100 * n_fitting < PATHS.consistent_percent * (links.first[1:] - links.first[:-1])
    return replace(chosen, size=xp.where(is_mixed, 0, chosen.size).astype(np.int32)), int(is_mixed.sum())


@signatures("int64[::1], int32[::1], int32[::1], int32[::1], int32[::1], int64, int64, uint8[::1]")
@for_each
def _mark_fitting(p, link, left_thread, right_thread, unitigs, size, walk_unitigs, per_thread, fits):
    n = np.int64(size[link[p]])
    if n > 0 and fits_threads(p, left_thread, right_thread, unitigs, walk_unitigs * link[p], n, per_thread):
        fits[p] = 1
