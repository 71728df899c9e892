"""What of a run one should look at, in a few words: a laboratory reads hundreds of lines, and stops at these."""

from __future__ import annotations

from gpuasm.report.inputs import Run
from gpuasm.report.statistics import mean_depth

THIN = 10.0
"""Depth below which contigs come out in pieces."""
_FEW_READS = 0.9
_SOME_PHIX = 0.001


def remarks(run: Run) -> list[str]:
    """Return what stands out of a run: thin depth, several genomes, reads of other things, warnings."""
    found = []
    depth, laid, phix = mean_depth(run), laid_share(run), phix_share(run)
    if depth is not None and depth < THIN:
        found.append(f"thin, {depth:.1f}-fold")
    if run.binning and len(run.binning.bins) > 1 and _is_isolate(run):
        found.append(f"{len(run.binning.bins)} bins in an isolate")
    if laid is not None and laid < _FEW_READS:
        found.append(f"{100 * (1 - laid):.0f} % of reads on no contig")
    if phix >= _SOME_PHIX:
        found.append(f"{100 * phix:.1f} % PhiX174")
    n_warnings = len(run.manifest.get("warnings", []))
    if n_warnings:
        found.append(f"{n_warnings} warning{'s' if n_warnings > 1 else ''}")
    return found


def laid_share(run: Run) -> float | None:
    """Return the share of reads that lie on a contig, from 0 to 1; None if that was not looked at."""
    reads, laid = run.result("reads"), run.result("reads_laid")
    return laid / reads if reads and laid is not None else None


def phix_share(run: Run) -> float:
    """Return the largest share of reads of PhiX174 that the check found in a file of the sample, from 0 to 1."""
    return max((float(file.get("phix_fraction") or 0) for file in run.check.get("files", [])), default=0.0)


def _is_isolate(run: Run) -> bool:
    mode = run.result("mode")
    return isinstance(mode, dict) and mode.get("name") == "isolate"
