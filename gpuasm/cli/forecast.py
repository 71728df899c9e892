"""What an assembly takes, from what is known of its reads: memory of host and device, and disk.

A forecast is the largest sum of arrays that live at the same time, over the steps of an assembly. Constants are bytes
of the named arrays for each k-mer, segment, window or base.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from gpuasm.assembly.iteration.k_values import choose_k, first_k
from gpuasm.assembly.options import AssemblyOptions
from gpuasm.assembly.parameters import ITERATION
from gpuasm.io.read_ahead import text_ahead
from gpuasm.kmers.estimate import branching_share, sampled_kmers, spectrum_of_sample
from gpuasm.kmers.keys import MAX_PLAIN_K, minimizer_bases
from gpuasm.kmers.spectrum import Spectrum, analyse_spectrum, chance_of_one
from gpuasm.kmers.superkmers import MINIMIZER
from gpuasm.primitives.hashing import slots_for
from gpuasm.primitives.runs import occurrences
from gpuasm.sequence.reads import Reads, count_windows, lengths_of

LATER_CODE = 54 << 20
"""Modules and compiled loops that are loaded after the reads."""
KERNELS = 190 << 20
"""What the libraries of a device take on the host once its kernels are loaded, and freed blocks that are kept there."""
PAGE, PAGE_APART = 40 << 20, 66 << 20
"""What draws the page of a run: libraries in this process, or another process."""

CODE = 150 << 20
"""A process that has read its reads: the interpreter, modules and compiled loops."""
_PARSED = 16 << 20
"""Parsed blocks of a file of reads that wait for those of the mates."""

_TALLY, _EDGES, _KEY = 8 + 4 + 1, 1, 8
"""A k-mer: key, count, and a bit for each base that follows on either strand; its edges alone, its key alone."""
_COUNTED = 4 * 8
"""Its followers in a group that is counted."""
_PLACE, _ROW = 8, 8
_RECORD, _BUCKET = 8, 2
"""A super-k-mer."""
_BUCKET_OF_CHUNK = 40
"""A bucket of a chunk of reads: records and windows, both stacked, and where they begin."""
_WINDOWS_OF_CHUNK, _WINDOWS_OF_BUCKET, _MOST_BUCKETS = 1 << 21, 1 << 15, 1 << 14
_WINDOWS_OF_GROUP = 1 << 22
_WALKED = 8 + 8 + 4
"""A k-mer while walks are written: the successors of both strands, walks' lengths, vertices."""
_TEXT, _BASE = 0.25 + 2 * 4 / 16, 1
"""A k-mer of an indexed graph: its base, the tables of blocks of text and of windows; its base as a code."""
_MARK, _PLACED = 1, 8 + 4 + 8
"""While the index is built: a base; and a minimizer, with its place twice and its hash."""
_COLUMNS = 1 + 4 + 1
"""A window of unitigs or of pieces of them: base, count, edges."""
_JOINED = 2 * _COLUMNS + 1
"""The same while pieces are joined: pieces, unitigs, and their bases in order."""
_END, _INDEXED_ENDS = 2 * (8 + 1 + 4) + 4, 2
"""A piece on a device while pieces are joined: first k-mers, edges and successors of both strands, and its place; how
many keys of an index it has."""
_SEGMENT = 8 + 4 + 1 + 2 + 8
"""A super-k-mer of a bucket on a device: where it is, its flanks, its bucket, its read."""
_CUT = 8 / 64
"""A window while a bucket is cut: the place of what its tile writes."""
_ALIGNED = 1 + 4 + 8 + 4 + 8
"""A segment: whether it lies within one unitig, and unitig and place of both ends."""
_PAIRED = 110
"""A segment while pairs are chosen: fourteen columns of eight bytes, most of them for mates."""
_PAIRED_ON_DEVICE = 60
"""The same on a device, where half of the columns are in memory at once."""
_VERIFIED_ASIDE = 80
"""A segment on the host while a device verifies contigs: fragments, breakpoints, votes; in lists, joined, in order."""
_CROSSING = 0.25 + 4 + 1 + 0.25
"""A base of junction-spanning reads: itself, the name of its window, a mark, its share of a tile."""
_CORRECTED = 2 * 0.25 + 3 * 4 + 0.25
"""The same while reads are corrected: two copies, three sets of names."""
_VERIFIED = 220
"""A segment while contigs are verified: two alignments of 45 bytes, copies of both, fragments, votes."""
_SEGMENTS_OF_BATCH = 1 << 22
_CONTIG = 32
"""A base of contigs: codes of unitigs and of contigs, three depths with their sums, seeds and their places."""

