"""Time counting and compaction of the first k, and whole assemblies, on one and on several devices.

    python benchmarks/several_devices.py READS_1 READS_2 --devices 1 2 4 --json benchmarks/results/several_devices.json

The time of files and of start-up is left out: each group assembles some reads before it is timed. Where there are
fewer devices than asked for, several workers share one: the bytes are those of as many devices, the times are not. With
other bytes than those of one device the exit code is 1.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from record import record
from timing import timed

from gpuasm import arrays
from gpuasm.assembly import Assembly, AssemblyOptions, assemble
from gpuasm.assembly.iteration.first_kmer_size import count_first
from gpuasm.device_group import DeviceGroup
from gpuasm.io import read_reads
from gpuasm.kmers.pieces import compact_tables
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages

_TO_START = 200_000
"""Segments of reads that load all kernels."""


def group_of(n: int, there: int) -> DeviceGroup:
    """Return a group of n workers on the devices that are there, on the CPU if there is none."""
    return DeviceGroup([number % there if there else None for number in range(n)])


def digest_of(assembly: Assembly) -> str:
    """Return a checksum of the contigs, their depth and the graph."""
    parts = [contig.sequence.encode() for contig in assembly.contigs]
    parts += [assembly.checked.depth.tobytes(), assembly.graph.bases.tobytes(), assembly.graph.count.tobytes()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def measure(reads: Reads, xp: Any, devices: DeviceGroup, *, repeat: int) -> dict[str, Any]:
    """Return the times of counting with compaction, of compaction, and of a whole assembly, with its checksum."""
    options, times = AssemblyOptions(), list[float]()

    def count_and_compact() -> None:
        counted = count_first(reads, options, Stages(), devices=devices)
        work: Callable[[], Any] = lambda: compact_tables(counted.tallies, xp, devices=devices)  # noqa: E731
        times.append(timed(xp, work, 1)[0])

    assemble(reads.select(xp.arange(min(reads.n_segments, _TO_START))), options, devices=devices)
    both, _ = timed(xp, count_and_compact, repeat)
    whole, assembly = timed(xp, lambda: assemble(reads, options, devices=devices), repeat)
    figures = {"count_and_compact_s": both, "compact_s": min(times), "assemble_s": whole}
    return {name: round(seconds, 3) for name, seconds in figures.items()} | {"sha256": digest_of(assembly)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pair", type=Path, nargs=2)
    parser.add_argument("--devices", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    there, rows = arrays.device_count(), []
    xp = arrays.namespace_of("auto")
    arrays.disable_cub_reductions(xp)  # as the command line does
    reads = read_reads(pairs=[tuple(options.pair)]).reads.moved_to(xp)
    for n in options.devices:
        row = {"workers": n, "devices": min(n, there), "bases": reads.n_bases}
        rows.append(row | measure(reads, xp, group_of(n, there), repeat=options.repeat))
        print(rows[-1], flush=True)
    is_same = len({row["sha256"] for row in rows}) == 1
    record(options.json, "several_devices", {"reads": [path.name for path in options.pair]}, rows)
    return 0 if is_same else 1


if __name__ == "__main__":
    sys.exit(main())
