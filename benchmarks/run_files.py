"""Read the figures of a run of ``gpuasm assemble`` from its run.json, whose keys no other script reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

VERIFICATION = "align reads to contigs"
_CHECK = ("joins_broken", "discordant_pairs", "redundant_ends")


def stages_of(path: Path) -> list[dict[str, Any]]:
    """Return the stages of a run."""
    stages: list[dict[str, Any]] = json.loads(path.read_text())["stages"]
    return stages


def counts_of_check(path: Path) -> dict[str, int]:
    """Return how often each rule of the verification by reads broke or cut contigs, for rules that did."""
    counts: dict[str, int] = next((own["counts"] for own in stages_of(path) if own["name"] == VERIFICATION), {})
    return {rule: counts[rule] for rule in _CHECK if counts.get(rule)}


def figures_of_run(path: Path) -> dict[str, int]:
    """Return the memory on the device in MiB, the N50 and the number of contigs of a run."""
    results = json.loads(path.read_text())["results"]
    device_bytes = max(stage["device_bytes"] for stage in stages_of(path))
    return {"device_mb": device_bytes >> 20, "n50": results["n50"], "contigs": results["contigs"]}


def times_of_stages(path: Path) -> list[tuple[str, int | None, float]]:
    """Return name, k and wall time in seconds of each stage of a run."""
    return [(own["name"], own["parameters"].get("k"), round(own["wall_s"], 3)) for own in stages_of(path)]
