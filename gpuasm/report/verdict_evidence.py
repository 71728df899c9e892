"""What is known of a sample for its verdict, from the files of its run, the check of its reads and its bins."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gpuasm.io.numbers import real_number
from gpuasm.report.identities import expected_genome_size
from gpuasm.report.inputs import Run
from gpuasm.report.peaks import find_peaks
from gpuasm.report.shapes import is_number
from gpuasm.report.statistics import aligned_share, mean_depth, summarise_lengths

_MIN_CONTIG = 500
"""Bases of a contig that counts, as assemblies are usually compared."""
_MIN_BASES_FOR_N50 = 100_000
"""Least bases of an assembly whose N50 is informative: a shorter genome may be one contig."""
_MIN_DEPTH_CONTIG, _DEPTH_DEVIATION = 1000, 0.25
"""Bases of a contig whose depth is known, and how much its logarithm to the base of 2 varies within a genome."""
_MIN_GC_CONTIG, _MIN_GC_BASES, _GC_DEVIATION = 5000, 200_000, 0.02
"""The same for the GC content, and the bases of an assembly that shows it: halves of a phage differ as genomes do."""

_MOST_PEAKS = 3
"""Peaks that are described."""


@dataclass
class Evidence:
    """What is known of a sample.

    Attributes
    ----------
    values : dict of float
        By the names of `gpuasm.report.verdict_thresholds.CHECKS`; what is not known is absent.
    details : dict of str
        What a value is made of, as text.
    failure : str
        Why there are no contigs; empty if there are.
    stopped : str
        Why the contigs are not the final ones; empty if they are.
    is_community : bool
        Whether the user stated that the sample is of several organisms.
    mode : str
        The mode that was taken, and why; empty if that is not known.
    """

    values: dict[str, float] = field(default_factory=dict)
    details: dict[str, str] = field(default_factory=dict)
    failure: str = ""
    stopped: str = ""
    is_community: bool = False
    mode: str = ""


def evidence_of(run: Run) -> Evidence:
    """Collect what is known of a run."""
    found = Evidence(failure=run.reason if run.status != "ok" else "", is_community=_requested(run) == "meta")
    status = run.manifest.get("status", "")
    found.stopped = status if status.startswith("stopped") else ""
    for add in (_add_contigs, _add_reads, _add_mode, _add_bins, _add_peaks):
        add(run, found)
    return found


def _add_contigs(run: Run, found: Evidence) -> None:
    if not run.contigs:
        return
    lengths = summarise_lengths([contig.length for contig in run.contigs if contig.length >= _MIN_CONTIG])
    total = sum(contig.length for contig in run.contigs)
    expected = _parameters(run).get("genome_size") or expected_genome_size(run)
    found.values["depth"] = mean_depth(run) or 0.0
    found.values["contigs"] = lengths.n
    if total >= _MIN_BASES_FOR_N50:
        found.values["n50"] = lengths.n50
    if is_number(expected) and expected > 0:
        found.values["size"] = total / expected
        found.details["size"] = f"{total:,} bases of {expected:,.0f} expected"


def _add_reads(run: Run, found: Evidence) -> None:
    files = _objects(run.manifest.get("inputs"))
    mixed, compared = run.amount("bases_mixed"), run.amount("bases_compared")
    values: dict[str, float | None] = {
        "reads_aligned": aligned_share(run),
        "mixed_bases": mixed / compared if compared and mixed is not None else None,
        "phix": phix_share(run),
        "adapters": _share(run, "adapter_fraction", "trim adapters", "with_adapter"),
        "duplicates": _duplicates(run),
        "quality": _mean(files, "mean_quality", "n_bases"),
        "unknown_bases": _ratio(files, "n_non_acgt", "n_bases"),
    }
    found.values |= {name: float(value) for name, value in values.items() if value is not None}
    if mixed and compared:
        found.details["mixed_bases"] = f"{mixed:,} of {compared:,}"


def _add_mode(run: Run, found: Evidence) -> None:
    mode = run.result("mode")
    if not isinstance(mode, dict) or not mode.get("name"):
        return
    name = "population" if mode.get("is_population") else {"meta": "community"}.get(mode["name"], str(mode["name"]))
    requested, reason = _requested(run), str(mode.get("reason", ""))
    if requested != "auto":
        found.mode = f"{name}, as requested"
        return
    found.mode = f"{name}, chosen by auto: {reason}"
    found.values["auto_community"] = float(name != "isolate")
    found.details["auto_community"] = f"the mode is {found.mode}"


def _add_bins(run: Run, found: Evidence) -> None:
    if not run.binning:
        return
    # Of several samples the first is the one that the contigs are of.
    column = next((name for row in run.binning.bins for name in row if name.startswith("depth")), "depth")
    bins = [(_cell(row, "bases"), _cell(row, column)) for row in run.binning.bins]
    bases, reads = sum(size for size, _ in bins), sum(size * depth for size, depth in bins)
    if not bases:
        return
    largest = max(size for size, _ in bins)
    found.values["bins"] = (bases - largest) / bases
    found.details["bins"] = f"{len(bins)} bins: " + ", ".join(
        f"{size:,.0f} bases at {depth:.1f}-fold" + (f" with {size * depth / reads:.0%} of the reads" if reads else "")
        for size, depth in bins
    )


def _add_peaks(run: Run, found: Evidence) -> None:
    measured = [contig for contig in run.contigs if contig.length >= _MIN_DEPTH_CONTIG and contig.depth > 0]
    depths = [math.log2(contig.depth) for contig in measured]
    peaks = find_peaks(depths, [contig.length for contig in measured], deviation=_DEPTH_DEVIATION)
    if peaks:
        found.values["depth_peaks"] = 1.0 - peaks[0].share
        reads = sum(peak.share * 2**peak.value for peak in peaks)
        shown = [(peak.share, 2**peak.value) for peak in peaks[:_MOST_PEAKS]]
        found.details["depth_peaks"] = ", ".join(
            f"{share:.0%} at about {depth:.0f}-fold with {share * depth / reads:.0%} of the reads"
            for share, depth in shown
        )
    measured = [contig for contig in run.contigs if contig.length >= _MIN_GC_CONTIG]
    if sum(contig.length for contig in measured) < _MIN_GC_BASES:
        return
    gc = [contig.gc for contig in measured]
    peaks = find_peaks(gc, [contig.length for contig in measured], deviation=_GC_DEVIATION)
    found.values["gc_peaks"] = 1.0 - peaks[0].share
    described = [f"{peak.share:.0%} of about {peak.value:.0%} GC" for peak in peaks[:_MOST_PEAKS]]
    found.details["gc_peaks"] = ", ".join(described)


def phix_share(run: Run) -> float | None:
    """Return the share of reads of PhiX174 that were not removed, from 0 to 1; None if unknown.

    By the check of the reads, else by the contigs.
    """
    checked = _mean(_objects(run.check.get("files")), "phix_fraction", "n_reads")
    is_removed, on_contigs = _parameters(run).get("remove_phix") is True, run.amount("phix_share")
    return on_contigs if checked is None or is_removed else checked


def _duplicates(run: Run) -> float | None:
    files = _objects(run.check.get("files"))
    share, by_chance = (_mean(files, name, "n_reads") for name in ("duplicate_fraction", "duplicates_by_chance"))
    if share is not None:
        return max(0.0, share - (by_chance or 0.0))
    removed = _share_of_stage(run, "remove duplicates", "removed_pairs")
    return None if removed is None else 2 * removed


def _share(run: Run, name: str, stage: str, count: str) -> float | None:
    """Return a share of the reads by their check; without one, by what a stage counted."""
    checked = _mean(_objects(run.check.get("files")), name, "n_reads")
    return _share_of_stage(run, stage, count) if checked is None else checked


def _share_of_stage(run: Run, name: str, count: str) -> float | None:
    n_reads = sum(_numbers(_objects(run.manifest.get("inputs")), "n_reads"))
    for stage in _objects(run.manifest.get("stages")):
        counts = stage.get("counts")
        if stage.get("name") == name and isinstance(counts, dict) and is_number(counts.get(count)) and n_reads:
            return float(counts[count]) / n_reads
    return None


def _mean(files: Iterable[Mapping[str, Any]], name: str, weight: str) -> float | None:
    """Return the mean of a figure over files, weighted by another one of theirs."""
    rows = [(file[name], file.get(weight)) for file in files if is_number(file.get(name))]
    weights = [size if is_number(size) and size > 0 else 0 for _, size in rows]
    if not sum(weights):
        weights = [1] * len(rows)
    return sum(row[0] * size for row, size in zip(rows, weights, strict=True)) / sum(weights) if rows else None


def _ratio(files: Iterable[Mapping[str, Any]], name: str, of: str) -> float | None:
    files = list(files)
    whole = sum(_numbers(files, of))
    return sum(_numbers(files, name)) / whole if whole else None


def _numbers(files: Iterable[Mapping[str, Any]], name: str) -> list[float]:
    return [file[name] for file in files if is_number(file.get(name)) and file[name] >= 0]


def _objects(items: Any) -> list[Mapping[str, Any]]:
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _cell(row: Mapping[str, str], name: str) -> float:
    """Return a number of a row, of the first column whose title begins so; 0 if there is none."""
    value = real_number(next((text for title, text in row.items() if title.startswith(name)), ""))
    return value if is_number(value) and value is not None and value >= 0 else 0.0


def _parameters(run: Run) -> Mapping[str, Any]:
    parameters = run.manifest.get("parameters")
    return parameters if isinstance(parameters, dict) else {}


def _requested(run: Run) -> str:
    return str(_parameters(run).get("mode", "auto"))
