"""Compare the k-mers of gpuasm with KMC's and its unitigs with BCALM's, exactly.

    python benchmarks/exactness.py reads_1.fastq.gz reads_2.fastq.gz --json results/exactness.json

KMC: the number of distinct canonical 31-mers, and the whole histogram of their multiplicities. BCALM: the set of
unitigs for each k, up to strand and, for circles, rotation. Prints the differences and ends with exit code 1 if there
are any.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from processes import GPUASM, measure, peer_versions, require_programs
from record import record
from unitig_sets import UnitigSet

_HIGHEST = 10_000
"""Higher multiplicities share one class: KMC keeps counts up to a limit only."""
_SHOWN = 5


def compare_histograms(reads: list[Path], folder: Path, *, k: int, threads: int) -> dict[str, Any]:
    """Count k-mers with both programs; return a row of what they found."""
    ours, theirs = _gpuasm_histogram(reads, folder, k, threads), _kmc_histogram(reads, folder, k, threads)
    differing = sorted(m for m in ours.keys() | theirs.keys() if ours.get(m) != theirs.get(m))
    for m in differing[:_SHOWN]:
        print(f"   multiplicity {m}: gpuasm {ours.get(m, 0)}, kmc {theirs.get(m, 0)}")
    return {
        "what": "spectrum",
        "peer": "kmc",
        "k": k,
        "gpuasm": {"distinct": sum(ours.values()), "classes": len(ours)},
        "other": {"distinct": sum(theirs.values()), "classes": len(theirs)},
        "differing": len(differing),
        "equal": not differing,
    }


def _gpuasm_histogram(reads: list[Path], folder: Path, k: int, threads: int) -> dict[int, int]:
    path = folder / "spectrum.tsv"
    command = [*GPUASM, "count", *reads, "-k", str(k), "--spectrum", path, "-t", str(threads), "--device", "cpu", "-q"]
    measure(command, folder=folder, log=folder / "gpuasm.log")
    return _capped(path.read_text().splitlines()[1:])


def _kmc_histogram(reads: list[Path], folder: Path, k: int, threads: int) -> dict[int, int]:
    work, log = folder / "kmc", folder / "kmc.log"
    work.mkdir()
    (folder / "reads.txt").write_text("".join(f"{path}\n" for path in reads))
    kind = "-fq" if _is_fastq(reads[0]) else "-fm"
    limits = ["-ci1", f"-cs{_HIGHEST}"]
    measure(["kmc", kind, f"-k{k}", *limits, f"-t{threads}", "@reads.txt", "db", work], folder=folder, log=log)
    transform = ["kmc_tools", "transform", "db", "histogram", "kmc.txt", "-ci1", f"-cx{_HIGHEST}"]
    measure(transform, folder=folder, log=log)
    return _capped((folder / "kmc.txt").read_text().splitlines())


def _is_fastq(path: Path) -> bool:
    return any(suffix in {".fq", ".fastq"} for suffix in path.suffixes)


def _capped(lines: list[str]) -> dict[int, int]:
    histogram: dict[int, int] = {}
    for line in lines:
        multiplicity, kmers = map(int, line.split())
        if kmers:
            histogram[min(multiplicity, _HIGHEST)] = histogram.get(min(multiplicity, _HIGHEST), 0) + kmers
    return histogram


def compare_unitigs(reads: list[Path], folder: Path, *, k: int, min_count: int, threads: int) -> dict[str, Any]:
    """Build unitigs with both programs; return a row of what they found."""
    ours = _gpuasm_unitigs(reads, folder, (k, min_count, threads))
    theirs = _bcalm_unitigs(reads, folder, (k, min_count, threads))
    differing = {"gpuasm": ours.only_here(theirs), "bcalm": theirs.only_here(ours)}
    for name, texts in differing.items():
        for text in texts[:_SHOWN]:
            print(f"   only {name} has, {len(text)} bases: {text[:100]}{'...' if len(text) > 100 else ''}")
    return {
        "what": "unitigs",
        "peer": "bcalm",
        "k": k,
        "min_count": min_count,
        "gpuasm": ours.figures(),
        "other": theirs.figures(),
        "differing": sum(map(len, differing.values())),
        "equal": ours.unitigs == theirs.unitigs,
    }


def _gpuasm_unitigs(reads: list[Path], folder: Path, settings: tuple[int, int, int]) -> UnitigSet:
    k, min_count, threads = settings
    path = folder / f"gpuasm_{k}.fa"
    command = [*GPUASM, "unitigs", *reads, "-k", str(k), "--min-count", str(min_count), "--fasta", path]
    measure([*command, "-t", str(threads), "--device", "cpu", "-q"], folder=folder, log=folder / "gpuasm.log")
    return UnitigSet.read(path, k)


def _bcalm_unitigs(reads: list[Path], folder: Path, settings: tuple[int, int, int]) -> UnitigSet:
    k, min_count, threads = settings
    (folder / "reads.txt").write_text("".join(f"{path}\n" for path in reads))
    command = ["bcalm", "-in", "reads.txt", "-kmer-size", str(k), "-abundance-min", str(min_count)]
    command += ["-nb-cores", str(threads), "-out", f"bcalm_{k}"]
    measure(command, folder=folder, log=folder / "bcalm.log")
    return UnitigSet.read(folder / f"bcalm_{k}.unitigs.fa", k)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reads", type=Path, nargs="+", help="FASTQ or FASTA, plain or gzip")
    parser.add_argument("--k", type=int, nargs="+", default=[31, 63, 95], help="values of k of the unitigs")
    parser.add_argument("--spectrum-k", type=int, default=31)
    parser.add_argument("--min-count", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    require_programs(["kmc", "kmc_tools", "bcalm"])
    reads = [path.resolve(strict=True) for path in options.reads]
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows.append(compare_histograms(reads, folder, k=options.spectrum_k, threads=options.threads))
        print(rows[-1], flush=True)
        for k in options.k:
            rows.append(compare_unitigs(reads, folder, k=k, min_count=options.min_count, threads=options.threads))
            print(rows[-1], flush=True)
    parameters = {"reads": [path.name for path in reads], "peers": peer_versions(["kmc", "bcalm"])}
    record(options.json, "exactness", parameters, rows)
    if not all(row["equal"] for row in rows):
        sys.exit("gpuasm and its peers differ")


if __name__ == "__main__":
    main()
