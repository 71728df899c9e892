"""``gpuasm depth``: the depth of contigs in the reads of one or several samples."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpuasm.cli.named_reads import NamedReads, samples_of_reads
from gpuasm.cli.options import CommonOptions, OptionalReads, common_options, optional_read_options
from gpuasm.cli.paths import INPUT, OUTPUT
from gpuasm.errors import DataError, NoInputError

if TYPE_CHECKING:
    from gpuasm.assembly import Contig
    from gpuasm.cli.depth_of_samples import SampleDepth
    from gpuasm.cli.session import Session

_LOG = logging.getLogger(__name__)


@click.command(short_help="Compute the depth of contigs in the reads of several samples.")
@click.argument("contigs_path", type=INPUT, metavar="CONTIGS")
@click.argument("samples", nargs=-1, metavar="[SAMPLES]...")
@click.option(
    "--name", default="reads", show_default=True, metavar="NAME", help="Sample of the reads that options name."
)
@click.option("--skip-bad", is_flag=True, help="Leave out samples that cannot be used, and list them.")
@click.option("-o", "--output", type=OUTPUT, required=True, metavar="FILE", help="Table of depth, for gpuasm bin.")
@click.option("--json", "json_path", type=OUTPUT, metavar="FILE", help="Manifest of the run.")
@optional_read_options
@common_options
def command(
    *,
    contigs_path: Path,
    samples: tuple[str, ...],
    name: str,
    skip_bad: bool,
    output: Path,
    json_path: Path | None,
    inputs: OptionalReads,
    common: CommonOptions,
) -> None:
    """Align the reads of one or several samples to contigs, and write the depth of these in each sample.

    SAMPLES are NAME=FILE, NAME=FILE_1,FILE_2 for mates, or sample sheets as gpuasm batch takes them; those of one name
    are lanes of one sample. -1, -2, --interleaved, --single and --bam name the reads of one more. The table has the
    columns of jgi_summarize_bam_contig_depths.

    \b
    Examples:
      gpuasm depth assembly/contigs.fasta a=a_1.fq.gz,a_2.fq.gz b=b_1.fq.gz,b_2.fq.gz -o depths.tsv
      gpuasm depth contigs.fasta samples.tsv -o depths.tsv && gpuasm bin contigs.fasta --depth depths.tsv -o bins
    """
    from gpuasm.cli.session import run_session

    chosen = samples_of_reads(samples, inputs, name=name)
    with run_session(common) as session:
        from gpuasm.cli.depth_of_samples import contigs_of_file, write_depths

        run = _Run(session, skip_bad=skip_bad)
        with session.stages.stage("read contigs") as stage:
            contigs = contigs_of_file(contigs_path)
            stage.note(contigs=len(contigs))
        found = [depth for sample in chosen if (depth := run.depth_in(sample, contigs)) is not None]
        if not found:
            raise DataError("a sample that can be used", "none", run.left_out[0]["reason"])
        write_depths(output, contigs, found)
        if json_path:
            session.write_manifest(
                json_path,
                command="depth",
                parameters={"skip_bad": skip_bad, **inputs.cleaning},
                inputs=[{"path": str(contigs_path)}, *run.files],
                results={
                    "contigs": len(contigs),
                    "samples": [{"name": own.sample, **own.counts} for own in found],
                    "left_out": run.left_out,
                },
            )
    if "-" not in (str(output), str(json_path)):
        click.echo(f"{output}: depth of {len(contigs)} contigs, samples: {len(found)}")


class _Run:
    """Alignment of the reads of several samples, one after another."""

    def __init__(self, session: Session, *, skip_bad: bool) -> None:
        self.session, self.skip_bad = session, skip_bad
        self.files: list[dict[str, Any]] = []
        self.left_out: list[dict[str, str]] = []

    def depth_in(self, sample: NamedReads, contigs: list[Contig]) -> SampleDepth | None:
        """Return the depth in a sample; None if it cannot be used and may be left out."""
        from gpuasm.cli.depth_of_samples import SHORTEST_ALIGNED, depth_in_sample

        try:
            read_set = sample.read(self.session.stages, k=SHORTEST_ALIGNED)
        except (DataError, NoInputError) as error:
            if not self.skip_bad:
                raise
            self.left_out.append({"sample": sample.name, "reason": str(error)})
            _LOG.warning("left out: %s: %s", sample.name, error)
            return None
        self.files += [file.as_dict() for file in read_set.files]
        with self.session.stages.stage("align reads to contigs", sample=sample.name) as stage:
            found = depth_in_sample(contigs, read_set.reads.moved_to(self.session.xp), sample=sample.name)
            stage.note(**found.counts)
        return found
