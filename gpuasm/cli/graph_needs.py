"""Bytes by vertex and by edge that each command on graphs takes, by its options: constants of the memory estimate.

Where phases do not overlap, the largest counts. Undirected graphs are taken to hold each edge given twice, once for
each end: where edges are repeated, or each other's twins, commands take less than is estimated here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuasm.cli.graph_memory import Size, Work

_MANY_VISITS = 4e9  # from here on they are counted in 8 bytes, not 4
_DRAWING = 60 << 20  # the library that draws
_SCORES, _POINTS = 1 << 25, 1 << 18  # of the search among directions: scores at once, and points looked at


def euler_work(method: str, *, path: bool, as_edges: bool) -> Work:
    """Return what an Euler tour takes, by its method.

    Parameters
    ----------
    method
        "parallel" or another.
    path, as_edges
        Whether a path is looked for; whether edges are written.
    """

    def hierholzer(size: Size) -> float:
        return (34 if path else 26) * size.n + (17 if path or as_edges else 14) * size.m

    def parallel(size: Size) -> float:
        return hierholzer(size) + 29 * size.n + 17 * size.m

    on_cpu = parallel if method == "parallel" else hierholzer
    return Work("Euler tours of a graph", 200 << 20, on_cpu, hierholzer)


def assembly_work() -> Work:
    """Return what an assembly graph takes as segments and links, which are its vertices and edges here."""

    def own(size: Size) -> float:
        return 300 * size.n + 570 * size.m

    return Work("Euler tours of an assembly graph", 200 << 20, own, own)


def pagerank_work(options: Mapping[str, Any], *, threads: int) -> Work:
    """Return what PageRank takes; methods, ``top``, ``coupons``, ``reset`` and pictures matter."""
    walks = options["method"] == "walks" or options["compare"]
    power = options["method"] == "power" or options["compare"]
    drawing = _DRAWING if options["picture"] or options["heat_map"] else 0
    cells = 140 * walks + 105 * (not walks) + 20 * options["compare"]

    def table(n: int) -> float:
        return cells * min(n, options["top"] or n) + drawing

    def on_cpu(size: Size) -> float:
        width = 8 if size.n * options["coupons"] / max(options["reset"], 1e-9) > _MANY_VISITS else 4
        visits = (80 + width * (3 + threads)) * walks
        return (85 * power + visits) * size.n + ((13 if power else 5) + 16 * size.weighted) * size.m + table(size.n)

    def host_with_device(size: Size) -> float:
        return 85 * size.n + (4 + 16 * size.weighted) * size.m + table(size.n)

    return Work("PageRank of a graph", 200 << 20, on_cpu, host_with_device)


def densest_work(options: Mapping[str, Any]) -> Work:
    """Return what dense subgraphs take; ``k``, method, rank, ``bipartite``, pictures matter."""
    k, d, drawing = options["k"] or 0, options["rank"], _DRAWING if options["picture"] else 0
    sides = 2 if options["bipartite"] else 1
    by_rank = k and options["method"] in (None, "rank")
    more_rounds, flows = max(0, options["iterations"] - 8), options["method"] in (None, "flow")
    orders = (30 + 10 * more_rounds) if flows else 5 * more_rounds  # the order of vertices in each round of peeling

    def building(size: Size) -> float:
        if size.weighted:
            return 40 * size.n + 205 * size.m + (sides - 1) * (110 * size.n + 35 * size.m)
        own = 45 * size.n + 56 * size.m
        if not k:  # what is found may be nearly all of the graph, which is then there twice
            own += (0 if options["method"] == "batches" else 45 + orders) * size.n + 8 * size.m
        return own + (sides - 1) * (60 * size.n + 20 * size.m)

    def searching(size: Size) -> float:
        """Return what eigenvectors, and then scores in many directions, take on the CPU."""
        n, slots = sides * size.n, ((36 if size.weighted else 12) + 16 * (sides - 1)) * size.m
        vectors = 24 * (d + 1) * n
        solving = vectors + (8 * max(20, 3 * (d + 1)) + 72) * n
        points = min(n, max(_POINTS, 2 * k))
        scores = 8 * min(_SCORES, (options["directions"] + 2 * d) * points) if d > 2 else 0
        return slots + max(solving, vectors + 100 * n + scores)

    def on_cpu(size: Size) -> float:
        return max(building(size), searching(size) if by_rank else 0) + 4000 * min(k, size.n) + drawing

    def host_with_device(size: Size) -> float:
        return building(size) + 4000 * min(k, size.n) + drawing

    return Work("dense subgraphs of a graph", 215 << 20, on_cpu, host_with_device)


def geolocate_work(options: Mapping[str, Any], *, draws: bool) -> Work:
    """Return what geolocation takes; ``directed``, ``holdout`` and ``state`` matter.

    Parameters
    ----------
    options
        Those of the command.
    draws
        Whether GeoJSON or a map is made, which contain all vertices and edges.
    """

    def on_cpu(size: Size) -> float:
        if options["directed"]:
            own = max(110 * size.n + 34 * size.m, 310 * size.n + 14 * size.m)
        else:
            own = max(110 * size.n + 62 * size.m, 310 * size.n + 26 * size.m)
            if size.weighted:
                own = max(own, 40 * size.n + 205 * size.m)
        own += 40 * size.n * bool(options["holdout"]) + (130 * size.n + 12 * size.m) * bool(options["state"])
        return own + (270 * size.n + 80 * size.m) * draws

    return Work("geolocation on a graph", 250 << 20, on_cpu, on_cpu)
