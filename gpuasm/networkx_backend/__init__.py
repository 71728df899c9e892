"""A backend of networkx: ``nx.pagerank(graph, backend="gpuasm")``, and ``nx.eulerian_circuit``.

networkx finds both parts by the entry points of the package, and imports this one whenever it is imported.
"""

from __future__ import annotations

from typing import Any

FUNCTIONS = ("pagerank", "eulerian_circuit")
"""What the backend computes; `gpuasm.networkx_backend.algorithms` has functions of these names."""


def describe() -> dict[str, Any]:
    """Return what networkx asks of a backend before it loads it."""
    return {
        "backend_name": "gpuasm",
        "project": "gpuasm",
        "package": "gpuasm",
        "short_summary": "PageRank on all CPU threads or a GPU, and Euler circuits of directed graphs.",
        "functions": {name: {} for name in FUNCTIONS},
    }
