"""Make the tables of benchmarks in README and benchmarks/README from benchmarks/results/*.json.

    python benchmarks/tables.py            # rewrite what stands between the markers
    python benchmarks/tables.py --check    # only say whether it is up to date

A table stands between ``<!-- table: NAME -->`` and ``<!-- end table -->``. Each is made of all results of the
benchmarks it is about, file by file in the order of their names.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

from ablation_tables import ablation
from agreement_table import agreement
from densest_tables import densest, densest_speed
from pagerank_tables import pagerank, pagerank_exactness
from table_text import Result, markdown
from table_text import section as _section
from unseen_table import is_alone, unseen
from verdict import RULES, errors, judge

HERE = Path(__file__).parent
PEERS = ("megahit", "skesa", "spades")
_MARKED = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end table -->)", re.DOTALL)


def speed(results: list[Result]) -> str:
    """Whole processes of gpuasm beside its peers; gpuasm on each device; counting on the device alone."""
    parts = [_section(r, _peers(r)) for r in results if r["benchmark"] == "peers"]
    parts += [_section(r, _devices(r)) for r in results if r["benchmark"] == "assemble"]
    parts += [_section(r, _side_by_side(r)) for r in results if r["benchmark"] == "side_by_side"]
    parts += [_section(r, _counting(r)) for r in results if r["benchmark"] == "count_on_device"]
    return "\n\n".join(parts)


def _side_by_side(result: Result) -> str:
    head = ["the same sample, side by side", "jobs", "threads each", "wall s", "wall s per sample"]
    keys = ("device", "jobs", "threads", "wall_s", "wall_per_sample_s")
    return markdown(head, ([row[key] for key in keys] for row in result["rows"]))


def _peers(result: Result) -> str:
    threads, peers = result["parameters"]["threads"], result["parameters"]["peers"]
    head = ["whole process", "program", "device", "threads", "wall s", "CPU s", "peak MiB"]
    return markdown(
        head,
        (
            [
                row["comparison"],
                f"{row['program']} {peers.get(row['program'], '')}".strip(),
                row["device"],
                threads,
                float(row["wall_s"]),
                float(row["cpu_s"]),
                round(row["peak_rss_mb"]),
            ]
            for row in result["rows"]
        ),
    )


def _devices(result: Result) -> str:
    best: dict[tuple[str, int], Result] = {}
    for row in result["rows"]:
        if row["order"] != "as given":  # shuffled reads are not compressed
            continue
        key = row["device"], row["threads"]
        if key not in best or row["wall_s"] < best[key]["wall_s"]:
            best[key] = row
    head = ["`gpuasm assemble`, best run", "threads", "wall s", "CPU s", "peak MiB", "on device MiB", "N50"]
    return markdown(
        head,
        (
            [device, threads, row["wall_s"], row["cpu_s"], row["peak_rss_mb"], row["device_mb"], row["n50"]]
            for (device, threads), row in best.items()
        ),
    )


def _counting(result: Result) -> str:
    head = ["31-mers counted, reads in memory", "windows", "distinct", "first s", "median s"]
    rows = result["rows"]
    return markdown(
        head,
        (
            [
                f"{row['device']}, {'k-mers and edges' if row['followers'] else 'k-mers'}",
                row["windows"],
                row["distinct"],
                float(row["first_s"]),
                f"{row['median_s']:.3f}",
            ]
            for row in rows
        ),
    )


def exactness(results: list[Result]) -> str:
    """k-mers and unitigs beside KMC's and BCALM's."""
    head = ["compared", "peer", "gpuasm", "peer's", "differing"]
    parts = []
    for result in results:
        if result["benchmark"] != "exactness":
            continue
        rows = [_exact_row(row, result["parameters"]["peers"]) for row in result["rows"]]
        parts.append(_section(result, markdown(head, rows)))
    return "\n\n".join(parts)


def _exact_row(row: Result, peers: dict[str, str]) -> list[object]:
    peer = f"{row['peer']} {peers.get(row['peer'], '')}".strip()
    if row["what"] == "spectrum":
        what, key = f"distinct {row['k']}-mers, and classes of the spectrum that differ", "distinct"
    else:
        what, key = f"unitigs, k = {row['k']}, k-mers seen {row['min_count']} times or more", "unitigs"
    return [what, peer, row["gpuasm"][key], row["other"][key], row["differing"]]


def same_bytes(results: list[Result]) -> str:
    """Contigs of each device, number of threads and order of reads, by checksum."""
    head = ["device", "threads", "reads", "contigs.fasta, sha256", "graph.gfa", "scaffolds.fasta"]
    parts = []
    for result in results:
        if result["benchmark"] == "assemble":
            seen: dict[tuple[object, ...], None] = {}
            for row in result["rows"]:
                names = ("sha256", "graph_sha256", "scaffolds_sha256")
                sums = [f"`{row[key][:16]}`" if key in row else "" for key in names]
                seen[row["device"], row["threads"], row["order"], *sums] = None
            parts.append(_section(result, markdown(head, list(seen))))
    return "\n\n".join(parts)


def real_reads(results: list[Result]) -> str:
    """Contigs of real reads beside MEGAHIT's."""
    columns = {
        "total": "bases",
        "largest": "largest",
        "n50": "N50",
        "total_long": "bases in >= 500",
        "n50_long": "N50 of these",
        "contigs": "contigs",
        "circular": "circular",
        "nga50": "NGA50",
        "misassemblies": "misassemblies",
        "genome_fraction": "genome %",
        "mismatches_per_100k": "mismatches / 100 kbp",
        "wall_s": "wall s",
        "peak_rss_mb": "peak MiB",
    }
    parts = []
    for result in results:
        if result["benchmark"] == "real_reads":
            told = [key for key in columns if any(key in row for row in result["rows"])]
            rows = [[row["sample"], row["assembler"], *(row.get(key) for key in told)] for row in result["rows"]]
            parts.append(_section(result, markdown(["reads", "by", *(columns[key] for key in told)], rows)))
    return "\n\n".join(parts)


