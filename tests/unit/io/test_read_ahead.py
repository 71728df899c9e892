"""Files read before they are parsed give what they give otherwise."""

from __future__ import annotations

import gzip
import threading

import numpy as np
import pytest

from gpuasm.errors import DataError, NoInputError
from gpuasm.io import read_reads
from gpuasm.io.read_ahead import ReadAhead
from gpuasm.stages import Stages
from tests.oracles import reads as oracle

SEQUENCES = oracle.random_sequences(5, 300)


def io_threads():
    return [thread for thread in threading.enumerate() if thread.name == "gpuasm-io"]


@pytest.fixture
def pair(tmp_path):
    paths = [tmp_path / f"reads_{mate}.fq.gz" for mate in (1, 2)]
    for path, step in zip(paths, (1, -1), strict=True):
        path.write_bytes(gzip.compress(oracle.fastq([sequence[::step] for sequence in SEQUENCES]).encode()))
    return tuple(paths)


def test_reads_and_files_are_the_same(pair):
    expected, stages = read_reads(pairs=[pair]), Stages()
    with ReadAhead(pair) as ahead:
        found = read_reads(pairs=[pair], stages=stages, ahead=ahead)
    assert found.files == expected.files
    for name in ("packed", "start", "length", "read"):
        assert np.array_equal(getattr(found.reads, name), getattr(expected.reads, name))


def test_all_progress_is_reported(pair):
    reported = []
    with ReadAhead(pair) as ahead:
        source = ahead.take(str(pair[0]))
        with source.texts() as texts:
            for _ in texts:
                pass
        source.report_to(reported.append)
    assert reported == [pair[0].stat().st_size]


def test_other_files_are_read_as_ever(pair, tmp_path):
    other = tmp_path / "other.fq"
    other.write_text(oracle.fastq(SEQUENCES))
    with ReadAhead([other]) as ahead:
        found = read_reads(pairs=[pair], single=[other], ahead=ahead)
    assert found.reads.n_reads == 3 * len(SEQUENCES)


def test_a_file_is_taken_over_once(pair):
    with ReadAhead(pair) as ahead:
        assert ahead.take(str(pair[0])) is not None
        assert ahead.take(str(pair[0])) is None


def test_what_is_no_file_is_left_to_whoever_reads_it(tmp_path):
    missing = tmp_path / "missing.fq"
    with ReadAhead([missing, tmp_path, "-"]) as ahead:
        assert ahead.take(str(missing)) is ahead.take(str(tmp_path)) is ahead.take("-") is None
        with pytest.raises(NoInputError):
            read_reads(single=[missing], ahead=ahead)


def test_damage_is_reported_as_without_reading_ahead(pair):
    pair[1].write_bytes(pair[1].read_bytes()[:-20])
    with pytest.raises(DataError) as expected:
        read_reads(pairs=[pair])
    with ReadAhead(pair) as ahead, pytest.raises(DataError) as found:
        read_reads(pairs=[pair], ahead=ahead)
    assert str(found.value) == str(expected.value)


def test_leaving_ends_the_threads_of_files_nobody_took(tmp_path):
    path = tmp_path / "large.fq"
    path.write_bytes(b"A" * (300 << 20))  # more than may wait
    before = set(io_threads())
    with ReadAhead([path]):
        (thread,) = set(io_threads()) - before
    thread.join(timeout=20)
    assert not thread.is_alive()
