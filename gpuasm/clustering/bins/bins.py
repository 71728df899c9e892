"""Bin contigs: map their windows on a self-organising map, find its regions, and assign contigs to these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuasm.arrays import array_namespace, to_host, to_namespace
from gpuasm.clustering.bins.contrast import Contrast, find_contrast
from gpuasm.clustering.bins.membership import READ, TYPICAL, Membership, assign
from gpuasm.clustering.bins.regions import Regions, find_regions
from gpuasm.clustering.bins.windows import Contigs, Windows, cut_contigs
from gpuasm.clustering.som import SelfOrganisingMap
from gpuasm.errors import DataError
from gpuasm.kmers import count_tetramers
from gpuasm.kmers.composition import LENGTH
from gpuasm.stages import Stages

EPOCHS = 15
UNITS_PER_WINDOW = 2
FEWEST_UNITS, MOST_UNITS = 200, 90_000
WINDOWS_PER_NEIGHBOURHOOD = 10
"""Windows averaged by each unit at the end: more would blur the gaps between genomes, fewer would show noise."""
DEPTH_NOISE = 0.15
"""Assumed standard deviation of the logarithm of depth within a genome before bins are known."""


class NothingToBinError(DataError):
    """No contig is long enough for a map."""


@dataclass(frozen=True)
class BinOptions:
    """Options of binning.

    Attributes
    ----------
    window
        Bases of a window.
    least
        Least length of contigs on the map.
    shortest
        Least length of contigs that are assigned to bins; those on the map always are.
    least_bin
        Least bases of a bin in contigs on the map; smaller groups, such as a plasmid or a phage, are not genomes.
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
    """A trained map of windows of contigs.

    Attributes
    ----------
    som : SelfOrganisingMap
    contrast : Contrast
    depth_scale : (2, samples) float64
        Shift and scale of the logarithm of the depth in each sample; these columns follow those of composition.
    window, least : int
        Lengths of the windows of its training, as in `BinOptions`.
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
    windows : Windows
        Windows on the map.
    window_unit : (n,) int32
        Best unit of each window.
    regions : Regions
        Regions of the map.
    bin_of_region : (regions,) int64
        -1 for regions too small for a bin.
    membership : Membership
        Probabilities of every contig.
    bin_of_contig : (m,) int64
        The bin of each contig; bins are numbered in descending order of bases; -1 for contigs without a bin.
    region_of_contig : (m,) int64
        The region with most of a contig's bases on the map; -1 for contigs that are not on it.
    contig_units : (m, 2) int32
        The nearest and the second nearest unit of each contig as a whole.
    silhouette : (bins,) float64
        Mean silhouette of a bin's windows, by distances to bin centres; NaN for a single bin.
    """

    windows: Windows
    window_unit: np.ndarray
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
    """Train a map of the windows of contigs.

    Parameters
    ----------
    contigs
        The contigs.
    options
        None: the defaults of `BinOptions`.
    xp
        The device that computes: numpy or cupy.
    stages
        Record of the stages.

    Raises
    ------
    NothingToBinError
        If no contig is long enough.
    """
    options, stages = options or BinOptions(), stages or Stages()
    windows, counts = _windows(contigs, (options.window, options.least), xp, stages)
    contrast = find_contrast(counts, windows.contig, options.window)
    scale = _depth_scale(contigs, windows)
    rows = _rows(contigs, windows, contrast.place(counts), scale)
    som = _untrained(windows.n)
    with stages.stage("train map", rows=som.rows, columns=som.columns, total=EPOCHS, unit="epochs") as stage:
        som.fit(to_namespace(xp, rows), progress=stage.advance)
        stage.note(windows=windows.n, axes=int(contrast.axes.shape[1]), discriminating_axes=contrast.n_discriminating)
    return ContigMap(som, contrast, depth_scale=scale, window=options.window, least=options.least)


def bin_contigs(
    contigs: Contigs, contig_map: ContigMap, options: BinOptions | None = None, *, stages: Stages | None = None
) -> Binning:
    """Assign contigs to bins by a trained map.

    Parameters
    ----------
    contigs
        The contigs, those of the map or others.
    contig_map
        The map of `train_contig_map`.
    options
        None: the defaults of `BinOptions`.
    stages
        Record of the stages.

    Raises
    ------
    NothingToBinError
        If no contig is long enough.
    DataError
        If the number of samples differs from that of the map's training.
    """
    options, stages = options or BinOptions(), stages or Stages()
    som = contig_map.som
    found, expected = contigs.depth.shape[1], contig_map.depth_scale.shape[1]
    if found != expected:
        raise DataError(
            f"depth of {expected} samples, as the map was trained with", f"{found}", "give the same tables of depth"
        )
    xp = array_namespace(som.weights_)
    windows, counts = _windows(contigs, (contig_map.window, contig_map.least), xp, stages)
    rows = _rows(contigs, windows, contig_map.contrast.place(counts), contig_map.depth_scale)
    with stages.stage("cut map") as stage:
        unit = to_host(som.predict(to_namespace(xp, rows)))
        regions = find_regions(rows, unit, som.u_matrix(), som.grid_)
        stage.note(valleys=regions.n_valleys, regions=regions.n)
    with stages.stage("assign contigs") as stage:
        binning = _binned(contigs, contig_map, (windows, unit, regions, rows), options)
        stage.note(bins=binning.n_bins, binned=int((binning.bin_of_contig >= 0).sum()))
    return binning


