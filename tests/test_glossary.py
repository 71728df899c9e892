"""The glossary lists each term once."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

GLOSSARY = Path(__file__).parents[1] / "docs" / "glossary.md"


def test_each_term_is_listed_once_with_a_sentence() -> None:
    rows = re.findall(r"^\| (?!Term |---)([^|]+) \| ([^|]+) \|", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rows) > 50
    assert [term for term, n in Counter(term for term, _ in rows).items() if n > 1] == []
    assert [term for term, meaning in rows if not re.fullmatch(r"[A-Z].*[^.]\.", meaning)] == []
