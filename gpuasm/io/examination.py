"""Examine files of reads before work starts: their contents, errors and warnings."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gpuasm.errors import DataError, GpuasmError
from gpuasm.io.adapters import MANY, survey_adapters
from gpuasm.io.diagnosis import EmptyFileError
from gpuasm.io.duplicates import MOST, DuplicateSurvey, survey_duplicates
from gpuasm.io.phix import phix_reads
from gpuasm.io.reading import read_reads
from gpuasm.io.sources import STDIN, check_inputs
from gpuasm.io.summary import FileSummary, ReadSet
from gpuasm.io.unpaired_files import find_unpaired_files
from gpuasm.io.usability import SHORTEST_READ, longest_read, too_short_error, warnings_about

if TYPE_CHECKING:
    from gpuasm.sequence.reads import Reads
    from gpuasm.stages import Stages

_MOSTLY_ADAPTER = 0.9
_MANY_PHIX, _NOTHING_BUT_PHIX = 0.001, 0.5


@dataclass(eq=False, repr=False)
class Examination:
    """What was found.

    Attributes
    ----------
    files : list of FileSummary
        Those that could be read.
    adapters : dict
        By path: the kit seen most and the fraction of the reads that run into an adapter.
    phix : dict
        By path: the fraction of the reads that are of phage PhiX174.
    duplicates : dict
        By path, where reads have mates: how many pairs are duplicates.
    problems : list of GpuasmError
        Why the reads cannot be used.
    warnings : list of str
        What the user should know.
    n_pairs : int
        Pairs of mates.
    longest : int
        Most bases in a row of a read, once adapters are trimmed.
    removed : set of str
        What was removed from reads to find that.
    expected_memory : int
        Bytes that an assembly of the reads is likely to take; 0 unless the caller sets it.
    """

    files: list[FileSummary] = field(default_factory=list)
    adapters: dict[str, tuple[str, float]] = field(default_factory=dict)
    phix: dict[str, float] = field(default_factory=dict)
    duplicates: dict[str, DuplicateSurvey] = field(default_factory=dict)
    problems: list[GpuasmError] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    n_pairs: int = 0
    longest: int = 0
    removed: set[str] = field(default_factory=set)
    expected_memory: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as JSON knows it."""
        files = []
        for file in self.files:
            kit, fraction = self.adapters.get(file.path, ("", 0.0))
            found: dict[str, Any] = {
                "adapter": kit or None,
                "adapter_fraction": fraction,
                "phix_fraction": self.phix.get(file.path, 0.0),
            }
            if file.path in self.duplicates:
                survey = self.duplicates[file.path]
                found |= {"duplicate_fraction": survey.share, "duplicates_by_chance": survey.by_chance}
            files.append({**file.as_dict(), **found})
        return {
            "usable": not self.problems,
            "n_pairs": self.n_pairs,
            "files": files,
            "expected_memory_bytes": self.expected_memory,
            "warnings": self.warnings,
            "problems": [
                {name: getattr(error, name) for name in ("path", "place", "expected", "found", "remedy")}
                for error in self.problems
            ],
        }


def examine(
    inputs: Mapping[str, Sequence[Any]],
    *,
    stages: Stages | None = None,
    each: Callable[[Reads], None] = lambda _reads: None,
) -> Examination:
    """Read the files of a sample, one pair at a time, and collect the errors and warnings of each.

    Parameters
    ----------
    inputs
        The keyword arguments of ``read_reads``.
    stages
        Records the progress.
    each
        Called with the reads of each file, or of two files of mates, before the next are read.

    Raises
    ------
    NoInputError, UsageError
        If a file is not there or given twice.
    """
    groups = [(kind, item) for kind, items in inputs.items() for item in items]
    check_inputs([path for _, item in groups for path in _paths(item)])
    found = Examination()
    empty: list[EmptyFileError] = []
    for kind, item in groups:
        try:
            arguments: dict[str, Any] = {kind: [item], "stages": stages}
            _add(found, read_reads(**arguments), each)
        except DataError as error:
            if isinstance(error, EmptyFileError) and kind != "pairs":
                empty.append(error)
                continue
            found.problems.append(error)
            if kind in ("pairs", "interleaved"):
                _add_apart(found, _paths(item), each, stages=stages)
    if found.files:
        found.warnings += warnings_about([FileSummary.of_empty(str(error.path)) for error in empty], n_pairs=0)
    else:
        found.problems += empty
    alone = {os.fspath(path) for kind in ("single", "bam") for path in inputs.get(kind, ())}
    lost = find_unpaired_files([file for file in found.files if file.path in alone])
    found.warnings += [f"{own}: give them as {own.remedy}, else pairs are not used" for own in lost]
    if found.longest < SHORTEST_READ and found.files:
        found.problems.append(too_short_error(found.longest, SHORTEST_READ, files=found.files, removed=found.removed))
    found.warnings += warnings_about(found.files, n_pairs=found.n_pairs)
    for file in found.files:
        texts = _contaminants(*found.adapters[file.path], found.phix[file.path])
        found.warnings += [f"{file.path}: {text}" for text in texts]
    found.warnings += _repeated(found)
    return found


