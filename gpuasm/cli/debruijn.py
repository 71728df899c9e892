"""``gpuasm debruijn``: sequences that hold each word of a length once, and where in them a word stands."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpuasm.cli.paths import OUTPUT
from gpuasm.errors import DataError, UsageError

if TYPE_CHECKING:
    import numpy as np

_DIGITS = "0123456789"
_GRAPH_BYTES = 48
"""Bytes for each edge, roughly, of a graph that is built, its tour, and what finding that needs."""


@dataclass(frozen=True)
class Wanted:
    """Which sequence is wanted."""

    alphabet: str
    order: int
    linear: bool


@click.command(short_help="Write de Bruijn sequences of any alphabet and order.")
@click.option("--alphabet", metavar="LETTERS", help="The letters, each once, in their order.  [default: 0123456789]")
@click.option(
    "--order", type=click.IntRange(min=1), metavar="N", help="Length of the words.  [default: that of --find]"
)
@click.option("--linear", is_flag=True, help="Repeat the first letters at the end, so that no word wraps around.")
@click.option(
    "--pin", type=click.IntRange(min=1), metavar="N", help="Digits to type that hold every PIN of N digits, linear."
)
@click.option("--find", "word", metavar="WORD", help="Print where this word begins, from 0, instead of the sequence.")
@click.option(
    "--method",
    type=click.Choice(["implicit", "parallel", "hierholzer"]),
    default="implicit",
    show_default=True,
    help="Implicit gives the least sequence in the order of the letters, without building the graph.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Of the parallel method: another seed, another sequence.",
)
@click.option(
    "--device",
    default="cpu",
    show_default=True,
    metavar="NAME",
    help="Where the parallel method runs: auto, cpu, cuda or cuda:N.",
)
@click.option("--memory", metavar="SIZE", help="Host memory to stay within, such as 4G.  [default: what is free]")
@click.option(
    "-o",
    "--output",
    type=OUTPUT,
    default="-",
    metavar="FILE",
    help="The sequence, or the place of the word.  [default: standard output]",
)
def command(
    *,
    alphabet: str | None,
    order: int | None,
    linear: bool,
    pin: int | None,
    word: str | None,
    method: str,
    seed: int,
    device: str,
    memory: str | None,
    output: Path,
) -> None:
    """Write a de Bruijn sequence: a circle of letters in which each word of a length occurs exactly once.

    It is an Euler circuit of the graph whose edges are these words. Begin to read it anywhere; to type it from end to
    end, take --linear, which repeats the first N - 1 letters.

    \b
    Examples:
      gpuasm debruijn --alphabet 01 --order 3
      gpuasm debruijn --pin 4 -o digits.txt
      gpuasm debruijn --find 4711
      gpuasm debruijn --alphabet ACGT --order 12 -o sequence.txt
    """
    from gpuasm.graph.debruijn_sequence import find_word, number_letters, spell
    from gpuasm.io import atomic_output
    from gpuasm.resources import memory_budget

    wanted = _resolve(alphabet, order, pin, word, linear=linear)
    numbers = number_letters(wanted.alphabet)
    query = None if word is None else _as_numbers(word, numbers)
    symbols = _make(wanted, memory_budget(memory), method=method, seed=seed, device=device)
    if query is None:
        with atomic_output(output) as file:
            file.writelines(spell(symbols, wanted.alphabet))
            file.write("\n")
        return
    place = find_word(symbols, query, linear=wanted.linear)
    if place < 0:
        raise DataError(
            f"{word} in the sequence of order {wanted.order}",
            "that it does not occur",
            f"words of up to {wanted.order} letters always do",
        )
    with atomic_output(output) as file:
        file.write(f"{place}\n")


def _resolve(alphabet: str | None, order: int | None, pin: int | None, word: str | None, *, linear: bool) -> Wanted:
    if pin is not None:
        if alphabet is not None or order is not None:
            raise UsageError("--pin alone", "--alphabet or --order beside it", "leave one of the two out")
        return Wanted(_DIGITS, pin, linear=True)
    if word == "":
        raise UsageError("a word of at least one letter after --find", "none", "write for example --find 4711")
    if order is None and word is None:
        raise UsageError("--order, --pin or --find", "none of them", "say how long the words are, as in --order 4")
    return Wanted(_DIGITS if alphabet is None else alphabet, order or len(word or ""), linear)


def _as_numbers(word: str, numbers: dict[str, int]) -> np.ndarray:
    import numpy as np

    strange = next((letter for letter in word if letter not in numbers), None)
    if strange is not None:
        letters = "".join(numbers)
        raise UsageError(f"a word of the letters {letters}", f"{strange!r} in {word!r}", "change it or --alphabet")
    return np.array([numbers[letter] for letter in word], np.int64)


def _make(wanted: Wanted, memory: int, *, method: str, seed: int, device: str) -> np.ndarray:
    """Return the letters of the sequence, as numbers."""
    from gpuasm.graph.debruijn_sequence import debruijn_symbols, require_room, symbols_of_tour

    size = len(wanted.alphabet)
    if method == "implicit":
        return debruijn_symbols(size, wanted.order, linear=wanted.linear, memory=memory)
    from gpuasm.arrays import namespace_of, to_host
    from gpuasm.graph.finding import find_euler_tour
    from gpuasm.graph.generators import de_bruijn_graph

    require_room(size, wanted.order, _GRAPH_BYTES, memory)
    xp = namespace_of(device if method == "parallel" else "cpu")
    graph = de_bruijn_graph(wanted.alphabet, wanted.order, xp=xp)
    tour = find_euler_tour(graph, method="parallel" if method == "parallel" else "hierholzer", seed=seed)
    return to_host(symbols_of_tour(tour, size, wanted.order, linear=wanted.linear))
