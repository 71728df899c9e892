"""The layers of docs/architecture.md: which module may import which."""

from __future__ import annotations

import ast
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

import gpuasm

ROOT = Path(gpuasm.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))

# What each part may import of the others: for the chain, everything below it.
CHAIN = ["unfinished", "cache_folders", "errors", "checks", "device_memory", "arrays", "precompilation"]
CHAIN += ["compiled_cache", "threads", "parallel", "device_group", "primitives", "sequence", "kmers", "assembly"]
ALLOWED = {part: set(CHAIN[:rank]) for rank, part in enumerate(CHAIN)}
ALLOWED |= {"stages": {"errors", "arrays"}, "resources": {"errors"}}
ALLOWED["graph"] = {"errors", "checks", "arrays", "threads", "parallel", "primitives", "sequence"}
ALLOWED["clustering"] = {"errors", "checks", "arrays", "threads", "parallel", "primitives", "sequence", "kmers"}
ALLOWED["samples"] = {"errors", "checks", "arrays", "threads", "parallel", "primitives", "sequence", "kmers", "graph"}
ALLOWED["ranking"] = {"errors", "checks", "arrays", "threads", "parallel", "primitives", "sequence", "graph"}
ALLOWED["densest"] = {"errors", "checks", "arrays", "threads", "parallel", "primitives", "sequence", "graph"}
ALLOWED["networkx_backend"] = {"errors", "graph", "ranking"}
ALLOWED["geolocation"] = {"errors", "checks", "arrays", "threads", "parallel", "primitives", "graph"}
for part in ("kmers", "assembly", "graph", "clustering", "samples", "ranking", "densest", "geolocation"):
    ALLOWED[part] |= {"stages", "resources"}
ALLOWED["io"] = {
    "unfinished",
    "errors",
    "checks",
    "stages",
    "resources",
    "threads",
    "parallel",
    "primitives",
    "sequence",
    "graph",
}
ALLOWED["report"] = {"unfinished", "cache_folders", "errors", "io", "resources"}
ALLOWED["driver"] = ALLOWED["first_signals"] = ALLOWED["device_memory"] = set()
ALLOWED["cli"] = set(ALLOWED)
ALLOWED["__main__"] = {"cli"}
ALLOWED["__init__"] = {"lazy", "first_signals"}
ALLOWED["lazy"] = set()
for part in ("assembly", "io", "kmers", "report"):
    ALLOWED[part] |= {"lazy"}

# What each folder inside a part may import of the others, and of the modules next to the folders.
_FOLDERS_OF_ASSEMBLY = [
    "graph", "alignment", "pairs", "coverage", "simplification", "ends", "paths", "iteration", "verification",
]  # fmt: skip
_OF_ASSEMBLY = {"parameters", "options", "contig", "state"}
FOLDERS = {
    **{
        f"assembly/{folder}": _OF_ASSEMBLY | set(_FOLDERS_OF_ASSEMBLY[:rank])
        for rank, folder in enumerate(_FOLDERS_OF_ASSEMBLY)
    },
    "clustering/search": set(),
    "clustering/training": {"search", "grid", "rows"},
    "clustering/surfaces": {"search", "grid"},
    "clustering/classes": {"search", "training", "som", "parameters"},
    "clustering/bins": {"grid", "som"},
}

HOMES_OF_LIBRARIES = {
    "cupy": "arrays.py",
    "numba": ("parallel.py", "compiled_cache.py"),
    "threadpoolctl": "threads.py",
    "sklearn": ("clustering/*.py", "clustering/classes/*.py"),
    "Bio": ("io/genomes.py", "samples/trees.py"),
    "pysam": ("io/bam.py", "io/aligned_bam.py"),
    "cutadapt": ("io/primers.py", "io/trimming.py"),
    "matplotlib": "report/*.py",
    "jinja2": "report/page.py",
    "sourmash": "io/signature_databases.py",
    "backports": "io/bounded_decoding.py",
    "graphviz": "graph/drawing.py",
    "click": "cli/*.py",
    "rich": "cli/progress.py",
    "snakemake": "nowhere",
}


