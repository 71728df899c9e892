"""Documents keep their form: length, no commit hashes, short cells of tables, generated tables of figures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
DOCUMENTS = sorted(
    path for folder in (".", "docs", "config", "benchmarks") for path in (REPOSITORY / folder).glob("*.md")
)
MOST_LINES = {"benchmarks/README.md": 410, "CHANGELOG.md": 200, "docs/modes.md": 150}
MOST_WORDS = {"benchmarks/README.md": 8000}
MOST_WORDS_OF_A_CELL = 25
README_TABLES = {"assemblers", "community", "speed"}


def tables_of(text: str) -> list[list[str]]:
    """Return the cells of each row of the tables of a page."""
    rows = re.findall(r"^\|(.*)\|\s*$", text, re.MULTILINE)
    return [re.split(r"(?<!\\)\|", row) for row in rows]


@pytest.mark.parametrize("name", MOST_LINES)
def test_length_of_documents(name: str) -> None:
    text = (REPOSITORY / name).read_text()
    assert len(text.splitlines()) <= MOST_LINES[name]
    assert len(text.split()) <= MOST_WORDS.get(name, len(text))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_documents_name_no_commits(document: Path) -> None:
    found = re.findall(r"\b(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b", document.read_text())
    assert not found


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_cells_of_tables_are_short(document: Path) -> None:
    cells = [cell for row in tables_of(document.read_text()) for cell in row]
    assert not [cell for cell in cells if len(cell.split()) > MOST_WORDS_OF_A_CELL]


@pytest.mark.parametrize("name", ["README.md", "benchmarks/README.md"])
def test_generated_tables_are_between_markers(name: str) -> None:
    text = (REPOSITORY / name).read_text()
    begun = re.findall(r"^<!-- table: (\w+) -->$", text, re.MULTILINE)
    pairs = re.findall(
        r"^<!-- table: (\w+) -->$(?:(?!<!-- table).)*?^<!-- end table -->$", text, re.MULTILINE | re.DOTALL
    )
    assert begun == pairs
    assert len(set(begun)) == len(begun)
    assert "Not measured yet." not in text


def test_figures_of_the_readme_are_in_generated_tables() -> None:
    text = (REPOSITORY / "README.md").read_text()
    compared = text.partition("\n## How it compares\n")[2].partition("\n## ")[0]
    assert set(re.findall(r"<!-- table: (\w+) -->", compared)) == README_TABLES
    prose = re.sub(r"<!-- table.*?<!-- end table -->", "", compared, flags=re.DOTALL)
    assert re.findall(r"\d+", prose) == ["500"]  # the least length of contigs


def test_changelog_has_the_form_of_keep_a_changelog() -> None:
    text = (REPOSITORY / "CHANGELOG.md").read_text()
    assert re.findall(r"^## \[([^\]]*)\]", text, re.MULTILINE)[0] == "Unreleased"
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.*)$", text, re.MULTILINE)) <= kinds
