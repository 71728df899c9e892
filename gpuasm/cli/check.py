"""``gpuasm check``: a look at reads before work starts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpuasm.cli.options import CommonOptions, ReadInputs, common_options, read_options
from gpuasm.cli.paths import OUTPUT
from gpuasm.errors import DataError

if TYPE_CHECKING:
    from gpuasm.cli.session import Session
    from gpuasm.io.examination import Examination


@click.command(short_help="Examine reads before work starts: mates, lengths, quality, truncation.")
@read_options
@click.option("--json", "json_path", type=OUTPUT, metavar="FILE", help="Also write JSON here.")
@common_options
def command(*, inputs: ReadInputs, json_path: Path | None, common: CommonOptions) -> None:
    """Examine reads before work starts, and report whether they can be assembled.

    Shows a table with a line for each file, what is worth a warning, and every problem with the record where it is.
    Adapters and reads of PhiX174 are counted, and what takes them out is named; nothing is changed here.
    Exit code 0 means that the reads are usable, 65 that they are not.

    \b
    Examples:
      gpuasm check -1 reads_1.fastq.gz -2 reads_2.fastq.gz
      gpuasm check *.fastq.gz --json check.json
    """
    from gpuasm.assembly.options import AssemblyOptions
    from gpuasm.cli.forecast import Survey
    from gpuasm.cli.planning import expected_memory
    from gpuasm.cli.session import run_session
    from gpuasm.io import write_json
    from gpuasm.io.examination import examine
    from gpuasm.resources import format_bytes

    with run_session(common) as session:
        survey = Survey(AssemblyOptions())
        found = examine(inputs.as_arguments(), stages=session.stages, each=survey.add)
        n_bytes = sum(file.size for file in found.files)
        sample = survey.sample()
        found.expected_memory = expected_memory(sample, threads=session.threads, n_bytes=n_bytes)
        if not (found.problems or sample.twice):
            found.problems += _problem_of_kmers(inputs, session)
        if found.expected_memory > session.memory:
            needed, free = format_bytes(found.expected_memory), format_bytes(session.memory)
            found.warnings.append(f"an assembly is likely to need {needed} of memory, and {free} may be used here")
    if json_path is not None:
        write_json(json_path, found.as_dict())
    if str(json_path) != "-":
        click.echo(_report(found))
    if found.problems:
        raise found.problems[0]


def _problem_of_kmers(inputs: ReadInputs, session: Session) -> list[DataError]:
    """Count the k-mers of the first graph as `assemble` does, and return the error that it would end with."""
    from gpuasm.assembly.iteration.first_kmer_size import count_first
    from gpuasm.assembly.options import AssemblyOptions
    from gpuasm.cli.inputs import read_inputs, size_of_inputs
    from gpuasm.io.usability import SHORTEST_READ

    if size_of_inputs(inputs) is None:  # a pipe, which has been read
        return []
    try:
        read_set = read_inputs(replace(inputs, trim="auto"), session.stages, k=SHORTEST_READ)
        count_first(read_set.reads, AssemblyOptions(), session.stages)
    except DataError as error:
        return [error]
    return []


def _report(found: Examination) -> str:
    from gpuasm.cli.progress import aligned
    from gpuasm.resources import format_bytes

    parts = [aligned(_table(found))] if found.files else []
    facts = [f"pairs: {found.n_pairs:,}", f"expected memory of an assembly: {format_bytes(found.expected_memory)}"]
    parts += facts if found.files else []
    parts += [f"warning: {text}" for text in found.warnings]
    parts += [f"problem: {error}" for error in found.problems]
    parts.append("not usable" if found.problems else "usable")
    return "\n".join(parts)


def _table(found: Examination) -> list[list[str]]:
    header = [
        "file",
        "format",
        "reads",
        "bases",
        "shortest",
        "N50",
        "longest",
        "quality",
        "coding",
        "not ACGT",
        "adapter",
        "PhiX",
    ]
    rows = [header]
    for file in found.files:
        quality = "-" if file.mean_quality is None else f"{file.mean_quality:.1f}"
        coding = "-" if file.quality_range is None else "unclear"
        coding = coding if file.quality_offset is None else f"Phred+{file.quality_offset}"
        kind = file.format if file.compression == "none" else f"{file.format}, {file.compression}"
        lengths = [f"{length:,}" for length in (file.min_length, file.n50_length, file.max_length)]
        counts = [f"{file.n_reads:,}", f"{file.n_bases:,}", *lengths, quality, coding, f"{file.n_non_acgt:,}"]
        shares = [f"{share:.2%}" for share in (found.adapters[file.path][1], found.phix[file.path])]
        rows.append([file.path, kind, *counts, *shares])
    return rows