_RANKED = 8 + 4 + 2
"""A k-mer on a device while walks are ranked: the successors of both strands, vertices, marks."""
_ANCHORED = 1 + 3 + 0.25
"""A base of unitigs on a device while pairs are anchored, in addition to its index: its code, marks, itself."""
_IN_GROUP = 8 + 8 + 6
"""A k-mer of a group whose edges are found on a device: followers as bytes, which are edges, slots."""
_EDGE_GROUPS = 8
_CONTIG_ON_DEVICE, _COVERED = 20, 24
"""A base of contigs on a device: three depths, seeds and their places; and what a segment and its fragment cover."""
_SORTED_WINDOW = 24
"""A window on a device while it is counted: key, buffer of the sort; then marks and bounds of runs."""
_VERIFIED_ON_DEVICE = 130
"""A segment while a device verifies contigs, as `_VERIFIED`: not all copies are there at once."""
_ANCHORED_LONGER, _NAME = 32, 4
"""A base of unitigs on a device while longer k-mers anchor pairs: names, keys, places and slots; a base of reads there.
"""
_NEXT, _NEXT_KMER = 2 * (0.25 + 4), 8 + 4 + 4 + 8
"""The next k on a device: a base of its text, in the reads and again in the text, with names; a k-mer that is counted:
key, count, edges, place."""
_PART = (8 + 4) + 8 + 2
"""A k-mer on a device while parts are counted: key and count, then keys joined, and what lies between blocks."""
_TILE = 14 / 64
_TILED = 56
"""A tile on a device while tiles are made: its columns, and the segment, place and remaining windows of each."""
_SMALL_PART, _PARTS, _SPARE_PARTS = 1 << 24, 32, 5 / 4
_POOL_SHARE, _IDLE = 0.12, 16 << 20
"""Blocks of the pool of a device that are free: too small for others, and what lies between small ones."""

_STORED = (2 + 1 + 1) / 8
"""A k-mer in a checkpoint: its base, its strand, whether it is single-copy."""
_STORED_CROSSING = 0.25 + 0.13 + 0.37
"""A base of junction-spanning reads in a checkpoint: itself, its share of the read's place and of runs of names."""
_STORED_OF_READS, _STORED_AT_LOW_COVERAGE = 0.13, 0.2
"""A base of all reads in a checkpoint: junction-spanning reads and spanning pairs, of which low coverage has few."""
_STORED_LEAST = 24 << 10
"""What does not depend on the reads."""
_OUTPUT = 2 * (1 + 1 / 80) + 1 + 0.03 + 0.03
"""A base of contigs: contigs and scaffolds in lines of 80 bases, the graph, windows of depth, a row of each contig."""
_OUTPUT_LEAST = 156 << 10
"""The page, the tables and the record of a run."""

_ERROR_RATE = 0.01
"""Errors of a base, at most. At c-fold coverage each of the three possible ones occurs c / 3 times as often: half of
that is the share of repeated error k-mers, relative to single ones.
"""
_HIGH_COVERAGE = 300
"""Windows of a solid k-mer: with more, all bases of the genome have errors, and all reads span junctions."""
_COVERAGE_OF_ERRORS = 100
"""Windows of a k-mer without errors: with more, solid errors are as frequent as variants."""
_BRIDGED = 2 / 3
"""Bases of junction-spanning reads once gaps are bridged, of those before."""
_CROSSING_SHARE, _AT_LOW_COVERAGE = 0.07, 0.23
"""Bases of junction-spanning reads, of those of all reads."""
_BRANCHES_APART, _LEAST_BRANCHING = 2, 0.02
"""Branches lie in pairs, at both ends of what is shared. Least share of the bases of reads that lie at branches."""
_COVERED_BY_READS = 4
"""Junction-spanning reads over a base, at least on average."""


