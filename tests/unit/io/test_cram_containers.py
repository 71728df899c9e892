"""Containers of CRAM whose blocks unpack to more than is free, or to other sizes than declared, are refused."""

from __future__ import annotations

import bz2
import functools
import lzma
import zlib

import pysam
import pytest

from gpuasm.errors import DataError, ResourceError
from gpuasm.io import read_reads
from gpuasm.io.cram_containers import checked_containers
from gpuasm.resources import limited_memory, resident_bytes

RAW, GZIP, BZIP2, XZ, RANS = range(5)
SLICE_HEADER, DATA = 2, 4
N_RECORDS, LENGTH = 40, 60
LONG = 128 << 20
"""Bytes that a block of a bomb unpacks to."""
FREE = 64 << 20


@pytest.fixture(scope="module")
def records(rng_of_module):
    header = pysam.AlignmentHeader.from_dict({"HD": {"VN": "1.6"}})
    made = []
    for number in range(N_RECORDS):
        record = pysam.AlignedSegment(header)
        record.query_name, record.flag = f"run:{number}", 4
        record.query_sequence = "".join(rng_of_module.choice(list("ACGT"), LENGTH))
        record.query_qualities = pysam.qualitystring_to_array("".join(rng_of_module.choice(list("#,:F"), LENGTH)))
        made.append(record)
    return made


@pytest.fixture(scope="module")
def rng_of_module():
    import numpy as np

    return np.random.default_rng(5)


def written(path, records, version: str = "3.0") -> bytes:
    options = [f"version={version.split(',', maxsplit=1)[0]}".encode(), *(o.encode() for o in version.split(",")[1:])]
    with pysam.AlignmentFile(str(path), "wc", header=records[0].header, format_options=options) as file:
        for record in records:
            file.write(record)
    return path.read_bytes()


def number(value: int) -> bytes:
    """Return a number of type itf8."""
    if value < 0x80:
        return bytes([value])
    return bytes([0xF0 | value >> 28 & 0xF, value >> 20 & 255, value >> 12 & 255, value >> 4 & 255, value & 0xF])


def read_number(data: bytes, at: int) -> tuple[int, int]:
    n = min(4, 8 - (data[at] ^ 0xFF).bit_length())  # those of four are references, which are passed over
    return int.from_bytes(bytes([data[at] & 0x7F >> n]) + data[at + 1 : at + 1 + n], "big"), at + 1 + n


class Cram:
    """A CRAM of version 3 with one container of records, whose parts can be replaced."""

    def __init__(self, data: bytes) -> None:
        begin = 26 + self._size(data, 26)
        end = begin + self._size(data, begin)
        self._before, self._after = data[:begin], data[end:]
        at = begin + 4
        for _ in range(3):
            _, at = read_number(data, at)
        self.reference = data[begin + 4 : at]
        self.n_records, at = read_number(data, at)
        self.counts = data[at : self._end_of_counts(data, at)]
        n_blocks, at = read_number(data, self._end_of_counts(data, at))
        n_slices, at = read_number(data, at)
        assert n_slices == 1
        self.slices, at = read_number(data, at)
        at += 4
        self.blocks = []
        for _ in range(n_blocks):
            method, content = data[at : at + 2]
            name, at = read_number(data, at + 2)
            size, at = read_number(data, at)
            unpacked, at = read_number(data, at)
            self.blocks.append([method, content, name, unpacked, data[at : at + size]])
            at += size + 4
        assert at == end

    @staticmethod
    def _end_of_counts(data: bytes, at: int) -> int:
        for _ in range(2):
            at += 1 + 8 - (data[at] ^ 0xFF).bit_length()
        return at

    @staticmethod
    def _size(data: bytes, begin: int) -> int:
        """Return the bytes of a container."""
        at = begin + 4
        for _ in range(4):
            _, at = read_number(data, at)
        _, at = read_number(data, Cram._end_of_counts(data, at))
        n_slices, at = read_number(data, at)
        for _ in range(n_slices):
            _, at = read_number(data, at)
        return at + 4 - begin + int.from_bytes(data[begin : begin + 4], "little")

    def data(self, *, longer: int = 0) -> bytes:
        """Return the file; of its container the length may be stated as longer than it is."""
        blocks = b"".join(
            part + zlib.crc32(part).to_bytes(4, "little")
            for method, content, name, unpacked, data in self.blocks
            for part in [bytes([method, content]) + number(name) + number(len(data)) + number(unpacked) + data]
        )
        head = (
            (len(blocks) + longer).to_bytes(4, "little", signed=True)
            + self.reference
            + number(self.n_records)
            + self.counts
        )
        head += number(len(self.blocks)) + number(1) + number(self.slices)
        return self._before + head + zlib.crc32(head).to_bytes(4, "little") + blocks + self._after

    def qualities(self) -> list:
        """Return the block that is longest when unpacked."""
        return max((block for block in self.blocks if block[1] == DATA), key=lambda block: block[3])