def assemblers(results: list[Result]) -> str:
    """How many sets pass each rule, and the figures of every set beside the peers'."""
    parts = []
    for result, compared in _every_compared(results):
        parts += [_section(result, _passed(compared)), _quality(compared)]
    return "\n\n".join(parts)


def assemblers_in_short(results: list[Result]) -> str:
    """How many sets pass each rule."""
    return "\n\n".join(_section(result, _passed(compared)) for result, compared in _every_compared(results))


_NAMES = {"megahit": "MEGAHIT", "skesa": "SKESA", "spades": "SPAdes"}


def _every_compared(results: list[Result]) -> list[tuple[Result, list[Result]]]:
    return [
        (result, [found for name in result["parameters"]["sets"] if (found := _compared(result, name))])
        for result in results
        if result["benchmark"] == "assemblers" and not is_alone(result)
    ]


def _compared(result: Result, name: str) -> Result | None:
    """Gather a set's figures, if gpuasm and a peer ran and the genome is known."""
    about = result["parameters"]["sets"][name]
    rows = [row for row in result["rows"] if row["set"] == name]
    by = {(row["assembler"], row["sequences"]): row["quast"] for row in rows}
    ours = by.get(("gpuasm", "contigs"))
    peers = {peer: by[peer, "contigs"] for peer in PEERS if by.get((peer, "contigs"))}
    if ours is None or not any(peer["genome_fraction"] is not None for peer in peers.values()):
        return None
    rules = judge(ours, list(peers.values()), about["kind"])
    scaffolds = by.get(("spades", "scaffolds")) or {}
    return {"name": name, **about, "ours": ours, "peers": peers, "scaffolds": scaffolds, "rules": rules}


def _passed(compared: list[Result]) -> str:
    kinds = [kind for kind in ("simulated", "real") if any(found["kind"] == kind for found in compared)]

    def told(rule: str, kind: str) -> str:
        passed = [found["rules"][rule] for found in compared if found["kind"] == kind]
        return f"{sum(passed)} of {len(passed)}"

    rows = [[rule, *(told(rule, kind) for kind in kinds)] for rule in RULES]
    counts = {peer: sum(peer in found["peers"] for found in compared) for peer in PEERS}
    beside = ", ".join(f"{_NAMES[peer]} ({n} sets)" for peer, n in counts.items() if n)
    return markdown([f"contigs of gpuasm beside those of {beside}", *(f"{k} sets" for k in kinds)], rows)


