"""First lines of edge lists that are no edges: titles of columns, and the numbers of vertices and edges."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np

from gpuasm.errors import DataError
from gpuasm.io.numbers import whole_number

_log = logging.getLogger("gpuasm")
_TITLES = ((b"from", b"to"), (b"source", b"target"))
_WEIGHT = b"weight"


def without_titles(head: bytes) -> bytes:
    """Return the first block of an edge list with a first line of titles made a comment.

    Titles are "from to" or "source target", in any case, and "weight" as the third.
    """
    at = 0
    for line in head.split(b"\n"):
        text = line.strip().lower()
        if text and text[:1] not in b"#%":
            fields = tuple(field.strip(b'"') for field in text.replace(b",", b" ").split())
            if fields[:2] in _TITLES and fields[2:] in ((), (_WEIGHT,)):
                _log.info("the first line, '%s', is taken as the titles of the columns", text.decode(errors="replace"))
                return head[:at] + b"#" + head[at + 1 :]
            return head
        at += len(line) + 1
    return head


def is_size_line(source: np.ndarray, target: np.ndarray) -> bool:
    """Return whether the first edge of a list is the numbers of vertices and edges, "n m".

    It may be, if m edges of at most n vertices follow, and these are n or numbered up to n. It is, if moreover n and m
    are not both vertices of those edges, and there are n vertices or more edges than that.

    Parameters
    ----------
    source, target : (m,) int64
        The first line, and the edges.

    Raises
    ------
    DataError
        If the line may be either.
    """
    if source.size < 2 or target[0] != source.size - 1 or source[0] < 1:
        return False
    n, m = int(source[0]), int(target[0])
    ids = np.unique(np.concatenate([source[1:], target[1:]]))
    if ids.size > n or (ids[-1] > n and ids.size != n):
        return False
    are_vertices = {n, m} <= set(ids[np.searchsorted(ids, [n, m]).clip(max=ids.size - 1)].tolist())
    return _is_size_for_certain(n, m, certain=not are_vertices and (ids.size == n or m > n))


def is_named_size_line(names: Sequence[str], source: np.ndarray, target: np.ndarray) -> bool:
    """Return whether the first edge of a list with names is the numbers of vertices and edges, "n m".

    It may be, if m edges of at most n vertices follow. It is, if there are n, and none is called as these numbers.

    Parameters
    ----------
    names
        Of the vertices; those of the first line come first.
    source, target : (m,) int64
        The first line, and the edges.

    Raises
    ------
    DataError
        If the line may be either.
    """
    if source.size < 2:
        return False
    n, m = (whole_number(names[end[0]]) for end in (source, target))
    if m != source.size - 1 or not n:
        return False
    ids = np.unique(np.concatenate([source[1:], target[1:]]))
    if ids.size > n:
        return False
    return _is_size_for_certain(n, m, certain=ids.size == n and not np.isin([source[0], target[0]], ids).any())


def _is_size_for_certain(n: int, m: int, *, certain: bool) -> bool:
    """Return True, and report it, for a first line that is certainly no edge; refuse it otherwise."""
    if certain:
        _log.warning("the first line, '%d %d', is taken as the numbers of vertices and edges; %s", n, m, _REMEDY)
        return True
    expected = "a first line that is an edge or the numbers of vertices and edges"
    raise DataError(expected, f"'{n} {m}', which may be either", _REMEDY, place="line 1")


def check_no_titles(names: Sequence[str], source: np.ndarray, target: np.ndarray) -> None:
    """Refuse a first line of two names above edges between numbers: it may be the titles of the columns.

    Raises
    ------
    DataError
        If it is.
    """
    n_first = len({int(end[0]) for end in (source, target) if end.size})
    first, others = names[:n_first], names[n_first:]
    if others and not any(map(_is_number, first)) and all(map(_is_number, others)):
        raise DataError(
            "a first line that is an edge or the titles of the columns",
            f"{' '.join(names[end[0]] for end in (source, target))!r}, which may be either", _REMEDY, place="line 1",
        )  # fmt: skip


def _is_number(name: str) -> bool:
    return whole_number(name) is not None


def check_no_matrix_size(source: np.ndarray, target: np.ndarray, weights: np.ndarray) -> None:
    """Refuse a first line "rows columns entries" of an edge list with weights, as SMAT and Matrix Market have it.

    Parameters
    ----------
    source, target : (m,) int64
    weights : (m,) float64
        In the order of the lines.

    Raises
    ------
    DataError
        If as many lines follow the first as its third number states, and none has a greater first or second number.
    """
    if source.size < 2 or weights[0] != source.size - 1:
        return
    if source[1:].max() <= source[0] and target[1:].max() <= target[0]:
        raise DataError(
            "a first line that is an edge or the size of a matrix",
            f"'{source[0]} {target[0]} {source.size - 1}', which may be either",
            "remove the size, or write '%%MatrixMarket matrix coordinate real general' above it; "
            "if it is an edge, add --format edges",
            place="line 1",
        )


_REMEDY = "begin the line with # if it is no edge, or add --format edges if it is one"
