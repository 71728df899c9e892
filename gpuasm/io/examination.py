"""Examine files of reads before work starts: their contents, errors and warnings."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gpuasm.errors import DataError, GpuasmError
from gpuasm.io.adapters import MANY, survey_adapters
from gpuasm.io.duplicates import MOST, DuplicateSurvey, survey_duplicates
from gpuasm.io.phix import phix_reads
from gpuasm.io.reading import read_reads
from gpuasm.io.sources import STDIN, check_inputs
from gpuasm.io.summary import FileSummary, ReadSet
from gpuasm.io.unpaired_files import find_unpaired_files

if TYPE_CHECKING:
    from gpuasm.stages import Stages

SHORTEST_USEFUL = 31
"""Bases: the assembler's first k, so a shorter read adds nothing."""

_LONG_READ = 1000
_LOW_QUALITY = 20.0
_MANY_UNKNOWN, _MANY_SHORT = 0.02, 0.1
_MANY_PHIX, _NOTHING_BUT_PHIX = 0.001, 0.5
_FIXED_BYTES, _BYTES_A_BASE, _BYTES_A_READ = 320 << 20, 7, 64


@dataclass
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
    """

    files: list[FileSummary] = field(default_factory=list)
    adapters: dict[str, tuple[str, float]] = field(default_factory=dict)
    phix: dict[str, float] = field(default_factory=dict)
    duplicates: dict[str, DuplicateSurvey] = field(default_factory=dict)
    problems: list[GpuasmError] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    n_pairs: int = 0

    @property
    def expected_memory(self) -> int:
        """Bytes that an assembly of these reads is likely to take."""
        n_bases, n_reads = (sum(getattr(file, name) for file in self.files) for name in ("n_bases", "n_reads"))
        return _FIXED_BYTES + _BYTES_A_BASE * n_bases + _BYTES_A_READ * n_reads

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
                found["duplicate_fraction"] = self.duplicates[file.path].share
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


def examine(inputs: Mapping[str, Sequence[Any]], *, stages: Stages | None = None) -> Examination:
    """Read the files of a sample, one pair at a time, and collect the errors and warnings of each.

    Parameters
    ----------
    inputs
        The keyword arguments of ``read_reads``.
    stages
        Records the progress.

    Raises
    ------
    NoInputError, UsageError
        If a file is not there or given twice.
    """
    groups = [(kind, item) for kind, items in inputs.items() for item in items]
    check_inputs([path for _, item in groups for path in _paths(item)])
    found = Examination()
    for kind, item in groups:
        try:
            arguments: dict[str, Any] = {kind: [item], "stages": stages}
            _add(found, read_reads(**arguments))
        except DataError as error:
            found.problems.append(error)
            if kind in ("pairs", "interleaved"):
                _add_apart(found, _paths(item), stages=stages)
    alone = set(map(os.fspath, inputs.get("single", ())))
    lost = find_unpaired_files([file for file in found.files if file.path in alone])
    found.warnings += [f"{own}: give them as {own.remedy}, else pairs are not used" for own in lost]
    found.problems += [problem for file in found.files if (problem := _problem(file)) is not None]
    for file in found.files:
        texts = [*_warnings(file), *_contaminants(*found.adapters[file.path], found.phix[file.path])]
        found.warnings += [f"{file.path}: {text}" for text in texts]
    found.warnings += _repeated(found)
    return found


def _add(found: Examination, read_set: ReadSet) -> None:
    reads, files = read_set.reads, read_set.files
    survey, is_phix = survey_adapters(reads, read_set.n_pairs), phix_reads(reads, read_set.n_pairs)
    found.files += files
    found.n_pairs += read_set.n_pairs
    if read_set.n_pairs:
        duplicates = survey_duplicates(reads, read_set.n_pairs)
        found.duplicates |= {file.path: duplicates for file in files}
    for number, file in enumerate(files):
        own = slice(number, None, len(files))  # of two files, the reads are mates in turn
        n_reads = max(1, file.n_reads)
        found.adapters[file.path] = survey.name, float(survey.runs_into_adapter[own].sum() / n_reads)
        found.phix[file.path] = float(is_phix[own].sum() / n_reads)


def _add_apart(found: Examination, paths: list[str], *, stages: Stages | None) -> None:
    """Examine the files of a broken pair one by one, as far as they can be read again."""
    for path in paths:
        if path == STDIN or not os.path.isfile(path):  # noqa: PTH113 - a pipe has been emptied
            continue
        try:
            _add(found, read_reads(single=[path], stages=stages))
        except DataError as error:
            if str(error) not in map(str, found.problems):
                found.problems.append(error)


def _paths(item: Any) -> list[str]:
    return [os.fspath(path) for path in (item if isinstance(item, tuple) else (item,))]


def _problem(file: FileSummary) -> DataError | None:
    if file.quality_range is not None and file.quality_offset is None:
        low, high = file.quality_range
        return DataError(
            "qualities coded as Phred+33 or Phred+64",
            f"characters from {chr(low)!r} to {chr(high)!r}, which fit neither",
            "convert the file to Phred+33",
            path=file.path,
        )
    if file.max_length < SHORTEST_USEFUL:
        return DataError(
            f"reads of {SHORTEST_USEFUL} bases or more",
            f"none longer than {file.max_length}",
            "leave the file out, or trim less",
            path=file.path,
        )
    return None


def _warnings(file: FileSummary) -> list[str]:
    found = []
    n_short = int(file.length_histogram[:SHORTEST_USEFUL].sum())
    if n_short >= _MANY_SHORT * file.n_reads:
        found.append(f"{n_short:,} reads have less than {SHORTEST_USEFUL} bases and add nothing")
    if file.n_non_acgt >= _MANY_UNKNOWN * file.n_bases:
        found.append(f"{file.n_non_acgt:,} letters are not A, C, G or T; reads are cut at them")
    if file.mean_quality is not None and file.mean_quality < _LOW_QUALITY:
        found.append(f"the mean quality is {file.mean_quality:.1f}; trim the reads before assembly")
    if file.n50_length > _LONG_READ:
        found.append("these look like long reads; gpuasm is made for short ones")
    return found


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
