"""Read all input files into one set of reads."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from gpuasm.checks import items, whole
from gpuasm.errors import ResourceError, UsageError
from gpuasm.io.background import Background
from gpuasm.io.bam import collect_bam
from gpuasm.io.collecting import Collector, collect_interleaved, collect_mates, collect_single
from gpuasm.io.diagnosis import EmptyFileError
from gpuasm.io.parsing import Parser, add_histograms
from gpuasm.io.read_texts import TextCollector
from gpuasm.io.sources import BLOCK_BYTES, Source, check_inputs, ignore, total_size
from gpuasm.io.summary import FileSummary, ReadSet, summarize

if TYPE_CHECKING:
    from gpuasm.io.read_ahead import ReadAhead
    from gpuasm.stages import Stages

Path = str | PathLike[str]


def read_reads(
    *,
    pairs: Sequence[tuple[Path, Path]] = (),
    interleaved: Sequence[Path] = (),
    single: Sequence[Path] = (),
    bam: Sequence[Path] = (),
    stages: Stages | None = None,
    block_bytes: int = BLOCK_BYTES,
    ahead: ReadAhead | None = None,
    texts: BinaryIO | None = None,
) -> ReadSet:
    """Read FASTQ, FASTA, BAM and CRAM files, compressed or not; "-" is standard input.

    The content determines format and compression. Each file is read and decoded in one thread and parsed in another;
    both files of a pair at the same time. Reads come in the order of the arguments, pairs before single reads.

    Parameters
    ----------
    pairs
        Files of first and of second mates.
    interleaved
        Files in which second mates follow first mates.
    single
        Files of reads without mates.
    bam
        Files of BAM, CRAM or SAM; mates find each other by flags and name, reads without a mate count as single.
    stages
        Records the progress, in bytes.
    block_bytes
        Text parsed at once; no result depends on it.
    ahead
        Files that are being read already.
    texts
        A file that receives names and qualities, for `ReadSet.texts`; None if they are not needed.

    Raises
    ------
    NoInputError, UsageError
        If a file is not there or given twice; if no file is given, or a path where a list of them should be.
    DataError
        If a file is malformed, with the record; if all are empty, or one of a pair is.
    ReadWriteError
        If a read fails.
    ResourceError
        If the reads do not fit into memory.
    """
    mates = [(fspath(first), fspath(second)) for first, second in map(_as_pair, items(pairs, "pairs of files"))]
    whole(block_bytes, "block_bytes", least=1)
    in_turn, alone, aligned = (
        _as_paths(name, paths) for name, paths in (("interleaved", interleaved), ("single", single), ("bam", bam))
    )
    everything = [*itertools.chain(*mates), *in_turn, *aligned, *alone]
    if not everything:
        raise UsageError("files of reads", "none", "name at least one")
    check_inputs(everything)
    with contextlib.ExitStack() as stack:
        advance = _progress(stack, stages, total_size(everything))
        session = _Session(advance, block_bytes, ahead, texts)
        for pair in mates:
            session.read(session.read_pair, *pair)
        for read, paths in (
            (session.read_interleaved, in_turn), (session.read_bam, aligned), (session.read_single, alone),
        ):  # fmt: skip
            for path in paths:
                session.read(read, path)
        return session.finish()


def _as_pair(pair: tuple[Path, Path]) -> tuple[Path, Path]:
    """Refuse what is no pair: of a path alone each letter would be taken for a file."""
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise UsageError("pairs of files", repr(pair), 'write pairs=[("reads_1.fastq", "reads_2.fastq")]')
    return pair


def _as_paths(name: str, paths: Sequence[Path]) -> list[str]:
    if isinstance(paths, (str, bytes, PathLike)):
        raise UsageError(f"a list of files for {name}", f"one path, {paths!r}", f"write {name}=[{paths!r}]")
    return [fspath(path) for path in items(paths, f"files for {name}")]


def _progress(stack: contextlib.ExitStack, stages: Stages | None, total: int | None) -> Callable[[int], Any]:
    if stages is None:
        return ignore
    return stack.enter_context(stages.stage("read sequences", total=total, unit="B")).advance


class _Session:
    """What was read so far; pairs apart from single reads, so that mates can be reads 2i and 2i + 1 in the end."""

    def __init__(
        self, advance: Callable[[int], Any], block_bytes: int, ahead: ReadAhead | None, texts: BinaryIO | None
    ) -> None:
        self._advance, self._block_bytes, self._ahead = advance, block_bytes, ahead
        self.paired, self.single = (Collector(TextCollector(texts) if texts else None) for _ in range(2))
        self.files: list[FileSummary] = []
        self._empty: list[EmptyFileError] = []

    def read(self, read: Callable[..., None], *paths: str) -> None:
        """Read a file or two of mates; a file alone may be empty if others are not."""
        try:
            read(*paths)
        except EmptyFileError as error:
            if len(paths) > 1:
                raise
            self._empty.append(error)
        except ResourceError as error:
            raise error.of_file(" and ".join(paths)) from error

    def read_pair(self, first: str, second: str) -> None:
        (source_1, parser_1), (source_2, parser_2) = self._open(first), self._open(second)
        with (
            Background(parser_1.parse(source_1)) as blocks_1,
            Background(parser_2.parse(source_2)) as blocks_2,
        ):
            collect_mates(self.paired, iter(blocks_1), iter(blocks_2), paths=(first, second))
        self._close(source_1, parser_1)
        self._close(source_2, parser_2)

    def read_interleaved(self, path: str) -> None:
        source, parser = self._open(path)
        with Background(parser.parse(source)) as blocks:
            collect_interleaved(self.paired, iter(blocks), path=path)
        self._close(source, parser)

    def read_single(self, path: str) -> None:
        source, parser = self._open(path)
        with Background(parser.parse(source)) as blocks:
            collect_single(self.single, iter(blocks))
        self._close(source, parser)

    def read_bam(self, path: str) -> None:
        self.files.append(collect_bam(path, self.paired, self.single, advance=self._advance))

    def finish(self) -> ReadSet:
        if self._empty and not self.files:
            raise self._empty[0]
        self.files += [FileSummary.of_empty(str(error.path)) for error in self._empty]
        n_paired = self.paired.n_reads
        paired = n_paired > 0 and self.single.n_reads == 0
        everything = self.paired
        if n_paired == 0:
            everything = self.single
        elif not paired:
            everything.add_all(self.single)
        histogram = np.zeros(1, np.int64)
        for file in self.files:
            histogram = add_histograms(histogram.copy(), file.length_histogram.copy())
        reads = everything.finish(paired=paired)
        texts = everything.texts.finish(reads) if everything.texts else None
        return ReadSet(reads, self.files, histogram, n_pairs=n_paired // 2, texts=texts)

    def _open(self, path: str) -> tuple[Source, Parser]:
        source = self._ahead.take(path) if self._ahead else None
        if source is None:
            return Source(path, block_bytes=self._block_bytes, advance=self._advance), Parser(path)
        source.report_to(self._advance)
        return source, Parser(path)

    def _close(self, source: Source, parser: Parser) -> None:
        kind, raw = (parser.format, source.compression), (source.size, source.digest.hexdigest())
        self.files.append(summarize(source.path, kind, raw, parser.statistics))
