"""Exact unitigs of reads at one k, as `gpuasm unitigs` writes them."""

from __future__ import annotations

from gpuasm.arrays import Array
from gpuasm.assembly.graph.debruijn import TableLinks, find_neighbours
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.graph.unitigs import build_unitigs
from gpuasm.kmers.counting import tally_kmers
from gpuasm.kmers.keys import doubling_chain
from gpuasm.kmers.names import Dictionary, name_windows
from gpuasm.kmers.spectrum import analyse_spectrum
from gpuasm.kmers.tally import Tally
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages


def unitigs_of_reads(
    reads: Reads, k: int, *, min_count: int | None = None, observed: bool = False, stages: Stages | None = None
) -> UnitigGraph:
    """Build the unitig graph of the k-mers that occur at least ``min_count`` times.

    Parameters
    ----------
    reads
        Packed reads, on the host or on a device.
    k
        Odd, of any size.
    min_count
        Least multiplicity of a k-mer; with ``observed``, of a (k + 1)-mer too. None takes the solid threshold from
        the spectrum of the first k of the doubling chain: 31, or k if that is smaller.
    observed
        Join k-mers only where reads contain them consecutively; otherwise wherever they share k - 1 bases.
    stages
        Where to report progress and timings.
    """
    stages = stages or Stages()
    names, k0, lower = None, 0, None
    for step in doubling_chain(k):
        is_last = step == k
        with stages.stage("count k-mers", k=step) as stage:
            tally = tally_kmers(
                reads, step, names, k0=k0, min_count=min_count or 2, with_followers=is_last and observed
            )
            tally, min_count = _solid(tally, min_count)
            stage.note(solid=tally.n, min_count=min_count)
        with stages.stage("build graph", k=step) as stage:
            dictionary = Dictionary.of(tally.keys, k=step, k0=k0)
            min_follow = min_count if is_last and observed else 0
            neighbour: Array = find_neighbours(reads.packed, tally, dictionary, lower=lower, min_follow=min_follow)
            if not is_last:
                names, k0, lower = name_windows(reads, dictionary, names), step, neighbour
    with stages.stage("compact unitigs", k=k) as stage:
        graph = build_unitigs(reads.packed, tally, TableLinks(neighbour, tally), with_names=False).graph
        stage.note(unitigs=graph.n)
    return graph


def _solid(tally: Tally, min_count: int | None) -> tuple[Tally, int]:
    if min_count is not None:
        return tally, min_count
    threshold = analyse_spectrum(tally.histogram, tally.k).threshold
    return tally.at_least(threshold), threshold
