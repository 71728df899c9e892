"""Local walks: ways from one end of a gap to the other through the reads that may lie there.

At a repeat the whole graph has the k-mers of all its copies, and where coverage is thin hardly one of this copy: ends
there are dead, though pairs link them. The reads that may lie in the gap are few, and of one copy mostly. Their k-mers
make a graph of their own, in which every walk from the one end to the other that is as long as pairs say is looked at,
for smaller and smaller k until there is one. Reads must tell it from each other walk, those included that are off by up
to twice as much as pairs may be: units of a tandem repeat differ in number only, which no read within them tells, and
pairs anchored in the wrong unit are wrong about the distance too. Where reads do not tell, the fragments that end in a
walk may (`fragment_choice`): of all walks then up to half-way from what pairs say to the longest fragment. Pairs said
138 of 371 bases in units, and 137 of 385, where fragments had up to 797 and 581. (After Boetzer and Pirovano 2012,
doi:10.1186/gb-2012-13-6-r56, and Paulino et al. 2015, doi:10.1186/s12859-015-0663-4.)
"""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import numpy as np

from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.pairs.fragment_choice import Candidate, choose_walk
from gpuasm.assembly.pairs.gaps import Gap
from gpuasm.assembly.pairs.local_words import LocalWords
from gpuasm.assembly.pairs.overlaps import oriented_codes
from gpuasm.assembly.pairs.splitting import Fill

LEAST_K, STEP_OF_K = 21, 10
"""Least k, and by how much each is smaller than the one before."""
LEAST_WINDOWS = 10
"""Windows that a read of typical length has at the largest k."""
LEAST_CUT = 10
"""Bases that are cut from both ends at least, as errors and other copies' bases stand at dead ends."""
LEAST_MORE, TIMES_MORE = 2, 3
"""Reads that go with one walk but not with another must be so many, and so many times those of the other."""
_MOST_READS = 2000
"""Reads of a gap that are looked at; where there are more, a hash chooses."""


def fill_gap(
    graph: UnitigGraph,
    gap: Gap,
    reads: Sequence[tuple[bytes, int]],
    *,
    read_length: int,
    density: np.ndarray | None = None,
    beside: int = 0,
) -> Fill | None:
    """Return what closes a gap, or None where no walk is certain.

    Parameters
    ----------
    graph
        The graph of both ends.
    gap
        Where nothing follows the source, nor stands before the target.
    reads
        Codes of reads that may lie in it, in its direction, each with where its mate stands, as
        `gpuasm.assembly.pairs.fragment_choice.choose_walk` takes them; their order does not matter.
    read_length
        Bases of a typical read.
    density : (longest + 1,) int32, optional
        How likely each length of a fragment is; without it fragments are not asked.
    beside
        Bases beyond which none of the reads lies on a contig of the gap, of which alone fragments are asked.
    """
    source, target = (oriented_codes(graph, oriented).tobytes() for oriented in (gap.source, gap.target))
    # What the two may share is cut from either, so that a walk never has to go back.
    cut = LEAST_CUT + max(0, gap.spread - gap.size)
    reads = sorted(reads, key=lambda read: (crc32(read[0]), read))[:_MOST_READS]
    texts = [text for text, _ in reads]
    reach, words = max(map(len, texts), default=0), LocalWords.of(texts, LEAST_K)
    for k in range(read_length - LEAST_WINDOWS + 1, LEAST_K - 1, -STEP_OF_K):
        own = cut + k
        if min(len(source), len(target)) < own:
            continue
        least, most = own + cut + gap.size - gap.spread, own + cut + gap.size + gap.spread
        ends = source[-own - reach :], target[: own + reach]
        between = (ends[0][-own:][:k], ends[1][cut:own])
        walks = _walks(words, between, (least - gap.spread, most + gap.spread))
        if walks is None:
            return None
        if any(least <= len(walk) - k <= most for walk in walks):
            text = _told(texts, [ends[0][:-own] + walk + ends[1][own:] for walk in walks])
            if text is None and density is not None:
                longest = int(density.size)
                ends = source[-own - longest :], target[: own + longest]
                farthest = own + cut + gap.size + max(2 * gap.spread, (longest - gap.size) // 2)
                walks = _walks(words, between, (least - gap.spread, farthest))
                text = _chosen(walks or [], reads, ends, own=own, density=density, length=read_length, beside=beside)
            return None if text is None else _fill(text, ends, gap, longest_overlap=graph.k - 2)
    return None


def _chosen(
    walks: Sequence[bytes],
    reads: Sequence[tuple[bytes, int]],
    ends: tuple[bytes, bytes],
    *,
    own: int,
    density: np.ndarray,
    **known: int,
) -> bytes | None:
    """Return the text of the walk that fragments tell from every other, or None; see `choose_walk` for ``known``."""
    source, target = ends
    candidates = [
        Candidate(source[:-own] + walk + target[own:], len(source), len(source) + len(walk) - 2 * own) for walk in walks
    ]
    chosen = choose_walk(candidates, reads, density=density, **known)
    if chosen is None:
        return None
    held = _held([text for text, _ in reads], [each.text for each in candidates])
    # Walks of one repeat differ by its units, and the right one holds all that a read says; where two reads hold
    # another, these are two copies, of which fragments may have joined the one end to the other's.
    is_one = all(len(other - held[chosen]) < LEAST_MORE for other in held)
    return candidates[chosen].text if is_one else None


def _fill(text: bytes, ends: tuple[bytes, bytes], gap: Gap, *, longest_overlap: int) -> Fill | None:
    """Return what a text adds between two ends, if it leaves both as they are."""
    source, target = ends
    size = len(text) - len(source) - len(target)
    fits = abs(size - gap.size) <= gap.spread and -size <= longest_overlap
    if not (fits and text.startswith(source) and text.endswith(target)):
        return None
    between = text[len(source) :][:size] if size >= 0 else None
    return Fill((gap.source, gap.target), overlap=max(0, -size), between=between)


def _walks(words: LocalWords, ends: tuple[bytes, bytes], size: tuple[int, int]) -> list[bytes] | None:
    """Return all walks through reads' k-mers with so many bases behind the first k-mer; None if there are too many."""
    for least in (1, 2):
        found = words.walks(ends, size, least=least)
        if found is not None:
            return found
    return None


def _told(reads: Sequence[bytes], texts: list[bytes]) -> bytes | None:
    """Return the text that reads tell from every other, or None."""
    if len(texts) == 1:
        return texts[0]
    held = _held(reads, texts)
    best = max(range(len(texts)), key=lambda i: (len(held[i]), texts[i]))
    for other in range(len(texts)):
        more, less = len(held[best] - held[other]), len(held[other] - held[best])
        if other != best and (more < LEAST_MORE or TIMES_MORE * less > more):
            return None
    return texts[best]


def _held(reads: Sequence[bytes], texts: list[bytes]) -> list[set[int]]:
    """Return which reads each text holds."""
    return [{i for i, read in enumerate(reads) if read in text} for text in texts]
