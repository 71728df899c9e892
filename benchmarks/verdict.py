"""Judge gpuasm's contigs against those of its peers by rules that a set passes or fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Figures = dict[str, Any]

MOST_ERRORS = 1.0
"""Mismatches and indels per 100 kbp on simulated reads, whose genome is known exactly."""
FRACTION_MARGIN = 0.2
"""Points of genome fraction that the best peer may be ahead."""
MOST_DUPLICATION = 1.002
NEVER_BELOW = 0.95
"""Of the best peer's NGA50 and auNGA."""


def ratio(ours: Figures, peers: Sequence[Figures], name: str) -> float | None:
    """Return a figure over the best peer's; None where no peer reached any."""
    best = max((peer.get(name) or 0 for peer in peers), default=0)
    return (ours.get(name) or 0) / best if best else None


def errors(figures: Figures) -> float:
    return (figures.get("mismatches_per_100k") or 0) + (figures.get("indels_per_100k") or 0)


def _reaches(name: str, least: float) -> Callable[[Figures, Sequence[Figures], str], bool]:
    def passes(ours: Figures, peers: Sequence[Figures], _kind: str) -> bool:
        found = ratio(ours, peers, name)
        return found is None or found >= least

    return passes


def _fewest_misassemblies(ours: Figures, peers: Sequence[Figures], _kind: str) -> bool:
    return (ours.get("misassemblies") or 0) <= min(peer.get("misassemblies") or 0 for peer in peers)


def _few_errors(ours: Figures, peers: Sequence[Figures], kind: str) -> bool:
    return errors(ours) <= (MOST_ERRORS if kind == "simulated" else min(errors(peer) for peer in peers))


def _fraction(ours: Figures, peers: Sequence[Figures], _kind: str) -> bool:
    best = max(peer.get("genome_fraction") or 0 for peer in peers)
    return (ours.get("genome_fraction") or 0) >= best - FRACTION_MARGIN


def _duplication(ours: Figures, _peers: Sequence[Figures], _kind: str) -> bool:
    return (ours.get("duplication") or 1) <= MOST_DUPLICATION


RULES: dict[str, Callable[[Figures, Sequence[Figures], str], bool]] = {
    "NGA50 at least the best peer's": _reaches("nga50", 1),
    "auNGA at least the best peer's": _reaches("aunga", 1),
    f"NGA50 at least {NEVER_BELOW} of the best peer's": _reaches("nga50", NEVER_BELOW),
    f"auNGA at least {NEVER_BELOW} of the best peer's": _reaches("aunga", NEVER_BELOW),
    "misassemblies at most the least peer's": _fewest_misassemblies,
    "mismatches and indels per 100 kbp at most 1, with real reads at most the best peer's": _few_errors,
    f"genome fraction within {FRACTION_MARGIN} points of the best peer's": _fraction,
    f"duplication ratio at most {MOST_DUPLICATION}": _duplication,
}


def judge(ours: Figures, peers: Sequence[Figures], kind: str) -> dict[str, bool]:
    """Return for each rule whether the contigs pass it.

    Parameters
    ----------
    ours
        QUAST's figures; none (an empty dict) where the assembly failed or has no contig that is long enough.
    peers
        The figures of the peers that finished; at least one.
    kind
        ``simulated`` or ``real``.
    """
    return {name: bool(ours) and passes(ours, peers, kind) for name, passes in RULES.items()}
