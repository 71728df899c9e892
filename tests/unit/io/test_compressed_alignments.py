"""Files that the library of SAM, BAM and CRAM cannot read are refused before it sees them."""

from __future__ import annotations

import bz2
import lzma
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import zstandard

from gpuasm.errors import DataError
from gpuasm.io import read_reads

SAM = b"@HD\tVN:1.6\na\t4\t*\t0\t0\t*\t*\t0\t0\tACGT\tIIII\n"
COMPRESSED = {"xz": lzma.compress(SAM), "bzip2": bz2.compress(SAM), "zstd": zstandard.compress(SAM)}


@pytest.mark.parametrize("name", COMPRESSED)
def test_compressed_sam_is_refused_and_its_compression_named(name: str, tmp_path: Path) -> None:
    path = tmp_path / "reads"
    path.write_bytes(COMPRESSED[name])
    command = [sys.executable, "-m", "gpuasm", "count", "-q", "--bam", path, "-k", "21"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # a library may end the process
    assert done.returncode == 65
    assert name in done.stderr


def test_refused_files_leave_no_descriptor_open(tmp_path: Path) -> None:
    path = tmp_path / "reads"
    path.write_bytes(b"no alignments\n" * 10)
    before = _refuse(path)  # the first call loads libraries
    assert _refuse(path) == before


def _refuse(path: Path) -> int:
    """Return how many descriptors are open after a file has been refused."""
    with pytest.raises(DataError, match="another format"):
        read_reads(bam=[path])
    for thread in threading.enumerate():
        if thread.name == "gpuasm-bam":
            thread.join()
    return len(list(Path("/proc/self/fd").iterdir()))
