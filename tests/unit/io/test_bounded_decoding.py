"""Decoders give bounded texts, and readers refuse what exceeds the memory before they take it."""

from __future__ import annotations

import bz2
import gzip
import lzma
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.errors import ResourceError
from gpuasm.graph.building import from_edges
from gpuasm.io import graph_text
from gpuasm.io.bounded_decoding import MOST_TEXT
from gpuasm.io.compression import BrokenStreamError, decoded
from gpuasm.io.graph_text import line_blocks, numbered_lines
from gpuasm.io.json_text import read_json
from gpuasm.io.labels import read_labels
from gpuasm.io.matrices import read_classes
from gpuasm.io.memory_bound import MemoryBound
from gpuasm.io.personalisation import read_personalisation
from gpuasm.io.sources import Source, read_whole
from gpuasm.io.text_tables import read_rows
from gpuasm.resources import limited_memory, resident_bytes

SKIPPABLE = b"\x50\x2a\x4d\x18" + (7).to_bytes(4, "little") + b"skipped"
PACKERS = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": partial(lzma.compress, preset=0),
    "zstd": zstandard.ZstdCompressor(level=1, write_checksum=True).compress,
}
ZEROS = 16 << 20


def chunks(data, size):
    return (data[i : i + size] for i in range(0, len(data), size))


def streamed(text):
    packer = zstandard.ZstdCompressor(level=1).compressobj()
    return packer.compress(text) + packer.flush()


@pytest.mark.parametrize("compression", PACKERS)
@given(st.lists(st.binary(max_size=300), min_size=1, max_size=4), st.integers(1, 400))
def test_streams_come_back_in_any_chunks(compression, parts, size):
    data = b"".join(PACKERS[compression](part * 40) for part in parts)
    assert b"".join(decoded(chunks(data, size), compression)) == b"".join(part * 40 for part in parts)


@given(st.binary(max_size=2000), st.integers(1, 50), st.integers(0, 1 << 20))
def test_frames_of_zstd_of_all_kinds(text, size, place):
    data = SKIPPABLE + streamed(text) + PACKERS["zstd"](b"") + SKIPPABLE + PACKERS["zstd"](b"\0" * 300_000)
    assert b"".join(decoded(chunks(data, size), "zstd")) == text + b"\0" * 300_000
    with pytest.raises(BrokenStreamError):
        list(decoded(chunks(data[: len(data) - 1 - place % 8], size), "zstd"))


@pytest.mark.parametrize("compression", PACKERS)
def test_texts_are_small_however_much_a_chunk_unpacks_to(compression):
    data = PACKERS[compression](b"\0" * ZEROS)
    sizes = [len(text) for text in decoded(iter([data]), compression)]
    assert sum(sizes) == ZEROS
    assert max(sizes) <= MOST_TEXT + (1 << 18)


def test_a_window_beyond_the_budget_is_refused():
    parameters = zstandard.ZstdCompressionParameters(window_log=28)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    data = packer.compress(b"text") + packer.flush()
    assert b"".join(decoded(iter([data]), "zstd", most_window=1 << 28)) == b"text"
    with pytest.raises(ResourceError, match="window of zstd"):
        list(decoded(iter([data]), "zstd"))


def test_the_budget_is_asked_before_memory_is_taken(tmp_path):
    path = tmp_path / "x.json.zst"
    path.write_bytes(PACKERS["zstd"](b" " * ZEROS))
    with pytest.raises(ResourceError, match=f"{path.name}: expected .* of memory or more to read it"):
        read_whole(path, copies=4, memory=resident_bytes() + (40 << 20))
    with limited_memory(resident_bytes() + (40 << 20)), pytest.raises(ResourceError, match=path.name):
        read_whole(path, copies=4)
    path.write_bytes(gzip.compress(b"[" + b"[]," * (1 << 20) + b"0]"))
    with limited_memory(resident_bytes() + (40 << 20)), pytest.raises(ResourceError, match=path.name):
        read_json(path, remedy="")
    MemoryBound(path, 1).require(1 << 20)  # a little is free


BOMBS = {
    "one line": lambda: b" " * (1 << 20),
    "edges": lambda: b"0 1\n" * (1 << 18),
    "names": lambda: b"a b\n" * (1 << 18),
    "adjacency": lambda: b"a -> " + b"b," * (1 << 19),
    "brackets": lambda: b"[" * (1 << 20),
}


