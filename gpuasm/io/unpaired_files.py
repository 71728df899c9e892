"""Find files of mates that were given as reads without mates, by the names of their first records."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations

from gpuasm.io.alignment_files import BAM, CRAM, SAM
from gpuasm.io.mates_by_name import name_of_pair
from gpuasm.io.summary import FileSummary

_FEWEST = 2
"""Pairs, at least: two names may be alike by chance."""
_SHARE_IN_TURN = 0.5
_ALIGNMENTS = {BAM, CRAM, SAM}
_SECOND = re.compile(r"(?:[/._:-][Rr]?2|[/._-][rR])(?:$|:[YN]:)")


@dataclass(frozen=True, eq=False, repr=False)
class UnpairedFiles:
    """Files whose reads have mates by their names.

    Attributes
    ----------
    paths : tuple of str
        Two files of first and second mates, or one in which mates come in turn.
    name : str
        Of the first read in common.
    are_all : bool
        Whether all reads have mates, of one file.
    is_alignment : bool
        Whether the file is BAM, CRAM or SAM, whose flags show no pairs: the mates are apart.
    """

    paths: tuple[str, ...]
    name: str
    are_all: bool = True
    is_alignment: bool = False

    def __str__(self) -> str:
        if not self.are_all:
            return f"mates in turn among other reads in '{self.paths[0]}' (the first two are '{self.name}')"
        if self.is_alignment:
            return f"mates without flags of pairs in '{self.paths[0]}' (two are '{self.name}')"
        if len(self.paths) == 1:
            return f"mates in turn in '{self.paths[0]}' (the first two are '{self.name}')"
        first, second = self.paths
        return f"mates in '{first}' and '{second}' (both have '{self.name}')"

    @property
    def remedy(self) -> str:
        """How to name these files."""
        if self.is_alignment:
            return f"--interleaved FILE, written by samtools collate -O {self.paths[0]} | samtools fastq"
        if not self.are_all:
            return f"--interleaved {self.paths[0]} after the reads without mates are put into a file of their own"
        return f"--interleaved {self.paths[0]}" if len(self.paths) == 1 else f"-1 {self.paths[0]} -2 {self.paths[1]}"


def find_unpaired_files(files: Sequence[FileSummary]) -> list[UnpairedFiles]:
    """Return which files that were read as reads without mates have mates by their names.

    Two files do where half of the names at the beginning of one are there in the other's: tools that trim reads may
    have left out some mates. But names that a third file has as well are of a program that numbers reads. One file does
    where at least half of the reads at its beginning come in twos.

    Parameters
    ----------
    files
        What was read as reads without mates.
    """
    names = [(file, [name_of_pair(name) for name in file.first_names]) for file in files]
    found = [UnpairedFiles((file.path,), own[0]) for file, own in names if _is_in_turn(own)]
    names = [(file, own) for file, own in names if not _is_in_turn(own)]
    lost = {file.path: name for file, own in names if file.format in _ALIGNMENTS and (name := _twice_among(own))}
    found += [UnpairedFiles((path,), name, is_alignment=True) for path, name in lost.items()]
    names = [(file, own) for file, own in names if file.path not in lost]
    twins = {file.path: name for file, own in names if (name := _twin_among(own))}
    found += [UnpairedFiles((path,), name, are_all=False) for path, name in twins.items()]
    apart = [(file, own) for file, own in names if file.path not in twins]
    alike = [(i, j) for i, j in combinations(range(len(apart)), 2) if _are_alike(apart[i][1], apart[j][1])]
    times = Counter(chain.from_iterable(alike))
    for i, j in alike:
        if times[i] == times[j] == 1:
            first, second = sorted((apart[i][0], apart[j][0]), key=_are_second)
            found.append(
                UnpairedFiles((first.path, second.path), next(name for name in apart[i][1] if name in apart[j][1]))
            )
    return found


def _are_alike(names: list[str], others: list[str]) -> bool:
    n_shared = len(set(names) & set(others))
    return n_shared >= _FEWEST and 2 * n_shared >= min(len(names), len(others))


def _is_in_turn(names: list[str]) -> bool:
    n = len(names) // 2
    return n >= _FEWEST and names[: 2 * n : 2] == names[1::2] and len(set(names)) > 1


def _twin_among(names: list[str]) -> str | None:
    """Return the first name that two neighbours share, if half of the names are of such twos."""
    shared, at = [], 0
    while at + 1 < len(names):
        is_two = names[at] == names[at + 1]
        shared += names[at : at + is_two]
        at += 1 + is_two
    are_many = len(set(shared)) >= _FEWEST and 2 * len(shared) >= _SHARE_IN_TURN * len(names)
    return shared[0] if are_many else None


def _twice_among(names: list[str]) -> str | None:
    """Return the first name that occurs twice, if half of the names are of such."""
    twice = [name for name, n in Counter(names).items() if n == 2]
    are_many = len(twice) >= _FEWEST and 2 * len(twice) >= _SHARE_IN_TURN * len(names)
    return twice[0] if are_many else None


def _are_second(file: FileSummary) -> bool:
    return all(_SECOND.search(name) for name in file.first_names)
