"""Time all commands of this checkout and of an earlier one in turn: no command should get slower.

    python benchmarks/baseline.py ../earlier --turns 9 --json benchmarks/results/baseline.json

Each command is a whole process on small inputs; figures are medians of seconds of CPU time. Each checkout has a folder
of compiled code, which the first turn fills; that turn is not counted. ``--folder`` keeps inputs and compiled code for
another run.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from processes import GPUASM, Usage, measure
from record import record

ROOT = Path(__file__).parents[1]
_GENOME, _VERTICES, _EDGES, _ROWS, _COLUMNS = 60_000, 20_000, 60_000, 2_000, 16
COMMANDS = {
    "version": "--version",
    "check": "check -1 {inputs}/a_1.fq -2 {inputs}/a_2.fq",
    "count": "count {inputs}/a_1.fq -k 31 -o {out}/counts.npz",
    "unitigs": "unitigs {inputs}/a_1.fq -o {out}/unitigs.gfa",
    "assemble": "assemble -1 {inputs}/a_1.fq -2 {inputs}/a_2.fq -o {out}/assembly",
    "bin": "bin {inputs}/a.fasta --no-depth -o {out}/bins",
    "som": "som train {inputs}/table.tsv -o {out}/map",
    "relate": "relate a={inputs}/a.fasta b={inputs}/b.fasta c={inputs}/a_1.fq -o {out}/samples",
    "geolocate": "geolocate {inputs}/graph.tsv {inputs}/places.txt -o {out}/located.tsv",
    "graph info": "graph info {inputs}/graph.tsv",
    "graph convert": "graph convert {inputs}/graph.tsv -o {out}/graph.npz",
    "euler": "euler {inputs}/circuit.tsv -o {out}/circuit.txt",
    "pagerank": "pagerank {inputs}/graph.tsv -o {out}/ranks.tsv",
    "densest": "densest {inputs}/graph.tsv -k 20 -o {out}/densest.tsv",
    "debruijn": "debruijn --alphabet ACGT --order 8 -o {out}/sequence.txt",
    "simulate": "simulate reads {inputs}/a.fasta --fold 20 -1 {out}/a_1.fq -2 {out}/a_2.fq --seed 3",
    "report": "report {inputs}/assembly -o {out}/report.html",
}
"""The arguments of each command; all are given `-q` and a device if they take these options."""
_LOUD = {"version", "graph info", "graph convert", "debruijn", "simulate", "report"}


def write_inputs(folder: Path) -> None:
    """Write the inputs of all commands."""
    rng = random.Random(1)
    for name, seed in (("a", "1"), ("b", "2")):
        run(["simulate", "genome", "--length", str(_GENOME), "--seed", seed, "-o", f"{folder}/{name}.fasta"], folder)
    mates = ["-1", f"{folder}/a_1.fq", "-2", f"{folder}/a_2.fq"]
    run(["simulate", "reads", f"{folder}/a.fasta", "--fold", "30", *mates, "--seed", "1"], folder)
    run(["assemble", *mates, "-o", f"{folder}/assembly", "-q", "--device", "cpu"], folder)
    circuit = [rng.randrange(_VERTICES) for _ in range(_EDGES)]
    pairs = zip(circuit, circuit[1:] + circuit[:1], strict=True)
    (folder / "circuit.tsv").write_text("".join(f"{tail}\t{head}\n" for tail, head in pairs))
    edges = {(rng.randrange(_VERTICES), rng.randrange(_VERTICES)) for _ in range(_EDGES)}
    (folder / "graph.tsv").write_text("".join(f"{tail}\t{head}\n" for tail, head in sorted(edges)))
    places = (
        f"{vertex}\t{rng.uniform(-80, 80):.4f}\t{rng.uniform(-180, 180):.4f}\n" for vertex in range(0, _VERTICES, 2)
    )
    (folder / "places.txt").write_text("".join(places))
    rows = ([f"r{row}", *(f"{rng.random():.4f}" for _ in range(_COLUMNS))] for row in range(_ROWS))
    header = "\t".join(["name", *(f"x{column}" for column in range(_COLUMNS))])
    (folder / "table.tsv").write_text("\n".join([header, *("\t".join(row) for row in rows)]) + "\n")


def run(arguments: list[str], folder: Path) -> Usage:
    """Run a command of the checkout that the environment names."""
    return measure([*GPUASM, *arguments], folder=folder, log=folder / "log.txt")


def turns(base: Path, folder: Path, *, n: int, names: list[str]) -> Iterator[dict[str, dict[str, list[float]]]]:
    """Run all commands so many times and once before, of both checkouts in turn; yield all times after each turn."""
    taken: dict[str, dict[str, list[float]]] = {name: {"base": [], "new": []} for name in names}
    for turn in range(n + 1):
        for name in names:
            for which, checkout in (("base", base), ("new", ROOT))[:: 1 if turn % 2 else -1]:
                os.environ.update(PYTHONPATH=str(checkout), GPUASM_CACHE_DIR=str(folder / f"cache_{which}"))
                out = folder / "out"
                shutil.rmtree(out, ignore_errors=True)
                out.mkdir()
                arguments = COMMANDS[name].format(inputs=folder, out=out).split()
                usage = run([*arguments, *([] if name in _LOUD else ["-q", "--device", "cpu"])], folder)
                if turn:
                    taken[name][which].append(usage.cpu_s)
        if turn:
            yield taken


def rows(taken: dict[str, dict[str, list[float]]]) -> list[dict[str, object]]:
    """Return a row for each command: the median of both checkouts and their ratio."""
    found = []
    for name, times in taken.items():
        base, new = statistics.median(times["base"]), statistics.median(times["new"])
        each = {"turns": len(times["new"]), "base_s": round(base, 3), "new_s": round(new, 3)}
        least = {"base_least_s": min(times["base"]), "new_least_s": min(times["new"])}
        found.append({"command": name, **each, "ratio": round(new / base, 3), **least})
    return found


def main() -> None:
    """Time all and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", type=Path, help="the earlier checkout")
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--commands", nargs="+", default=list(COMMANDS), choices=list(COMMANDS), metavar="COMMAND")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as name:
        folder = options.folder or Path(name)
        for which in ("base", "new"):
            (folder / f"cache_{which}").mkdir(mode=0o700, parents=True, exist_ok=True)
        os.environ.update(PYTHONPATH=str(ROOT), GPUASM_CACHE_DIR=str(folder / "cache_new"))
        if not (folder / "table.tsv").exists():
            write_inputs(folder)
        for taken in turns(options.base.resolve(), folder, n=options.turns, names=options.commands):
            found = rows(taken)
            print(*(f"{row['command']} {row['ratio']}" for row in found), sep=", ", file=sys.stderr, flush=True)
            record(options.json, "baseline", {"base": options.base.name}, found)


if __name__ == "__main__":
    main()
