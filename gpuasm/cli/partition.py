"""``gpuasm partition``: reads to buckets of super-k-mers, the first of three steps to the first graph."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpuasm.cli.options import CommonOptions, ReadInputs, cleaned_read_options, common_options
from gpuasm.cli.paths import OUTPUT, OutputFolder
from gpuasm.cli.ranges import Whole

if TYPE_CHECKING:
    from gpuasm.kmers.bucket_texts import BucketText
    from gpuasm.sequence.reads import Reads

_SUFFIX = ".superkmers"
_BYTES_PER_WINDOW = 8
"""Host memory of a window while its super-k-mers are sorted into buckets and written."""


@click.command(short_help="Cut reads into buckets of super-k-mers, for compact.")
@cleaned_read_options(trim="auto")
@click.option(
    "-k", "k", type=Whole(3, 31), default=31, show_default=True, metavar="K", help="Odd length of the k-mers, 3 to 31."
)
@click.option(
    "--buckets",
    "n_buckets",
    type=Whole(1, 1 << 16),
    default=64,
    show_default=True,
    metavar="N",
    help="Number of buckets; one at a time is in memory later.",
)
@click.option(
    "-o",
    "--output",
    type=OutputFolder(f"bucket_*{_SUFFIX}"),
    required=True,
    metavar="DIR",
    help="Folder for the N files of buckets.",
)
@click.option("--json", "json_path", type=OUTPUT, metavar="FILE", help="Manifest of the run.")
@common_options
def command(
    *, k: int, n_buckets: int, output: Path, json_path: Path | None, inputs: ReadInputs, common: CommonOptions
) -> None:
    """Cut reads into super-k-mers, and write them to N files by their minimizers.

    DIR receives bucket_0000.superkmers, bucket_0001.superkmers and so on: always N files. The bucket of a k-mer depends
    on the k-mer and N only, so the files of one number belong together, whatever reads they are of. Give all parts of
    a sample the same -k, --buckets and cleaning options; --trim auto decides for each part by itself.

    \b
    Examples:
      gpuasm partition -1 a_1.fastq.gz -2 a_2.fastq.gz --trim yes --buckets 256 -o a
      gpuasm compact a/bucket_0000.superkmers b/bucket_0000.superkmers --min-count 2 -o 0000.pieces
      gpuasm join *.pieces -o first_graph
    """
    from gpuasm.cli.bucket_files import BucketFile, write_bucket
    from gpuasm.cli.folders import make_folder
    from gpuasm.cli.inputs import read_inputs
    from gpuasm.cli.session import run_session
    from gpuasm.kmers.keys import check_k

    check_k(k)
    with run_session(common) as session:
        read_set = read_inputs(inputs, session.stages, k=k)
        reads = read_set.reads
        n_windows = int((reads.length.astype("int64") - (k - 1)).clip(min=0).sum())
        n_passes = min(n_buckets, 1 + 2 * _BYTES_PER_WINDOW * n_windows // session.memory)
        make_folder(output)
        digits, n_superkmers = max(4, len(str(n_buckets - 1))), 0
        with session.stages.stage("write buckets", k=k, total=n_buckets, unit="buckets") as stage:
            for number, text in _texts(reads.moved_to(session.xp), k, n_buckets, n_passes=n_passes):
                path = output / f"bucket_{number:0{digits}d}{_SUFFIX}"
                write_bucket(path, BucketFile(k, number, n_buckets, n_windows, text))
                n_superkmers += text.length.size
                stage.advance(1)
            stage.note(superkmers=n_superkmers, windows=n_windows)
        if json_path:
            session.write_manifest(
                json_path,
                command="partition",
                parameters={"k": k, "buckets": n_buckets, **inputs.cleaning},
                inputs=[file.as_dict() for file in read_set.files],
                results={"superkmers": n_superkmers, "windows": n_windows},
            )


def _texts(reads: Reads, k: int, n_buckets: int, *, n_passes: int) -> Iterator[tuple[int, BucketText]]:
    """Yield the number and the text of each bucket; each pass over the reads takes some of them."""
    import numpy as np

    from gpuasm.kmers.bucket_texts import texts_of_buckets
    from gpuasm.kmers.buckets import cut_buckets

    bounds = np.linspace(0, n_buckets, n_passes + 1).astype(int).tolist()
    for first, last in itertools.pairwise(bounds):
        bucket, number = cut_buckets(reads, k, range(first, last), n_buckets=n_buckets)
        yield from enumerate(texts_of_buckets(bucket, number - first, last - first), start=first)
