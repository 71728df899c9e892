"""Kernels of one body: what runs for many numbers at once must not change what another of them reads.

``a[p] = 1 if found else a[p]`` keeps what stands there if one thread comes after the other. If both come at once, the
one that found nothing writes back what was there before. On one core that never shows, on a GPU seldom.
"""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "gpuasm"
OF_ITS_OWN = {
    ("carrying.py", "_set"): {"count", "followers"},  # windows of flanks hold an arc, and each arc is in one flank
    ("correcting.py", "_correct"): {"names", "words"},  # each piece has words of its own
    ("mercy.py", "_add_followers"): {"followers"},  # the keys are distinct
    ("best_places.py", "_choose"): {"found"},  # so are the rows
    ("choosing.py", "_choose"): {"scores", "surprises"},  # of the walks of its own link
    ("walks.py", "_search"): {"cursor", "place", "walk"},  # likewise
}
"""What a kernel reads and writes at places that its number does not name, though no other run of it does."""


def kernels():
    """All bodies that run once for each number, with the name of their file."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and any("for_each" in ast.unparse(d) for d in node.decorator_list):
                yield path.name, node


def read_and_written(kernel: ast.FunctionDef) -> set[str]:
    """The arrays that a kernel reads, and of which it writes elements that its number does not name."""
    elements = [node for node in ast.walk(kernel) if isinstance(node, ast.Subscript)]
    changed = {target for node in ast.walk(kernel) if isinstance(node, ast.AugAssign) for target in [node.target]}
    read = {ast.unparse(place.value) for place in elements if isinstance(place.ctx, ast.Load) or place in changed}
    own = kernel.args.args[0].arg
    written = {
        ast.unparse(place.value)
        for place in elements
        if isinstance(place.ctx, ast.Store)
        and own not in {n.id for n in ast.walk(place.slice) if isinstance(n, ast.Name)}
    }
    return read & written


def test_no_kernel_changes_what_another_run_of_it_reads():
    found = {(name, kernel.name): read_and_written(kernel) for name, kernel in kernels()}
    assert {kernel: arrays for kernel, arrays in found.items() if arrays} == OF_ITS_OWN


def test_what_would_be_a_race_is_seen():
    lines = "a[b[j]] = 1 if c[i] else a[b[j]]", "d[j] += 1", "e[j] = 1", "c[i] += 1", "f[j], g[2 * i + j] = g[i], f[i]"
    (kernel,) = ast.parse("def k(i, a, b, c, d, e, f, g):\n " + "\n ".join(lines)).body
    assert read_and_written(kernel) == {"a", "d", "f"}
