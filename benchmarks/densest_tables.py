"""The tables of dense subgraphs."""

from __future__ import annotations

from table_text import Result, markdown, section


def densest(results: list[Result]) -> str:
    """Edges within k vertices of real graphs beside single methods and the bound; planted subgraphs."""
    head = ["graph", "vertices", "edges", "k", "edges within", "peeling", "power method", "degrees", "avg. degree"]
    head += ["bound", "share"]
    parts = []
    for result in (r for r in results if r["benchmark"] == "densest"):
        sizes = {row["graph"]: row for row in result["rows"] if "graph" in row and "k" not in row}
        told: list[list[object]] = []
        for row in (row for row in result["rows"] if "graph" in row and "k" in row):
            size, others = sizes[row["graph"]], row["baselines"]
            told.append(
                [row["graph"].removesuffix("_sawlani"), f"{size['vertices']:,}", f"{size['edges']:,}", row["k"]]
                + [f"{weight:,.0f}" for weight in (row["weight"], *(others[b] for b in ("peel", "power", "degree")))]
                + [f"{row['average_degree']:.2f}", f"{row['bound']:.2f}", f"{row['ratio']:.3f}"]
            )
        if not told:
            continue
        planted = [row for row in result["rows"] if "planted" in row]
        parts.append(section(result, markdown(head, told)))
        parts.append(_planted(planted))
    return "\n\n".join(parts)


def _planted(rows: list[Result]) -> str:
    head = ["planted", "among", "average degree", "pairs joined", "seed", "found", "share of bound"]
    return markdown(
        head,
        [
            [
                row["planted"],
                f"{row['vertices']:,}",
                row["average_degree_of_graph"],
                f"{row['share_of_pairs']:.0%}",
                row["seed"],
                row["found"],
                f"{row['ratio']:.3f}",
            ]
            for row in rows
        ],
    )


def densest_speed(results: list[Result]) -> str:
    """Time by stage on R-MAT graphs."""
    parts = []
    for result in (r for r in results if r["benchmark"] == "densest"):
        runs = [row for row in result["rows"] if "stages" in row and "graph" not in row]
        told = []
        for row in runs:
            stages = ", ".join(f"{name} {seconds:.2f}" for name, seconds in row["stages"].items())
            told.append(
                [f"{row['vertices']:,}", f"{row['edges']:,}", row["k"], f"{row['s']:.2f}", stages]
                + [f"{row[key]:.2f}" for key in ("average_degree", "bound")]
            )
        if told:
            head = ["vertices", "undirected edges", "k", "s", "of which", "avg. degree", "bound"]
            parts.append(section(result, markdown(head, told)))
    return "\n\n".join(parts)
