"""Short remarks about a run that needs attention."""

from __future__ import annotations

from gpuasm.report.inputs import Run
from gpuasm.report.verdict import Verdict


def remarks(run: Run, verdict: Verdict) -> list[str]:
    """Return the reasons of a verdict, and that there are warnings."""
    n_warnings = len(run.manifest.get("warnings", []))
    return [*verdict.reasons, *([f"{n_warnings} warning{'s' if n_warnings > 1 else ''}"] if n_warnings else [])]
