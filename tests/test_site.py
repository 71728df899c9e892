"""The site of the documents has all of them; Sphinx itself, with -W, finds links that lead nowhere."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from gpuasm.cli import SECTIONS

DOCS = Path(__file__).parents[1] / "docs"
INDEX = (DOCS / "index.md").read_text()


def listed() -> list[str]:
    blocks = re.findall(r"^```\{toctree\}\n(.*?)^```", INDEX, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line and not line.startswith(":")]


def test_every_document_is_listed_once() -> None:
    names = [name for name in listed() if "/" not in name]
    assert sorted(names) == sorted(path.stem for path in DOCS.glob("*.md") if path.stem != "index")


def test_documents_of_other_folders_are_listed() -> None:
    tree = ast.parse((DOCS / "conf.py").read_text())
    origins = next(
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "ORIGINS"
    )
    assert {name for name in listed() if name.startswith("generated/") and "*" not in name} == {
        *origins, "generated/interface"
    }  # fmt: skip
    assert all((DOCS.parent / origin).exists() for origin in origins.values())


def test_summaries_of_commands_fit_the_heads_of_manual_pages() -> None:
    summaries = [summary for commands in SECTIONS.values() for summary in commands.values()]
    assert all(summary.endswith(".") and "\n" not in summary and len(summary) < 80 for summary in summaries)
