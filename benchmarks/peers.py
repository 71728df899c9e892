"""Run gpuasm and its peers on the same reads, in turn on one host, each as a whole process.

    python benchmarks/peers.py reads_1.fastq.gz reads_2.fastq.gz --threads 2 --repeat 3 --json results/peers.json

Assembly against MEGAHIT (and SKESA with ``--skesa``), counting against KMC, unitigs against BCALM. In each repetition
all programs of a comparison run one after the other, every second time in the reverse order. Run it on a quiet machine.
``--device cuda`` makes gpuasm use the GPU; the peers have none.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from processes import GPUASM, measure, peer_versions, require_programs
from record import record

Command = Callable[[Path], list[str | Path]]
"""Returns the command to run in a given empty folder."""


def comparisons(options: argparse.Namespace) -> dict[str, dict[str, Command]]:
    """Return for each comparison the programs and their commands."""
    reads = [path.resolve(strict=True) for path in options.pair]
    first, second = reads
    t, k, least = str(options.threads), str(options.k), str(options.min_count)
    ours = ["--device", options.device, "-t", t, "-q"]
    pairs = ["-1", first, "-2", second]
    listed = "".join(f"{path}\n" for path in reads)

    def with_list(*arguments: str) -> Command:
        def command(folder: Path) -> list[str | Path]:
            (folder / "reads.txt").write_text(listed)
            return list(arguments)

        return command

    found: dict[str, dict[str, Command]] = {
        "assemble": {
            "gpuasm": lambda folder: [*GPUASM, "assemble", *pairs, "-o", folder / "out", *ours],
            "megahit": lambda folder: ["megahit", *pairs, "-t", t, "-o", folder / "out"],
        },
        "count": {
            "gpuasm": lambda folder: [*GPUASM, "count", *reads, "-k", k, "-o", folder / "counts.npz", *ours],
            "kmc": with_list("kmc", f"-k{k}", f"-t{t}", "@reads.txt", "counts", "."),
        },
        "unitigs": {
            "gpuasm": lambda folder: [
                *[*GPUASM, "unitigs", *reads, "-k", k, "--min-count", least],
                *["--fasta", folder / "unitigs.fa", *ours],
            ],
            "bcalm": with_list(
                *["bcalm", "-in", "reads.txt", "-kmer-size", k, "-abundance-min", least, "-nb-cores", t, "-out", "out"]
            ),
        },
    }
    if options.skesa:
        found["assemble"]["skesa"] = lambda folder: [
            *["skesa", "--reads", f"{first},{second}", "--cores", t, "--contigs_out", folder / "contigs.fa"]
        ]
    return {name: found[name] for name in options.only}


def run_in_turn(commands: dict[str, Command], repeat: int) -> list[dict[str, Any]]:
    """Run the programs ``repeat`` times in alternating order; return a row of medians for each."""
    taken: dict[str, list[dict[str, float]]] = {program: [] for program in commands}
    for turn in range(repeat):
        for program in list(commands)[:: -1 if turn % 2 else 1]:
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                (folder / "work").mkdir()
                command = commands[program](folder / "work")
                usage = measure(command, folder=folder / "work", log=folder / "log")
            taken[program].append(usage.as_dict())
            print(f"   {program}: {usage}", flush=True)
    return [
        {
            "program": program,
            **{key: round(statistics.median(usage[key] for usage in usages), 2) for key in usages[0]},
            "all": usages,
        }
        for program, usages in taken.items()
    ]


def main() -> None:
    names = ["assemble", "count", "unitigs"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pair", type=Path, nargs=2)
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--k", type=int, default=31, help="for counting and unitigs")
    parser.add_argument("--min-count", type=int, default=3, help="for unitigs")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--skesa", action="store_true", help="assemble with SKESA too")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    chosen = comparisons(options)
    peers = sorted({program for commands in chosen.values() for program in commands} - {"gpuasm"})
    require_programs(peers)
    rows = []
    for name, commands in chosen.items():
        print(name, flush=True)
        devices = {"gpuasm": options.device}
        found = run_in_turn(commands, options.repeat)
        rows += [
            {"comparison": name, "device": devices.get(row["program"], "cpu"), "threads": options.threads, **row}
            for row in found
        ]
    parameters = {
        "reads": [path.name for path in options.pair],
        "threads": options.threads,
        "k": options.k,
        "min_count": options.min_count,
        "repeat": options.repeat,
        "peers": peer_versions(peers),
    }
    record(options.json, "peers", parameters, rows)
    for row in rows:
        print({key: value for key, value in row.items() if key != "all"})


if __name__ == "__main__":
    main()
