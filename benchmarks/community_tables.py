"""Make the tables of communities of known genomes: contigs, and bins."""

from __future__ import annotations

from collections.abc import Sequence

from table_text import Result, dated, markdown, of
from verdict import errors


def community(results: list[Result]) -> str:
    """Contigs of each community by each assembler."""
    used = of(results, "community")
    rows = []
    for result in used:
        made = [row for row in result["rows"] if not row["failed"]]
        for row in made:
            folds = sorted(genome["fold"] for genome in row["genomes"])
            quast, others = row["quast"], [other for other in made if other is not row]
            rows.append([
                result["key"].replace("_", " "), len(folds), f"{folds[0]:.3g} to {folds[-1]:.3g}", row["assembler"],
                quast["aligned"], f"{quast['genome_fraction']:.2f}", quast["misassemblies"], f"{errors(quast):.2f}",
                longest_of(row, others) if others else None,
            ])  # fmt: skip
    head = ["community", "genomes", "fold", "by", "bases aligned", "genome %", "misassemblies"]
    head += ["mismatches and indels / 100 kbp", "genomes with the longest NGA50, or equal"]
    return dated(used, markdown(head, rows))


def longest_of(row: Result, others: Sequence[Result]) -> int:
    """Return for how many genomes of a community no other assembler has a longer NGA50."""
    best = [
        max(own.get("nga50") or 0 for own in genomes) for genomes in zip(*(o["genomes"] for o in others), strict=True)
    ]
    return sum((own.get("nga50") or 0) >= most for own, most in zip(row["genomes"], best, strict=True))


def bins(results: list[Result]) -> str:
    """Bins of communities by each binner; of isolates, how many are one bin."""
    used = of(results, "bins")
    rows: list[list[object]] = []
    for result in used:
        by_set: dict[str, list[Result]] = {}
        for row in result["rows"]:
            by_set.setdefault(row["set"], []).append(row)
        communities = [row for own in by_set.values() for row in own if len(row["genomes"]) > 1]
        rows += [_row(row) for row in communities]
        isolates = [own for own in by_set.values() if len(own[0]["genomes"]) == 1]
        for own in zip(*isolates, strict=True):
            one = sum(row["bins"] == 1 for row in own)
            rows.append([f"{len(own)} isolates", own[0]["binner"], f"{one} of {len(own)} are one bin", *[None] * 4])
    head = ["set", "by", "genomes with >= 90 % in one bin of < 5 % contamination", "completeness %, mean"]
    head += ["contamination %, mean", "assembled %, mean", "AMBER's F1 over genomes"]
    return dated(used, markdown(head, rows))


def _row(row: Result) -> list[object]:
    n = len(row["genomes"])
    means = [sum(own[key] for own in row["genomes"]) / n for key in ("completeness", "contamination", "assembled")]
    f1 = f"{row['amber']['f1']:.3f}" if "amber" in row else None
    return [row["set"], row["binner"], f"{row['good']} of {n}", *(f"{mean:.2f}" for mean in means), f1]