@pytest.mark.parametrize("kind", BOMBS)
def test_commands_stay_within_their_memory(tmp_path, kind):
    """A process of its own, as its peak is what counts."""
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(BOMBS[kind]()) * 700)
    command = "relate" if kind == "brackets" else "pagerank"
    code = (
        "import re, sys\n"
        "from pathlib import Path\n"
        "from gpuasm.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit as ended:\n"  # the system's other mark, ru_maxrss, begins with that of the parent
        "    print(ended.code, *re.findall(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text()))\n"
    )
    arguments = [command, str(path), "--device", "cpu", "-q", "--memory", "500M", "-o", str(tmp_path / "out")]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    exit_code, peak = map(int, done.stdout.split())
    assert (exit_code, done.stderr.count("\n")) == (75, 1), done.stderr
    assert peak << 10 < 500 << 20


@pytest.mark.parametrize("compression", PACKERS)
@pytest.mark.parametrize("line", [b"\n", b"a\tb\n"])
def test_few_bytes_that_unpack_to_a_long_text_are_refused(tmp_path, monkeypatch, compression, line):
    monkeypatch.setattr(graph_text, "_ALWAYS_TEXT", 1 << 20)
    path = tmp_path / "text"
    path.write_bytes(PACKERS[compression](line * ((4 << 20) // len(line))))
    for read in (
        lambda: sum(len(block) for block in Source(str(path), always=1 << 20).blocks()),
        lambda: sum(len(block) for block in line_blocks(path)),
    ):
        with pytest.raises(ResourceError, match=r"at most 200 times .* that unpack to .* unpack the file before"):
            read()
    path.write_bytes(line * ((4 << 20) // len(line)))  # plain
    assert sum(len(block) for block in line_blocks(path)) == path.stat().st_size


@pytest.mark.parametrize("compression", PACKERS)
@pytest.mark.parametrize("begin", [b"", b"0 1\n2 3\n"])
def test_readers_see_little_of_a_text_that_is_too_long(tmp_path, compression, begin):
    path, seen = tmp_path / "text", []
    path.write_bytes(PACKERS[compression](begin) + PACKERS[compression](b"a\tb\n" * (1 << 18)) * 20)
    with pytest.raises(ResourceError, match="that unpack to"):
        seen.extend(len(block) for block in line_blocks(path))
    assert sum(seen) <= 2 * MOST_TEXT


def test_a_text_that_is_too_long_only_in_its_end_is_refused(tmp_path, rng):
    path = tmp_path / "text.zst"
    begin = rng.integers(97, 123, 300_000, dtype=np.uint8).tobytes() + b"\n"
    path.write_bytes(PACKERS["zstd"](begin) + PACKERS["zstd"](b"a\n" * (20 << 19)))
    assert 200 * path.stat().st_size > 30 << 20
    with pytest.raises(ResourceError, match="that unpack to"):
        list(line_blocks(path))


def test_texts_that_compress_very_well_come_whole_and_in_blocks(tmp_path):
    path = tmp_path / "text.gz"
    text = b"".join(b"%d\t%s\n" % (i, b"0\t" * 2000) for i in range(2000))
    path.write_bytes(gzip.compress(text))
    assert len(text) > 30 * path.stat().st_size
    blocks = list(Source(str(path), raw_bytes=64 << 10).blocks())
    assert b"".join(blocks) == text
    assert max(map(len, blocks)) <= 4 << 20


@pytest.mark.parametrize("read", ["labels", "classes", "rows", "personalisation"])
def test_many_short_lines_are_refused_before_their_memory_is_taken(tmp_path, read):
    path, graph = tmp_path / "text", from_edges(np.array([0]), np.array([1]), names=["a", "b"])
    path.write_bytes(b"a\t1\t2\n" * 400_000)
    readers = {
        "labels": lambda: read_labels(path, graph),
        "classes": lambda: read_classes(path, ["a"]),
        "rows": lambda: next(read_rows(path)),
        "personalisation": lambda: read_personalisation(path, graph),
    }
    with limited_memory(resident_bytes() + (96 << 20)), pytest.raises(ResourceError, match="memory or more to read it"):
        readers[read]()


def test_texts_that_compress_well_are_read(tmp_path, monkeypatch, rng):
    path = tmp_path / "text.gz"
    path.write_bytes(gzip.compress(b"0\t" * (5 << 20) + b"0\n"))  # not long
    assert sum(len(block) for block in line_blocks(path)) > 10 << 20
    monkeypatch.setattr(graph_text, "_ALWAYS_TEXT", 1 << 20)
    text = b"".join(bytes([65 + code]) * 99 + b"\n" for code in rng.integers(0, 4, 40_000).tolist())
    path.write_bytes(gzip.compress(text))
    assert sum(len(block) for block in line_blocks(path)) == len(text)


def test_lines_are_numbered_across_blanks():
    blocks = [b"a\n", b"\n \n\t\n", b"\n", b"b\n"]
    assert [(n, line) for n, line in numbered_lines(blocks) if line] == [(1, "a"), (6, "b")]
