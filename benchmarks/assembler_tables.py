"""Make the tables of contigs: gpuasm against its peers by series of read sets, real reads, and support by reads."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from table_text import Result, dated, markdown, of
from verdict import RULES, errors, judge

PEERS = ("megahit", "skesa", "spades")
_SUMS = {
    "covered": "reference covered",
    "covered_again": "covered twice",
    "places": "differing places",
    "for_contig": "more reads for the contig",
    "for_reference": "for the reference",
    "for_neither": "for neither",
    "outvoted": "bases with more reads for another base",
}
_NAMES = {"megahit": "MEGAHIT", "skesa": "SKESA", "spades": "SPAdes"}


def figures_of(result: Result) -> dict[str, dict[str, Result]]:
    """Return QUAST's figures of contigs by set and assembler; None where a set has no contigs."""
    found: dict[str, dict[str, Result]] = {}
    for row in result["rows"]:
        if row["sequences"] == "contigs":
            found.setdefault(row["set"], {})[row["assembler"]] = row["quast"]
    return found


def assemblers(results: list[Result]) -> str:
    """How many sets of each series pass each rule, and how many were run with each peer."""
    used = [result for result in of(results, "assemblers") if _compared(result)]
    compared = [_compared(result) for result in used]
    rows: list[list[object]] = [
        [rule, *(f"{sum(own[rule] for own, _ in sets)} of {len(sets)}" for sets in compared)] for rule in RULES
    ]
    rows += [
        [f"sets with {_NAMES[peer]}", *(sum(peer in own for _, own in sets) for sets in compared)] for peer in PEERS
    ]
    return dated(used, markdown(["gpuasm's contigs", *(result["key"] for result in used)], rows))


def _compared(result: Result) -> list[tuple[dict[str, bool], dict[str, Result]]]:
    """Return for each set with gpuasm, a peer and a genome: the rules it passes, and the peers' figures."""
    found = []
    for name, figures in figures_of(result).items():
        peers = {peer: figures[peer] for peer in PEERS if figures.get(peer)}
        if "gpuasm" in figures and any(own.get("genome_fraction") is not None for own in peers.values()):
            kind = result["parameters"]["sets"][name]["kind"]
            found.append((judge(figures["gpuasm"], list(peers.values()), kind), peers))
    return found


def assembler_ratios(results: list[Result]) -> str:
    """Contigs of gpuasm against those of each peer, over all sets of a series."""
    used = of(results, "assemblers")
    rows = []
    for result in used:
        for peer in PEERS:
            pairs = [(own["gpuasm"], own[peer]) for own in figures_of(result).values() if _have_both(own, peer)]
            if pairs:
                rows.append([result["key"], _NAMES[peer], len(pairs), *_ratios(pairs)])
    head = ["series", "peer", "sets", "NGA50, ratio", "auNGA, ratio", "misassemblies, gpuasm", "peer"]
    head += ["mismatches and indels / 100 kbp, gpuasm", "peer", "genome %, difference"]
    return dated(used, markdown(head, rows))


def _have_both(figures: dict[str, Result], peer: str) -> bool:
    return all((figures.get(name) or {}).get("genome_fraction") is not None for name in ("gpuasm", peer))


def _ratios(pairs: Sequence[tuple[Result, Result]]) -> list[object]:
    lengths = [geometric_mean([a[key] / b[key] for a, b in pairs if a.get(key) and b.get(key)])
               for key in ("nga50", "aunga")]  # fmt: skip
    sides = list(zip(*pairs, strict=True))
    false = [sum(own.get("misassemblies") or 0 for own in side) for side in sides]
    wrong = [_mean([errors(own) for own in side]) for side in sides]
    share = _mean([a["genome_fraction"] - b["genome_fraction"] for a, b in pairs])
    texts = [None if value is None else f"{value:.3f}" for value in lengths]
    return [*texts, *false, *(f"{value:.2f}" for value in wrong), f"{share:+.2f}"]


def series(results: list[Result]) -> str:
    """Contigs of gpuasm over all sets of a series that have a genome."""
    used = of(results, "assemblers")
    rows = []
    for result in used:
        known = [own["gpuasm"] for own in figures_of(result).values() if _have_both(own, "gpuasm")]
        if known:
            rows.append([result["key"], *_summary(known)])
    head = ["series", "sets", "NGA50, geometric mean", "auNGA", "misassemblies", "sets without any"]
    head += ["mismatches and indels / 100 kbp", "genome %", "most duplication"]
    return dated(used, markdown(head, rows))


def _summary(known: Sequence[Result]) -> list[object]:
    lengths = [geometric_mean([own[key] for own in known if own.get(key)]) for key in ("nga50", "aunga")]
    false = [own.get("misassemblies") or 0 for own in known]
    share = _mean([own["genome_fraction"] for own in known])
    most = max(own.get("duplication") or 1.0 for own in known)
    return [len(known), *(None if value is None else round(value) for value in lengths), sum(false), false.count(0),
            f"{_mean([errors(own) for own in known]):.2f}", f"{share:.2f}", f"{most:.3f}"]  # fmt: skip


def geometric_mean(values: Sequence[float]) -> float | None:
    """Return the geometric mean of positive numbers; None for no numbers."""
    return math.exp(_mean([math.log(value) for value in values])) if values else None


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def real_reads(results: list[Result]) -> str:
    """Contigs of real reads by gpuasm and MEGAHIT."""
    columns = {
        "total_long": "bases in >= 500",
        "n50_long": "N50 of these",
        "contigs": "contigs",
        "nga50": "NGA50",
        "misassemblies": "misassemblies",
        "genome_fraction": "genome %",
        "mismatches_per_100k": "mismatches / 100 kbp",
    }
    used = of(results, "real_reads")
    shown = [key for key in columns if any(key in row for result in used for row in result["rows"])]
    rows = [
        [row["sample"], row["assembler"], *(row.get(key) for key in shown)] for result in used for row in result["rows"]
    ]
    return dated(used, markdown(["reads", "by", *(columns[key] for key in shown)], rows))


def agreement(results: list[Result]) -> str:
    """Places where contigs and references differ, with the support of each side by reads, over all sets."""
    used = of(results, "agreement")
    rows = []
    for name in ("gpuasm", *PEERS):
        own = [row for result in used for row in result["rows"] if row["assembler"] == name]
        sums = [sum(row[key] for row in own) for key in _SUMS]
        rows.append([_NAMES.get(name, name), len(own), *sums])
    return dated(used, markdown(["by", "sets", *_SUMS.values()], rows))


TABLES: dict[str, Callable[[list[Result]], str]] = {
    "assemblers": assemblers,
    "assembler_ratios": assembler_ratios,
    "series": series,
    "real_reads": real_reads,
    "agreement": agreement,
}
