"""Edge lists and Matrix Market: two vertices a line, read by a compiled scanner, a block at a time."""

from __future__ import annotations

import itertools
import logging
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from gpuasm.errors import DataError
from gpuasm.graph.building import from_edges
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.io.edge_weights import POWERS, WEIGHT_COLUMN, EdgeWeights, decimal, ends_field
from gpuasm.io.graph_text import bad_line, quoted
from gpuasm.io.growing_array import GrowingArray
from gpuasm.io.memory_bound import MemoryBound
from gpuasm.io.named_ends import BETWEEN, NamedEnds
from gpuasm.io.numbers import whole_number
from gpuasm.io.size_lines import check_no_matrix_size, check_no_titles, is_named_size_line, is_size_line, without_titles
from gpuasm.parallel import compiled

TWO_COLUMNS = "two columns: the vertices an edge leads from and to"
"""The expectation in errors about a line of an edge list with more or fewer columns."""

VERTICES_COMMENT = "# vertices {} edges {}"
"""The first line of the edge lists we write: without it, vertices after the last one with an edge would be lost."""

_log = logging.getLogger("gpuasm")
_OUR_COMMENT = re.compile(rb"^# vertices (\d+) edges (\d+)\s")
_FIELD_COLUMNS = {"pattern": 2, "real": 3, "double": 3, "integer": 3, "complex": 4}
_SYMMETRIES = {"general": False, "symmetric": True, "skew-symmetric": True, "hermitian": True}
_FINE, _NO_NUMBER, _COLUMNS = 0, 1, 2
_NO_ENDS = np.empty(0, np.int64), np.empty(0, np.int64)
_SPARSE_IDS = 16  # ids that reach so many times further than there are ends of edges are names, not numbers
_FEW_IDS = 1 << 20
_BYTES_OF_VERTEX = 16
_MOST_COMMENTS = 64 << 20
_OWN_REMEDY = "copy the file anew, or correct or remove the comment"


@dataclass
class _Ends:
    """The ends of the edges read so far, and the lines they are from."""

    source: GrowingArray = field(default_factory=lambda: GrowingArray(np.int64))
    target: GrowingArray = field(default_factory=lambda: GrowingArray(np.int64))
    n_lines: int = 0

    def scan(self, block: bytes, columns: int, weights: EdgeWeights | None) -> tuple[int, int]:
        """Append the edges of a block; return the status, and the position of the line where it is not fine."""
        source, target = np.empty((2, block.count(b"\n")), np.int64)
        status, n_edges, n_lines, position = _scanned(block, (source, target), columns, weights, self.n_lines)
        self.source.append(source[:n_edges])
        self.target.append(target[:n_edges])
        self.n_lines += n_lines
        return status, position


def _scanned(
    block: bytes, ends: tuple[np.ndarray, np.ndarray], columns: int, weights: EdgeWeights | None, n_lines: int
) -> tuple[int, int, int, int]:
    """Scan a block as `_scan` does, and append the weights of its edges, those of errors with their lines."""
    room = block.count(b"\n") if weights is not None else 0
    values, begins = np.empty(room, np.float64), np.empty(room, np.int64)
    found = _scan(np.frombuffer(block, np.uint8), *ends, values, begins, POWERS, columns)
    if weights is not None:
        weights.add(block, (values[: found[1]], begins[: found[1]]), n_lines)
    return found


