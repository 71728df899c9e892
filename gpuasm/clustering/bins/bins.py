"""Bins of contigs: pieces on a self-organising map, regions of the map, and contigs assigned to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuasm.arrays import array_namespace, to_host, to_namespace
from gpuasm.clustering.bins.contrast import Contrast, find_contrast
from gpuasm.clustering.bins.membership import READ, Membership, assign
from gpuasm.clustering.bins.pieces import Contigs, Pieces, cut_contigs
from gpuasm.clustering.bins.regions import Regions, find_regions
from gpuasm.clustering.som import SelfOrganisingMap
from gpuasm.errors import DataError
from gpuasm.kmers import count_tetramers
from gpuasm.kmers.composition import LENGTH
from gpuasm.stages import Stages

EPOCHS = 15
UNITS_PER_PIECE = 2
FEWEST_UNITS, MOST_UNITS = 200, 90_000
PIECES_PER_NEIGHBOURHOOD = 10
"""Pieces that each unit is a mean of in the end: more would blur the gaps between genomes, fewer show chance."""
DEPTH_NOISE = 0.15
"""Standard deviation of the logarithm of depth within a genome that is reckoned with before bins are known."""


class NothingToBinError(DataError):
    """No contig is long enough for a map."""


@dataclass(frozen=True)
class BinOptions:
    """What contigs are binned, and how.

    Attributes
    ----------
    window
        Bases of a piece.
    least
        Least length of contigs that make the map.
    shortest
        Least length of contigs that are joined to bins; those on the map always are.
    least_bin
        Least bases of a bin in contigs on the map; what is smaller, such as a plasmid or a phage, is no genome.
    sureness
        Least probability with which a contig belongs to its bin.
    """

    window: int = 5000
    least: int = 2500
    shortest: int = 500
    least_bin: int = 200_000
    sureness: float = 0.9


@dataclass(frozen=True)
class ContigMap:
    """A trained map of pieces of contigs.

    Attributes
    ----------
    som : SelfOrganisingMap
    contrast : Contrast
    depth_scale : (2, samples) float64
        What is taken off the logarithm of the depth in each sample, and what it is divided by; these columns follow
        those of composition.
    window, least : int
        The pieces it was trained with, as in `BinOptions`.
    """

    som: SelfOrganisingMap
    contrast: Contrast
    depth_scale: np.ndarray
    window: int
    least: int


@dataclass(frozen=True)
class Binning:
    """Contigs in bins.

    Attributes
    ----------
    pieces : Pieces
        On the map.
    piece_unit : (n,) int32
        Best unit of each.
    regions : Regions
        Of the map.
    bin_of_region : (regions,) int64
        -1 for regions too small for a bin.
    membership : Membership
        Of every contig.
    bin_of_contig : (m,) int64
        Bins are numbered by their bases, most first; -1 for contigs in none.
    region_of_contig : (m,) int64
        The region that holds the most of a contig's bases on the map; -1 for contigs that are not on it.
    contig_units : (m, 2) int32
        The nearest and the second nearest unit of each contig as a whole.
    silhouette : (bins,) float64
        Mean over a bin's pieces of how much nearer they are to their own bin's centre than to the next, 0 to 1; NaN
        for a single bin.
    """

    pieces: Pieces
    piece_unit: np.ndarray
    regions: Regions
    bin_of_region: np.ndarray
    membership: Membership
    bin_of_contig: np.ndarray
    region_of_contig: np.ndarray
    contig_units: np.ndarray
    silhouette: np.ndarray

    @property
    def n_bins(self) -> int:
        return int(self.silhouette.size)


def train_contig_map(
    contigs: Contigs, options: BinOptions | None = None, *, xp: Any = np, stages: Stages | None = None
) -> ContigMap:
    """Train a map of the pieces of contigs.

    Parameters
    ----------
    contigs
        The contigs.
    options
        `BinOptions` unless given.
    xp
        Where to compute: numpy or cupy.
    stages
        Where to report the stages.

    Raises
    ------
    NothingToBinError
        If no contig is long enough.
    """
    options, stages = options or BinOptions(), stages or Stages()
    pieces, counts = _pieces(contigs, (options.window, options.least), xp, stages)
    contrast = find_contrast(counts, pieces.contig, options.window)
    scale = _depth_scale(contigs, pieces)
    rows = _rows(contigs, pieces, contrast.place(counts), scale)
    som = _untrained(pieces.n)
    with stages.stage("train map", rows=som.rows, columns=som.columns, total=EPOCHS, unit="epochs") as stage:
        som.fit(to_namespace(xp, rows), progress=stage.advance)
        stage.note(pieces=pieces.n, axes=int(contrast.axes.shape[1]), telling_axes=contrast.n_telling)
    return ContigMap(som, contrast, depth_scale=scale, window=options.window, least=options.least)


def bin_contigs(
    contigs: Contigs, contig_map: ContigMap, options: BinOptions | None = None, *, stages: Stages | None = None
) -> Binning:
    """Sort contigs into bins by a trained map.

    Parameters
    ----------
    contigs
        The contigs, those of the map or others.
    contig_map
        As `train_contig_map` makes it.
    options
        `BinOptions` unless given.
    stages
        Where to report the stages.

    Raises
    ------
    NothingToBinError
        If no contig is long enough.
    DataError
        If there are other samples than the map was trained with.
    """
    options, stages = options or BinOptions(), stages or Stages()
    som = contig_map.som
    found, expected = contigs.depth.shape[1], contig_map.depth_scale.shape[1]
    if found != expected:
        raise DataError(
            f"depth of {expected} samples, as the map was trained with", f"{found}", "give the same tables of depth"
        )
    xp = array_namespace(som.weights_)
    pieces, counts = _pieces(contigs, (contig_map.window, contig_map.least), xp, stages)
    rows = _rows(contigs, pieces, contig_map.contrast.place(counts), contig_map.depth_scale)
    with stages.stage("cut map") as stage:
        unit = to_host(som.predict(to_namespace(xp, rows)))
        regions = find_regions(rows, unit, som.u_matrix(), som.grid_)
        stage.note(valleys=regions.n_valleys, regions=regions.n)
    with stages.stage("assign contigs") as stage:
        binning = _binned(contigs, contig_map, (pieces, unit, regions, rows), options)
        stage.note(bins=binning.n_bins, binned=int((binning.bin_of_contig >= 0).sum()))
    return binning


def _pieces(contigs: Contigs, lengths: tuple[int, int], xp: Any, stages: Stages) -> tuple[Pieces, np.ndarray]:
    """Return the pieces for the map, by window and least length, with their counts of words."""
    window, least = lengths
    pieces = cut_contigs(contigs.length, window=window, least=least)
    with stages.stage("count tetranucleotides", total=pieces.n, unit="pieces") as stage:
        start = contigs.start[pieces.contig]
        counts = _counts(contigs, start + pieces.begin, start + pieces.end, xp)
        stage.advance(pieces.n)
    # Runs of N are no composition.
    has_bases = counts.sum(axis=1) >= min(window, least) // 2
    if not has_bases.any():
        longest = int(contigs.length.max(initial=0))
        raise NothingToBinError(
            f"a contig of at least {least} bases",
            f"none among {contigs.n}, the longest has {longest}" if contigs.n else "no contig at all",
            "assemble more reads, or lower --min-map-contig",
        )
    return pieces.select(has_bases), counts[has_bases]


def _counts(contigs: Contigs, begin: np.ndarray, end: np.ndarray, xp: Any) -> np.ndarray:
    codes, first, last = (to_namespace(xp, array) for array in (contigs.codes, begin, end))
    return to_host(count_tetramers(codes, first, last))


def _counts_of_contigs(contigs: Contigs, window: int, xp: Any) -> np.ndarray:
    """Count the words of whole contigs, (m, 136): in windows that share three bases, lest one thread count millions."""
    pieces = cut_contigs(contigs.length, window=window, least=1)
    start = contigs.start[pieces.contig]
    end = np.minimum(start + pieces.end + LENGTH - 1, contigs.start[pieces.contig + 1])
    counts = _counts(contigs, start + pieces.begin, end, xp)
    return np.add.reduceat(counts, np.flatnonzero(np.diff(pieces.contig, prepend=-1)), axis=0)


def _depth_scale(contigs: Contigs, pieces: Pieces) -> np.ndarray:
    """Return the median of the logarithm of depth in each sample, and its usual noise, (2, samples) float64."""
    depth = np.maximum(contigs.depth[pieces.contig], 1 / READ)
    noise = np.sqrt(DEPTH_NOISE**2 + READ / np.maximum(depth * pieces.length[:, None], READ))
    return np.array([np.median(np.log(depth), axis=0), np.median(noise, axis=0)])


def _rows(contigs: Contigs, pieces: Pieces, place: np.ndarray, depth_scale: np.ndarray) -> np.ndarray:
    """Return what the map sees: composition and the logarithm of depth, with noise of about 1, (n, d) float32."""
    depth = np.log(np.maximum(contigs.depth[pieces.contig], 1 / READ))
    return np.ascontiguousarray(np.column_stack([place, (depth - depth_scale[0]) / depth_scale[1]]), dtype=np.float32)


def _untrained(n_pieces: int) -> SelfOrganisingMap:
    """Return a map for so many pieces: a torus twice as wide as high, its last radius by the pieces each unit sees."""
    n_units = min(MOST_UNITS, max(FEWEST_UNITS, UNITS_PER_PIECE * n_pieces))
    rows = round(np.sqrt(n_units / 2))
    seen = PIECES_PER_NEIGHBOURHOOD * 2 * rows * rows / n_pieces  # units that hold so many pieces
    first = rows / 4
    last = min(first, max(0.5, float(np.sqrt(seen / (2 * np.pi)))))
    return SelfOrganisingMap(
        rows, 2 * rows, topology="toroidal", epochs=EPOCHS, radius=(first, last), decay="exponential"
    )


def _binned(
    contigs: Contigs, contig_map: ContigMap, on_map: tuple[Pieces, np.ndarray, Regions, np.ndarray],
    options: BinOptions,
) -> Binning:  # fmt: skip
    pieces, unit, regions, rows = on_map
    som, xp = contig_map.som, array_namespace(contig_map.som.weights_)
    region_of_contig = _most_of(pieces, regions, contigs.n)
    is_on_map = region_of_contig >= 0
    bases = np.bincount(region_of_contig[is_on_map], contigs.length[is_on_map], regions.n)
    bin_of_region = _large_enough(bases, options.least_bin)
    counts = _counts_of_contigs(contigs, contig_map.window, xp)
    length, place = np.maximum(1, counts.sum(axis=1)), contig_map.contrast.place(counts)
    is_long = contigs.length >= min(options.shortest, contig_map.least)
    while True:
        start = np.where(is_on_map, bin_of_region[region_of_contig], -1)
        n_bins = int(bin_of_region.max()) + 1
        membership = assign(
            place, length, contigs.depth,
            start=start, n_bins=n_bins, window=contig_map.window, sureness=options.sureness,
        )  # fmt: skip
        is_sure = is_long & (membership.sureness >= options.sureness)
        has_contigs = np.bincount(membership.best[is_sure], minlength=n_bins) > 0
        if has_contigs.all():
            break
        bin_of_region = _without_empty(bin_of_region, has_contigs)
    whole = Pieces(np.arange(contigs.n), np.zeros(contigs.n, np.int64), contigs.length)
    best = som.best_units(to_namespace(xp, _rows(contigs, whole, place, contig_map.depth_scale)))
    return Binning(
        pieces=pieces,
        piece_unit=unit,
        regions=regions,
        bin_of_region=bin_of_region,
        membership=membership,
        bin_of_contig=np.where(is_sure, membership.best, -1),
        region_of_contig=region_of_contig,
        contig_units=np.column_stack([to_host(best.first), to_host(best.second)]),
        silhouette=_silhouette(rows, bin_of_region[regions.of_row], n_bins),
    )


def _large_enough(bases: np.ndarray, least: int) -> np.ndarray:
    """Return the bin of each region: the largest alone, if none has enough bases."""
    is_bin = bases >= least
    is_bin[bases.argmax()] = True
    order = np.argsort(-bases * is_bin, kind="stable")[: is_bin.sum()]
    bins = np.full(bases.size, -1)
    bins[order] = np.arange(order.size)
    return bins


def _without_empty(bin_of_region: np.ndarray, has_contigs: np.ndarray) -> np.ndarray:
    """Return the bins numbered anew without those that no contig is surely in; the first stays in any case."""
    stays = has_contigs if has_contigs.any() else np.arange(has_contigs.size) == 0
    number = np.where(stays, np.cumsum(stays) - 1, -1)
    return np.where(bin_of_region >= 0, number[bin_of_region], -1)


def _most_of(pieces: Pieces, regions: Regions, n_contigs: int) -> np.ndarray:
    """Return the region with most of each contig's bases on the map, the lower number of equals; -1 without any."""
    found, which = np.unique(pieces.contig * regions.n + regions.of_row, return_inverse=True)
    bases = np.bincount(which, pieces.length)
    contig, region = np.divmod(found, regions.n)
    order = np.lexsort((region, -bases, contig))
    is_first = np.diff(contig[order], prepend=-1) > 0
    most = np.full(n_contigs, -1)
    most[contig[order][is_first]] = region[order][is_first]
    return most


def _silhouette(rows: np.ndarray, bin_of_row: np.ndarray, n_bins: int) -> np.ndarray:
    if n_bins < 2:
        return np.full(n_bins, np.nan)
    centre = np.array([rows[bin_of_row == b].mean(axis=0) for b in range(n_bins)])
    distance = np.column_stack([np.sqrt(((rows - c) ** 2).sum(axis=1)) for c in centre])
    has_bin = np.flatnonzero(bin_of_row >= 0)
    own = distance[has_bin, bin_of_row[has_bin]]
    distance[has_bin, bin_of_row[has_bin]] = np.inf
    other = distance[has_bin].min(axis=1)
    value = (other - own) / np.maximum(other, own)
    return np.bincount(bin_of_row[has_bin], value, n_bins) / np.bincount(bin_of_row[has_bin], minlength=n_bins)
