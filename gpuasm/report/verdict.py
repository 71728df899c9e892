"""The verdict on a sample: pass, warn or fail, with the reasons, from evidence and thresholds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from gpuasm.report.inputs import Run
from gpuasm.report.verdict_evidence import Evidence, evidence_of
from gpuasm.report.verdict_thresholds import Threshold, shipped_thresholds, stored_thresholds

LEVELS = ("pass", "warn", "fail")


_MOST_DECIMALS = 12
"""Values of double precision have no more."""


@dataclass(frozen=True)
class _Unit:
    """How values are written."""

    suffix: str = ""
    decimals: int = 0
    factor: int = 1
    small: float = 0.0
    """What is less gets a further decimal."""

    def write(self, value: float, limits: Iterable[float] = ()) -> str:
        """Return a value with as many decimals as show on which side of each limit it is."""
        number = self.factor * value
        edges = [self._number(limit) for limit in limits]
        sides = [_side(number, edge) for edge in edges]
        decimals = self._decimals(value)
        while decimals < _MOST_DECIMALS and [_side(round(number, decimals), edge) for edge in edges] != sides:
            decimals += 1
        return f"{number:,.{decimals}f}{self.suffix}"

    def write_limit(self, limit: float) -> str:
        """Return a limit with all its decimals, as the table of thresholds states it."""
        number, decimals = self._number(limit), self._decimals(limit)
        while decimals < _MOST_DECIMALS and round(number, decimals) != number:
            decimals += 1
        return f"{number:,.{decimals}f}{self.suffix}"

    def _number(self, limit: float) -> float:
        return round(self.factor * limit, _MOST_DECIMALS)  # 100 * 0.07 is not 7

    def _decimals(self, value: float) -> int:
        return self.decimals + (value < self.small)


def _side(value: float, limit: float) -> int:
    return (value > limit) - (value < limit)


_SHARE = _Unit(" %", decimals=1, factor=100, small=0.01)
_WHOLE = _Unit()
_FOLD = _Unit("-fold", decimals=1)
_NUMBER = _Unit(decimals=2)


@dataclass(frozen=True)
class _Wording:
    """How a value is called and written, and what may be behind it."""

    name: str
    unit: _Unit
    cause: str = ""


WORDING = {
    "depth": _Wording("mean depth", _FOLD, "too few reads"),
    "size": _Wording("assembled bases for each expected base", _NUMBER, "bases are missing, or more than one genome"),
    "contigs": _Wording("contigs of 500 bases and more", _WHOLE, "low depth, contamination, or a damaged library"),
    "n50": _Wording("N50 in bases", _WHOLE, "low depth, contamination, or a damaged library"),
    "reads_aligned": _Wording("reads in the assembly", _SHARE, "reads of a host or of another organism, or bad reads"),
    "auto_community": _Wording("several organisms by auto", _WHOLE, "contamination, or very uneven depth"),
    "bins": _Wording("bases outside of the largest bin", _SHARE, "contamination by another organism"),
    "depth_peaks": _Wording("bases of another depth than most", _SHARE, "contamination, or large plasmids"),
    "gc_peaks": _Wording("bases of another GC content than most", _SHARE, "contamination by another organism"),
    "mixed_bases": _Wording("bases with reads of two variants", _SHARE, "two strains of one organism"),
    "phix": _Wording("reads of PhiX174", _SHARE, "the control of the sequencer"),
    "adapters": _Wording("reads that run into an adapter", _SHARE, "fragments shorter than the reads"),
    "duplicates": _Wording("duplicate pairs", _SHARE, "much amplification of little DNA"),
    "quality": _Wording("mean quality of the reads", _NUMBER, "a bad run of the sequencer"),
    "unknown_bases": _Wording("letters of the reads that are no bases", _SHARE, "a bad run of the sequencer"),
}
"""Of each of `gpuasm.report.verdict_thresholds.CHECKS`."""


@dataclass(frozen=True)
class Check:
    """One value that was judged.

    Attributes
    ----------
    name : str
        One of `gpuasm.report.verdict_thresholds.CHECKS`.
    value : float
        What was found.
    level : str
        "pass", "warn" or "fail".
    reason : str
        As text; empty if it passes.
    """

    name: str
    value: float
    level: str
    reason: str = ""


@dataclass(frozen=True)
class Verdict:
    """Whether a sample is good.

    Attributes
    ----------
    level : str
        "pass", "warn" or "fail": the worst of its checks.
    reasons : list of str
        What is behind it, the worst first.
    checks : list of Check
        All values that were judged.
    not_judged : list of str
        Checks whose value is not known, or that do not hold for a community.
    evidence : Evidence
        All that is known.
    thresholds : tuple of Threshold
        By which the values were judged.
    """

    level: str
    reasons: list[str]
    checks: list[Check]
    not_judged: list[str]
    evidence: Evidence
    thresholds: tuple[Threshold, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return it as run.json has it."""
        return {
            "level": self.level,
            "reasons": self.reasons,
            "checks": [{"check": c.name, "value": float(f"{c.value:.6g}"), "level": c.level} for c in self.checks],
            "not_judged": self.not_judged,
            "thresholds": [threshold.as_dict() for threshold in self.thresholds],
        }


def verdict_of(run: Run) -> Verdict:
    """Judge a run by its own thresholds: those that were given for it, those in its run.json, or the shipped ones."""
    stored = run.result("verdict")
    rows = stored.get("thresholds") if isinstance(stored, dict) else None
    return judge(evidence_of(run), run.thresholds or stored_thresholds(rows) or shipped_thresholds())


def judge(evidence: Evidence, thresholds: Iterable[Threshold]) -> Verdict:
    """Judge a sample.

    Parameters
    ----------
    evidence
        What is known of it.
    thresholds
        What it must reach; what has no threshold is not judged.
    """
    thresholds = tuple(thresholds)
    checks, not_judged = [], []
    for threshold in thresholds:
        value = evidence.values.get(threshold.check)
        if value is None or (evidence.is_community and not threshold.communities):
            not_judged.append(threshold.check)
        else:
            checks.append(_checked(threshold, value, evidence.details.get(threshold.check, "")))
    found = [(check.level, check.reason) for check in checks if check.reason]
    if evidence.stopped:
        found.insert(0, ("warn", f"the contigs are not final: {evidence.stopped}"))
    if evidence.failure:
        found.insert(0, ("fail", evidence.failure))
    found.sort(key=lambda item: -LEVELS.index(item[0]))
    level = found[0][0] if found else "pass"
    return Verdict(level, [reason for _, reason in found], checks, not_judged, evidence, thresholds)


def _checked(threshold: Threshold, value: float, detail: str) -> Check:
    level, missed = threshold.level(value)
    if not missed:
        return Check(threshold.check, value, level)
    wording, limit = WORDING[threshold.check], getattr(threshold, missed)
    if threshold.check == "auto_community":
        return Check(threshold.check, value, level, detail)
    side = "less" if missed.endswith("below") else "more"
    shown = f"{wording.name}: {wording.unit.write(value, [limit])}, {side} than {wording.unit.write_limit(limit)}"
    more = f" ({detail})" if detail else ""
    return Check(threshold.check, value, level, f"{shown}{more}; {wording.cause}")
