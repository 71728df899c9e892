"""de Bruijn sequences: Euler circuits of the graph whose edges are all strings of one length, which is never built.

Vertices are the strings of one letter less, as numbers; string e leads to vertex e mod n. Hierholzer's walk begins at
the vertex of the last letter repeated and takes the edges of each vertex in the order of the alphabet. It never has to
backtrack: the last edge out of each vertex appends the last letter, and these edges form a tree towards the start. So
the walk does not end before it has all edges. Its letters are the least de Bruijn sequence in the order of the alphabet
(Martin 1934, doi:10.1090/S0002-9904-1934-05988-3), which is also that of Fredricksen and Maiorana (1978),
doi:10.1016/0012-365X(78)90002-X.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from gpuasm import resources
from gpuasm.arrays import Array, array_namespace
from gpuasm.errors import ResourceError, UsageError
from gpuasm.parallel import compiled

if TYPE_CHECKING:
    from gpuasm.graph.tours import EulerTour

_MOST_BITS = 62
_BLOCK = 1 << 20


def debruijn_symbols(n_letters: int, order: int, *, linear: bool = False, memory: int | None = None) -> np.ndarray:
    """Return the least de Bruijn sequence: each string of ``order`` letters occurs in it once.

    Parameters
    ----------
    n_letters
        Size of the alphabet, at least 1.
    order
        Letters of a string, at least 1.
    linear
        Repeat the first ``order - 1`` letters at the end. Without them some strings occur only if the sequence is read
        as circular.
    memory
        Bytes it may take; if None, the free memory.

    Returns
    -------
    (n_letters ** order [+ order - 1],) uint8, or a larger type for more than 256 letters: letters as numbers from 0.

    Raises
    ------
    UsageError
        If the alphabet or the strings are empty.
    ResourceError
        If the sequence does not fit; with the memory it needs.
    """
    if n_letters < 1 or order < 1:
        raise UsageError("at least one letter and strings of at least one", f"{n_letters} and {order}", "give more")
    letter_type = np.min_scalar_type(n_letters - 1)
    require_room(n_letters, order, letter_type.itemsize, memory)
    n_strings = n_letters**order
    end = np.arange(order - 1 if linear else 0) % n_strings
    walk = np.full(order - 1 + n_strings + end.size, n_letters - 1, letter_type)
    _walk(n_strings, walk, np.zeros(n_strings // n_letters, letter_type), n_letters, order)
    symbols = walk[order - 1 :]
    symbols[n_strings:] = symbols[end]
    return symbols


def require_room(n_letters: int, order: int, item_bytes: int, memory: int | None = None) -> None:
    """Refuse a sequence that does not fit into memory.

    Parameters
    ----------
    n_letters, order
        Alphabet size and string length of the sequence.
    item_bytes
        Bytes of a letter.
    memory
        The budget in bytes; if None, the free memory.

    Raises
    ------
    ResourceError
        If it is too long; with the memory it needs.
    """
    budget = resources.memory_budget() if memory is None else memory
    what = f"the de Bruijn sequence of {n_letters} letters and order {order}"
    if order * math.log2(n_letters) > _MOST_BITS or order > 1 << _MOST_BITS:
        digits = math.floor(max(order * math.log10(n_letters), math.log10(order)))
        needed, found = f"about 10^{digits} bytes of memory for {what}", f"{resources.format_bytes(budget)}"
        raise ResourceError(needed, f"a budget of {found}", "take a lower order or fewer letters")
    n_strings = n_letters**order
    resources.require_memory((n_strings + order + n_strings // n_letters) * item_bytes, budget, what)


def symbols_of_tour(tour: EulerTour, n_letters: int, order: int, *, linear: bool = False) -> Array:
    """Return the de Bruijn sequence that an Euler circuit of `de_bruijn_graph` spells, its letters as numbers.

    Parameters
    ----------
    tour
        The circuit, by any method, on any device.
    n_letters, order, linear
        As for `debruijn_symbols`.
    """
    symbols = (tour.edges // n_letters ** (order - 1)).astype(np.min_scalar_type(n_letters - 1))
    end = array_namespace(symbols).arange(order - 1 if linear else 0) % symbols.size
    return array_namespace(symbols).concatenate([symbols, symbols[end]])


def find_string(symbols: np.ndarray, string: np.ndarray, *, linear: bool = False) -> int:
    """Return the first position of a string in a sequence, from 0; -1 if it does not occur.

    Parameters
    ----------
    symbols : (m,)
        The sequence.
    string : (w,)
        Letters as numbers, at least one.
    linear
        Whether the sequence is linear; else it is circular.
    """
    return int(_find(symbols, string.astype(np.int64), symbols.size - string.size + 1 if linear else symbols.size))


def number_letters(alphabet: str) -> dict[str, int]:
    """Return the number of each letter of an alphabet.

    Raises
    ------
    UsageError
        If there is none, or one occurs twice.
    """
    numbers = {letter: number for number, letter in enumerate(alphabet)}
    if len(numbers) != len(alphabet) or not alphabet:
        again = next((letter for i, letter in enumerate(alphabet) if letter in alphabet[:i]), None)
        found = f"{again!r} twice" if alphabet else "none"
        raise UsageError("an alphabet of distinct letters", found, "write each letter once, as in --alphabet ACGT")
    return numbers


def spell(symbols: np.ndarray, alphabet: str) -> Iterator[str]:
    """Yield the letters of a sequence in blocks of text."""
    letters = np.frombuffer(alphabet.encode("utf-32-le"), np.dtype("<u4"))
    for first in range(0, symbols.size, _BLOCK):
        yield letters[symbols[first : first + _BLOCK]].tobytes().decode("utf-32-le")


@compiled()
def _walk(n_steps, walk, next_letter, n_letters, order):
    """Append a letter at each step; ``walk`` begins with the last letter ``order - 1`` times, where the walk begins."""
    n = next_letter.size
    vertex = n - 1
    for i in range(n_steps):
        letter = np.int64(next_letter[vertex])
        next_letter[vertex] = letter + 1  # may overflow only after the last letter, when it is not used again
        walk[i + order - 1] = letter
        vertex = vertex * n_letters + letter - np.int64(walk[i]) * n


@compiled()
def _find(symbols, query, n_places):
    m = symbols.size
    for place in range(n_places):
        same = 0
        while same < query.size and symbols[(place + same) if place + same < m else (place + same) % m] == query[same]:
            same += 1
        if same == query.size:
            return place
    return -1
