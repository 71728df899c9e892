"""Variants told twice: short contigs that say nearly what a longer one says, and are no sequence of their own.

What the graph did not merge, as it never met again with what most reads say, is left as contigs of one or two reads'
length: a population has hundreds. A read of them lies on the longer contig; so do they, and there they are told. In an
isolate a copy of a repeat may differ as little, so there only what is less deep than half a copy goes: no place of one
genome is. Where many organisms are together, a rare one's conserved genes lie on a common one's, and all stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpuasm.arrays import to_host
from gpuasm.assembly.cleaning.low_depth import ISLAND
from gpuasm.assembly.cleaning.similar_ways import LONGEST
from gpuasm.assembly.consensus.laying import LARGEST_SHIFT, lay_reads
from gpuasm.assembly.consensus.targets import Targets, index_seeds
from gpuasm.assembly.contigs import Contig, single_copy_depth
from gpuasm.assembly.modes import Mode
from gpuasm.sequence.reads import Reads

COVERED = 0.95
"""A variant lies on a longer contig with this share of its bases at least, one in twelve of which may differ."""
_SEED = 15
"""Bases that are the same somewhere in all but one of 200 texts of 200 bases of which one in twelve differs."""


def find_variants(contigs: Sequence[Contig], mode: Mode, *, xp: Any = np) -> np.ndarray:
    """Mark contigs of at most 1,000 bases that lie, as reads do, on one of more.

    Parameters
    ----------
    contigs
        All contigs, with the depth of their k-mers.
    mode
        What the sample is: of a population variants go however deep, of an isolate those below half a copy; of many
        organisms, and where strains are to be kept, none.
    xp
        Where the short are laid on the long: numpy or cupy.

    Returns
    -------
    (n,) bool
    """
    marked = np.zeros(len(contigs), dtype=bool)
    if not mode.merges_variants or not mode.is_one_organism or not contigs:
        return marked
    length, depth = (np.array([getattr(own, name) for own in contigs]) for name in ("length", "depth"))
    bound = np.inf if mode.is_population else ISLAND * single_copy_depth(length, depth)
    is_open = np.array([not own.is_circular for own in contigs])
    short = np.flatnonzero((length <= LONGEST) & (length >= 2 * _SEED) & is_open & (depth < bound))
    long = [contigs[i] for i in np.flatnonzero(length > LONGEST).tolist()]
    if short.size and long:
        covered = _covered([contigs[i].codes for i in short.tolist()], long, xp)
        marked[short] = covered >= COVERED * length[short]
    return marked


def _covered(texts: Sequence[np.ndarray], contigs: Sequence[Contig], xp: Any) -> np.ndarray:
    """Return how many bases of each text lie on a contig, in one place, with at most one small gap: (n,) int64."""
    reads = Reads.from_codes(texts)
    codes, closed = [own.codes for own in contigs], [own.is_circular for own in contigs]
    targets = Targets.of(codes, closed, reach=int(reads.length.max()), xp=xp)
    laid = lay_reads(reads.moved_to(xp), targets, index_seeds(targets, 2 * _SEED))
    first, second = (
        {name: to_host(getattr(one, name)) for name in ("piece", "target", "turned", "at", "begin", "end")}
        for one in laid
    )
    covered = np.zeros(len(texts), np.int64)
    covered[first["piece"]] = first["end"] - first["begin"]
    row = np.searchsorted(first["piece"], second["piece"])
    before = {name: values[row] for name, values in first.items()}
    same = (before["target"] == second["target"]) & (before["turned"] == second["turned"])
    same &= np.abs(before["at"] - second["at"]) <= LARGEST_SHIFT
    # Bases of a text by where it would lie whole: those that both stretches have count once.
    begin = np.maximum(before["begin"] - before["at"], second["begin"] - second["at"])
    end = np.minimum(before["end"] - before["at"], second["end"] - second["at"])
    added = second["end"] - second["begin"] - np.maximum(0, end - begin)
    covered[second["piece"][same]] += added[same]
    return covered