@dataclass(frozen=True)
class Sample:
    """What is known of reads before they are assembled.

    Attributes
    ----------
    own : int
        Bytes of the arrays of the reads.
    n_bases, n_segments : int
        Bases and segments of the reads.
    surveyed_k, distinct, twice : int
        The k of the survey; estimates of its k-mers, and of those that occur twice or more.
    k, windows : int
        The k of the first graph, which is smaller at low coverage, and the windows of k bases in the reads.
    repeated, solid, genome : int
        Estimates of its k-mers that occur twice or more, that are solid, and that have no errors.
    crossing, branching : int
        Bases of the reads that are likely to span junctions of the first graph; and those at branches, which remain
        once gaps are bridged.
    stored : int
        Bytes of reads in the first checkpoint.
    """

    own: int
    n_bases: int
    n_segments: int
    surveyed_k: int
    distinct: int
    twice: int
    k: int
    windows: int
    repeated: int
    solid: int
    genome: int
    crossing: int
    branching: int
    stored: int


class Survey:
    """What is learnt of reads, part by part, so that a part can be freed before the next is read.

    Parameters
    ----------
    options
        Options of the assembly.
    """

    def __init__(self, options: AssemblyOptions) -> None:
        self._options, self._lengths, self._own = options, np.zeros(1, np.int64), 0
        self._k = 0
        self._keys: list[np.ndarray] = []

    def add(self, reads: Reads) -> None:
        """Add reads on the host."""
        lengths = lengths_of(reads)
        self._k = self._k or (self._options.k[0] if self._options.k else choose_k(lengths)[0])
        lengths, self._lengths = sorted((lengths, self._lengths), key=len)
        self._lengths[: lengths.size] += lengths
        self._own += reads.n_bytes
        self._keys.append(sampled_kmers(reads, self._k))

    def sample(self) -> Sample:
        """Return what is known of all reads so far."""
        keys = np.concatenate([np.empty(0, np.uint64), *self._keys])
        kmers, count = occurrences(keys)
        histogram, k = spectrum_of_sample(count), self._k or MAX_PLAIN_K
        windows, n_bases = count_windows(self._lengths, k), count_windows(self._lengths, 1)
        spectrum = analyse_spectrum(histogram, k, min_count=self._options.min_count)
        repeated, solid = (int(histogram[least:].sum()) for least in (2, spectrum.threshold))
        share, stored, is_low = _CROSSING_SHARE, _STORED_OF_READS, self._is_sparse(spectrum) or spectrum.is_low_coverage
        if is_low:
            share, stored = _AT_LOW_COVERAGE, _STORED_AT_LOW_COVERAGE
            k, windows, repeated = self._with_smaller_k(spectrum, windows, repeated)
            solid = round(repeated / max(0.5, 1 - spectrum.rare_share()))  # k-mers that occur once bridge gaps
        # The valley at low coverage is that of dominant genomes.
        genome = solid if is_low or spectrum.valley is None else min(solid, int(histogram[spectrum.valley :].sum()))
        # More solid k-mers than errors could give are those of genomes of less depth.
        singletons = int(histogram[1])
        genome = max(genome, solid - round(singletons * windows / max(1, genome) * _ERROR_RATE / 6))
        if windows > _HIGH_COVERAGE * genome:
            share = 1.0
        share = max(share, self._share_with_errors(solid, genome, windows / max(1, genome)))
        per_read = count_windows(self._lengths, self._k) / max(1, int(self._lengths.sum()))
        branches = branching_share(kmers, count, self._k, threshold=spectrum.threshold) * per_read / _BRANCHES_APART
        branching = max(_LEAST_BRANCHING, 1 - math.exp(-branches))
        return Sample(
            own=self._own,
            n_bases=n_bases,
            n_segments=int(self._lengths.sum()),
            surveyed_k=self._k,
            distinct=int(histogram.sum()),
            twice=int(histogram[2:].sum()),
            k=k,
            windows=windows,
            repeated=repeated,
            solid=solid,
            genome=genome,
            crossing=round(share * n_bases),
            branching=round(n_bases * (branching if is_low else min(share, branching))),
            stored=round(n_bases * max(stored, _STORED_CROSSING * share)),
        )

    def _is_sparse(self, spectrum: Spectrum) -> bool:
        return spectrum.rare_share() > ITERATION.missed_windows_share or self._options.mode == "meta"

    def _with_smaller_k(self, spectrum: Spectrum, windows: int, repeated: int) -> tuple[int, int, int]:
        """Return the first k of low coverage, the windows in the reads and the k-mers that occur twice or more."""
        if self._options.k is not None:
            return self._options.k[0], windows, repeated
        least = ITERATION.first_k_sparse if self._is_sparse(spectrum) else ITERATION.first_k_low_coverage
        k = first_k(least, repeated)
        more = count_windows(self._lengths, k) / max(1, windows)
        return k, round(windows * more), round(repeated * _gain(spectrum, more))

    def _share_with_errors(self, solid: int, genome: int, coverage: float) -> float:
        """Return the share of reads across an end of a solid error, of which most leave the graph at usual coverage."""
        read_length = count_windows(self._lengths, 1) / max(1, int(self._lengths.sum()))
        stay = min(1.0, (coverage / _COVERAGE_OF_ERRORS) ** 2) / 4
        return 1 - math.exp(-stay * (solid - genome) / max(1, genome) * read_length / max(1, self._k))