def _add(found: Examination, read_set: ReadSet, each: Callable[[Reads], None]) -> None:
    reads, files = read_set.reads, read_set.files
    survey, is_phix = survey_adapters(reads, read_set.n_pairs), phix_reads(reads, read_set.n_pairs)
    found.files += files
    found.n_pairs += read_set.n_pairs
    if reads.n_reads and survey.share >= _MOSTLY_ADAPTER:
        from gpuasm.io.trimming import trim_reads  # noqa: PLC0415 - most reads need it not

        reads = trim_reads(reads, survey, every_kit=False)
        found.removed.add("adapters")
    each(reads)
    found.longest = max(found.longest, longest_read(reads))
    if read_set.n_pairs:
        duplicates = survey_duplicates(reads, read_set.n_pairs)
        found.duplicates |= {file.path: duplicates for file in files}
    for number, file in enumerate(files):
        own = slice(number, None, len(files))  # of two files, the reads are mates in turn
        n_reads = max(1, file.n_reads)
        found.adapters[file.path] = survey.name, float(survey.runs_into_adapter[own].sum() / n_reads)
        found.phix[file.path] = float(is_phix[own].sum() / n_reads)


def _add_apart(found: Examination, paths: list[str], each: Callable[[Reads], None], *, stages: Stages | None) -> None:
    """Examine the files of a broken pair one by one, as far as they can be read again."""
    for path in paths:
        if path == STDIN or not os.path.isfile(path):  # noqa: PTH113 - a pipe has been emptied
            continue
        try:
            _add(found, read_reads(single=[path], stages=stages), each)
        except DataError as error:
            if str(error) not in map(str, found.problems):
                found.problems.append(error)


def _paths(item: Any) -> list[str]:
    return [os.fspath(path) for path in (item if isinstance(item, tuple) else (item,))]


def _repeated(found: Examination) -> list[str]:
    """Return warnings about files with many duplicate pairs."""
    paths: dict[int, list[str]] = {}
    for path, survey in found.duplicates.items():
        if survey.are_many:
            paths.setdefault(id(survey), []).append(path)
    texts = []
    for names in paths.values():
        share = found.duplicates[names[0]].share
        remedy = "; --deduplicate leaves them out" if share <= MOST else ", as those of amplicons are"
        texts.append(f"{', '.join(names)}: {share:.1%} of the pairs are duplicates of another one{remedy}")
    return texts


def _contaminants(kit: str, adapters: float, phix: float) -> list[str]:
    """Return warnings about adapters and PhiX174 in a file, with the option that removes them."""
    found = []
    if adapters >= MANY:
        found.append(
            f"{adapters:.1%} of the reads run into an adapter ({kit}): assemble trims them, count and unitigs do with "
            "--trim auto"
        )
    if phix >= _NOTHING_BUT_PHIX:
        found.append(
            f"{phix:.1%} of the reads are of phage PhiX174; if it is not the sample, --remove-phix leaves it out"
        )
    elif phix >= _MANY_PHIX:
        found.append(
            f"{phix:.1%} of the reads are of phage PhiX174, which sequencers run as a control; --remove-phix leaves "
            "them out"
        )
    return found
