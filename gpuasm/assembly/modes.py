"""Modes: whether the sample is one organism or many, and what clean-up may conclude from that.

isolate: one depth. It bounds the local depth, and what is unconnected, short and rarer than half of it goes.
meta: no typical depth. Rules compare with the longest unitig near by only, and unconnected unitigs stay. Of a bubble
the rarer branch stays where more reads show it than errors would: it may be a related member's. So does a rare
connection between deeper unitigs, unless all that it leads into is long, and nothing that relatives share. Two ways
that say nearly the same, as strains do, both stay while k rises, if they are deep enough to be told apart. Most contigs
would end at those that are left, and uneven depth alone does not show that there are strains (a phage of 36 kb with
thin contaminants came in two): unless meta was asked for, one sequence is made of them in the last graph
(`gpuasm.assembly.cleaning.last_variants`).
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass, replace

import numpy as np

from gpuasm.assembly.cleaning.few_reads import FEW_READS
from gpuasm.assembly.graph.gc_spread import gc_spread
from gpuasm.assembly.graph.local_depth import EVEN_SHARE, even_share, long_share, read_share, typical_depth
from gpuasm.assembly.graph.unitig_graph import UnitigGraph

_LOG = logging.getLogger(__name__)

ERRORS = 0.06
"""Reads of one and the same error are at most this share of the local depth, or a few."""
_WRONG_BASES = 3_000_000
"""Errors that could be shared in a million bases: where chance lets so many reads share less than one of them, the next
read as well shows a variant. (In 1.9 Mb at 43x three reads shared ten errors, and each of them parted a contig.)"""
READ_SHARE = 0.2
"""What lies near the typical depth holds at least this share of all that was read, if it is the sample: a plasmid or a
phage among traces of its host holds nearly all reads on few k-mers."""
_MOST_ALIKE = 64
"""Where errors could be in more reads than these, `ERRORS` of the depth is more still."""

GC_SPREAD = 0.07
"""The GC contents of long unitigs spread so far, as a standard deviation, where several organisms are about as deep as
each other: of 35 genomes of bacteria and yeast those of 300 bases do by 0.064 at most (*K. pneumoniae*), of communities
of eight to eleven by 0.077 at least."""

POPULATION = 0.1
"""Of a population, as of a virus in its host, less than this share of what was read lies in unitigs that are longer
than what strains one base of a hundred apart have in common. Thin samples have a sixth, communities nine tenths."""


@dataclass(frozen=True)
class Mode:
    """What an assembly takes its sample for.

    Attributes
    ----------
    name : str
        "isolate" or "meta".
    reason : str
        Why, in one sentence.
    keeps_variants : bool
        Whether the rarer of two ways may be a strain's.
    is_population : bool
        Whether variants stand so densely that nothing tells how deep one copy is.
    error_rate : float
        Substitutions a base that reads have, where the spectrum tells; else 0.
    """

    name: str
    reason: str
    keeps_variants: bool = False
    is_population: bool = False
    error_rate: float = 0.0

    @property
    def is_isolate(self) -> bool:
        return self.name == "isolate"

    @property
    def is_one_organism(self) -> bool:
        """Whether there are no members of other depths: an isolate, or the variants of a population."""
        return self.is_isolate or self.is_population

    @property
    def tells_copies(self) -> bool:
        """Whether what is long and near by is as deep as one copy: in an isolate, and in each member of many."""
        return not self.is_population

    @property
    def merges_variants(self) -> bool:
        """Whether ways that say nearly the same are made into one, however deep the rarer is."""
        return not self.keeps_variants


ISOLATE = Mode("isolate", "as asked for")


def choose_mode(asked: str, graph: UnitigGraph, *, least_depth: float = 0.0) -> Mode:
    """Return the mode that was asked for, or for "auto" the one that fits the first graph.

    Parameters
    ----------
    asked
        "auto", "isolate" or "meta".
    graph
        The unitigs of the first k, before clean-up.
    least_depth
        Depth that the solid threshold leaves at least. Where the typical depth is less than twice that, nothing could
        lie below half of it, and that hardly anything does shows nothing.
    """
    if asked != "auto":
        return Mode(asked, "as asked for", keeps_variants=asked == "meta")
    typical = typical_depth(graph)
    share = even_share(graph, typical)
    told = f"{share:.0%} of the k-mers in long unitigs lie within a factor of two of the typical depth ({typical:.1f})"
    mode = Mode("meta", f"{told}, less than {EVEN_SHARE:.0%}: several organisms, or very uneven depth")
    reads = read_share(graph, typical)
    if share >= EVEN_SHARE and reads < READ_SHARE:
        mode = Mode("meta", f"{told}, but with only {reads:.0%} of what was read: something small is far deeper")
    elif share >= EVEN_SHARE and typical < 2 * least_depth:
        mode = Mode("meta", f"{told}, but with no k-mer below {least_depth:.1f} that shows nothing")
    elif share >= EVEN_SHARE and (spread := gc_spread(graph)) >= GC_SPREAD:
        mode = Mode("meta", f"{told}, but their GC contents lie {spread:.1%} apart: several organisms of even depth")
    elif share >= EVEN_SHARE:
        mode = Mode("isolate", f"{told}, at least {EVEN_SHARE:.0%}: one organism")
    if not mode.is_isolate and long_share(graph) < POPULATION:
        told = f"less than {POPULATION:.0%} of what was read lies in long unitigs: a population"
        mode = replace(mode, reason=f"{mode.reason}; {told}", is_population=True)
    _LOG.info("mode %s: %s", mode.name, mode.reason)
    return mode


def rare_depth(
    nearby: np.ndarray, share: float, *, keeps_variants: bool, few: float = FEW_READS, error_rate: float = 0.0
) -> np.ndarray:
    """Return the depth below which a branch beside a deeper one is rare.

    Parameters
    ----------
    nearby : (n,) float64
        Local depth.
    share
        Of it, what is rare in one organism.
    keeps_variants
        Whether a rare branch may be true, so that only what errors make is rare.
    few
        Depth below which there are but a few reads.
    error_rate
        Substitutions a base: the deeper the reads are, the more of them share an error by chance.
    """
    rare = nearby * share
    if not keeps_variants:
        return rare
    alike = reads_of_one_error(nearby, error_rate) * (few / FEW_READS)
    return np.minimum(rare, np.maximum(nearby * ERRORS, alike))


def reads_of_one_error(depth: np.ndarray, error_rate: float) -> np.ndarray:
    """Return how many reads it takes, three at least, to show what errors hardly ever do.

    Errors fall at random, so of ``depth`` reads over a base so many have one wrong base as Poisson's distribution says,
    of a mean of ``depth * error_rate / 3``; that it reaches n is no likelier than the mean to the n over n factorial.

    Parameters
    ----------
    depth : (n,) float64
    error_rate
        Substitutions a base.

    Returns
    -------
    (n,) float64: the least number that less than one error in a million bases reaches, 64 at most.
    """
    mean, reads = depth * (error_rate / 3), np.full(depth.shape, FEW_READS)
    chance = mean**FEW_READS / math.factorial(int(FEW_READS))
    rows, n = np.flatnonzero(chance * _WRONG_BASES >= 1), FEW_READS  # few are so deep that they take many steps
    mean, chance = mean[rows], chance[rows]
    while rows.size and n < _MOST_ALIKE:
        n += 1
        reads[rows] = n
        chance = chance * mean / n
        more = chance * _WRONG_BASES >= 1
        rows, mean, chance = rows[more], mean[more], chance[more]
    return reads
