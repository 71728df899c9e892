"""README's transcript is what the commands print."""

from __future__ import annotations

import doctest
import gzip
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from gpuasm import cli
from tests.oracles.reads import fastq
from tests.samples import simulated_genome, simulated_pairs

REPOSITORY = Path(__file__).parents[1]


def transcript() -> Iterator[tuple[str, str]]:
    """Yield the commands of README's console block with the output below each."""
    block = re.search(r"^```console\n(.*?)^```", (REPOSITORY / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert block is not None
    for part in re.split(r"^\$ ", block[1], flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        if not command.startswith("export "):
            yield command, output


def test_the_transcript_is_true(tmp_path: Path) -> None:
    (tmp_path / "config").symlink_to(REPOSITORY / "config")
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    matches = doctest.OutputChecker().check_output
    for command, expected in transcript():
        done = subprocess.run(
            command,
            check=False,
            shell=True,
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        output = re.sub("^gpuasm: compil(ing|ed) .*\n", "", done.stdout, flags=re.MULTILINE)  # of a first run
        assert matches(expected, output, doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE), f"$ {command}\n{done.stdout}"


@pytest.mark.parametrize("name", ["example", "tests"])
def test_the_two_commands_make_their_own_environment(name: str) -> None:
    text = (REPOSITORY / "README.md").read_text()
    command = text.partition(f"<!-- command: {name} -->\n```bash\n")[2].partition("\n```")[0]
    assert command.startswith("python3 -m venv --without-pip .venv && python3 -m pip --python .venv/bin/python install")
    assert "\n" not in command


DOCUMENTS = [path for folder in (".", "docs", "config", "benchmarks") for path in (REPOSITORY / folder).glob("*.md")]


def anchors_of(path: Path) -> set[str]:
    """Return what links may point to within a page: its headings in small letters, with dashes for spaces."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_links_lead_somewhere(document: Path) -> None:
    for target, _, anchor in re.findall(r"\]\((?!https?://)([^)#]*)(#([^)]*))?\)", document.read_text()):
        page = document.parent / target if target else document
        assert page.exists(), target
        assert not anchor or anchor in anchors_of(page), f"{target}#{anchor}"


def options_of(arguments: list[str]) -> set[str]:
    """Return the options of the command that the arguments begin with, and of its help."""
    command: click.Command = cli.cli
    for argument in arguments:
        if not isinstance(command, click.Group):
            break
        context = click.Context(command)
        found = command.get_command(context, argument)
        assert found is not None, f"no command {argument}"
        command = found
    return {"--help", *(name for option in command.params for name in (*option.opts, *option.secondary_opts))}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_commands_in_documents_exist_with_their_options(document: Path) -> None:
    text = document.read_text().replace("\\\n", " ")
    blocks = "\n".join(re.findall(r"^```.*?^```", text, re.MULTILINE | re.DOTALL))
    lines = re.findall(r"^(?:\$ |\.venv/bin/)?gpuasm ([a-z].*)$", blocks, re.MULTILINE)
    lines += re.findall(r"`gpuasm ([a-z][^`]*)`", text)
    for line in lines:
        arguments = line.split(" #")[0].split(" | ")[0].split()
        given = {argument.split("=")[0].rstrip(",") for argument in arguments if re.match(r"--?[A-Za-z0-9]", argument)}
        assert given <= options_of(arguments), line


def python_blocks() -> list[tuple[str, str]]:
    """Return the Python in documents with the name of the page."""
    return [
        (document.name, block)
        for document in DOCUMENTS
        for block in re.findall(r"^```python\n(.*?)^```", document.read_text(), re.MULTILINE | re.DOTALL)
    ]


@pytest.mark.parametrize(("page", "code"), python_blocks(), ids=[page for page, _ in python_blocks()])
def test_python_in_documents_runs(page: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if "reads_1.fastq.gz" in code:
        texts = simulated_pairs(simulated_genome(length=3000), fold=30)
        for number in (1, 2):
            Path(f"reads_{number}.fastq.gz").write_bytes(gzip.compress(fastq(texts[number - 1 :: 2]).encode()))
    exec(compile(code, page, "exec"), {"one": "ACGTTGCA" * 9 + "GATTACA" * 20, "other": "GATTACC" * 30})


def test_modules_named_in_the_architecture_exist() -> None:
    named = re.findall(r"`((?:\w+/)*\w+\.py)`", (REPOSITORY / "docs" / "architecture.md").read_text())
    modules = {str(path.relative_to(REPOSITORY)) for path in REPOSITORY.glob("gpuasm/**/*.py")}
    modules |= {str(path.relative_to(REPOSITORY)) for path in REPOSITORY.glob("tests/**/*.py")}
    missing = [name for name in named if not any(f"/{module}".endswith(f"/{name}") for module in modules)]
    assert named
    assert missing == []
