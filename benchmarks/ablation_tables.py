"""Make the table of the effect of each stage and rule: changes of the contigs when it is left out, over all sets."""

from __future__ import annotations

from collections.abc import Iterable

from table_text import Result, dated, markdown, of

from gpuasm.assembly.options import RULES

NOTHING = "nothing"
KEPT = ("nga50", "aunga", "misassemblies", "genome_fraction", "duplication", "contigs_all", "mismatches_per_100k",
        "indels_per_100k", "n50", "contigs")  # fmt: skip
"""The figures of QUAST that are recorded, to keep the file of results small."""
_HEAD = ["without", "sets", "sets that change", "auNGA, mean", "misassemblies, sum"]
_HEAD += ["mismatches and indels / 100 kbp, sum", "genome %, mean"]
_ERRORS = ("mismatches_per_100k", "indels_per_100k")


def ablation(results: list[Result]) -> str:
    """Return a row for each rule with an effect: the sets, those whose contigs change, and changes of figures.

    Rows of rules that `gpuasm assemble` has no more are left out.
    """
    used = of(results, "ablation")
    pairs: dict[str, dict[str, tuple[Result, Result]]] = {}
    for result in used:
        for name, rule, before, after in _compared(result["rows"]):
            pairs.setdefault(rule, {}).setdefault(name, (before, after))
    rows = [[rule, *effect_of(list(own.values()))] for rule, own in pairs.items() if rule in RULES]
    return dated(used, markdown(_HEAD, [row for row in rows if row[2]]))


def _compared(rows: Iterable[Result]) -> Iterable[tuple[str, str, Result, Result]]:
    """Yield set, rule, and the rows with all rules and without this one; rows that failed are left out."""
    made = [row for row in rows if not row.get("failed")]
    baselines = {row["set"]: row for row in made if row["without"] == NOTHING}
    for row in made:
        if row["without"] != NOTHING and row["set"] in baselines:
            yield row["set"], row["without"], baselines[row["set"]], row


def effect_of(pairs: list[tuple[Result, Result]]) -> list[object]:
    """Return how many sets there are, how many change, and the changes over those with a reference."""
    changed = sum(has_changed(before, after) for before, after in pairs)
    judged = [(before["quast"], after["quast"]) for before, after in pairs if _is_judged(before)]
    counts: list[object] = [len(pairs), changed]
    if not judged:
        return [*counts, None, None, None, None]
    # A set has no auNGA where less than half of the genome is assembled.
    lengths = [(after.get("aunga") or 0) / before["aunga"] - 1 for before, after in judged if before.get("aunga")]
    false, *wrong, share = (
        sum((after.get(key) or 0) - (before.get(key) or 0) for before, after in judged)
        for key in ("misassemblies", *_ERRORS, "genome_fraction")
    )
    length = f"{100 * sum(lengths) / len(lengths):+.2f} %" if lengths else None
    return [*counts, length, f"{false:+d}", f"{sum(wrong):+.2f}", f"{share / len(judged):+.3f}"]


def has_changed(before: Result, after: Result) -> bool:
    """Return whether contigs differ, by their checksums or, where these are missing, by their figures."""
    sums = before.get("contigs_sha256"), after.get("contigs_sha256")
    return sums[0] != sums[1] if all(sums) else before["quast"] != after["quast"]


def _is_judged(row: Result) -> bool:
    return row["quast"].get("genome_fraction") is not None
