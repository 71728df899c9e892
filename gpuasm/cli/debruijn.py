"""``gpuasm debruijn``: de Bruijn sequences, and the position of a string in them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpuasm.cli.paths import OUTPUT
from gpuasm.cli.ranges import SEED, Whole
from gpuasm.errors import DataError, UsageError

if TYPE_CHECKING:
    import numpy as np

_DIGITS = "0123456789"
_GRAPH_BYTES = 48
"""Bytes for each edge, roughly, of a graph that is built, its tour, and what finding that needs."""


@dataclass(frozen=True)
class SequenceRequest:
    """The requested sequence."""

    alphabet: str
    order: int
    linear: bool


@click.command(short_help="Write de Bruijn sequences of any alphabet and order.")
@click.option("--alphabet", metavar="LETTERS", help="The letters, each once, in their order.  [default: 0123456789]")
@click.option("--order", type=Whole(1), metavar="N", help="Length of the substrings.  [default: that of --find]")
@click.option("--linear", is_flag=True, help="Repeat the first letters at the end, so that no substring wraps around.")
@click.option("--pin", type=Whole(1), metavar="N", help="Digits to type that contain every PIN of N digits, linear.")
@click.option(
    "--find", "text", metavar="STRING", help="Print where this string begins, from 0, instead of the sequence."
)
@click.option(
    "--method",
    type=click.Choice(["implicit", "parallel", "hierholzer"]),
    default="implicit",
    show_default=True,
    help="Implicit gives the least sequence in the order of the letters, without building the graph.",
)
@click.option(
    "--seed",
    type=SEED,
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
    help="The sequence, or the position of the string.  [default: standard output]",
)
def command(
    *,
    alphabet: str | None,
    order: int | None,
    linear: bool,
    pin: int | None,
    text: str | None,
    method: str,
    seed: int,
    device: str,
    memory: str | None,
    output: Path,
) -> None:
    """Write a de Bruijn sequence: a cyclic sequence in which each string of N letters occurs exactly once.

    It is an Euler circuit of the graph whose edges are these strings. To read it from end to end, use --linear, which
    repeats the first N - 1 letters.

    \b
    Examples:
      gpuasm debruijn --alphabet 01 --order 3
      gpuasm debruijn --pin 4 -o digits.txt
      gpuasm debruijn --find 4711
      gpuasm debruijn --alphabet ACGT --order 12 -o sequence.txt
    """
    from gpuasm.graph.debruijn_sequence import find_string, number_letters, spell
    from gpuasm.io import atomic_output
    from gpuasm.resources import memory_budget

    request = _resolve(alphabet, order, pin, text, linear=linear)
    numbers = number_letters(request.alphabet)
    query = None if text is None else _as_numbers(text, numbers)
    symbols = _make(request, memory_budget(memory), method=method, seed=seed, device=device)
    if query is None:
        with atomic_output(output) as file:
            file.writelines(spell(symbols, request.alphabet))
            file.write("\n")
        return
    place = find_string(symbols, query, linear=request.linear)
    if place < 0:
        raise DataError(
            f"{text} in the sequence of order {request.order}",
            "that it does not occur",
            f"strings of up to {request.order} letters always do",
        )
    with atomic_output(output) as file:
        file.write(f"{place}\n")


def _resolve(
    alphabet: str | None, order: int | None, pin: int | None, text: str | None, *, linear: bool
) -> SequenceRequest:
    if pin is not None:
        if alphabet is not None or order is not None:
            raise UsageError("--pin alone", "--alphabet or --order with it", "leave one of the two out")
        return SequenceRequest(_DIGITS, pin, linear=True)
    if text == "":
        raise UsageError("a string of at least one letter after --find", "none", "write for example --find 4711")
    if order is None and text is None:
        raise UsageError(
            "--order, --pin or --find", "none of them", "give the length of the substrings, as in --order 4"
        )
    return SequenceRequest(_DIGITS if alphabet is None else alphabet, order or len(text or ""), linear)


def _as_numbers(text: str, numbers: dict[str, int]) -> np.ndarray:
    import numpy as np

    strange = next((letter for letter in text if letter not in numbers), None)
    if strange is not None:
        letters = "".join(numbers)
        raise UsageError(f"a string of the letters {letters}", f"{strange!r} in {text!r}", "change it or --alphabet")
    return np.array([numbers[letter] for letter in text], np.int64)


def _make(request: SequenceRequest, memory: int, *, method: str, seed: int, device: str) -> np.ndarray:
    """Return the letters of the sequence, as numbers."""
    from gpuasm.graph.debruijn_sequence import debruijn_symbols, require_room, symbols_of_tour

    size = len(request.alphabet)
    if method == "implicit":
        return debruijn_symbols(size, request.order, linear=request.linear, memory=memory)
    from gpuasm.arrays import namespace_of, to_host
    from gpuasm.graph.finding import find_euler_tour
    from gpuasm.graph.generators import de_bruijn_graph

    require_room(size, request.order, _GRAPH_BYTES, memory)
    xp = namespace_of(device if method == "parallel" else "cpu")
    graph = de_bruijn_graph(request.alphabet, request.order, xp=xp)
    tour = find_euler_tour(graph, method="parallel" if method == "parallel" else "hierholzer", seed=seed)
    return to_host(symbols_of_tour(tour, size, request.order, linear=request.linear))
