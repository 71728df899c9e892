"""Local walks: close a gap by a walk through the k-mers of its local reads.

At a repeat the whole graph contains the k-mers of all copies, and where coverage is low hardly any of this copy. Local
reads are few, and most come from this copy. Their k-mers form a graph in which all walks between the two ends are
enumerated whose length agrees with the pairs, for decreasing k until there is one. Reads must support one walk against
each other walk, including walks that differ from the estimated distance by up to twice its tolerance: tandem units
differ in number only, and pairs with anchors in the wrong unit give a wrong distance. If reads do not decide,
fragments may (`fragment_choice`), among walks up to the mean of the estimate and the longest fragment.

After Boetzer and Pirovano (2012), doi:10.1186/gb-2012-13-6-r56, and Paulino et al. (2015),
doi:10.1186/s12859-015-0663-4.
"""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import numpy as np

from gpuasm.assembly.ends.fragment_choice import Candidate, choose_walk
from gpuasm.assembly.ends.local_kmers import LocalKmers
from gpuasm.assembly.graph.graph_edits import Fill
from gpuasm.assembly.graph.oriented_sequence import oriented_codes
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.pairs.gaps import Gap
from gpuasm.assembly.parameters import ENDS


def fill_gap(
    graph: UnitigGraph,
    gap: Gap,
    reads: Sequence[tuple[bytes, int]],
    *,
    read_length: int,
    density: np.ndarray | None = None,
    flank: int = 0,
) -> Fill | None:
    """Return the fill of a gap, or None if no walk is certain.

    Parameters
    ----------
    graph
        The graph of both ends.
    gap
        The source has no outgoing edge, the target no incoming edge.
    reads
        Codes of its local reads, in its direction, each with its mate's position, as
        `gpuasm.assembly.ends.fragment_choice.choose_walk` takes them; their order does not matter.
    read_length
        Bases of a typical read.
    density : (longest + 1,) int32, optional
        Log-likelihood of each fragment length; without it fragments are not used.
    flank
        No local read is aligned farther from an end of the gap than this (bases).
    """
    source, target = (oriented_codes(graph, oriented).tobytes() for oriented in (gap.source, gap.target))
    # Bases that the two may share are trimmed from either, so that every walk has a positive length.
    cut = ENDS.local_min_trim + max(0, gap.spread - gap.size)
    reads = sorted(reads, key=lambda read: (crc32(read[0]), read))[: ENDS.local_max_reads]
    texts = [text for text, _ in reads]
    reach, packed = max(map(len, texts), default=0), LocalKmers.of(texts, ENDS.local_min_k)
    for k in range(read_length - ENDS.local_min_windows + 1, ENDS.local_min_k - 1, -ENDS.local_k_step):
        own = cut + k
        if min(len(source), len(target)) < own:
            continue
        least, most = own + cut + gap.size - gap.spread, own + cut + gap.size + gap.spread
        ends = source[-own - reach :], target[: own + reach]
        between = (ends[0][-own:][:k], ends[1][cut:own])
        walks = _walks(packed, between, (least - gap.spread, most + gap.spread))
        if walks is None:
            return None
        if any(least <= len(walk) - k <= most for walk in walks):
            text = _supported_by_reads(texts, [ends[0][:-own] + walk + ends[1][own:] for walk in walks])
            if text is None and density is not None:
                longest = int(density.size)
                ends = source[-own - longest :], target[: own + longest]
                farthest = own + cut + gap.size + max(2 * gap.spread, (longest - gap.size) // 2)
                walks = _walks(packed, between, (least - gap.spread, farthest))
                text = _supported_by_fragments(
                    walks or [], reads, ends, own=own, density=density, length=read_length, flank=flank
                )
            return None if text is None else _fill(text, ends, gap, longest_overlap=graph.k - 2)
    return None


def _supported_by_fragments(
    walks: Sequence[bytes],
    reads: Sequence[tuple[bytes, int]],
    ends: tuple[bytes, bytes],
    *,
    own: int,
    density: np.ndarray,
    **known: int,
) -> bytes | None:
    """Return the sequence of the walk that fragments support against every other, or None; see `choose_walk`."""
    source, target = ends
    candidates = [
        Candidate(source[:-own] + walk + target[own:], len(source), len(source) + len(walk) - 2 * own) for walk in walks
    ]
    chosen = choose_walk(candidates, reads, density=density, **known)
    if chosen is None:
        return None
    held = _reads_held([text for text, _ in reads], [each.text for each in candidates])
    # Walks of one repeat differ in its units, and the correct one contains every read. If two reads support another
    # walk, the walks are two copies, and fragments may have joined ends of different copies.
    is_one = all(len(other - held[chosen]) < ENDS.local_min_lead for other in held)
    return candidates[chosen].text if is_one else None


def _fill(text: bytes, ends: tuple[bytes, bytes], gap: Gap, *, longest_overlap: int) -> Fill | None:
    """Return the fill that a sequence makes between two ends, if it changes neither end."""
    source, target = ends
    size = len(text) - len(source) - len(target)
    fits = abs(size - gap.size) <= gap.spread and -size <= longest_overlap
    if not (fits and text.startswith(source) and text.endswith(target)):
        return None
    between = text[len(source) :][:size] if size >= 0 else None
    return Fill((gap.source, gap.target), overlap=max(0, -size), between=between)


def _walks(packed: LocalKmers, ends: tuple[bytes, bytes], size: tuple[int, int]) -> list[bytes] | None:
    """Return all walks of a given length range through the reads' k-mers; None if there are too many."""
    for least in (1, 2):
        found = packed.walks(ends, size, least=least)
        if found is not None:
            return found
    return None


def _supported_by_reads(reads: Sequence[bytes], texts: list[bytes]) -> bytes | None:
    """Return the sequence that reads support against every other, or None."""
    if len(texts) == 1:
        return texts[0]
    held = _reads_held(reads, texts)
    best = max(range(len(texts)), key=lambda i: (len(held[i]), texts[i]))
    for other in range(len(texts)):
        more, less = len(held[best] - held[other]), len(held[other] - held[best])
        if other != best and (more < ENDS.local_min_lead or ENDS.local_lead_ratio * less > more):
            return None
    return texts[best]


def _reads_held(reads: Sequence[bytes], texts: list[bytes]) -> list[set[int]]:
    """Return the numbers of the reads that each sequence contains."""
    return [{i for i, read in enumerate(reads) if read in text} for text in texts]