def _windows(contigs: Contigs, lengths: tuple[int, int], xp: Any, stages: Stages) -> tuple[Windows, np.ndarray]:
    """Return the windows for the map, by window and least length, with their tetranucleotide counts."""
    window, least = lengths
    windows = cut_contigs(contigs.length, window=window, least=least)
    with stages.stage("count tetranucleotides", total=windows.n, unit="windows") as stage:
        start = contigs.start[windows.contig]
        counts = _counts(contigs, start + windows.begin, start + windows.end, xp)
        stage.advance(windows.n)
    # Windows of mostly N are excluded.
    has_bases = counts.sum(axis=1) >= min(window, least) // 2
    if not has_bases.any():
        longest = int(contigs.length.max(initial=0))
        is_long = longest >= least
        found = "only such of mostly N" if is_long else f"none among {contigs.n}, the longest has {longest}"
        raise NothingToBinError(
            f"a contig of at least {least} bases",
            found if contigs.n else "no contig at all",
            "assemble more reads, or lower --min-map-contig",
        )
    return windows.select(has_bases), counts[has_bases]


def _counts(contigs: Contigs, begin: np.ndarray, end: np.ndarray, xp: Any) -> np.ndarray:
    codes, first, last = (to_namespace(xp, array) for array in (contigs.codes, begin, end))
    return to_host(count_tetramers(codes, first, last))


def _counts_of_contigs(contigs: Contigs, window: int, xp: Any) -> np.ndarray:
    """Count the tetranucleotides of contigs, (m, 136), in windows that overlap by three bases to balance threads."""
    windows = cut_contigs(contigs.length, window=window, least=1)
    start = contigs.start[windows.contig]
    end = np.minimum(start + windows.end + LENGTH - 1, contigs.start[windows.contig + 1])
    counts = _counts(contigs, start + windows.begin, end, xp)
    return np.add.reduceat(counts, np.flatnonzero(np.diff(windows.contig, prepend=-1)), axis=0)


def _depth_scale(contigs: Contigs, windows: Windows) -> np.ndarray:
    """Return the median of the logarithm of depth in each sample, and its usual noise, (2, samples) float64."""
    depth = np.maximum(contigs.depth[windows.contig], 1 / READ)
    noise = np.sqrt(DEPTH_NOISE**2 + READ / np.maximum(depth * windows.length[:, None], READ))
    return np.array([np.median(np.log(depth), axis=0), np.median(noise, axis=0)])


def _rows(contigs: Contigs, windows: Windows, place: np.ndarray, depth_scale: np.ndarray) -> np.ndarray:
    """Return the rows of the map: composition and the logarithm of depth, with noise of about 1, (n, d) float32."""
    depth = np.log(np.maximum(contigs.depth[windows.contig], 1 / READ))
    return np.ascontiguousarray(np.column_stack([place, (depth - depth_scale[0]) / depth_scale[1]]), dtype=np.float32)


def _untrained(n_windows: int) -> SelfOrganisingMap:
    """Return a map for so many windows: a torus twice as wide as high, whose last radius follows from their density."""
    n_units = min(MOST_UNITS, max(FEWEST_UNITS, UNITS_PER_WINDOW * n_windows))
    rows = round(np.sqrt(n_units / 2))
    seen = WINDOWS_PER_NEIGHBOURHOOD * 2 * rows * rows / n_windows  # units with so many windows
    first = rows / 4
    last = min(first, max(0.5, float(np.sqrt(seen / (2 * np.pi)))))
    return SelfOrganisingMap(
        rows, 2 * rows, topology="toroidal", epochs=EPOCHS, radius=(first, last), decay="exponential"
    )


def _binned(
    contigs: Contigs, contig_map: ContigMap, on_map: tuple[Windows, np.ndarray, Regions, np.ndarray],
    options: BinOptions,
) -> Binning:  # fmt: skip
    windows, unit, regions, rows = on_map
    som, xp = contig_map.som, array_namespace(contig_map.som.weights_)
    region_of_contig = _most_of(windows, regions, contigs.n)
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
        # Bins that share their contigs are one genome. What the user asks for beyond that is no reason to join bins.
        is_typical = is_long & (membership.sureness >= min(options.sureness, TYPICAL))
        has_contigs = np.bincount(membership.best[is_typical], minlength=n_bins) > 0
        if n_bins == 1 or has_contigs.all():
            break
        bin_of_region = _without_empty(bin_of_region, has_contigs)
    is_sure = is_long & (membership.sureness >= options.sureness)
    stays = np.bincount(membership.best[is_sure], minlength=n_bins) > 0
    if n_bins > 1 and not stays.all():
        if not stays.any():
            raise NothingToBinError(
                f"a contig that is of its bin with a probability of {options.sureness:g}", "none", "lower --sureness"
            )
        membership = Membership(membership.probability[:, stays])
        is_sure &= membership.sureness >= options.sureness
        bin_of_region, n_bins = _without_empty(bin_of_region, stays), int(stays.sum())
    whole = Windows(np.arange(contigs.n), np.zeros(contigs.n, np.int64), contigs.length)
    best = som.best_units(to_namespace(xp, _rows(contigs, whole, place, contig_map.depth_scale)))
    return Binning(
        windows=windows,
        window_unit=unit,
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
    """Renumber the bins without those that have no contig with sufficient probability; the first is always kept."""
    stays = has_contigs if has_contigs.any() else np.arange(has_contigs.size) == 0
    number = np.where(stays, np.cumsum(stays) - 1, -1)
    return np.where(bin_of_region >= 0, number[bin_of_region], -1)


def _most_of(windows: Windows, regions: Regions, n_contigs: int) -> np.ndarray:
    """Return the region with most of each contig's bases on the map, the lower number of equals; -1 without any."""
    found, which = np.unique(windows.contig * regions.n + regions.of_row, return_inverse=True)
    bases = np.bincount(which, windows.length)
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
