"""The mode of an assembly: one organism or a community, chosen from the depth and the GC content of the first graph.

"isolate" has one depth, which bounds the local depth; isolated unitigs of less than half of it are errors. "meta" has
none: rare branches and variants are kept if more reads contain them than share an error, as they may be of another
genome. `gpuasm.assembly.parameters.ModeParameters` holds what each mode changes.

One genome has unitigs of similar GC content; several genomes of even depth differ in it.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.coverage.graph_depth import even_share, read_share, typical_depth
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.options import rules_without
from gpuasm.assembly.parameters import (
    COMMUNITY_MODE,
    COVERAGE,
    ISOLATE_MODE,
    POPULATION_MODE,
    STRAINS_MODE,
    DepthModel,
    ModeParameters,
)
from gpuasm.parallel import compiled, signatures
from gpuasm.sequence.encoding import encode
from gpuasm.threads import run_chunks

_LOG = logging.getLogger(__name__)
OTHER_BASES = 3
"""An error replaces a base by one of three others."""
_FEW_READS, _MOST_READS = COVERAGE.few_reads, float(COVERAGE.error_max_reads)
_ERROR_BASES = COVERAGE.error_chance_bases


def gc_spread(graph: UnitigGraph) -> float:
    """Return the standard deviation of the GC content of long unitigs, weighted by length, without that of chance.

    By chance the GC content of n bases varies by p (1 - p) / n if p is the probability of G or C. The result is a
    share, such as 0.05; 0 if long unitigs have less than `COVERAGE.gc_spread_min_bases` in all.
    """
    long = np.flatnonzero(graph.n_kmers > COVERAGE.long_unitig_kmers)
    length = graph.length[long]
    if length.sum() < COVERAGE.gc_spread_min_bases:
        return 0.0
    c, g = encode("CG")
    is_gc = (graph.bases == c) | (graph.bases == g)
    share = np.add.reduceat(is_gc, graph.start[:-1], dtype=np.int64)[long] / length
    mean = np.average(share, weights=length)
    by_chance = share * (1 - share) / length
    variance = np.average((share - mean) ** 2 - by_chance, weights=length)
    return float(np.sqrt(max(0.0, variance)))


@dataclass(frozen=True)
class Mode:
    """The kind of sample that an assembly assumes.

    Attributes
    ----------
    name : str
        "isolate" or "meta".
    reason : str
        Why, in one sentence.
    keeps_variants : bool
        Whether the rare branch of two may be a strain's.
    is_population : bool
        Whether variants are so dense that no stretch has the depth of one copy.
    error_rate : float
        Substitutions a base of the reads, estimated from the spectrum; 0 if unknown.
    """

    name: str
    reason: str
    keeps_variants: bool = False
    is_population: bool = False
    error_rate: float = 0.0

    @property
    def parameters(self) -> ModeParameters:
        """What this mode changes of an isolate's rules and thresholds."""
        if self.name == "isolate":
            return ISOLATE_MODE
        if self.keeps_variants:
            return STRAINS_MODE
        return POPULATION_MODE if self.is_population else COMMUNITY_MODE

    @property
    def is_community(self) -> bool:
        """Whether the sample has several genomes, each with a depth of its own."""
        return self.parameters.depth_model is DepthModel.LOCAL

    def rules(self, without: Collection[str] = ()) -> frozenset[str]:
        """Return the rules of this mode but those that the user leaves out."""
        return rules_without(self.parameters.left_out) - frozenset(without)


ISOLATE = Mode("isolate", "as requested")


def choose_mode(requested: str, graph: UnitigGraph, *, least_depth: float = 0.0) -> Mode:
    """Return the requested mode, or for "auto" the one that fits the first graph.

    Parameters
    ----------
    requested
        "auto", "isolate" or "meta".
    graph
        The unitigs of the first k, before simplification.
    least_depth
        Lowest depth of a solid k-mer. If the typical depth is less than twice that, no k-mer could lie below half of
        it, and an even depth shows nothing.
    """
    if requested != "auto":
        return Mode(requested, "as requested", keeps_variants=requested == "meta")
    typical = typical_depth(graph)
    share, least = even_share(graph, typical), COVERAGE.even_depth_share
    fact = f"{share:.0%} of the k-mers in long unitigs lie within a factor of two of the typical depth ({typical:.1f})"
    name = "meta"
    if share < least:
        why = f"less than {least:.0%}: several organisms, or very uneven depth"
    elif (reads := read_share(graph, typical)) < COVERAGE.sample_read_share:
        why = f"but only {reads:.0%} of the reads: a small genome has far higher depth"
    elif typical < 2 * least_depth:
        why = f"but no k-mer below {least_depth:.1f} was counted, so this shows nothing"
    elif (spread := gc_spread(graph)) >= COVERAGE.gc_spread_of_many:
        why = f"but their GC contents vary by {spread:.1%}: several organisms of even depth"
    else:
        name, why = "isolate", f"at least {least:.0%}: one organism"
    in_long = graph.count[graph.n_kmers > COVERAGE.long_unitig_kmers].sum() / max(1, graph.count.sum())
    is_population = name != "isolate" and bool(in_long < COVERAGE.population_long_share)
    if is_population:
        why += f"; less than {COVERAGE.population_long_share:.0%} of the reads lie in long unitigs: a population"
    mode = Mode(name, f"{fact}, {why}", is_population=is_population)
    _LOG.info("mode %s: %s", mode.name, mode.reason)
    return mode


def reads_of_one_error(depth: np.ndarray, error_rate: float) -> np.ndarray:
    """Return the least number of reads, three or more, that errors hardly ever reach.

    Of ``depth`` reads of a base, the number with the same wrong base follows Poisson's distribution with the mean
    ``depth * error_rate / 3``. The probability that it reaches n is at most the mean to the n over n factorial. The
    result is the least number that less than one error in a million bases reaches, up to a limit: (n,) float64.
    """
    reads = np.empty(depth.size)
    run_chunks(_write_reads_of_one_error, depth.size, np.ascontiguousarray(depth), error_rate / OTHER_BASES, reads)
    return reads


@signatures("int64, int64, float64[::1], float64, float64[::1]")
@compiled()
def _write_reads_of_one_error(first, last, depth, share, reads):
    for row in range(first, last):
        reads[row] = least_reads_of_one_error(depth[row] * share)


@compiled()
def least_reads_of_one_error(mean):
    """Return `reads_of_one_error` for the mean number of reads that share an error."""
    chance, n = 1.0, 0.0
    while n < _FEW_READS or (chance * _ERROR_BASES >= 1 and n < _MOST_READS):
        n += 1
        chance = chance * mean / n
    return n
