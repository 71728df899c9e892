"""README's transcript is what the commands print."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]


def transcript() -> Iterator[tuple[str, str]]:
    """Yield the commands of README's console block with the output that stands below each."""
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
        assert matches(expected, done.stdout, doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE), (
            f"$ {command}\n{done.stdout}"
        )


@pytest.mark.parametrize("name", ["example", "tests"])
def test_the_two_commands_make_their_own_environment(name: str) -> None:
    text = (REPOSITORY / "README.md").read_text()
    command = text.partition(f"<!-- command: {name} -->\n```bash\n")[2].partition("\n```")[0]
    assert command.startswith("python3 -m venv --without-pip .venv && python3 -m pip --python .venv/bin/python install")
    assert "\n" not in command


def test_links_lead_somewhere() -> None:
    for document in (*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/*.md")):
        for target in re.findall(r"\]\((?!https?://)([^)#]+)", document.read_text()):
            assert (document.parent / target).exists(), f"{document.name}: {target}"
