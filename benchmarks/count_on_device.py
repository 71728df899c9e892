"""Time the counting of k-mers of reads in the memory of a device, and on the CPU.

python benchmarks/count_on_device.py GENOME.fa.gz --fold 100 --json results/count.json
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from record import record

from gpuasm import arrays
from gpuasm.io.genomes import read_genome
from gpuasm.kmers.counting import tally_kmers
from gpuasm.sequence.encoding import pack
from gpuasm.sequence.reads import Reads


def reads_of(genome: Path, fold: float, *, length: int = 150, error_rate: float = 0.0025) -> Reads:
    rng = np.random.default_rng(1)
    codes = read_genome(genome)[0].codes
    n = int(fold * codes.size / length)
    start = rng.integers(0, codes.size - length, n)
    reads = codes[start[:, None] + np.arange(length)]
    wrong = rng.random(reads.shape, dtype=np.float32) < error_rate
    reads[wrong] = (reads[wrong] + rng.integers(1, 4, int(wrong.sum()), dtype=np.uint8)) % 4
    starts = np.arange(n, dtype=np.int64) * length
    return Reads(pack(reads.ravel()), starts, np.full(n, length, np.int32), np.arange(n), n)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("genome", type=Path)
    parser.add_argument("--fold", type=float, default=100)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    host = reads_of(options.genome, options.fold)
    rows = []
    for device in ["cpu"] + (["cuda"] if arrays.device_count() else []):
        xp = arrays.namespace_of(device)
        reads = host.moved_to(xp)
        for followers in (False, True):
            times = []
            for _ in range(options.repeat + 1):
                arrays.synchronize(xp)
                began = time.perf_counter()
                tally = tally_kmers(reads, 31, min_count=2, with_followers=followers)
                arrays.synchronize(xp)
                times.append(time.perf_counter() - began)
            rows.append(
                {
                    "device": device,
                    "followers": followers,
                    "windows": int(host.n_segments * 120),
                    "distinct": int(tally.histogram.sum()),
                    "kept": tally.n,
                    "first_s": times[0],
                    "median_s": float(np.median(times[1:])),
                    "all_s": times[1:],
                }
            )
            print({k: v for k, v in rows[-1].items() if k != "all_s"}, flush=True)
    record(options.json, "count_on_device", {"fold": options.fold}, rows)


if __name__ == "__main__":
    main()
