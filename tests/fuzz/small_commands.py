"""Commands on small inputs of two kinds, and the results that each gives when nothing disturbs it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from random import Random

from tests.read_files import genome_text, simulated_pairs, write_pairs

ARGUMENTS = {
    "assemble": "-1 {inputs}/reads_1.fastq -2 {inputs}/reads_2.fastq -o {output} --checkpoint-after 0 {common}",
    "bin": "{inputs}/contigs.fasta --no-depth -o {output} {common}",
    "check": "-1 {inputs}/reads_1.fastq -2 {inputs}/reads_2.fastq --json {output}/check.json {common}",
    "count": "{inputs}/reads_1.fastq -o {output}/counts.npz --spectrum {output}/spectrum.tsv"
    " --json {output}/run.json {common}",
    "geolocate": "{inputs}/graph.tsv {inputs}/places.tsv -o {output}/located.tsv --geojson {output}/located.json"
    " --map {output}/map.svg --json {output}/run.json {common}",
    "pagerank": "{inputs}/graph.tsv -o {output}/ranks.tsv --picture {output}/ranks.svg {common}",
    "relate": "one={inputs}/contigs.fasta two={inputs}/reads_1.fastq -o {output} {common}",
    "report": "run={assembly} -o {output}/report.html --summary {output}/summary.tsv",
    "som": "train {inputs}/table.tsv -o {output} {common}",
    "unitigs": "{inputs}/reads_1.fastq -o {output}/unitigs.gfa --fasta {output}/unitigs.fasta"
    " --json {output}/run.json {common}",
}
"""The arguments of each command: ``{inputs}`` is the folder of its inputs, ``{assembly}`` that of a whole assembly,
``{common}`` has options of all commands."""
WRITES_FOLDER = {"assemble", "bin", "relate", "som"}
"""Commands that make their folder; the others are given one that is there."""
TIMED = {"report.html", "run.json", "summary.tsv"}
"""Outputs that contain times."""

Files = dict[str, bytes]
"""The bytes of each file of a folder, by its path within."""


class SmallCommands:
    """Two sets of inputs, and the results of some commands on both.

    Parameters
    ----------
    folder
        For all files.
    names
        Commands of `ARGUMENTS`.
    length
        Bases of each genome.
    device
        Where to compute.

    Attributes
    ----------
    results : list of dict
        The files that each command gives, by its name, for each set of inputs.
    seconds : dict
        How long each command takes when no other runs.
    """

    def __init__(self, folder: Path, names: Iterable[str], *, length: int = 12_000, device: str = "cpu") -> None:
        self.folder, self.names, self._device = folder, sorted(names), device
        self.results: list[dict[str, Files]] = [{}, {}]
        self.seconds: dict[str, float] = {}
        for number in range(2):
            _write_inputs(folder / f"inputs{number}", length=length, seed=number + 5)
            for name in sorted({"assemble", *self.names} if "report" in self.names else self.names):
                output = folder / f"whole{number}" / name
                output.mkdir(parents=True)
                began = time.monotonic()
                command = self.command(name, number, output)
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
                self.seconds[name] = time.monotonic() - began
                self.results[number][name] = files_of(output)

    def command(self, name: str, number: int, output: Path) -> list[str]:
        """Return a command that writes into a folder the results of a set of inputs."""
        inputs, assembly = self.folder / f"inputs{number}", self.folder / f"whole{number}" / "assemble"
        common = f"--device {self._device} -t 2 -q"
        text = ARGUMENTS[name].format(inputs=inputs, assembly=assembly, output=output, common=common)
        return [sys.executable, "-m", "gpuasm", name, *text.split()]

    def differing(self, name: str, number: int, files: Files) -> list[str]:
        """Return the names of files that are missing, too many, or not those of a set of inputs."""
        results, other = self.results[number][name], f"{self.folder}/inputs{1 - number}/".encode()
        same = {
            file for file in files.keys() & results.keys()
            if (other not in files[file] if file in TIMED else files[file] == results[file])
        }  # fmt: skip
        return sorted((files.keys() | results.keys()) - same)


def _write_inputs(folder: Path, *, length: int, seed: int) -> None:
    """Write reads, contigs, a graph, places and a table."""
    rng, genome = Random(seed), genome_text(length=length, repeats=2, seed=seed)
    write_pairs(folder, simulated_pairs(genome))
    contigs = [genome[start : start + 4000] for start in range(0, length, 4000)]
    (folder / "contigs.fasta").write_text("".join(f">contig_{i}\n{contig}\n" for i, contig in enumerate(contigs)))
    edges = [(source, rng.randrange(200)) for source in range(200) for _ in range(5)]
    (folder / "graph.tsv").write_text("".join(f"v{source}\tv{target}\n" for source, target in edges))
    places = [f"v{i}\t{rng.uniform(-60, 60):.3f}\t{rng.uniform(-170, 170):.3f}\n" for i in range(0, 200, 3)]
    (folder / "places.tsv").write_text("name\tlatitude\tlongitude\n" + "".join(places))
    rows = ("\t".join(f"{rng.gauss(0, 1):.4f}" for _ in range(4)) for _ in range(300))
    (folder / "table.tsv").write_text("a\tb\tc\td\n" + "\n".join(rows) + "\n")


def files_of(folder: Path) -> Files:
    """Return all files of a folder but checkpoints, and the log, to which each run appends."""
    others = {".checkpoint.npz", "assemble.log"}
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in others)
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}