def read_edge_list(
    blocks: Iterable[bytes], weights: EdgeWeights | None = None, *, edges_only: bool = False
) -> tuple[DirectedGraph, np.ndarray | None]:
    """Read an edge list: two vertices a line with tab, spaces or a comma between them; lines with # or % are comments.

    Where all are whole numbers, they are the numbers of the vertices, unless they reach very much further than there
    are edges; else they are names. `gpuasm.io.size_lines` has the rules for first lines that are no edges.

    Parameters
    ----------
    blocks
        Of whole lines.
    weights
        Receives the third column, if the first line has one; None if there may be none.
    edges_only
        Whether each line that is no comment is an edge, the first one too.

    Returns
    -------
    The graph, and (m,) float64 in the order of its edges or None.

    Raises
    ------
    DataError
        If a line has other columns than the first, a weight is none, or the first line may be an edge or the size of
        the graph.
    ResourceError
        If there are more vertices than memory holds.
    """
    blocks = iter(blocks)
    head = next(blocks, b"")
    head = head if edges_only else without_titles(head)
    if weights is not None:
        lines = (line.strip() for line in head.split(b"\n"))
        first = next((line for line in lines if line and line[:1] not in b"#%"), b"").decode(errors="replace")
        weights = weights if len(BETWEEN.split(first)) == WEIGHT_COLUMN else None
    ends, n, stated = _Ends(), 0, None
    columns = 2 if weights is None else WEIGHT_COLUMN
    blocks = itertools.chain([head] if head else [], blocks)
    for block in blocks:
        if not ends.n_lines and (comment := _OUR_COMMENT.match(block)):
            stated, edges_only = _stated_sizes(comment), True
            n = stated[0]
        status, position = ends.scan(block, columns, weights)
        if status == _COLUMNS:
            raise _bad_columns(ends, block, position, columns)
        if status == _NO_NUMBER:
            text = itertools.chain([block[position:]], blocks)
            return _read_named(ends, text, weights, edges_only=edges_only, stated=stated)
    source, target = ends.source.finish(), ends.target.finish()
    _check_stated(stated, max(source.max(initial=-1), target.max(initial=-1)) + 1, source.size)
    if weights is not None and not edges_only:
        check_no_matrix_size(source, target, weights.values)
    elif not edges_only and is_size_line(source, target):
        n, source, target = int(source[0]), source[1:], target[1:]
    names, highest = None, max(int(source.max()), int(target.max())) if source.size else -1
    if highest >= max(n, _FEW_IDS, _SPARSE_IDS * 2 * source.size):
        ids, numbers = np.unique(np.concatenate([source, target]), return_inverse=True)
        source, target, names = numbers[: source.size], numbers[source.size :], [str(i) for i in ids.tolist()]
        n, highest = len(names), -1
    n = max(n, highest + 1)
    _check_room(n)
    return from_edges(source, target, n, names=names), None if weights is None else weights.sort(source, n)


def read_matrix_market(
    blocks: Iterable[bytes], weights: EdgeWeights | None = None
) -> tuple[DirectedGraph, np.ndarray | None]:
    """Read a square Matrix Market file in coordinate format: an edge from i - 1 to j - 1 for each entry (i, j).

    A symmetric file's entries off the diagonal are an edge in each direction.

    Parameters
    ----------
    blocks
        Of whole lines.
    weights
        Receives the values; None if they do not matter.

    Returns
    -------
    The graph, and (m,) float64 in the order of its edges; None of a pattern.

    Raises
    ------
    DataError
        If the header is of another kind, an entry is outside the matrix, contradicts the header or is no weight, or
        some are missing.
    """
    blocks = iter(blocks)
    text = next(blocks, b"")
    columns, symmetry = _read_banner(text.split(b"\n", 1)[0].decode(errors="replace"))
    if weights is not None and columns > WEIGHT_COLUMN:
        raise bad_line(1, "real values as weights", "complex ones", "write their absolute values")
    if columns < WEIGHT_COLUMN:
        weights = None
    while (found := re.search(rb"\n(?=[ \t]*[^%\s])", text)) is None or b"\n" not in text[found.end() :]:
        more = next(blocks, None)
        if more is None or len(text) > _MOST_COMMENTS:
            found_instead = "the end of the file" if more is None else f"{len(text)} bytes of comments"
            raise DataError("a line with rows, columns and entries", found_instead, "copy the file anew")
        text += more
    size_end = text.index(b"\n", found.end()) + 1
    n, n_entries = _read_size(
        text[found.end() : size_end].decode(errors="replace"), text[: found.end()].count(b"\n") + 1
    )
    ends = _Ends(n_lines=text[:size_end].count(b"\n"))
    for block in itertools.chain([text[size_end:]], blocks):
        status, position = ends.scan(block, columns, weights)
        if status != _FINE:
            line = block[position:].split(b"\n", 1)[0].decode(errors="replace")
            raise bad_line(
                ends.n_lines + 1, f"{columns} columns, the first two whole numbers", quoted(line), "check the line"
            )
    return _from_entries(ends, (n, n_entries), symmetry, weights)


