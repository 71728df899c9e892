"""The tables of what each stage and rule is worth: the sets with all rules, then what leaving out each one changes.

Of each figure the worst and the best change are told, then over all sets with a reference the sum, or the mean.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from table_text import Result, markdown, section

NOTHING = "nothing"
_COLUMNS = {
    "nga50": "NGA50",
    "aunga": "auNGA",
    "misassemblies": "misassemblies",
    "errors": "mismatches and indels / 100 kbp",
    "genome_fraction": "genome %",
    "duplication": "duplication",
    "contigs_all": "contigs",
}
KEPT = (*(key for key in _COLUMNS if key != "errors"), "mismatches_per_100k", "indels_per_100k", "n50", "contigs")
"""What the tables are made from: of 50 times as many runs as sets no other figure of QUAST's is written down."""
_MORE_IS_BETTER = {"nga50", "aunga", "genome_fraction"}
_IN_PERCENT = {"nga50", "aunga"}
_ALL_SETS = [
    "without",
    "sets with a reference",
    "auNGA, mean",
    "misassemblies, sum",
    "mismatches and indels / 100 kbp, sum",
    "genome %, mean",
]
_FROM = 1e-6
"""Lesser shares are rounding."""
_BYTES = "bytes"


@dataclass(frozen=True)
class Change:
    """What leaving out a rule changes of one figure of one set: how much worse it is, and how that is told."""

    loss: float
    text: str


def ablation(results: list[Result]) -> str:
    """Return the figures of each set with all rules, and for each rule the worst and the best that it does to them."""
    parts = []
    for result in results:
        sets = _by_set(result["rows"]) if result["benchmark"] == "ablation" else {}
        if sets:
            baselines = [[name, *(_shown(rows[NOTHING], key) for key in _COLUMNS)] for name, rows in sets.items()]
            parts.append(section(result, markdown(["reads", *_COLUMNS.values()], baselines)))
            made = dict.fromkeys(row["without"] for row in result["rows"] if row["without"] != NOTHING)
            rules = dict.fromkeys((*(rule for rule in result["parameters"].get("rules", ()) if rule in made), *made))
            told = [[rule, *_row(rule, sets)] for rule in rules]
            parts.append(markdown(["without", "sets that change", *_COLUMNS.values()], told))
            parts.append(markdown(_ALL_SETS, [[rule, *_over_all(rule, sets)] for rule in rules]))
    return "\n\n".join(parts)


def _by_set(rows: Iterable[Result]) -> dict[str, dict[str, Result]]:
    """Return the figures of each set by the rule left out; of a community, those of its members as well."""
    found: dict[str, dict[str, Result]] = {}
    for row in rows:
        if row.get("failed"):
            continue
        found.setdefault(row["set"], {})[row["without"]] = _figures(row["quast"]) | {_BYTES: row.get("contigs_sha256")}
        for genome in row.get("genomes", ()):
            figures = {key: genome.get(key) for key in _MORE_IS_BETTER}
            found.setdefault(f"{row['set']}: {genome['genome']}", {})[row["without"]] = figures
    return {name: rows for name, rows in found.items() if NOTHING in rows}


def _figures(quast: Result) -> Result:
    """Return the figures that are told; where there is no reference, N50 takes the place of NGA50."""
    figures = {key: quast.get(key) for key in _COLUMNS}
    if quast.get("genome_fraction") is None:
        figures["nga50"] = quast.get("n50")
    else:
        errors = [quast.get(key) for key in ("mismatches_per_100k", "indels_per_100k")]
        figures["errors"] = sum(value or 0.0 for value in errors)
    if figures["contigs_all"] is None:
        figures["contigs_all"] = quast.get("contigs")
    return figures


def _shown(figures: Result, key: str) -> object:
    value = figures.get(key)
    return round(value) if key == "aunga" and value is not None else value


def _row(rule: str, sets: dict[str, dict[str, Result]]) -> list[str]:
    """Return of how many sets a rule changes the contigs, and of each figure the worst and the best change."""
    judged = {name: rows for name, rows in sets.items() if rule in rows}
    whole = [name for name in judged if ": " not in name]
    if not whole:
        return ["not measured", *("" for _ in _COLUMNS)]
    cells, changed = [], {name for name in whole if judged[name][rule][_BYTES] != judged[name][NOTHING][_BYTES]}
    for key in _COLUMNS:
        found = {name: change for name, rows in judged.items() if (change := change_of(rows[NOTHING], rows[rule], key))}
        changed |= {name.partition(": ")[0] for name in found}
        cells.append(_worst_and_best(found))
    return [f"{len(changed)} of {len(whole)}", *cells]


def _over_all(rule: str, sets: dict[str, dict[str, Result]]) -> list[str]:
    """Return on how many sets with a reference a rule was left out, and what that changes over all of them."""
    judged = [rows for rows in sets.values() if rule in rows and rows[NOTHING].get("errors") is not None]
    pairs = [(rows[NOTHING], rows[rule]) for rows in judged]
    if not pairs:
        return ["0", "", "", "", ""]
    # A set may have no auNGA where less than half of the genome is there.
    told = [(old["aunga"], new["aunga"] or 0) for old, new in pairs if old["aunga"]]
    length = sum(new / old - 1 for old, new in told) / max(1, len(told))
    false, wrong, share = (
        sum((new[key] or 0) - (old[key] or 0) for old, new in pairs)
        for key in ("misassemblies", "errors", "genome_fraction")
    )
    return [str(len(pairs)), f"{100 * length:+.2f} %", f"{false:+d}", f"{wrong:+.2f}", f"{share / len(pairs):+.3f}"]


def change_of(before: Result, after: Result, key: str) -> Change | None:
    """Return what became of a figure; None if it is the same, or cannot be compared."""
    old, new = before.get(key), after.get(key)
    if old is None or old == new:
        return None
    difference = (new or 0) - old
    share = difference / old if key in _IN_PERCENT and old else difference
    if abs(share) < _FROM:
        return None
    text = f"{100 * share:+.3g} %" if key in _IN_PERCENT else f"{difference:+.3g}"
    return Change(-share if key in _MORE_IS_BETTER else share, text)


def _worst_and_best(changes: dict[str, Change]) -> str:
    """Name the greatest loss, how many others lose, and the greatest gain."""
    losses = sorted((name for name in changes if changes[name].loss > 0), key=lambda name: -changes[name].loss)
    gains = sorted((name for name in changes if changes[name].loss < 0), key=lambda name: changes[name].loss)
    told = [f"{changes[names[0]].text} {names[0]}{_others(names)}" for names in (losses, gains) if names]
    return "; better: ".join(told) if losses else "".join(f"better: {text}" for text in told)


def _others(names: list[str]) -> str:
    return f" and {len(names) - 1} more" if len(names) > 1 else ""
