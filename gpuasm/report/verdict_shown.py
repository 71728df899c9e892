"""The verdict as a page shows it: the level, the reasons, the mode, and a table of what was judged."""

from __future__ import annotations

from typing import Any

from gpuasm.report.inputs import Run
from gpuasm.report.tables import Header, Table
from gpuasm.report.verdict import WORDING, Check, Verdict
from gpuasm.report.verdict_thresholds import Threshold

STYLES = {"pass": "ok", "warn": "empty", "fail": "failed"}
"""The class of each level in page.html."""


def shown_verdict(run: Run, verdict: Verdict) -> dict[str, Any]:
    """Return what verdict.html shows of a run; the page itself states why there are no contigs."""
    return {
        "level": verdict.level,
        "style": STYLES[verdict.level],
        "reasons": [reason for reason in verdict.reasons if reason != run.reason],
        "mode": verdict.evidence.mode,
        "not_judged": ", ".join(WORDING[name].name for name in verdict.not_judged),
    }


def table_of_checks(verdict: Verdict) -> Table:
    """Return a row for each value that was judged; narrow screens show the first columns, so the limits come last."""
    thresholds = {threshold.check: threshold for threshold in verdict.thresholds}
    rows = [_row(check, thresholds[check.name]) for check in verdict.checks]
    limits = [Header(title, number=True) for title in ("passes from", "to", "fails below", "above")]
    headers = [Header("check"), Header("value", number=True), Header("verdict"), *limits]
    return Table("What was judged", headers, rows)


def _row(check: Check, threshold: Threshold) -> tuple[str, ...]:
    wording = WORDING[check.name]
    limits = (threshold.warn_below, threshold.warn_above, threshold.fail_below, threshold.fail_above)
    value = wording.unit.write(check.value, [limit for limit in limits if limit is not None])
    shown = ("" if limit is None else wording.unit.write_limit(limit) for limit in limits)
    return (wording.name, value, check.level, *shown)
