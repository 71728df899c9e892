"""Short remarks about a run that needs attention."""

from __future__ import annotations

from gpuasm.report.inputs import Run
from gpuasm.report.statistics import mean_depth

LOW_DEPTH = 10.0
"""Depth below which contigs are fragmented."""
_FEW_READS = 0.9
_SOME_PHIX = 0.001


def remarks(run: Run) -> list[str]:
    """Return remarks about low depth, several genomes, unaligned reads, PhiX174 and warnings."""
    found = []
    depth, aligned, phix = mean_depth(run), aligned_share(run), phix_share(run)
    if depth is not None and depth < LOW_DEPTH:
        found.append(f"low depth, {depth:.1f}-fold")
    if run.binning and len(run.binning.bins) > 1 and _is_isolate(run):
        found.append(f"{len(run.binning.bins)} bins in an isolate")
    if aligned is not None and aligned < _FEW_READS:
        found.append(f"{100 * (1 - aligned):.0f} % of reads on no contig")
    if phix >= _SOME_PHIX:
        found.append(f"{100 * phix:.1f} % PhiX174")
    n_warnings = len(run.manifest.get("warnings", []))
    if n_warnings:
        found.append(f"{n_warnings} warning{'s' if n_warnings > 1 else ''}")
    return found


def aligned_share(run: Run) -> float | None:
    """Return the share of reads that align to a contig, from 0 to 1; None if unknown."""
    reads, aligned = run.amount("reads"), run.amount("reads_aligned")
    return aligned / reads if reads and aligned is not None else None


def phix_share(run: Run) -> float:
    """Return the largest share of reads of PhiX174 that the check found in a file of the sample, from 0 to 1."""
    return max((float(file.get("phix_fraction") or 0) for file in run.check.get("files", [])), default=0.0)


def _is_isolate(run: Run) -> bool:
    mode = run.result("mode")
    return isinstance(mode, dict) and mode.get("name") == "isolate"
