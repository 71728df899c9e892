"""The consensus check: reads laid back on the contigs say how deep they are, where they are wrong, and what to break.

1. Index the contigs' k-mers; lay every read by the first that stands at one place only (`laying`).
2. Sum up how often each base is covered, what differing bases say, and where reads leave the contigs.
3. Change bases that reads outvote (`votes`), break joins that reads (`departures`) or mates (`stray_mates`) contradict,
   those over a repeat that no fragment spans and others lead into and out of (`rival_ends`), and those that lack bases
   (`compressed`). Leave out what two contigs tell of one copy (`doubled_ends`).
4. Extend free ends by what reads say that hang over them (`end_extension`).
5. Cut circles where reads leave them (`circle_cuts`).
6. Tell depth and copies of each contig from the reads that lie on it (`depth_table`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host
from gpuasm.assembly.consensus.batches import batches
from gpuasm.assembly.consensus.circle_cuts import find_circle_cuts
from gpuasm.assembly.consensus.coverage import Coverage
from gpuasm.assembly.consensus.departures import Departures, apart
from gpuasm.assembly.consensus.depth_table import DepthTable, core_of, summarise
from gpuasm.assembly.consensus.doubled_ends import find_doubled
from gpuasm.assembly.consensus.end_extension import extend_ends, extended
from gpuasm.assembly.consensus.ends_inside import ends_inside
from gpuasm.assembly.consensus.fragments import Fragments, find_fragments, find_strays, longest_insert
from gpuasm.assembly.consensus.guesses import GUESSES, OnContigs, find_guesses
from gpuasm.assembly.consensus.laying import LARGEST_SHIFT, Laid, lay_reads
from gpuasm.assembly.consensus.mate_places import lay_by_mates
from gpuasm.assembly.consensus.overhangs import Overhangs, find_overhangs, free_ends
from gpuasm.assembly.consensus.parts import Cuts, Join, cut_contigs
from gpuasm.assembly.consensus.spans import Spans
from gpuasm.assembly.consensus.targets import SeedIndex, Targets, targets_of
from gpuasm.assembly.consensus.votes import count_votes, decide, least_votes
from gpuasm.assembly.contigs import Contig, bounds_of, single_copy_depth
from gpuasm.sequence.encoding import NOT_A_BASE
from gpuasm.sequence.reads import Reads


@dataclass(frozen=True)
class Checked:
    """Contigs that reads have been laid back on.

    Attributes
    ----------
    contigs : list of Contig
        Longest first, with the depth and the copies that the reads say.
    depth : (n_places,) int32
        Reads over each base of all contigs, one contig after the other.
    table : DepthTable
        A row for each contig.
    counts : dict
        Reads laid, bases changed and added, joins broken: for run.json.
    joins : list of Join
        Between contigs that were one, and lack bases between them.
    """

    contigs: list[Contig]
    depth: np.ndarray
    table: DepthTable
    counts: dict[str, int]
    joins: list[Join] = field(default_factory=list)

    @classmethod
    def empty(cls) -> Checked:
        """Return what there is to say of no contigs at all."""
        nothing = np.empty(0, np.int32)
        return cls([], nothing, summarise(nothing, nothing > 0, nothing > 0, np.zeros(1, np.int64)), {})

    @classmethod
    def by_kmers(cls, contigs: Sequence[Contig], *, min_length: int) -> Checked:
        """Return contigs of at least ``min_length`` bases unchecked: k-mers alone say how deep they are."""
        kept = [contig for contig in contigs if contig.length >= min_length]
        bounds = bounds_of(kept)
        depth = np.repeat(np.rint([contig.depth for contig in kept]).astype(np.int32), np.diff(bounds))
        anywhere = np.ones(depth.size, dtype=bool)
        named = [replace(contig, name=f"contig_{number:06d}") for number, contig in enumerate(kept, start=1)]
        return cls(named, depth, summarise(depth, anywhere, anywhere, bounds), {})

    @property
    def bounds(self) -> np.ndarray:
        """(n + 1,) int64: the places where each contig begins, and the end."""
        return bounds_of(self.contigs)


def check_contigs(
    contigs: Sequence[Contig], reads: Reads, *, min_length: int, without: Collection[str] = ()
) -> Checked:
    """Lay reads back on contigs, mend what they contradict, and tell depth and copies.

    Parameters
    ----------
    contigs
        Contigs, circles without overlap, gaps as code 4. Those that are too short to be kept belong here too: reads
        that come from them must not be taken for others'.
    reads
        All reads, on the host or on a device; mates are reads 2i and 2i + 1 where they are paired.
    min_length
        Shorter contigs are dropped in the end.
    without
        Rules to leave out, of `gpuasm.assembly.options.RULES`.
    """
    bounds = bounds_of(contigs)
    codes = np.concatenate([contig.codes for contig in contigs]) if contigs else np.empty(0, np.uint8)
    reach = int(reads.length.max()) if reads.n_pieces else 0
    typical = reads.n_bases // max(1, reads.n_pieces)
    xp = array_namespace(reads.words)
    targets, index = targets_of(contigs, reads)
    is_free = np.array([c.free_ends for c in contigs], bool).reshape(-1, 2) & ("end-extension" not in without)
    ends = free_ends(targets, bounds, is_free)
    spans = Spans(read_length=typical) if set(GUESSES) - set(without) else None
    by_mates = reads.paired and not {"votes", "mate-places"} & set(without)
    seen = _look(reads, targets, index, ends=ends, spans=spans, by_mates=by_mates)
    fixes = decide(
        seen.votes[: 0 if "votes" in without else None], seen.voters, bounds, least=least_votes(*seen.error_rate)
    )
    codes[fixes.place] = fixes.code
    breaks = np.empty(0, np.int64)
    if "departures" not in without:
        read_length = round(reads.n_bases / max(1, reads.n_pieces))
        breaks = apart(seen.departures.contradicted(targets), read_length=read_length)
    depth = to_host(seen.depth)
    inside = [] if "rival-ends" in without else ends_inside(contigs)
    known = OnContigs(contigs, bounds, depth, inside, targets, typical)
    broken = find_guesses(breaks, known, spans, without=without)
    doubled = np.empty((0, 2), np.int64)
    if "doubled-ends" not in without:
        doubled = find_doubled(contigs, depth, to_host(seen.own_depth), read_length=typical, spread=known.spread)
    is_doubled = _within(doubled, depth.size)
    is_core = core_of(targets, index, bounds)
    found = extend_ends(contigs, seen.overhangs, index, depth=depth, error_rate=seen.error_rate)
    cuts = Cuts.of(broken.place, doubled, broken.lacking)
    longer, (codes, depth, is_core, is_doubled), moved = extended(
        contigs, found, (codes, depth, is_core, is_doubled), cuts=np.array(cuts.place, np.int64)
    )
    is_cut = "circle-cuts" not in without
    opened = find_circle_cuts(longer, batches(reads), typical=typical, reach=reach, xp=xp) if is_cut else {}
    parts = cut_contigs(longer, codes, cuts.moved(moved), is_left=is_doubled, opened=opened, min_length=min_length)
    codes, depth, is_core = codes[parts.places], depth[parts.places], is_core[parts.places]
    table = summarise(depth, codes < NOT_A_BASE, is_core, bounds_of(parts.contigs))
    counts = {**seen.counts, "bases_changed": int(fixes.place.size), "bases_added": found.n_bases}
    counts |= {"joins_broken": int(broken.place.size), **broken.counts, "doubled_ends": len(doubled)}
    return Checked(_with_depth(parts.contigs, table), depth, table, counts, parts.joins)


def _within(stretches: np.ndarray, size: int) -> np.ndarray:
    """Return which places lie in one of the stretches: (size,) bool."""
    steps = np.bincount(stretches[:, 0], minlength=size + 1) - np.bincount(stretches[:, 1], minlength=size + 1)
    return np.cumsum(steps[:-1]) > 0


@dataclass(frozen=True)
class _Seen:
    """What all reads together say."""

    depth: Array
    own_depth: Array
    voters: Array
    votes: Array
    counts: dict[str, int]
    overhangs: Overhangs
    departures: Departures
    error_rate: tuple[int, int]


def _look(
    reads: Reads, targets: Targets, index: SeedIndex, *, ends: np.ndarray, spans: Spans | None, by_mates: bool
) -> _Seen:
    xp = array_namespace(reads.words)
    own, shared, voting = (Coverage(targets, xp) for _ in range(3))
    votes, counts, longest = [xp.empty(0, np.int64)], dict.fromkeys(_COUNTS, 0), None
    overhangs, departures, bases, mismatches = [], Departures(), 0, 0
    for batch in batches(reads):
        first, second = lay_reads(batch, targets, index)
        pairs = find_fragments(batch, first, targets) if reads.paired else None
        if longest is None:
            longest = longest_insert(pairs) if pairs is not None else 0
        for laid in (first, second):
            for coverage, chosen in ((own, laid.is_unique), (shared, ~laid.is_unique)):
                counted = laid.where(chosen)
                coverage.add(counted.target, counted.begin, counted.end)
            votes.append(count_votes(batch, laid, targets))
            departures.add(batch, laid, targets)
            departures.cover(laid.begin, laid.end)
        departures.cover(*_with_gaps(first, second))
        if pairs is not None and longest:
            pairs = pairs.no_longer_than(longest)
            departures.cover(pairs.begin, pairs.end)
            strays = find_strays(batch, first, targets, longest=longest) if spans is not None else None
            if by_mates:
                found = lay_by_mates(batch, first, targets, longest=longest, strays=strays and strays.piece)
                voting.add(found.target, found.begin, found.end)
                votes.append(count_votes(batch, found, targets))
                same = found.piece[_SAME * found.mismatches <= found.end - found.begin]
                strays = strays and strays.without_pairs(batch.read[same] >> 1)
            if spans is not None and strays is not None:
                spans.add(first, pairs, strays, targets)
        overhangs.append(find_overhangs(batch, (first, second), targets, ends=ends))
        bases, mismatches = bases + int((first.end - first.begin).sum()), mismatches + int(first.mismatches.sum())
        _note(counts, batch, first, pairs)
    own_depth, hanging = own.counts(), Overhangs.joined(overhangs)
    depth, every_vote = own_depth + shared.counts(), xp.concatenate(votes)
    voters = own_depth + voting.counts()
    return _Seen(depth, own_depth, voters, every_vote, counts, hanging, departures, (mismatches, bases))


_SAME = 50
"""A stray whose mate agrees with what is in front of it but for one base in so many is none: bases are wrong there."""
_COUNTS = ("reads", "reads_laid", "reads_laid_by_chance", "pairs_laid")


def _note(counts: dict[str, int], batch: Reads, first: Laid, pairs: Fragments | None) -> None:
    """Add up the pieces of reads, those that lie somewhere, at one place of several, and the pairs that face."""
    unique = int(first.is_unique.sum())
    found = batch.n_pieces, first.n, first.n - unique, 0 if pairs is None else int(pairs.insert.size)
    for name, number in zip(_COUNTS, found, strict=True):
        counts[name] += number


def _with_gaps(first: Laid, second: Laid) -> tuple[Array, Array]:
    """Return where the reads whose two places are one with a small gap begin and end."""
    xp = array_namespace(first.at)
    if first.n == 0:
        return first.begin, first.end
    before = first.where(xp.searchsorted(first.piece, second.piece))
    same = (before.target == second.target) & (before.turned == second.turned)
    rows = xp.flatnonzero(same & (abs(before.at - second.at) <= LARGEST_SHIFT))
    return xp.minimum(before.begin, second.begin)[rows], xp.maximum(before.end, second.end)[rows]


def _with_depth(contigs: list[Contig], table: DepthTable) -> list[Contig]:
    """Name contigs in their order and give them the depth and copies that the reads say.

    A contig without a core keeps the depth of its k-mers, raised as the others' are when reads are counted whole: what
    k-mers lose to errors.
    """
    length, kmer_depth = np.diff(bounds_of(contigs)), np.array([contig.depth for contig in contigs])
    told = table.has_core & (kmer_depth > 0)
    bases = float((length * kmer_depth)[told].sum())
    raised = float((length * table.mean)[told].sum()) / bases if bases else 1.0
    depth = np.where(table.has_core, table.mean, raised * kmer_depth)
    single = single_copy_depth(length, depth)
    copies = np.maximum(1, np.rint(depth / single)) if single > 0 else np.ones(len(contigs))
    return [
        replace(contig, name=f"contig_{number:06d}", depth=float(d), copies=int(c))
        for number, (contig, d, c) in enumerate(zip(contigs, depth, copies, strict=True), start=1)
    ]
