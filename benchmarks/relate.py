"""Time sketches and the comparison of all with all, and check them against Mash.

``python benchmarks/relate.py --json relate.json`` compares 1,000 related sketches of 1,000 hashes on the CPU, and on
the device where there is one; ``--genomes FILE ...`` compares distances of genomes, and of simulated sequences, with
those that ``mash`` prints, and the time of both.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from record import record

from gpuasm import arrays
from gpuasm.io.genomes import fasta_records
from gpuasm.samples import Sketches, SketchKind, compare, mash_distance, sketch_text
from gpuasm.samples.comparison import shared_hashes
from gpuasm.samples.p_values import p_values
from gpuasm.sequence.encoding import decode
from gpuasm.sequence.reads import Reads
from gpuasm.threads import set_threads, thread_count

K, SIZE = 21, 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--threads", type=int)
    parser.add_argument(
        "--genomes", type=Path, nargs="*", default=[], help="FASTA files to compare with Mash's figures"
    )
    options = parser.parse_args()
    set_threads(options.threads)
    rows = [compare_families(options.samples, families) for families in (1, 20, options.samples)]
    rows.append(sketch_a_genome(5_000_000))
    if options.genomes:
        rows.append(against_mash(options.genomes))
        rows.append(mutants_against_mash(options.samples))
    parameters = {"samples": options.samples, "k": K, "size": SIZE, "threads": thread_count()}
    record(options.json, "relate", parameters, rows)


def compare_families(n: int, families: int) -> dict[str, Any]:
    """Time n samples that share most hashes within a family, and compare what the devices count."""
    sketches = related_sketches(n, families)
    row: dict[str, Any] = {"what": "compare", "families": families}
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
    row: dict[str, Any] = {"what": "sketch", "bases": length}
    host, row["cpu_s"] = best_of(3, lambda: sketch_text(reads, kind))
    if arrays.device_count():
        moved = reads.moved_to(arrays.namespace_of("cuda"))
        device, row["device_s"] = best_of(3, lambda: arrays.to_host(sketch_text(moved, kind)))
        row["same"] = bool(np.array_equal(host, device))
    print(row)
    return row


def against_mash(paths: list[Path]) -> dict[str, Any]:
    """Compare genomes, a file each, with Mash."""
    start = time.perf_counter()
    texts = [text_of([entry.codes for entry in fasta_records(path, acgt_only=True)]) for path in paths]
    row = compare_with_mash([str(path) for path in paths], texts, start, [str(path) for path in paths])
    return {"what": "genomes and mash", **row}


def mutants_against_mash(n: int, families: int = 20, length: int = 20_000) -> dict[str, Any]:
    """Compare n sequences of one file with Mash: mutants of a few, of up to 2 % substitutions."""
    rng = np.random.default_rng(3)
    ancestors = rng.integers(0, 4, (families, length), np.uint8)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mutants.fasta"
        with path.open("w") as file:
            for i in range(n):
                changed = rng.random(length) < 0.02 * rng.random()
                codes = (ancestors[i % families] + changed * rng.integers(1, 4, length, np.uint8)) % 4
                file.write(f">m{i}\n{decode(codes.astype(np.uint8))}\n")
        start = time.perf_counter()
        records = list(fasta_records(path, acgt_only=True))
        texts = [text_of([entry.codes]) for entry in records]
        row = compare_with_mash([entry.name for entry in records], texts, start, ["-i", str(path)])
    return {"what": "mutants and mash", **row}


def text_of(codes: list[np.ndarray]) -> tuple[Reads, int]:
    """Return sequences as reads, and their letters, those that are no bases included."""
    return Reads.from_codes(codes), sum(code.size for code in codes)


def compare_with_mash(
    names: list[str], texts: list[tuple[Reads, int]], start: float, options: list[str]
) -> dict[str, Any]:
    """Count the pairs whose printed distance, P-value or shared hashes are not Mash's, and take the time of both."""
    kind, threads = SketchKind.bottom(K, SIZE), str(thread_count())
    sketches = Sketches.join(kind, names, [sketch_text(text, kind) for text, _ in texts])
    bases = [n for _, n in texts]
    sketched = time.perf_counter()
    found = compare(sketches)
    distance, compared = mash_distance(found), found.compared
    chance = p_values(found, np.array(bases, np.float64))
    done = time.perf_counter()
    row: dict[str, Any] = {"version": run_mash("--version").strip(), "pairs": found.n**2}
    row |= {"bases": sum(bases), "sketch_s": sketched - start, "compare_s": done - sketched}
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        run_mash("sketch", "-p", threads, "-k", str(K), "-s", str(SIZE), "-o", f"{folder}/all", *options)
        row["mash_sketch_s"] = time.perf_counter() - start
        start = time.perf_counter()
        lines = run_mash("dist", "-p", threads, f"{folder}/all.msh", f"{folder}/all.msh").splitlines()
        row["mash_dist_s"] = time.perf_counter() - start
    number = {name: i for i, name in enumerate(names)}
    row["different"] = 0
    for line in lines:
        one, other, *theirs = line.split("\t")
        i, j = number[one], number[other]
        mine = [f"{distance[i, j]:.6g}", f"{chance[i, j]:.6g}", f"{found.shared[i, j]}/{compared[i, j]}"]
        row["different"] += mine != theirs
    row["pairs_that_share"] = int((found.shared > 0).sum())
    assert len(lines) == row["pairs"]
    print(row)
    return row


def run_mash(*arguments: str) -> str:
    return subprocess.run(["mash", *arguments], check=True, capture_output=True, text=True).stdout


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
