"""Make the tables of self-organising maps and of geolocation."""

from __future__ import annotations

from table_text import Result, dated, host, markdown, of

_STRATEGIES = ("gpuasm", "gather", "repeated", "early exit", "plain loop")
_KNOWN = (0.1, 0.9)


def maps(results: list[Result]) -> str:
    """Time of an epoch of batch training: all programs on the published case, gpuasm on the largest cases."""
    used = of(results, "som")
    rows: dict[tuple[str, ...], float] = {}
    for result in used:
        published = tuple(result["parameters"]["seed_case"])
        cases = [tuple(row.get("case", published)) for row in result["rows"]]
        shown = {published, max(cases), max(cases, key=lambda case: case[2])}
        for row, case in zip(result["rows"], cases, strict=True):
            task = row["what"].partition(", ")[0].removeprefix("an ")
            seconds = row.get("median_s", row.get("s"))
            if case in shown and seconds is not None and "epoch" in task:
                n, d, height, width = case
                where = "published" if row["program"] == "published" else host(result)
                key = where, f"{n:,} x {d} on {height} x {width}", row["program"], task
                rows[key] = max(rows.get(key, 0.0), seconds * 1e3)
    head = ["host", "rows x columns on units", "by", "task", "ms"]
    return dated(used, markdown(head, [[*key, value] for key, value in rows.items()]))


def map_quality(results: list[Result]) -> str:
    """Quantisation and topographic error of maps by each program, from the same start."""
    used = of(results, "som_quality")
    programs = list(dict.fromkeys(row["program"] for result in used for row in result["rows"]))
    rows = []
    for result in used:
        for case in dict.fromkeys(tuple(row["case"]) for row in result["rows"]):
            by = {row["program"]: row for row in result["rows"] if tuple(row["case"]) == case}
            n, d, height, width = case
            figures = [f"{by[name]['quantisation']:.3f} / {by[name]['topographic']:.3f}" for name in programs]
            rows.append([f"{n:,} x {d} on {height} x {width}", *figures])
    return dated(used, markdown(["rows x columns on units", *programs], rows))


def geolocation(results: list[Result]) -> str:
    """Time of geolocation by Gunrock's rules for each size by each program, with most and with few places known."""
    used = of(results, "geolocation")
    rows: dict[tuple[str, ...], dict[str, float]] = {}
    published: dict[tuple[str, ...], str] = {}
    for result in used:
        for row in (row for row in result["rows"] if row["known"] in _KNOWN):
            exponent = "equal degrees" if row["exponent"] is None else f"{row['exponent']:g}"
            size = row["size"].removeprefix("CPU, ").removeprefix("skew, ")
            key = host(result), row["device"], size, exponent, f"{row['known']:.0%}"
            rows.setdefault(key, {})[row["program"]] = float(row["median_ms"])
            published[key] = result["parameters"]["published"].get(row["size"], "")
    head = ["host", "device", "vertices / edges", "exponent", "places known", *(f"{name}, ms" for name in _STRATEGIES)]
    cells = [[*key, *(by.get(name) for name in _STRATEGIES), published[key]] for key, by in rows.items()]
    return dated(used, markdown([*head, "published by Gunrock"], cells))


def geolocation_medians(results: list[Result]) -> str:
    """Medians on the sphere against the lowest of many searches, over all kinds of sets of points."""
    used = of(results, "geolocation_medians")
    rows = []
    for result in used:
        sets, lower, wrong = (sum(row[key] for row in result["rows"]) for key in ("sets", "lower", "wrong"))
        rows.append([sets, max(row["largest_m"] for row in result["rows"]), lower, wrong])
    return dated(used, markdown(["sets of points", "largest distance, m", "lower than any search", "wrong"], rows))


def places(results: list[Result]) -> str:
    """Errors of hidden places of samples, shares within the radii, and macro F1 of names, by each method."""
    used = of(results, "places")
    cells = []
    for result in used:
        for name in dict.fromkeys(row["set"] for row in result["rows"]):
            own = [row for row in result["rows"] if row["set"] == name]
            errors = [" / ".join(f"{row[key]:,.0f}" for row in own) for key in ("median_km", "mean_km")]
            exact = " / ".join(f"{row['exact']:.0%}" for row in own)
            radii = f"{own[0]['within_50']:.0%} / {own[0]['within_90']:.0%}"
            scores = {title: [f"{row['macro_f1'][title]:.2f}" for row in own] for title in own[0]["macro_f1"]}
            names = ", ".join(f"{title} {' / '.join(texts)}" for title, texts in scores.items())
            cells.append([name, own[0]["hidden"], *errors, exact, radii, names])
    head = ["samples; by gpuasm / nearest genome / TreeTime", "places hidden", "median km off", "mean km off", "exact"]
    return dated(used, markdown([*head, "within gpuasm's radius of 50% / 90%", "macro F1"], cells))


def trimming(results: list[Result]) -> str:
    """Adapter trimming of simulated pairs by gpuasm and cutadapt."""
    used = of(results, "trimming")
    rows = [
        [row["adapters"], row["by"], row["reads_that_read_through"], f"{row['exact_share']:.2%}",
         row["adapter_bases_left"], row["own_bases_lost"], f"{row['other_reads_cut_share']:.2%}",
         f"{row['wall_s']:.3f}"]
        for result in used for row in result["rows"]
    ]  # fmt: skip
    head = ["adapters", "by", "reads with adapter", "cut exactly", "adapter bases left", "genome bases lost"]
    return dated(used, markdown([*head, "other reads cut", "s"], rows))
