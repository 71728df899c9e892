"""The tables of PageRank."""

from __future__ import annotations

from table_text import Result, markdown, section


def pagerank(results: list[Result]) -> str:
    """PageRank on R-MAT graphs: both methods, other programs, and time against edges."""
    parts = []
    for result in (r for r in results if r["benchmark"] == "pagerank"):
        published, told, grown = result["parameters"]["published"], [], []
        for row in result["rows"]:
            if row["what"] == "curve":
                grown.append([row["edges"], row["power_s"] * 1e3, row["iterations"], row["walks_s"] * 1e3])
            elif "s" in row:
                what = f"{row['what']}, {row['coupons']} coupons" if "coupons" in row else row["what"]
                times = [row[key] * 1e3 if key in row else None for key in ("s", "prepare_s", "iteration_s")]
                errors_of = [
                    f"{row[key]:.2g}" if row.get(key) else None for key in ("l1_error", "l1_bound", "error_of_top")
                ]
                told.append([what, *times, row.get("iterations") or None, *errors_of])
        told.append([f"published: {published['what']}", published["s"] * 1e3, *[None] * 6])
        title = f"{result['parameters']['vertices']:,} vertices, {result['parameters']['edges']:,} edges; "
        head = ["what", "ms", "prepare ms", "iteration ms", "iterations", "error", "bound", "top"]
        parts.append(title + section(result, markdown(head, told)))
        if grown:
            head = ["edges of ever larger graphs", "power iteration, ms", "iterations", "walks, 10 coupons, ms"]
            parts.append(markdown(head, grown))
    return "\n\n".join(parts)


def pagerank_exactness(results: list[Result]) -> str:
    """Distances to networkx and scikit-network on real graphs, and walks against their stated error."""
    head = ["graph", "ranks", "vertices", "edges", "to networkx", "to scikit-network", "10 coupons: error", "bound"]
    measures = ("to_networkx", "to_scikit_network", "walks_error", "walks_bound")
    return "\n\n".join(
        markdown(
            head,
            (
                [row["graph"], row["case"], row["vertices"], row["edges"], *(f"{row[key]:.1e}" for key in measures)]
                for row in result["rows"]
            ),
        )
        for result in results
        if result["benchmark"] == "pagerank_exactness"
    )