def _quality(compared: list[Result]) -> str:
    """Return a row for each set: gpuasm's figure, then each peer's in the order of the heading."""

    def all_of(found: Result, name: str, digits: int = 0) -> str:
        figures = [found["ours"], *(found["peers"].get(peer, {}) for peer in PEERS)]
        values = [figure.get(name) for figure in figures]
        return " / ".join("-" if value is None else f"{value:,.{digits}f}" for value in values)

    def wrong(found: Result) -> str:
        figures = [found["ours"], *(found["peers"].get(peer) for peer in PEERS)]
        return " / ".join(f"{errors(figure):.2f}" if figure else "-" for figure in figures)

    order = "gpuasm / " + " / ".join(PEERS)
    head = [
        "reads",
        f"NGA50: {order}",
        "SPAdes' scaffolds",
        "auNGA",
        "misassemblies",
        "mismatches and indels / 100 kbp",
    ]
    head += ["genome %", "duplication"]
    rows = []
    for found in compared:
        texts = [all_of(found, "aunga"), all_of(found, "misassemblies"), wrong(found)]
        texts += [all_of(found, "genome_fraction", 2), all_of(found, "duplication", 3)]
        title = found["what"] or found["name"]
        rows.append([title, all_of(found, "nga50"), found["scaffolds"].get("nga50"), *texts])
    return markdown(head, rows)


def community(results: list[Result]) -> str:
    """Contigs of a community of known genomes: all of it, then genome by genome."""
    columns = {"aligned": "aligned", "nga50": "NGA50", "misassemblies": "misassemblies", "genome_fraction": "genome %",
               "duplication": "duplication"}  # fmt: skip
    parts = []
    for result in results:
        if result["benchmark"] != "community":
            continue
        rows = [row for row in result["rows"] if not row["failed"]]
        told = [["all", "", row["assembler"], *(row["quast"].get(key) for key in columns)] for row in rows]
        for genomes in zip(*(row["genomes"] for row in rows), strict=True):
            for row, genome in zip(rows, genomes, strict=True):
                figures = [genome.get(key) for key in columns]
                told.append([genome["genome"], f"{genome['fold']:g}", row["assembler"], *figures])
        parts.append(_section(result, markdown(["genome", "fold", "by", *columns.values()], told)))
    return "\n\n".join(parts)


def bins(results: list[Result]) -> str:
    """Bins of communities beside a peer's, genome by genome; of isolates, how many are one bin."""
    parts = []
    for result in results:
        if result["benchmark"] != "bins":
            continue
        told = []
        by_set: dict[str, list[Result]] = {}
        for row in result["rows"]:
            by_set.setdefault(row["set"], []).append(row)
        isolates = [rows for rows in by_set.values() if len(rows[0]["genomes"]) == 1]
        communities = [rows for rows in by_set.values() if len(rows[0]["genomes"]) > 1]
        for rows in communities:
            told.append([rows[0]["set"], "good genomes", "", *(f"{r['good']} of {len(r['genomes'])}" for r in rows)])
            for genomes in zip(*(row["genomes"] for row in rows), strict=True):
                pairs = [f"{g['completeness']:.1f} / {g['contamination']:.2f}" for g in genomes]
                told.append([rows[0]["set"], genomes[0]["genome"], f"{genomes[0]['assembled']:.1f}", *pairs])
            seen = ", ".join(f"{share:.1f} by {name}" for name, share in rows[0].get("told_pieces", {}).items())
            told.append(
                [rows[0]["set"], f"pieces nearest to their own genome's centre, %: {seen}", "", *[""] * len(rows)]
            )
        single = [sum(rows[i]["bins"] == 1 for rows in isolates) for i in range(len(isolates[0]) if isolates else 0)]
        told.append([f"{len(isolates)} isolates", "of one bin", "", *single])
        binners = [row["binner"] for row in next(iter(by_set.values()))]
        head = ["set", "completeness % / contamination % of", "assembled %", *binners]
        parts.append(_section(result, markdown(head, told)))
    return "\n\n".join(parts)


