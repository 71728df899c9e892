"""The tables of PageRank."""

from __future__ import annotations

from typing import Any

from table_text import Result, markdown, section


def pagerank(results: list[Result]) -> str:
    """PageRank on R-MAT graphs: both methods, other programs, and time against edges."""
    parts = []
    for result in (r for r in results if r["benchmark"] == "pagerank"):
        published, told, grown = result["parameters"]["published"], [], []
        beside: dict[tuple[int, int], list[list[object]]] = {}
        for row in result["rows"]:
            if row["what"] == "curve":
                grown.append([row["edges"], row["power_s"] * 1e3, row["iterations"], row["walks_s"] * 1e3])
            elif "program" in row:
                beside.setdefault((row["vertices"], row["edges"]), []).append(_on_host(row))
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
        for (vertices, edges), rows in beside.items():
            head = ["device and host", "build ms", "ms", "iteration ms", "iterations", "error"]
            parts.append(f"{vertices:,} vertices, {edges:,} edges, same run:\n\n{markdown(head, rows)}")
        if grown:
            head = ["edges of ever larger graphs", "power iteration, ms", "iterations", "walks, 10 coupons, ms"]
            parts.append(markdown(head, grown))
    return "\n\n".join(parts)


def _on_host(row: dict[str, Any]) -> list[object]:
    """Return the cells of a program that ran on the host, or of gpuasm beside it."""
    each = row["s"] / row["iterations"] * 1e3 if row["iterations"] else None
    built = row["build_s"] * 1e3 if "build_s" in row else None
    return [row["program"], built, row["s"] * 1e3, each, row["iterations"] or None, f"{row['l1_error']:.2g}"]


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
