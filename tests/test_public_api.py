"""Conventions of the public interface, checked over all of it."""

from __future__ import annotations

import inspect
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import gpuasm

REPOSITORY = Path(__file__).parents[1]
PUBLIC = sorted(set(gpuasm.__all__) - {"__version__"})
POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def callables(name: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield a public function, or the public methods of a public class."""
    thing = getattr(gpuasm, name)
    if not inspect.isclass(thing):
        yield name, thing
        return
    for key, member in vars(thing).items():
        function = getattr(member, "__func__", member)
        if inspect.isfunction(function) and not key.startswith("_"):
            yield f"{name}.{key}", function


@pytest.mark.parametrize("name", PUBLIC)
def test_is_there_and_documented(name: str) -> None:
    thing = getattr(gpuasm, name)
    text = inspect.getdoc(thing) or ""
    assert len(text.split(".")[0]) >= 10
    # A dataclass without a docstring gets its signature as one.
    assert not text.startswith(f"{name}(")


@pytest.mark.parametrize("name", PUBLIC)
def test_methods_are_documented(name: str) -> None:
    for full_name, function in callables(name):
        is_short = len(inspect.getsource(function).splitlines()) <= 3
        assert inspect.getdoc(function) or is_short, full_name


@pytest.mark.parametrize("name", PUBLIC)
def test_few_positional_parameters_and_no_positional_switch(name: str) -> None:
    for full_name, function in callables(name):
        parameters = [p for p in inspect.signature(function).parameters.values() if p.name not in ("self", "cls")]
        positional = [p for p in parameters if p.kind in POSITIONAL]
        assert len(positional) <= 3, full_name
        assert [p.name for p in positional if isinstance(p.default, bool) or p.annotation == "bool"] == [], full_name


@pytest.mark.parametrize("name", PUBLIC)
def test_parameters_have_types(name: str) -> None:
    for full_name, function in callables(name):
        signature = inspect.signature(function)
        untyped = [
            p.name for p in signature.parameters.values() if p.annotation is p.empty and p.name not in ("self", "cls")
        ]
        assert untyped == [], full_name
        assert signature.return_annotation is not signature.empty, full_name


def test_unknown_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'assembel'"):
        gpuasm.assembel  # noqa: B018 - the access is the test


def test_dir_lists_the_public_names() -> None:
    assert set(PUBLIC) <= set(dir(gpuasm))


def test_one_version_everywhere() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert project["version"] == gpuasm.__version__
    assert f"version: {gpuasm.__version__}\n" in (REPOSITORY / "CITATION.cff").read_text()
    first = re.search(r"^## \[([^]]+)\]", (REPOSITORY / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert first is not None
    assert first[1] in ("Unreleased", gpuasm.__version__)


def test_what_is_no_list_of_files_is_refused(tmp_path):
    path = tmp_path / "reads.fq"
    path.write_text("@r\nACGT\n+\nIIII\n")
    for name in ("single", "interleaved", "bam"):
        for given in (str(path), path):
            with pytest.raises(gpuasm.UsageError, match=f"expected a list of files for {name}, found one path"):
                gpuasm.read_reads(**{name: given})
    for pairs in (("a.fq", "b.fq"), [("a.fq",)], [path]):
        with pytest.raises(gpuasm.UsageError, match="expected pairs of files"):
            gpuasm.read_reads(pairs=pairs)


def test_what_is_no_reads_or_options_is_refused(tmp_path):
    path = tmp_path / "reads.fq"
    path.write_text("@r\nACGT\n+\nIIII\n")
    read_set = gpuasm.read_reads(single=[path])
    with pytest.raises(gpuasm.UsageError, match=r"expected reads, as read_reads.*found a ReadSet"):
        gpuasm.assemble(read_set)
    with pytest.raises(gpuasm.UsageError, match="expected AssemblyOptions, found a dict"):
        gpuasm.assemble(read_set.reads, {"k": 31})
