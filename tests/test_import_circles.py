"""No module of gpuasm imports itself through others, imports in functions and for type checking included."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import gpuasm

ROOT = Path(gpuasm.__file__).parent


def module_files(root: Path) -> dict[str, Path]:
    """Return the file of each module of a package by its full name."""
    files = {}
    for path in sorted(root.rglob("*.py")):
        parts = (root.name, *path.relative_to(root).with_suffix("").parts)
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return files


def import_graph(root: Path) -> dict[str, set[str]]:
    """Return the modules of a package that each of its modules imports, in functions too."""
    files = module_files(root)
    graph = {}
    for module, path in files.items():
        found = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                full = {f"{node.module}.{alias.name}" for alias in node.names}
                found |= {name if name in files else str(node.module) for name in full}
        graph[module] = (found & set(files)) - {module}
    return graph


def test_modules_do_not_import_in_circles() -> None:
    TopologicalSorter(import_graph(ROOT)).prepare()


def test_a_circle_through_a_function_is_found(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "a.py").write_text("from package import b\n")
    (package / "b.py").write_text("def f():\n    from package.a import x\n")
    with pytest.raises(CycleError):
        TopologicalSorter(import_graph(package)).prepare()
