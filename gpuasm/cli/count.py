"""``gpuasm count``: exact canonical k-mer counts and their spectrum."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpuasm.cli.options import CommonOptions, ReadInputs, cleaned_read_options, common_options
from gpuasm.cli.paths import OUTPUT
from gpuasm.cli.ranges import Whole

if TYPE_CHECKING:
    from gpuasm.cli.session import Session
    from gpuasm.kmers import Spectrum, Tally
    from gpuasm.sequence.reads import Reads


@click.command(short_help="Count k-mers and write their spectrum.")
@cleaned_read_options(trim="no")
@click.option(
    "-k", "k", type=Whole(1), default=31, show_default=True, metavar="K", help="Odd length of the k-mers, any size."
)
@click.option(
    "--min-count",
    type=Whole(1),
    default=2,
    show_default=True,
    metavar="N",
    help="Leave rarer k-mers out of the counts; the spectrum holds them.",
)
@click.option("-o", "--output", type=OUTPUT, metavar="FILE", help="Counts, as .npz: kmers, counts, k.")
@click.option("--spectrum", "spectrum_path", type=OUTPUT, metavar="FILE", help="Spectrum, as TSV: multiplicity, kmers.")
@click.option("--json", "json_path", type=OUTPUT, metavar="FILE", help="Manifest of the run, with the estimates.")
@common_options
def command(
    *,
    k: int,
    min_count: int,
    output: Path | None,
    spectrum_path: Path | None,
    json_path: Path | None,
    inputs: ReadInputs,
    common: CommonOptions,
) -> None:
    """Count the canonical k-mers of reads, exactly, for any odd k.

    The counts are an array ``kmers`` of (n, ceil(k / 32)) uint64 with 32 bases each, A 0, C 1, G 2, T 3, the first base
    in the highest bits, each k-mer on the strand whose text is the lesser, in ascending order; and ``counts``, (n,)
    uint32. The summary is printed on standard output.

    \b
    Examples:
      gpuasm count -1 reads_1.fastq.gz -2 reads_2.fastq.gz -o counts.npz --spectrum spectrum.tsv
      gpuasm count reads.fasta -k 63 --min-count 1 -o counts.npz
    """
    from gpuasm.cli.inputs import read_inputs
    from gpuasm.cli.outputs import describe_spectrum, write_spectrum
    from gpuasm.cli.session import run_session
    from gpuasm.kmers.keys import MAX_PLAIN_K, check_k

    check_k(k)
    # Above k = 31 the counts may omit rare shorter k-mers; spectrum and summary need them.
    is_whole = k <= MAX_PLAIN_K or min_count == 1 or bool(spectrum_path or json_path) or not output
    with run_session(common) as session:
        read_set = read_inputs(inputs, session.stages, k=k)
        reads = read_set.reads.moved_to(session.xp)
        tally, spectrum = _count(reads, k, session, min_count=min_count, below=1 if is_whole else min_count)
        if output:
            with session.stages.stage("write counts") as stage:
                _write_counts(output, reads, tally)
                stage.note(kmers=tally.n)
        if spectrum_path:
            write_spectrum(spectrum_path, spectrum.histogram)
        if json_path:
            _write_json(
                json_path,
                session,
                read_set.files,
                describe_spectrum(spectrum),
                {"k": k, "min_count": min_count, **inputs.cleaning},
            )
    if "-" in (str(output), str(spectrum_path), str(json_path)):
        return
    if is_whole:
        _summarise(spectrum)
    else:
        click.echo(f"{k}-mers counted at least {min_count} times\t{tally.n}")


def _count(reads: Reads, k: int, session: Session, *, min_count: int, below: int) -> tuple[Tally, Spectrum]:
    """Count; ``below`` is the least multiplicity of shorter k-mers of the chain that are kept apart."""
    from gpuasm.kmers import analyse_spectrum, doubling_chain, tally_by_doubling

    with session.stages.stage("count k-mers", k=k) as stage:
        chain = doubling_chain(k)
        # At the last k the histogram holds what is left out, so rare k-mers need not be kept there.
        tally, _ = tally_by_doubling(
            reads,
            chain,
            min_count=min_count if len(chain) == 1 else below,
            last_min_count=min_count,
            with_followers=False,
        )
        stage.note(distinct=int(tally.histogram.sum()), kept=tally.n)
    return tally, analyse_spectrum(tally.histogram, k)


def _write_counts(path: Path, reads: Reads, tally: Tally) -> None:
    import numpy as np

    from gpuasm.io import atomic_output
    from gpuasm.kmers import spell_kmers

    kmers, counts = spell_kmers(reads.packed, tally)
    with atomic_output(path, "wb") as file:
        np.savez(file, kmers=kmers, counts=counts, k=np.int64(tally.k))


def _write_json(
    path: Path, session: Session, files: list[Any], results: dict[str, object], parameters: dict[str, object]
) -> None:
    session.write_manifest(
        path,
        command="count",
        parameters=parameters,
        inputs=[file.as_dict() for file in files],
        results=results,
    )


def _summarise(spectrum: Spectrum) -> None:
    click.echo(f"distinct {spectrum.k}-mers\t{int(spectrum.histogram.sum())}")
    click.echo(f"solid threshold\t{spectrum.reason}")
    if spectrum.genome_size is not None and spectrum.error_rate is not None:
        click.echo(f"k-mer depth\t{spectrum.peak}")
        click.echo(f"genome size\t{spectrum.genome_size} (estimate)")
        click.echo(f"error rate\t{100 * spectrum.error_rate:.3f} % (estimate)")
