"""Shares of vertices from a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuasm.errors import DataError
from gpuasm.graph import from_strings
from gpuasm.io.personalisation import read_personalisation

GRAPH = from_strings(["a -> b", "b -> c", "s+ -> s-"])


def written(folder: Path, text: str) -> Path:
    path = folder / "shares"
    path.write_text(text)
    return path


def test_names_and_shares(tmp_path: Path) -> None:
    path = written(tmp_path, "# starts\nc\t0.5\n\na\nb,0\n")
    assert read_personalisation(path, GRAPH).tolist() == [1.0, 0.0, 0.5, 0.0, 0.0]


def test_segments_have_two_strands(tmp_path: Path) -> None:
    assert read_personalisation(written(tmp_path, "s 3\n"), GRAPH, by_segment=True).tolist() == [
        0.0,
        0.0,
        0.0,
        3.0,
        3.0,
    ]


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("a 1\nx 1\n", "line 2", "vertex of the graph"),
        ("a -1\n", "line 1", "share of 0 or more"),
        ("a nan\n", "line 1", "share of 0 or more"),
        ("a one\n", "line 1", "share of 0 or more"),
        ("a 1 2\n", "line 1", "share of 0 or more"),
        ("a 1\na 2\n", "line 2", "each vertex once"),
        ("a 0\n", None, "at least one vertex"),
        ("", None, "at least one vertex"),
    ],
)
def test_bad_shares_name_their_line(tmp_path: Path, text: str, place: str | None, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(DataError, match=message) as caught:
        read_personalisation(path, GRAPH)
    assert (caught.value.path, caught.value.place) == (str(path), place)
