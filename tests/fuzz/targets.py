"""All readers and commands that are fuzzed, by name."""

from __future__ import annotations

from tests.fuzz import (
    targets_archives,
    targets_commands,
    targets_graphs,
    targets_reads,
    targets_runs,
    targets_tables,
)
from tests.fuzz.target import Target

TARGETS: dict[str, Target] = {
    **targets_reads.TARGETS,
    **targets_graphs.TARGETS,
    **targets_archives.TARGETS,
    **targets_tables.TARGETS,
    **targets_runs.TARGETS,
    **targets_commands.TARGETS,
}
READERS = [name for name, target in TARGETS.items() if target.kind != targets_commands.KIND]
"""Names of those that are called as functions; the others are commands."""
