"""Measure time, memory and disk of the first graph in buckets: gpuasm partition, compact and join.

    python benchmarks/buckets.py READS_1 READS_2 --buckets 16 --json benchmarks/results/buckets.json

Of the jobs of a bucket, the figures are those of the largest one.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from processes import GPUASM, Usage, measure
from record import record


def steps(folder: Path, reads: list[Path], options: argparse.Namespace) -> list[dict[str, Any]]:
    """Run all steps in a folder, and return the figures of each."""
    run = runner(folder, ["-t", str(options.threads), "--device", options.device, "-q"])
    given = ["-1", reads[0], "-2", reads[1], "--trim", "no", "--buckets", str(options.buckets), "--json", "run.json"]
    partition = [run("partition", *given, "-o", "buckets")]
    buckets, spectra, pieces = sorted((folder / "buckets").iterdir()), [], []
    counted, compacted = [], []
    for path in buckets:
        spectra.append(path.with_suffix(".tsv"))
        counted.append(run("compact", path, "--spectrum-only", "-o", spectra[-1]))
    given = [part for path in spectra for part in ("--spectrum", path)]
    for path in buckets:
        pieces.append(path.with_suffix(".pieces"))
        compacted.append(run("compact", path, *given, "-o", pieces[-1]))
    joined = [run("join", *pieces, "-o", "first.graph")]
    bases = sum(file["n_bases"] for file in json.loads((folder / "run.json").read_text())["inputs"])
    made = {"partition": (partition, buckets), "compact --spectrum-only": (counted, spectra)}
    made |= {"compact": (compacted, pieces), "join": (joined, [folder / "first.graph"])}
    return [{"bases": bases, "step": step, **largest(*both)} for step, both in made.items()]


def runner(folder: Path, options: list[str]) -> Callable[..., Usage]:
    """Return a function that runs a command of gpuasm."""
    return lambda *words: measure([*GPUASM, *words, *options], folder=folder, log=folder / "log.txt")


def largest(usages: list[Usage], files: list[Path]) -> dict[str, Any]:
    """Return the number of jobs, the figures of the largest job, and the bytes of all files."""
    most = {name: max(usage.as_dict()[name] for usage in usages) for name in usages[0].as_dict()}
    return {"jobs": len(usages), **most, "file_bytes": sum(path.stat().st_size for path in files)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reads", type=Path, nargs=2)
    parser.add_argument("--buckets", type=int, default=16)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        rows = steps(Path(name), [path.resolve() for path in options.reads], options)
    print(*rows, sep="\n")
    record(options.json, "buckets", {"buckets": options.buckets, "device": options.device}, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