def maps(results: list[Result]) -> str:
    """Training of self-organising maps: each case beside the published figures and other programs."""
    parts = []
    for result in sorted((r for r in results if r["benchmark"] == "som"), key=lambda r: r["machine"]["cpus"]):
        seed_case = result["parameters"]["seed_case"]
        cases: dict[tuple[int, ...], list[Result]] = {}
        for row in result["rows"]:
            cases.setdefault(tuple(row.get("case", seed_case)), []).append(row)
        told = []
        for (n, d, height, width), rows in cases.items():
            for row in rows:
                seconds = row.get("median_s", row.get("s"))
                time = "not measured" if seconds is None else f"{seconds * 1e3:,.2f}"
                told.append([f"{n:,} x {d} on {height} x {width}", row["program"], row["what"], time])
        head = ["rows x columns on units", "by", "what", "ms"]
        parts.append(_section(result, markdown(head, told)))
    return "\n\n".join(parts)


def geolocation(results: list[Result]) -> str:
    """Geolocation by Gunrock's rules: each size and share of known places, by each program; then skew against time."""
    parts = []
    for result in results:
        if result["benchmark"] != "geolocation":
            continue
        published = result["parameters"]["published"]
        rows = [
            [row["size"].removeprefix("CPU, "), row["device"], _exponent(row), row["longest_row"],
             f"{row['known']:.0%}", row["program"], float(row["median_ms"]), published.get(row["size"], ""),
             f"{row['largest_difference_degrees']:.0e}" if "largest_difference_degrees" in row else ""]
            for row in result["rows"]
        ]  # fmt: skip
        head = ["vertices / edges", "on", "exponent", "longest row", "known", "by", "ms", "published by Gunrock"]
        parts.append(_section(result, markdown([*head, "degrees off the slow rules"], rows)))
    return "\n\n".join(parts)


def _exponent(row: Result) -> str:
    return "all alike" if row["exponent"] is None else f"{row['exponent']:g}"


def geolocation_medians(results: list[Result]) -> str:
    """Medians on the sphere beside the lowest of many searches."""
    head = ["points", "sets", "largest distance, m", "lower than any search", "wrong"]
    return "\n\n".join(
        _section(
            result,
            markdown(head, ([r["kind"], r["sets"], r["largest_m"], r["lower"], r["wrong"]] for r in result["rows"])),
        )
        for result in results
        if result["benchmark"] == "geolocation_medians"
    )


TABLES: dict[str, Callable[[list[Result]], str]] = {
    "speed": speed,
    "exactness": exactness,
    "same_bytes": same_bytes,
    "real_reads": real_reads,
    "assemblers": assemblers,
    "assemblers_in_short": assemblers_in_short,
    "unseen": unseen,
    "agreement": agreement,
    "community": community,
    "ablation": ablation,
    "bins": bins,
    "maps": maps,
    "geolocation": geolocation,
    "geolocation_medians": geolocation_medians,
    "densest": densest,
    "densest_speed": densest_speed,
    "pagerank": pagerank,
    "pagerank_exactness": pagerank_exactness,
}


def filled(text: str, results: list[Result]) -> str:
    """Return a document with each marked table made anew; a table nothing is known of says so."""

    def table(match: re.Match[str]) -> str:
        if match[2] not in TABLES:
            sys.exit(f"no table is called {match[2]!r}; there are {', '.join(TABLES)}")
        return f"{match[1]}\n{TABLES[match[2]](results) or 'Not measured yet.'}\n\n{match[3]}"

    return _MARKED.sub(table, text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--document", type=Path, nargs="+", default=[HERE.parent / "README.md", HERE / "README.md"])
    parser.add_argument("--results", type=Path, default=HERE / "results")
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 if a table is out of date")
    options = parser.parse_args()
    results = [json.loads(path.read_text()) for path in sorted(options.results.glob("*.json"))]
    stale = []
    for document in options.document:
        old = document.read_text()
        new = filled(old, [result for result in results if "benchmark" in result])
        if new != old:
            stale.append(str(document))
            if not options.check:
                document.write_text(new)
    if options.check and stale:
        sys.exit(f"out of date: {', '.join(stale)}; run benchmarks/tables.py")


if __name__ == "__main__":
    main()