def _gain(spectrum: Spectrum, more: float) -> float:
    """Return how many times as many windows of the genome occur twice where coverage is ``more`` times as high."""
    classes = np.arange(2, spectrum.histogram.size)
    occurrences = int((classes * spectrum.histogram[2:]).sum())
    depth = max(1.0, occurrences / max(1, int(spectrum.histogram[2:].sum())))
    return float((1 - chance_of_one(more * depth)) / (1 - chance_of_one(depth)))


def host_bytes(sample: Sample, *, threads: int, on_device: bool, n_buckets: int = 1, n_devices: int = 1) -> int:
    """Return the bytes of arrays on the host in addition to the reads, if these are counted in so many buckets."""
    verified = _CONTIG * sample.genome
    if on_device:
        copies = (n_devices - 1) * sample.solid / n_buckets  # each further worker copies the solid k-mers of a bucket
        tallies = sample.repeated + copies
        aside = max(_JOINED * sample.solid, _TALLY * tallies if n_buckets > n_devices else 0)
        return round(max(aside, verified) + _VERIFIED_ASIDE * sample.n_segments)
    n, segments = sample.solid, sample.n_segments
    aligned, index = _ALIGNED * segments, _text_index(sample)
    steps = (
        *_counting(sample, threads, n_buckets),
        _TALLY * n + _WALKED * n / n_buckets,
        index + (_MARK + _COLUMNS) * n + _PLACED * _minimizers(sample),
        index + _COLUMNS * n + aligned + _CROSSING * sample.crossing,
        index + _BASE * n + aligned + _CORRECTED * _BRIDGED * sample.crossing,
        index + _BASE * n + aligned + _PAIRED * segments + _CROSSING * _BRIDGED * sample.crossing,
        verified + _VERIFIED * min(segments, _SEGMENTS_OF_BATCH),
    )
    return round(max(steps))


def reading_bytes(sample: Sample) -> int:
    """Return the bytes that reading takes in addition to the reads: decoded text that waits, of two files."""
    text = 2 * sample.n_bases  # bases and qualities
    return min(text, 2 * text_ahead()) + 2 * _PARSED


def _superkmers(sample: Sample) -> float:
    return 2 * sample.windows / max(2, sample.k - min(MINIMIZER, sample.k) + 2) + sample.n_segments


