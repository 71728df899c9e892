"""Make the tables of graph methods: Euler circuits, PageRank, dense subgraphs, and sketches of samples."""

from __future__ import annotations

from collections.abc import Iterator

from table_text import Result, dated, host, markdown, of


def euler(results: list[Result]) -> str:
    """Euler circuits on a device, on the CPU by Hierholzer's method, and as first published."""
    used = of(results, "euler")
    rows = []
    for result in used:
        for case in dict.fromkeys(row["case"] for row in result["rows"]):
            own = [row for row in result["rows"] if row["case"] == case]
            parallel = [row for row in own if "circuits" in row]
            least = [
                min(row["ms"] for row in parallel if row["numbers"] == order) for order in ("in order", "shuffled")
            ]
            (serial,) = (row["ms"] for row in own if "circuits" not in row)
            before = next((row["before_s"] for row in parallel if row["before_s"]), None)
            rows.append([case, own[0]["vertices"], own[0]["edges"], *map(float, least), float(serial), before])
    head = ["graph", "vertices", "edges", "ms", "ms, vertices shuffled", "Hierholzer on the CPU, ms", "published, s"]
    return dated(used, markdown(head, rows))


def pagerank(results: list[Result]) -> str:
    """PageRank on R-MAT graphs by power iteration, by random walks and by other programs."""
    used = of(results, "pagerank")
    rows = [[host(result), *row] for result in used for row in _pagerank(result)]
    published = {(own["what"], own["s"]) for own in (result["parameters"]["published"] for result in used)}
    rows += [["published", None, None, what, seconds * 1e3, None, None, None] for what, seconds in sorted(published)]
    head = ["host", "vertices", "edges", "by", "ms", "iterations", "error", "bound"]
    return dated(used, markdown(head, rows))


def _pagerank(result: Result) -> Iterator[list[object]]:
    about = result["parameters"]
    for row in result["rows"]:
        if row["what"] == "curve" or "s" not in row or row.get("coupons", 1) not in {1, 10}:
            continue
        size = [row.get(key, about[key]) for key in ("vertices", "edges")]
        by = (
            f"{row['what']}, {row['coupons']} coupons"
            if "coupons" in row
            else row.get("program", row["what"]).removesuffix(", in turns with")
        )
        error, bound = (f"{row[key]:.2g}" if row.get(key) else None for key in ("l1_error", "l1_bound"))
        yield [*size, by, row["s"] * 1e3, row.get("iterations") or None, error, bound]


def pagerank_exactness(results: list[Result]) -> str:
    """Largest differences to networkx and scikit-network over real graphs, and errors of walks with their bounds."""
    used = of(results, "pagerank_exactness")
    rows = [row for result in used for row in result["rows"]]
    measures = {"to_networkx": "to networkx, most", "to_scikit_network": "to scikit-network, most",
                "walks_error": "walks: error, most"}  # fmt: skip
    most = [f"{max((row[key] for row in rows), default=0):.1e}" for key in measures]
    inside = sum(row["walks_error"] <= row["walks_bound"] for row in rows)
    cells = [len({row["graph"] for row in rows}), len(rows), *most, f"{inside} of {len(rows)}"]
    return dated(used, markdown(["graphs", "rankings", *measures.values(), "walks: within the bound"], [cells]))


def densest(results: list[Result]) -> str:
    """Edges within k vertices of real graphs against the upper bound and single methods, over all k; least time.

    Then the average degree of the densest subgraph of any size, and the exact value by another program.
    """
    used, exact = of(results, "densest"), of(results, "densest_exact")
    of_any_size = {_graph_name(row["graph"]): row for result in exact for row in result["rows"]}
    rows: list[list[object]] = []
    for result in used:
        for size in (row for row in result["rows"] if "edges" in row and "k" not in row):
            named = size.get("graph")
            own = [row for row in result["rows"] if row.get("graph") == named and "k" in row]
            gains = [min(row["weight"] / row["baselines"][name] for row in own) for name in ("peel", "power", "degree")]
            shares, sizes = ([row[key] for row in own] for key in ("ratio", "k"))
            found = [_between(sizes, ","), _between(shares, ".3f"), *(f"{gain:.2f}" for gain in gains)]
            name = _graph_name(named) if named else f"R-MAT, on {host(result)}"
            seconds = f"{min(row['s'] for row in own):.2f}"
            rows.append([name, size["vertices"], size["edges"], *found, seconds, *_any_size(of_any_size.pop(name, {}))])
        planted = [row for row in result["rows"] if "planted" in row]
        if planted:
            shares = [row["found"] / row["planted"] for row in planted]
            sizes = [row["planted"] for row in planted]
            shown = [f"{len(planted)} planted", planted[0]["vertices"], None, _between(sizes, ",")]
            rows.append([*shown, f"{_between(shares, '.0%')} found", *[None] * 6])
    for name, row in of_any_size.items():
        rows.append([name, row["vertices"], row["edges"], *[None] * 6, *_any_size(row)])
    head = ["graph", "vertices", "edges", "k", "share of the bound", "edges over peeling, least"]
    head += ["over the power method", "over degrees", "s, least", "densest of any size", "exact, by scipy"]
    return dated([*used, *exact], markdown(head, rows))


def _graph_name(name: str) -> str:
    return name.removesuffix("_sawlani").removesuffix("_edges")


def _any_size(row: dict[str, float]) -> list[str | None]:
    """Return the average degree found and the exact one; None where they were not measured."""
    return [f"{row[key]:.4f}" if row else None for key in ("average_degree", "exact")]


def _between(values: list[float], form: str) -> str:
    return " to ".join(dict.fromkeys(f"{value:{form}}" for value in (min(values), max(values))))


def relate(results: list[Result]) -> str:
    """Time to sketch samples and to compare 1,000 sketches all against all, on CPU and device, and of Mash."""
    used = of(results, "relate")
    rows: list[list[object]] = []
    for result in used:
        for row in (row for row in result["rows"] if row.get("families", 1) == 1):
            what = row["what"].replace(" and ", ", also ")
            values = [row.get(key, row.get(other)) for key, other in (("cpu_s", "sketch_s"), ("device_s", ""))]
            times = [None if value is None else f"{value:.4f}" for value in values]
            mash = [
                None if key not in row else f"{row[key]:.4f}" for key in ("mash_sketch_s", "compare_s", "mash_dist_s")
            ]
            rows.append([host(result), what, *times, *mash, row.get("different")])
    head = [
        "host",
        "task",
        "CPU s",
        "device s",
        "Mash: sketch s",
        "compare s",
        "Mash: compare s",
        "distances that differ",
    ]
    return dated(used, markdown(head, rows))