def imports_of(path: Path) -> list[str]:
    """Return the modules that a file imports anywhere, functions included, by their full names."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            if node.module == "gpuasm":
                found += [f"gpuasm.{alias.name}" for alias in node.names]
            else:
                found.append(str(node.module))
    return found


def test_imports_point_downwards() -> None:
    wrong = {}
    for path in MODULES:
        part = path.relative_to(ROOT).parts[0].removesuffix(".py")
        inside = {name for name in imports_of(path) if name.startswith("gpuasm.")} - {"gpuasm.__version__"}
        if upwards := {name.split(".")[1] for name in inside} - {part} - ALLOWED[part]:
            wrong[path] = upwards
    assert wrong == {}


@pytest.mark.parametrize("folder", FOLDERS)
def test_folders_import_downwards(folder: str) -> None:
    part, own = folder.split("/")
    modules = sorted((ROOT / folder).glob("*.py"))
    imports = [name.split(".") for path in modules for name in imports_of(path)]
    inside = {name[2] for name in imports if name[:2] == ["gpuasm", part] and len(name) > 2}
    assert modules
    assert inside - {own} <= FOLDERS[folder]


def test_every_folder_has_its_place_in_the_order() -> None:
    found = {str(path.parent.relative_to(ROOT)) for path in ROOT.glob("*/*/__init__.py")}
    assert found == set(FOLDERS)


def test_libraries_stay_in_their_homes() -> None:
    homes = {name: home if isinstance(home, tuple) else (home,) for name, home in HOMES_OF_LIBRARIES.items()}
    wrong = []
    for path in MODULES:
        inside = path.relative_to(ROOT).as_posix()
        libraries = {name.split(".")[0] for name in imports_of(path)} & homes.keys()
        wrong += [(inside, name) for name in libraries if not any(fnmatch(inside, home) for home in homes[name])]
    assert wrong == []


def test_the_reader_of_imports_sees_all_forms(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text("import a.b\nfrom gpuasm import io\n\ndef f():\n    from gpuasm.kmers.tally import x\n")
    assert imports_of(file) == ["a.b", "gpuasm.io", "gpuasm.kmers.tally"]


@pytest.mark.parametrize("module", ["gpuasm", "gpuasm.cli", "gpuasm.cli.options", "gpuasm.errors", "gpuasm.stages"])
def test_importing_is_cheap(module: str) -> None:
    code = f"import {module}, sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert {"cupy", "numba", "matplotlib", "snakemake", "Bio", "pysam", "cutadapt"} & set(loaded) == set()


def test_importing_the_package_imports_no_numpy() -> None:
    code = "import gpuasm, gpuasm.cli, sys; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_files_are_read_before_numpy_is_imported() -> None:
    modules = (
        "cli.assemble, cli.assembly_page, cli.device_names, cli.folders, cli.inputs, io.read_ahead, assembly.options"
    )
    imports = "; ".join(f"import gpuasm.{name}" for name in modules.split(", "))
    code = f"{imports}; import sys; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_only_the_command_line_exits() -> None:
    ends = {"sys.exit", "exit", "quit", "os._exit", "print"}
    others = [path for path in MODULES if path.parent.name != "cli" and path.name != "first_signals.py"]
    assert [
        (str(path.relative_to(ROOT)), node.lineno)
        for path in others
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ends
    ] == []


def test_no_kernel_has_more_parameters_than_a_device_takes():
    """From 31 on Python 3.12 calls with a list of arguments, which the compiler for devices does not know."""
    functions = [node for path in MODULES for node in ast.walk(ast.parse(path.read_text()))]
    kernels = [
        f for f in functions if isinstance(f, ast.FunctionDef) and "for_each" in map(ast.unparse, f.decorator_list)
    ]
    assert len(kernels) > 50
    assert [kernel.name for kernel in kernels if len(kernel.args.args) > 30] == []


def test_no_function_of_the_assembler_has_many_parameters():
    """Arrays that belong together are in a NamedTuple, which kernels take as well."""
    paths = [path for path in MODULES if path.relative_to(ROOT).parts[0] == "assembly"]
    functions = [f for path in paths for f in ast.walk(ast.parse(path.read_text())) if isinstance(f, ast.FunctionDef)]
    assert len(functions) > 500
    assert [f.name for f in functions if len(f.args.args) + len(f.args.kwonlyargs) > 14] == []