def _counting(sample: Sample, threads: int, n_buckets: int) -> tuple[float, ...]:
    """Return the bytes of the steps of the first count on the host: cut, count groups, join them, sort by place."""
    if n_buckets > 1:
        part = replace(
            sample, windows=sample.windows // n_buckets, n_segments=sample.n_segments // n_buckets,
            repeated=sample.repeated // n_buckets, solid=sample.solid // n_buckets,
        )  # fmt: skip
        held = _TALLY * sample.repeated + _SEGMENT * _superkmers(part) + (_TILE + _CUT) * sample.windows
        return tuple(held + step for step in _counting(part, threads, 1))
    windows, repeated, superkmers = sample.windows, sample.repeated, _superkmers(sample)
    buckets = min(_MOST_BUCKETS, 1 << (windows // _WINDOWS_OF_BUCKET).bit_length())
    tables = _BUCKET_OF_CHUNK * buckets * (windows // _WINDOWS_OF_CHUNK + 1)
    group = min(repeated, threads * repeated * _WINDOWS_OF_GROUP / max(1, windows))
    rows = _ROW * (1 + (sample.solid < repeated)) * sample.solid
    return (
        (2 * _RECORD + _BUCKET) * superkmers + tables,
        _RECORD * superkmers + (_TALLY + _PLACE) * repeated + (_TALLY + _PLACE + _COUNTED) * group,
        (_TALLY + _PLACE + _KEY) * repeated,
        (_TALLY + _PLACE) * repeated + _KEY * sample.solid + rows,
    )


def device_bytes(sample: Sample, *, n_buckets: int = 1) -> int:
    """Return the bytes of the pool of a device, the context not included, if k-mers are counted in so many buckets."""
    n = sample.solid
    index, aligned = _text_index(sample, on_device=True), _ALIGNED * sample.n_segments
    parts, *rest = _steps_of_buckets(sample, n_buckets)
    steps = (
        *rest,
        index + _MARK * n + _PLACED * _minimizers(sample),
        index + aligned + _CROSSING * sample.crossing,
        index + _BASE * n + aligned + _CORRECTED * _BRIDGED * sample.crossing,
        index + aligned + _PAIRED_ON_DEVICE * sample.n_segments + _CROSSING * _BRIDGED * sample.crossing,
        _ANCHORED * sample.genome + _text_index(sample, on_device=True),
        _CONTIG_ON_DEVICE * sample.genome
        + _COVERED * sample.n_segments
        + _VERIFIED_ON_DEVICE * min(sample.n_segments, _SEGMENTS_OF_BATCH),
        (_ANCHORED_LONGER * sample.genome + _SORTED_WINDOW * min(_SMALL_PART, sample.genome) + _NAME * sample.branching)
        * (sample.branching >= sample.genome),  # else those of the pairs alone are indexed
        index
        + (_NEXT + _TILE) * sample.branching
        + _SORTED_WINDOW * min(_SMALL_PART, sample.branching)
        + _NEXT_KMER * min(n, sample.branching / _COVERED_BY_READS),
    )
    return round(max(sample.own + parts, (1 + _POOL_SHARE) * (sample.own + max(steps)))) + _IDLE


def _steps_of_buckets(sample: Sample, n_buckets: int) -> tuple[float, ...]:
    """Return the bytes of the steps of the first count on a device, and of its graph; that of its parts comes first."""
    n, repeated, windows = (size / n_buckets for size in (sample.solid, sample.repeated, sample.windows))
    part = max(_SMALL_PART, windows // _PARTS)
    part = windows if windows <= part else windows / math.ceil(_SPARE_PARTS * windows / part)
    held, tiles, cut, tiled, pieces = 0.0, _TILE * windows, 0.0, _TILED / 64 * windows, 0.0
    if n_buckets > 1:
        superkmers = _superkmers(sample) / n_buckets
        held, tiles, tiled = _SEGMENT * superkmers, 64 * _TILE * superkmers, _TILED * superkmers
        cut = (_TILE + _CUT) * sample.windows + held
        pieces = 2 * sample.solid / max(2, sample.k - min(MINIMIZER, sample.k) + 2)
    return (
        held + tiles + _SORTED_WINDOW * part + _PART * repeated,
        cut,
        held + tiled,
        held + tiles + (_TALLY + _IN_GROUP / _EDGE_GROUPS) * repeated,
        _TALLY * repeated + (_KEY + _ROW) * n,
        (_KEY + _EDGES + _RANKED) * n,
        _END * pieces + _index(round(_INDEXED_ENDS * pieces), on_device=True),
    )


def disk_bytes(sample: Sample) -> int:
    """Return the bytes of the folder of a run: the first two checkpoints, or the last and all outputs.

    Fewer reads span junctions as k grows: half of them are counted in the last checkpoint.
    """
    kept, outputs = _STORED_LEAST + _STORED * sample.genome, _OUTPUT_LEAST + _OUTPUT * sample.genome
    return round(max(2 * (kept + sample.stored), kept + sample.stored / 2 + outputs))


def _minimizers(sample: Sample) -> int:
    """Return how many minimizers the index of the first graph has; see `gpuasm.kmers.text_index`."""
    return round(2 * sample.solid / (sample.k - minimizer_bases(sample.k) + 2))


def _text_index(sample: Sample, *, on_device: bool = False) -> float:
    return _TEXT * sample.solid + _index(_minimizers(sample), on_device=on_device)


def _index(n: int, *, on_device: bool = False) -> int:
    """Return the bytes of the slots of `gpuasm.primitives.hashing.build_index` for n keys."""
    return 4 * slots_for(n, on_device=on_device)
