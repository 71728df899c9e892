"""Thresholds of the assembler lie in `gpuasm/assembly/parameters.py`, and nowhere else."""

from __future__ import annotations

import ast
import dataclasses
from collections import Counter
from pathlib import Path

from gpuasm.assembly import parameters

ROOT = Path(parameters.__file__).parent
MODULES = [path for path in sorted(ROOT.rglob("*.py")) if path.name not in {"parameters.py", "warmup.py"}]

COUNTS = {0, 1, 2}
ROOT_EXPONENT = {0.5}
PERCENT = {100, 10_000}
WIDTHS = {3, 4, 5, 8, 16, 30, 31, 32, 62, 63, 64, 256}
"""Bits and bases of a word, masks, and fixed-point scales."""
NAMED = {
    "_BATCH": "size of a batch",
    "_BIT_SCALE": "fixed-point scale",
    "_DEVIATION": "standard deviations in the median distance of a normal distribution",
    "_FACTOR": "hash factor",
    "_FAR": "beyond each text position",
    "_FIRST_63": "mask",
    "_HASH_FACTOR": "hash factor",
    "_HISTOGRAM_SCALE": "fixed-point scale",
    "_NAT_SCALE": "fixed-point scale",
    "_NO_ZERO": "avoids a division by zero",
    "_ODD": "mask",
    "_QUARTILES": "their definition",
    "_RATE_SCALE": "fixed-point scale",
    "_SLOTS": "size of a hash table",
}
ELSEWHERE = {
    ("options.py", 200): "the default of an option",
    ("paths/link_acceptance.py", 1e-9): "avoids a division by zero",
}


def numbers_of(path: Path) -> set[float]:
    """Return the numeric literals of a module that are neither counts, widths, scales nor named as such."""
    tree = ast.parse(path.read_text())
    named = {
        id(literal)
        for node in tree.body
        if isinstance(node, ast.Assign) and {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} & set(NAMED)
        for literal in ast.walk(node)
    }
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, (int, float))
        and not isinstance(node.value, bool)
        and id(node) not in named
        and node.value not in COUNTS | ROOT_EXPONENT | PERCENT | WIDTHS
    }


def test_a_module_has_no_threshold() -> None:
    found = {(path.relative_to(ROOT).as_posix(), number) for path in MODULES for number in numbers_of(path)}
    assert found - ELSEWHERE.keys() == set()


def test_a_threshold_is_found(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text("_BATCH = 1 << 20\n_RATIO = 2.5\n\n\ndef f(x):\n    return x[:2] > 17 and x & 31\n")
    assert numbers_of(module) == {2.5, 17}


def test_no_two_mechanisms_name_a_threshold_alike() -> None:
    classes = [
        value for value in vars(parameters).values() if dataclasses.is_dataclass(value) and isinstance(value, type)
    ]
    names = Counter(field.name for each in classes for field in dataclasses.fields(each))
    assert [name for name, times in names.items() if times > 1] == []


def test_each_threshold_has_a_reason() -> None:
    lines = Path(parameters.__file__).read_text().splitlines()
    fields = [
        line
        for line in lines
        if line.startswith("    ") and ": " in line and " = " in line and "(" not in line.split("=")[0]
    ]
    assert len(fields) > 100
    assert [line for line in fields if "  # " not in line] == []


def test_the_mode_is_read_in_few_places() -> None:
    """What a mode changes is data of its overlay, and most of it is which rules are used."""
    read = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in MODULES
        if path.name != "sample_mode.py"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
        and node.attr in {"parameters", "is_community", "is_population", "keeps_variants"}
        and ast.unparse(node.value).endswith("mode")
    ]
    assert 5 < len(read) <= 15, read
