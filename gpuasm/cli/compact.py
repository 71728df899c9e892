"""``gpuasm compact``: a bucket of super-k-mers to pieces of unitigs, the second of three steps to the first graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpuasm.cli.options import CommonOptions, common_options
from gpuasm.cli.paths import INPUT, NAMED_OUTPUT, OUTPUT
from gpuasm.cli.ranges import Whole
from gpuasm.errors import DataError, UsageError

if TYPE_CHECKING:
    import numpy as np

    from gpuasm.cli.bucket_files import BucketFile
    from gpuasm.kmers.buckets import Bucket


@click.command(short_help="Compact one bucket of super-k-mers into pieces of unitigs, for join.")
@click.argument("files", nargs=-1, required=True, type=INPUT, metavar="BUCKETFILES...")
@click.option("-o", "--output", type=NAMED_OUTPUT, required=True, metavar="FILE", help="The pieces, or the spectrum.")
@click.option(
    "--spectrum-only", is_flag=True, help="Write the spectrum of the bucket instead, as TSV: multiplicity, kmers."
)
@click.option(
    "--spectrum",
    "spectra",
    multiple=True,
    type=INPUT,
    metavar="FILE",
    help="The spectra of all buckets, one by one: the valley of their sum is the least multiplicity.",
)
@click.option("--min-count", type=Whole(1), metavar="N", help="Least multiplicity of a k-mer, in place of the spectra.")
@click.option("--json", "json_path", type=OUTPUT, metavar="FILE", help="Manifest of the run.")
@common_options
def command(
    *,
    files: tuple[Path, ...],
    output: Path,
    spectrum_only: bool,
    spectra: tuple[Path, ...],
    min_count: int | None,
    json_path: Path | None,
    common: CommonOptions,
) -> None:
    """Count the k-mers of one bucket, and compact the solid ones into pieces of unitigs.

    BUCKETFILES are the files that gpuasm partition wrote of one bucket, from all parts of the reads. Whether a k-mer is
    solid depends on the spectrum of all buckets. So each bucket is counted twice: first with --spectrum-only, then with
    the spectra of all. With --min-count the first time is not needed.

    \b
    Examples:
      gpuasm compact a/bucket_0007.superkmers b/bucket_0007.superkmers --spectrum-only -o 0007.tsv
      gpuasm compact a/bucket_0007.superkmers b/bucket_0007.superkmers --spectrum 0000.tsv --spectrum 0001.tsv \\
          -o 0007.pieces
    """
    if spectrum_only + bool(spectra) + (min_count is not None) != 1:
        given = [
            name
            for name, is_given in (
                ("--spectrum-only", spectrum_only), ("--spectrum", spectra), ("--min-count", min_count is not None),
            )
            if is_given
        ]  # fmt: skip
        found = " and ".join(given) or "none"
        raise UsageError("one of --spectrum-only, --spectrum and --min-count", found, "give one of them")
    from gpuasm.cli.outputs import write_spectrum
    from gpuasm.cli.session import run_session

    with run_session(common) as session:
        with session.stages.stage("read buckets") as stage:
            bucket, first, n_windows = _read_buckets(files)
            stage.note(superkmers=bucket.reads.n_segments)
        least = min_count or (None if spectrum_only else _threshold(spectra, bucket.k))
        bucket = bucket.moved_to(session.xp)
        with session.stages.stage("count k-mers", k=bucket.k) as stage:
            tally = bucket.tally(min_count=least or 2, min_follow=min(2, least or 2))
            distinct = int(tally.histogram.sum())
            stage.note(distinct=distinct, solid=tally.n)
        results = {"distinct_kmers": distinct}
        if least is None:
            write_spectrum(output, tally.histogram)
        else:
            from gpuasm.cli.bucket_files import PiecesFile, write_pieces
            from gpuasm.kmers.pieces import compact_kmers

            with session.stages.stage("compact pieces", k=bucket.k) as stage:
                pieces = compact_kmers(tally, followers=bucket.followers)
                stage.note(pieces=pieces.n)
            results |= {"min_count": least, "solid_kmers": tally.n, "pieces": pieces.n}
            file = PiecesFile(first.number, first.n_buckets, n_windows, least, tally.histogram, pieces)
            write_pieces(output, file)
        if json_path:
            parameters = {
                "spectrum_only": spectrum_only, "spectrum": [str(path) for path in spectra], "min_count": min_count
            }  # fmt: skip
            inputs = [{"path": str(path)} for path in files]
            session.write_manifest(json_path, command="compact", parameters=parameters, inputs=inputs, results=results)


def _read_buckets(paths: tuple[Path, ...]) -> tuple[Bucket, BucketFile, int]:
    """Return the bucket of all files, one of them, and the windows of all reads.

    Raises
    ------
    DataError
        If a file is of another bucket, or of other options, than the first one.
    """
    from gpuasm.cli.bucket_files import read_bucket
    from gpuasm.kmers.bucket_texts import bucket_of_texts

    texts, n_windows, first = [], 0, None
    for path in paths:
        file = read_bucket(path)
        first = first or file
        if (file.k, file.number, file.n_buckets) != (first.k, first.number, first.n_buckets):
            raise DataError(
                f"bucket {first.number} of {first.n_buckets} at k = {first.k}, as the first file",
                f"bucket {file.number} of {file.n_buckets} at k = {file.k}", "give the files of one bucket", path=path,
            )  # fmt: skip
        texts.append(file.text)
        n_windows += file.n_windows
    if first is None:
        raise UsageError("files of a bucket", "none", "name them")
    return bucket_of_texts(texts, first.k), first, n_windows


def _threshold(paths: tuple[Path, ...], k: int) -> int:
    """Return the least multiplicity of solid k-mers by the spectra of all buckets."""
    from gpuasm.kmers.spectrum import analyse_spectrum

    histogram = _read_spectrum(paths[0])
    for path in paths[1:]:
        histogram += _read_spectrum(path)
    return analyse_spectrum(histogram, k).threshold


def _read_spectrum(path: Path) -> np.ndarray:
    """Read a spectrum as `gpuasm.cli.outputs.write_spectrum` writes it.

    Raises
    ------
    DataError
        If it is no such table.
    """
    import numpy as np

    from gpuasm.io.text_tables import read_table
    from gpuasm.kmers.tally import MAX_MULTIPLICITY

    histogram = np.zeros(MAX_MULTIPLICITY + 1, np.int64)
    for row in read_table(path, required=("multiplicity", "kmers"), remedy=_COMPACT):
        histogram[row.whole("multiplicity", most=MAX_MULTIPLICITY)] += row.whole("kmers")
    return histogram


_COMPACT = "write it with gpuasm compact --spectrum-only"
