"""Time sketches and the comparison of all with all, and check them against Mash.

``python -m benchmarks.relate -o relate.json`` compares 1,000 related sketches of 1,000 hashes on the CPU, and on the
device where there is one; ``--genomes FILE ...`` compares distances of genomes with those that ``mash`` prints.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gpuasm import arrays, parallel
from gpuasm.io.genomes import fasta_records
from gpuasm.samples import Sketches, SketchKind, compare, mash_distance, sketch_text
from gpuasm.samples.comparison import shared_hashes
from gpuasm.sequence.reads import Reads

K, SIZE = 21, 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--threads", type=int)
    parser.add_argument(
        "--genomes", type=Path, nargs="*", default=[], help="FASTA files to compare with Mash's figures"
    )
    options = parser.parse_args()
    parallel.set_threads(options.threads)
    result: dict[str, Any] = {"samples": options.samples, "size": SIZE, "threads": parallel.thread_count()}
    result["devices"] = [device["name"] for device in arrays.device_properties()]
    result["comparison"] = [compare_families(options.samples, families) for families in (1, 20, options.samples)]
    result["sketching"] = sketch_a_genome(5_000_000)
    if options.genomes:
        result["mash"] = against_mash(options.genomes)
    options.output.write_text(json.dumps(result, indent=2) + "\n")


def compare_families(n: int, families: int) -> dict[str, Any]:
    """Time n samples that share most hashes within a family, and compare what the devices count."""
    sketches = related_sketches(n, families)
    row: dict[str, Any] = {"families": families}
    host, row["cpu_s"] = best_of(3, lambda: shared_hashes(sketches))
    if arrays.device_count():
        xp = arrays.namespace_of("cuda")
        moved = Sketches(sketches.kind, sketches.names, arrays.to_device(sketches.hashes), sketches.offsets)

        def on_device() -> Any:
            shared = shared_hashes(moved, xp)
            arrays.synchronize(xp)
            return shared

        device, row["device_s"] = best_of(5, on_device)
        _, row["device_with_transfers_s"] = best_of(3, lambda: compare(sketches, xp))
        row["same"] = bool(np.array_equal(host, arrays.to_host(device)))
    print(row)
    return row


def related_sketches(n: int, families: int) -> Sketches:
    rng = np.random.default_rng(1)
    ancestors = [rng.integers(0, 1 << 62, 3 * SIZE, dtype=np.uint64) for _ in range(families)]
    parts = []
    for i in range(n):
        kept = ancestors[i % families][rng.random(3 * SIZE) >= 0.3 * rng.random()]
        own = rng.integers(0, 1 << 62, 3 * SIZE - kept.size, dtype=np.uint64)
        parts.append(np.unique(np.concatenate([kept, own]))[:SIZE])
    return Sketches.join(SketchKind.bottom(K, SIZE), [str(i) for i in range(n)], parts)


def sketch_a_genome(length: int) -> dict[str, Any]:
    """Time a sketch of one random genome in memory."""
    reads = Reads.from_codes([np.random.default_rng(2).integers(0, 4, length, np.uint8)])
    kind = SketchKind.bottom(K, SIZE)
    row: dict[str, Any] = {"bases": length}
    host, row["cpu_s"] = best_of(3, lambda: sketch_text(reads, kind))
    if arrays.device_count():
        moved = reads.moved_to(arrays.namespace_of("cuda"))
        device, row["device_s"] = best_of(3, lambda: arrays.to_host(sketch_text(moved, kind)))
        row["same"] = bool(np.array_equal(host, device))
    print(row)
    return row


def against_mash(paths: list[Path]) -> dict[str, Any]:
    """Count the pairs whose printed distance or number of shared hashes is not Mash's."""
    kind = SketchKind.bottom(K, SIZE)
    texts = [Reads.from_codes(record.codes for record in fasta_records(path, acgt_only=True)) for path in paths]
    start = time.perf_counter()
    found = compare(Sketches.join(kind, [str(path) for path in paths], [sketch_text(text, kind) for text in texts]))
    seconds = time.perf_counter() - start
    distance, compared = mash_distance(found), found.compared
    mine = {
        (found.names[i], found.names[j]): (f"{distance[i, j]:.6g}", f"{found.shared[i, j]}/{compared[i, j]}")
        for i in range(found.n)
        for j in range(found.n)
    }
    with tempfile.TemporaryDirectory() as folder:
        names = [str(path) for path in paths]
        run_mash("sketch", "-k", str(K), "-s", str(SIZE), "-o", f"{folder}/all", *names)
        lines = run_mash("dist", f"{folder}/all.msh", f"{folder}/all.msh").splitlines()
    theirs = {(words[0], words[1]): (words[2], words[4]) for words in (line.split("\t") for line in lines)}
    different = [pair for pair in mine if mine[pair] != theirs[pair]]
    row = {
        "version": run_mash("--version").strip(),
        "pairs": len(mine),
        "pairs_that_share": sum(text[0] != "1" for text in mine.values()),
        "different": len(different),
        "bases": sum(text.n_bases for text in texts),
        "seconds": seconds,
    }
    print(row)
    return row


def run_mash(*words: str) -> str:
    return subprocess.run(["mash", *words], check=True, capture_output=True, text=True).stdout


def best_of(n: int, work: Callable[[], Any]) -> tuple[Any, float]:
    work()  # compiles
    times = []
    for _ in range(n):
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return result, min(times)


if __name__ == "__main__":
    main()
