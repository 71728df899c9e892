"""Infer hidden states at the leaves of a tree by TreeTime's discrete traits; run by places.py with another Python.

Standard input is JSON: ``tree``, a Newick file; ``leaves``, their names, which become t0, t1 and so on; and ``folds``,
mappings of leaves to states, of which ``null`` is hidden. Standard output is a list of mappings of hidden leaves to the
states of greatest probability.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import warnings

from Bio import Phylo  # noqa: TID251 - of the other Python

_LEVELS_OF_RECURSION = 100_000
_HIDDEN = "?"


def main() -> None:
    warnings.filterwarnings("ignore")
    sys.setrecursionlimit(_LEVELS_OF_RECURSION)
    given = json.load(sys.stdin)
    text = renamed(given["tree"], given["leaves"])
    found = [infer(text, states) for states in given["folds"]]
    json.dump(found, sys.stdout)


def renamed(path: str, leaves: list[str]) -> str:
    """Return a tree as text, with names that need no quotes."""
    tree = Phylo.read(path, "newick")
    number = {name: f"t{i}" for i, name in enumerate(leaves)}
    for node in tree.get_nonterminals():
        node.name = node.confidence = None
    for leaf in tree.get_terminals():
        leaf.name = number[leaf.name]
    text = io.StringIO()
    Phylo.write(tree, text, "newick")
    return text.getvalue()


def infer(tree: str, states: dict[str, str | None]) -> dict[str, str]:
    from treetime.wrappers import reconstruct_discrete_traits  # noqa: PLC0415 - of the other Python

    traits = {leaf: _HIDDEN if state is None else state for leaf, state in states.items()}
    with contextlib.redirect_stdout(io.StringIO()):
        run, names, _ = reconstruct_discrete_traits(Phylo.read(io.StringIO(tree), "newick"), traits, missing_data="?")
    letters = list(run.gtr.alphabet)
    best = {}
    for leaf in run.tree.get_terminals():
        if states.get(leaf.name, "") is None:
            shares = leaf.marginal_profile[0]
            order = sorted(range(len(letters)), key=lambda i: -shares[i])
            best[leaf.name] = next(names[letters[i]] for i in order if names.get(letters[i], _HIDDEN) != _HIDDEN)
    return best


if __name__ == "__main__":
    main()