def _from_entries(
    ends: _Ends, size: tuple[int, int], symmetry: str, weights: EdgeWeights | None
) -> tuple[DirectedGraph, np.ndarray | None]:
    source, target = ends.source.finish() - 1, ends.target.finish() - 1
    n, n_entries = size
    if source.size != n_entries:
        raise DataError(f"{n_entries} entries, as the header states", str(source.size), "copy the file anew")
    if source.size and not (min(source.min(), target.min()) >= 0 and max(source.max(), target.max()) < n):
        first = int(np.argmax((np.minimum(source, target) < 0) | (np.maximum(source, target) >= n)))
        found = f"{source[first] + 1} {target[first] + 1}"
        remedy = "number them from 1, or correct the header"
        raise DataError(f"rows and columns from 1 to {n}", found, remedy, place=f"entry {first + 1}")
    if _SYMMETRIES[symmetry]:
        pairs = np.stack([source, target, target, source], axis=1).reshape(-1, 2)
        kept = np.ones(len(pairs), dtype=bool)
        kept[1::2] = source != target
        source, target = pairs[kept].T
        if weights is not None:
            weights.mirror(kept, negated=symmetry == "skew-symmetric")
    return from_edges(source, target, n), None if weights is None else weights.sort(source, n)


def _read_banner(line: str) -> tuple[int, str]:
    """Return the columns of an entry, and the symmetry."""
    fields = line.lower().split()
    if len(fields) != 5 or fields[1:3] != ["matrix", "coordinate"]:
        raise bad_line(
            1, "'%%MatrixMarket matrix coordinate ...'", quoted(line), "write the matrix in coordinate format"
        )
    if fields[3] not in _FIELD_COLUMNS or fields[4] not in _SYMMETRIES:
        raise bad_line(1, "a field and a symmetry of Matrix Market", quoted(line), "correct the first line")
    return _FIELD_COLUMNS[fields[3]], fields[4]


def _read_size(line: str, number: int) -> tuple[int, int]:
    fields = line.split()
    sizes = [whole_number(field) for field in fields]
    if len(sizes) != 3 or None in sizes:
        raise bad_line(number, "rows, columns and entries", quoted(line.strip()), "correct the line")
    n, n_columns, n_entries = (size or 0 for size in sizes)
    if n != n_columns:
        raise bad_line(number, "as many rows as columns", f"{n} and {n_columns}", "a graph needs a square matrix")
    _check_room(n)
    return n, n_entries


def _stated_sizes(comment: re.Match[bytes]) -> tuple[int, int]:
    """Return the vertices and edges that our own comment states."""
    n, m = (whole_number(digits.decode()) for digits in comment.groups())
    if n is None or m is None:
        raise bad_line(1, "numbers of vertices and edges", quoted(comment.group().decode().strip()), _OWN_REMEDY)
    return n, m


def _check_stated(stated: tuple[int, int] | None, n: int, m: int) -> None:
    """Refuse a list with more vertices, or another number of edges, than our own comment states: it may be cut off."""
    if stated is not None and (n > stated[0] or m != stated[1]):
        raise bad_line(1, f"{stated[0]} vertices and {stated[1]} edges below it", f"{n} and {m}", _OWN_REMEDY)


def _check_room(n: int) -> None:
    """Refuse more vertices than memory holds; few always fit."""
    if n > _FEW_IDS:
        MemoryBound().require(_BYTES_OF_VERTEX * n)