@pytest.fixture
def cram(tmp_path, records):
    return Cram(written(tmp_path / "whole.cram", records))


def refusal(tmp_path, data: bytes, error: type[Exception]) -> str:
    path = tmp_path / "bomb.cram"
    path.write_bytes(data)
    before = resident_bytes()
    with limited_memory(before + FREE), pytest.raises(error) as found:
        read_reads(bam=[path])
    assert resident_bytes() < before + 2 * FREE
    return str(found.value)


@functools.cache
def packed(method: int) -> bytes:
    packer = {
        GZIP: zlib.compressobj(9, zlib.DEFLATED, 31), BZIP2: bz2.BZ2Compressor(), XZ: lzma.LZMACompressor(preset=0),
    }[method]  # fmt: skip
    size = LONG if method != BZIP2 else 1 << 20
    return b"".join(packer.compress(bytes(1 << 20)) for _ in range(size >> 20)) + packer.flush()


def rans(size: int) -> bytes:
    """Return any number of one letter, by frequencies that take no bits."""
    body = bytes([65, 0x8F, 0xFF, 0]) + (1 << 23).to_bytes(4, "little") * 4
    return b"\0" + len(body).to_bytes(4, "little") + size.to_bytes(4, "little") + body


@pytest.mark.parametrize(
    "version", ["2.1", "3.0", "3.0,use_lzma=1", "3.0,use_bzip2=1", "3.1", "3.1,archive", "3.1,small"]
)
@pytest.mark.parametrize("free", [None, FREE])
def test_whole_files_are_read(tmp_path, records, version, free):
    path = tmp_path / "whole.cram"
    written(path, records, version)
    with limited_memory(resident_bytes() + free if free else None):
        assert read_reads(bam=[path]).reads.n_reads == N_RECORDS


def test_bytes_come_back_in_any_chunks(tmp_path, records, cram):
    data = written(tmp_path / "whole.cram", records)
    assert cram.data() != data  # longer numbers, and yet the same
    for whole in (data, cram.data()):
        for size in (1, 7, len(whole)):
            chunks = [whole[i : i + size] for i in range(0, len(whole), size)]
            assert b"".join(checked_containers(chunks, "x")) == whole
    for cut in range(0, len(data), 3):
        assert b"".join(checked_containers([data[:cut]], "x")) == data[:cut]


@pytest.mark.parametrize("method", [GZIP, BZIP2, XZ, RANS])
def test_blocks_that_state_that_they_do_not_fit(tmp_path, cram, method):
    block = cram.qualities()
    block[0], block[3], block[4] = method, LONG, rans(LONG) if method == RANS else packed(method)
    assert "of memory or more to read it" in refusal(tmp_path, cram.data(), ResourceError)


@pytest.mark.parametrize("method", [GZIP, XZ, RANS])
def test_blocks_that_unpack_to_more_than_they_state(tmp_path, cram, method):
    block = cram.qualities()
    block[0], block[4] = method, rans(LONG) if method == RANS else packed(method)
    assert "a container of other sizes than it states" in refusal(tmp_path, cram.data(), DataError)


@pytest.mark.parametrize("method", [5, 6, 7, 8])
def test_codecs_of_later_versions(tmp_path, cram, method):
    block = cram.qualities()
    size = b"\x81\x80\x80\x80\x00" if method < 8 else LONG.to_bytes(4, "little")
    block[0], block[4] = method, (b"\0" if method < 7 else b"") + size + bytes(20)
    assert "a container of other sizes than it states" in refusal(tmp_path, cram.data(), DataError)


def test_many_records_of_no_bytes(tmp_path, cram):
    cram.n_records = 1 << 30
    assert "of memory or more to read it" in refusal(tmp_path, cram.data(), ResourceError)


def test_a_slice_of_more_records_than_its_container(tmp_path, cram):
    cram.n_records = 1
    assert "a container of other sizes than it states" in refusal(tmp_path, cram.data(), DataError)


@pytest.mark.parametrize("longer", [-40, 1, -(1 << 30)])
def test_a_container_of_another_size_than_its_blocks(tmp_path, cram, longer):
    data = cram.data(longer=longer)
    assert "a container of other sizes than it states" in refusal(tmp_path, data, DataError)


def test_other_versions(tmp_path, cram):
    data = bytearray(cram.data())
    data[4] = 4
    assert "expected CRAM of version 2 or 3, found version 4" in refusal(tmp_path, bytes(data), DataError)
