"""Kernels of one body have no races: no run changes what another run of the same launch reads or writes.

``a[p] = 1 if found else a[p]`` is correct if threads run one after another. If they run at once, the one that found
nothing may write back the old value. On one core that never happens, on a GPU seldom.
"""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

from gpuasm.parallel import for_each, inlined
from tests.gpu.every_kernel import call_every_kernel
from tests.launches import looked_at, name_of
from tests.races import Races, clashes

PACKAGE = Path(__file__).parents[2] / "gpuasm"
OF_ITS_OWN = {
    # Windows of flanks hold an arc, and each is in one flank, or twice in its own mirror image, and given the same.
    ("passed_contigs.py", "_set_depth"): {"count", "followers"},
    ("read_correction.py", "_correct"): {"names", "packed"},  # each segment has entries of its own
    ("ungapped.py", "choose_place"): {"found"},  # so are the rows
    ("graph_walks.py", "_search"): {"cursor", "place", "walk"},  # of the walks of its own link
}
"""Arrays that a kernel reads and writes at other places than its index, though no other run accesses those."""


def kernels():
    """Yield all bodies of kernels with the name of their file."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and any("for_each" in ast.unparse(d) for d in node.decorator_list):
                yield path.name, node


def read_and_written(kernel: ast.FunctionDef) -> set[str]:
    """Return the arrays that a kernel reads, and of which it writes elements at other places than its index."""
    elements = [node for node in ast.walk(kernel) if isinstance(node, ast.Subscript)]
    changed = {node.target for node in ast.walk(kernel) if isinstance(node, ast.AugAssign)}
    read = {ast.unparse(place.value) for place in elements if isinstance(place.ctx, ast.Load) or place in changed}
    own = kernel.args.args[0].arg
    written = {
        ast.unparse(place.value)
        for place in elements
        if isinstance(place.ctx, ast.Store)
        and own not in {n.id for n in ast.walk(place.slice) if isinstance(n, ast.Name)}
    }
    return read & written


def test_kernels_write_only_elements_of_their_index():
    found = {(name, kernel.name): read_and_written(kernel) for name, kernel in kernels()}
    assert {kernel: arrays for kernel, arrays in found.items() if arrays} == OF_ITS_OWN


def test_writes_at_other_places_are_found():
    lines = "a[b[j]] = 1 if c[i] else a[b[j]]", "d[j] += 1", "e[j] = 1", "c[i] += 1", "f[j], g[2 * i + j] = g[i], f[i]"
    (kernel,) = ast.parse("def k(i, a, b, c, d, e, f, g):\n " + "\n ".join(lines)).body
    assert read_and_written(kernel) == {"a", "d", "f"}


def test_no_run_of_a_kernel_clashes_with_another():
    races = Races(runs=100, of_launch=25)
    with looked_at(races):
        call_every_kernel()
    of_the_package = {name_of(kernel) for kernel in for_each.instances if kernel.__module__.startswith("gpuasm.")}
    assert set(races.watched) == of_the_package
    assert races.found == {}


@inlined
def _next(i, array):
    return array[(i + 1) % 4]


def _own(i, a, b):
    a[i] = b[i] + _next(i, b)


def _same(i, a, b):
    a[0] = 7


def _unlike(i, a, b):
    a[0] = b[i]


def _reads(i, a, b):
    a[i] += _next(i, a)


def _is_read(i, a, b):
    a[3 - i] = b[i] + a[i]


def _writes_back(i, a, b):
    a[i // 2] = 7 if b[i] == 2 else a[i // 2]


def _outside(i, a, b):
    a[i] = b[i + 1]


@pytest.mark.parametrize(
    ("body", "clash"),
    [
        (_own, ""),
        (_same, ""),
        (_unlike, "run 1 writes what another writes otherwise, at 0"),
        (_reads, "run 1 writes what another reads, at 1"),
        (_is_read, "run 2 reads what another writes, at 2"),
        (_writes_back, "run 1 writes what another writes otherwise, at 0"),
    ],
)
def test_clashes_are_seen(body, clash):
    first, second = np.array([5, 6, 9, 0]), np.arange(1, 5)
    kernel = for_each(body)
    for_each.instances.remove(kernel)
    assert clashes(kernel, range(4), (first, second)) == {"a": clash, "b": ""}
    assert first.tolist() == [5, 6, 9, 0]


def test_accesses_outside_an_array_are_seen():
    kernel = for_each(_outside)
    for_each.instances.remove(kernel)
    with pytest.raises(IndexError, match="run 3 is at 4 of an array of 4"):
        clashes(kernel, range(4), (np.zeros(4, np.int64), np.arange(4)))