def _read_named(
    ends: _Ends,
    blocks: Iterator[bytes],
    weights: EdgeWeights | None,
    *,
    edges_only: bool,
    stated: tuple[int, int] | None,
) -> tuple[DirectedGraph, np.ndarray | None]:
    """Go on where the first vertex is that is no number; those before become names."""
    before, block = ends.n_lines, next(blocks)
    begins_with_numbers = ends.source.size > 0
    if begins_with_numbers:
        first = block.split(b"\n", 1)[0].decode(errors="replace")
        _log.info("vertices are taken as names, as line %d is %s", before + 1, quoted(first))
    numbered = NamedEnds(2 if weights is None else WEIGHT_COLUMN)
    numbered.add(map(str, np.stack([ends.source.finish(), ends.target.finish()], axis=1).ravel().tolist()))
    for text in itertools.chain([block], blocks):
        bad = numbered.scan(text)
        if bad is not None:
            number, line = bad
            raise _columns_error(before + number, line, numbered.columns)
        if weights is not None:
            _scanned(text, _NO_ENDS, numbered.columns, weights, before)
        before += text.count(b"\n")
    source, target = numbered.finish()
    names = list(numbered.numbers)
    _check_stated(stated, len(names), source.size)
    if not edges_only and not begins_with_numbers:
        check_no_titles(names, source, target)
    if weights is None and not edges_only and is_named_size_line(names, source, target):
        n_first = len({int(source[0]), int(target[0])})  # its numbers are the first names, and no other line has them
        source, target, names = source[1:] - n_first, target[1:] - n_first, names[n_first:]
    graph = from_edges(source, target, names=names)
    return graph, None if weights is None else weights.sort(source, graph.n_vertices)


def _bad_columns(ends: _Ends, block: bytes, position: int, columns: int) -> DataError:
    return _columns_error(
        ends.n_lines + 1, block[position:].split(b"\n", 1)[0].decode(errors="replace").strip(), columns
    )


def _columns_error(number: int, line: str, columns: int) -> DataError:
    if columns == WEIGHT_COLUMN:
        remedy = "give every line a weight, as the first has, with a tab, spaces or a comma between the columns"
        return bad_line(number, "three columns: two vertices and the weight of the edge", quoted(line), remedy)
    remedy = "keep the first two columns, with a tab, spaces or a comma between them"
    if len(line.split()) == 1:
        remedy += "; or add --format adjacency, if it is a vertex without edges"
    return bad_line(number, TWO_COLUMNS, quoted(line), remedy)


@compiled()
def _scan(text, source, target, values, begins, powers, columns):
    """Read the two numbers that each line begins with, and the weight behind them if there are three columns.

    Weights that are no plain decimals are NaN; ``begins`` is where each begins. Without room for the ends of edges they
    may be names.

    Returns
    -------
    The status, the edges and lines read, and where the line begins that is not fine.
    """
    at, n_edges, n_lines, is_named = 0, 0, 0, source.size == 0
    while at < text.size:
        begin = at
        n_columns, all_digits = 0, True
        is_comment = False
        while text[at] != 10:
            byte = text[at]
            if ends_field(byte):
                at += 1
                continue
            if n_columns == 0 and byte in (35, 37):
                is_comment = True
                while text[at] != 10:
                    at += 1
                break
            value, first = np.int64(0), at
            while not ends_field(text[at]):
                digit = np.int64(text[at]) - 48
                if n_columns < 2:
                    if digit < 0 or digit > 9 or at - first > 17 or (at > first and value == 0):
                        all_digits = is_named
                    value = value * 10 + digit if all_digits else value
                at += 1
            if n_columns == 2 and begins.size:
                begins[n_edges], values[n_edges] = first, decimal(text, first, at, powers)
            elif n_columns < 2 and not is_named:
                if n_columns == 0:
                    source[n_edges] = value
                else:
                    target[n_edges] = value
            n_columns += 1
        at += 1
        if not is_comment and n_columns > 0:
            if n_columns != columns:
                return _COLUMNS, n_edges, n_lines, begin
            if not all_digits:
                return _NO_NUMBER, n_edges, n_lines, begin
            n_edges += 1
        n_lines += 1
    return _FINE, n_edges, n_lines, at
