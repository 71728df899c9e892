"""``gpuasm identify``: which known genomes contigs, bins and the other reads are of."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpuasm.cli.options import CommonOptions, OptionalReads, common_options, optional_read_options
from gpuasm.cli.paths import INPUT, OutputFolder
from gpuasm.cli.ranges import Whole

if TYPE_CHECKING:
    from gpuasm.cli.identification import Subject
    from gpuasm.cli.session import Session
    from gpuasm.io.signature_databases import SignatureDatabase

_FOLDER = OutputFolder("identities.tsv", "run.json")


@click.command(short_help="Name the species of contigs, bins and reads by a database of sketches.")
@click.argument("contigs_path", type=INPUT, metavar="CONTIGS")
@click.option(
    "--database", type=INPUT, required=True, metavar="FILE", help="Sketches of genomes by sourmash: .sig or .sig.zip."
)
@click.option("--bins", "bins_path", type=INPUT, metavar="FILE", help="The bin of each contig: contigs2bin.tsv.")
@click.option("-k", "k", type=Whole(3, 31), metavar="K", help="Bases of a k-mer.  [default: the most of FILE up to 31]")
@click.option("-o", "--output", type=_FOLDER, required=True, metavar="DIR", help="Folder for the results.")
@optional_read_options
@common_options
def command(
    *,
    contigs_path: Path,
    database: Path,
    bins_path: Path | None,
    k: int | None,
    output: Path,
    inputs: OptionalReads,
    common: CommonOptions,
) -> None:
    """Name the species of contigs, of each bin, and of the reads that are not in contigs.

    Sourmash searches the database for the genomes that contain the k-mers of each. It is no part of a plain
    installation: pip install 'gpuasm[identify]'. DIR receives identities.tsv and run.json.

    \b
    Examples:
      gpuasm identify assembly/contigs.fasta --database genomes.sig.zip -o identity
      gpuasm identify contigs.fasta --bins bins/contigs2bin.tsv -1 a_1.fq.gz -2 a_2.fq.gz --database db.zip -o identity
    """
    from gpuasm.cli.identification import identify, results_of, write_identities
    from gpuasm.cli.run_folder import RunFolder
    from gpuasm.cli.session import run_session

    with run_session(common) as session, RunFolder(output, "identify") as folder:
        sketches, subjects, files = _read(session, (contigs_path, database, bins_path), inputs, k=k)
        with session.stages.stage("search database") as stage:
            found = identify(subjects, sketches)
            stage.note(matches=sum(len(matches) for _, matches in found))
        write_identities(folder.files / "identities.tsv", found)
        results = results_of(found)
        session.write_manifest(
            folder.files / "run.json",
            command="identify",
            parameters={
                "database": str(database), "bins": bins_path and str(bins_path), "k": sketches.k,
                "scaled": sketches.scaled, "sketches": sketches.n, **inputs.cleaning,
            },
            inputs=files,
            results=results,
            status="done" if any(subject.hashes.size for subject in subjects) else "no contigs",
        )  # fmt: skip
        folder.replace()
    click.echo(f"{results['species'] or 'no known species'}\t{output / 'identities.tsv'}")


def _read(
    session: Session, paths: tuple[Path, Path, Path | None], inputs: OptionalReads, *, k: int | None
) -> tuple[SignatureDatabase, list[Subject], list[dict[str, Any]]]:
    """Open the database, and sketch what is to be identified."""
    from gpuasm.cli.identification import subject_of_reads, subjects_of_contigs
    from gpuasm.cli.inputs import read_inputs
    from gpuasm.io.signature_databases import SignatureDatabase

    contigs, database, bins = paths
    with session.stages.stage("open database") as stage:
        sketches = SignatureDatabase(database, k)
        stage.note(sketches=sketches.n)
    with session.stages.stage("sketch contigs", k=sketches.k):
        subjects = subjects_of_contigs(contigs, bins, sketches, session.xp)
    files = [{"path": str(path)} for path in paths if path]
    if inputs.files:
        read_set = read_inputs(inputs, session.stages, k=sketches.k)
        files += [file.as_dict() for file in read_set.files]
        with session.stages.stage("sketch reads", k=sketches.k):
            reads = read_set.reads.moved_to(session.xp)
            subjects.append(subject_of_reads(reads, sketches, subjects[0]))
    return sketches, subjects, files
