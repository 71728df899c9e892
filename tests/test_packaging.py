"""The conda recipe, the container and the environments of the workflow agree with pyproject.toml."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import gpuasm

yaml = pytest.importorskip("yaml")
REPOSITORY = Path(__file__).parents[1]
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
NAMES_IN_CONDA = {
    "graphviz": "python-graphviz", "isal": "python-isal", "matplotlib": "matplotlib-base",
    "snakemake": "snakemake-minimal",
}  # fmt: skip


@pytest.fixture(scope="module")
def recipe() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((REPOSITORY / "recipe" / "meta.yaml").read_text())
    return found


def in_conda(requirement: str) -> str:
    """Return a requirement of PyPI as conda writes it: a package for all versions of Python has no markers."""
    name, bounds = re.fullmatch(r"([\w.-]+)(.*)", requirement.partition(";")[0]).groups()  # type: ignore[union-attr]
    return f"{NAMES_IN_CONDA.get(name, name)} {bounds}"


def test_the_recipe_has_the_requirements_of_the_package(recipe: dict[str, Any]) -> None:
    needed = {in_conda(requirement) for requirement in PROJECT["dependencies"]}
    assert set(recipe["requirements"]["run"]) == needed | {f"python {PROJECT['requires-python']}", "__linux"}
    build = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["build-system"]["requires"]
    assert {in_conda(requirement) for requirement in build} <= set(recipe["requirements"]["host"])


def test_the_recipe_describes_the_package(recipe: dict[str, Any]) -> None:
    assert (recipe["package"]["name"], recipe["package"]["version"]) == (PROJECT["name"], PROJECT["version"])
    assert recipe["build"]["entry_points"] == [f"{name} = {target}" for name, target in PROJECT["scripts"].items()]
    about = (PROJECT["description"], PROJECT["license"])
    assert (recipe["about"]["summary"], recipe["about"]["license"]) == about


def test_the_environment_of_the_workflow_takes_this_version() -> None:
    environment = yaml.safe_load((REPOSITORY / "workflow" / "envs" / "gpuasm.yaml").read_text())
    assert environment["channels"][0] == "local"
    assert environment["dependencies"] == [f"gpuasm ={PROJECT['version']}"]


def test_the_container_copies_what_a_wheel_is_built_from() -> None:
    lines = re.findall(r"^COPY (?!--from)(.*)$", (REPOSITORY / "Containerfile").read_text(), re.MULTILINE)
    copied = {name for line in lines for name in line.split()[:-1]}
    assert all((REPOSITORY / name).exists() for name in copied)
    links = {path.resolve().name for path in (REPOSITORY / "gpuasm" / "workflow_files").iterdir()}
    assert copied == {"gpuasm", "pyproject.toml", PROJECT["readme"], *PROJECT["license-files"], *links}


def test_the_source_distribution_has_every_document_and_test() -> None:
    template = (REPOSITORY / "MANIFEST.in").read_text()
    words = set(re.findall(r"^(?:include|graft) (.*)$", template, re.MULTILINE)[0].split())
    words |= set(re.findall(r"^graft (.*)$", template, re.MULTILINE))
    assert all((REPOSITORY / word).exists() for word in words)
    assert {"Snakefile", "CITATION.cff", "Containerfile", "docs", "config", "recipe", "tests", "workflow"} <= words


def test_type_checkers_see_the_public_names() -> None:
    """A package with py.typed whose names are imported lazily shows its types in a stub only."""
    stub = ast.parse((REPOSITORY / "gpuasm" / "__init__.pyi").read_text())
    homes = {
        alias.asname: node.module for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert homes == gpuasm._HOME_OF
