"""Where contigs truly come from, and how complete and pure bins are by that."""

from __future__ import annotations

import csv
import gzip
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gpuasm.clustering.bins.bins import BinOptions
from gpuasm.clustering.bins.contrast import find_contrast
from gpuasm.clustering.bins.windows import cut_contigs
from gpuasm.io.contigs import ContigRecord
from gpuasm.kmers import count_tetramers

LEAST_COMPLETENESS, MOST_CONTAMINATION = 90.0, 5.0
LEAST_LENGTH = 500


@dataclass
class Truth:
    """Where contigs come from.

    Attributes
    ----------
    length
        Bases of each genome.
    owner
        The genome of each contig that matches one.
    covered
        Of each contig, the stretches of its genome that it covers: sequence, begin, end.
    """

    length: dict[str, int]
    owner: dict[str, str] = field(default_factory=dict)
    covered: dict[str, list[tuple[str, int, int]]] = field(default_factory=dict)

    def completeness(self, genome: str, contigs: Iterable[str]) -> float:
        """Return the percentage of a genome that contigs of its own among ``contigs`` cover."""
        stretches = [s for c in contigs if self.owner.get(c) == genome for s in self.covered[c]]
        return 100 * covered_bases(stretches) / self.length[genome]


def covered_bases(stretches: Iterable[tuple[str, int, int]]) -> int:
    """Return how many bases lie in at least one of the stretches."""
    total, sequence, reached = 0, "", 0
    for name, begin, end in sorted(stretches):
        if name != sequence:
            sequence, reached = name, 0
        total += max(0, end - max(begin, reached))
        reached = max(reached, end)
    return total


def find_truth(contigs: Path, sheet: Path, folder: Path, *, threads: int) -> Truth:
    """Align contigs to all genomes at once."""
    with sheet.open(newline="") as file:
        genomes = [
            (r["genome"], (sheet.parent / r["reference"]).resolve(strict=True))
            for r in csv.DictReader(file, delimiter="\t")
        ]
    length: dict[str, int] = defaultdict(int)
    references = folder / "references.fasta"
    with references.open("w") as file:
        for genome, path in genomes:
            with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
                for line in lines:
                    if line.startswith(">"):
                        file.write(f">{genome}|{line[1:].split()[0]}\n")
                    else:
                        file.write(line)
                        length[genome] += len(line.strip())
    command = ["minimap2", "-x", "asm5", "-c", "--secondary=no", "-t", str(threads), str(references), str(contigs)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return truth_of(csv.reader(done.stdout.splitlines(), delimiter="\t"), dict(length))


def truth_of(alignments: Iterable[Sequence[str]], length: dict[str, int]) -> Truth:
    """Return the truth by rows of PAF whose targets are named GENOME|SEQUENCE."""
    matches: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    stretches: dict[str, list[tuple[str, int, int]]] = defaultdict(list)
    for row in alignments:
        contig, target = row[0], row[5]
        matches[contig][target.partition("|")[0]] += int(row[9])
        stretches[contig].append((target, int(row[7]), int(row[8])))
    truth = Truth(length)
    for contig, found in matches.items():
        owner = max(found, key=lambda genome: (found[genome], genome))
        truth.owner[contig] = owner
        truth.covered[contig] = [s for s in stretches[contig] if s[0].partition("|")[0] == owner]
    return truth


def judge(bins: Mapping[str, Sequence[ContigRecord]], contigs: Sequence[ContigRecord], truth: Truth) -> dict[str, Any]:
    """Judge bins: how complete and pure each genome is in the bin that has most of it."""
    rows = []
    for genome in truth.length:
        best = max(bins, key=lambda b: truth.completeness(genome, [c.name for c in bins[b]]), default=None)
        inside = bins[best] if best else []
        bases = sum(c.codes.size for c in inside)
        own = sum(c.codes.size for c in inside if truth.owner.get(c.name) == genome)
        completeness = truth.completeness(genome, [c.name for c in inside])
        contamination = 100 * (1 - own / bases) if bases else 0.0
        rows.append(
            {
                "genome": genome,
                "completeness": round(completeness, 2),
                "contamination": round(contamination, 2),
                "assembled": round(
                    truth.completeness(genome, [c.name for c in contigs if c.codes.size >= LEAST_LENGTH]), 2
                ),
                "f1": round(max((f1(genome, inside, truth) for inside in bins.values()), default=0.0), 4),
                "is_good": completeness >= LEAST_COMPLETENESS and contamination < MOST_CONTAMINATION,
            }
        )
    return {
        "bins": len(bins),
        "good": sum(row["is_good"] for row in rows),
        "binned_bases": sum(c.codes.size for inside in bins.values() for c in inside),
        "bases": sum(c.codes.size for c in contigs),
        "genomes": rows,
    }  # fmt: skip


def f1(genome: str, inside: Sequence[ContigRecord], truth: Truth) -> float:
    """Return the harmonic mean of the completeness of a genome in a bin and the purity of the bin."""
    completeness = truth.completeness(genome, [c.name for c in inside]) / 100
    own = sum(c.codes.size for c in inside if truth.owner.get(c.name) == genome)
    purity = own / sum(c.codes.size for c in inside) if own else 0.0
    return 2 * completeness * purity / (completeness + purity) if purity else 0.0


def judge_as_amber(
    bins: Mapping[str, Sequence[ContigRecord]], contigs: Sequence[ContigRecord], truth: Truth
) -> dict[str, float]:
    """Return the mean purity of bins, the mean completeness of genomes, and their F1, by AMBER's definitions.

    Lengths are those of contigs. Contigs of no genome do not count, nor genomes without contigs. See Meyer et al. 2018,
    https://doi.org/10.1093/gigascience/giy069.
    """
    total = _bases_of_genomes(contigs, truth)
    inside = [found for found in (_bases_of_genomes(own, truth) for own in bins.values()) if found]
    purity = _mean([max(found.values()) / sum(found.values()) for found in inside])
    best = (max((found.get(genome, 0) for found in inside), default=0) / bases for genome, bases in total.items())
    completeness = _mean(list(best))
    both = purity + completeness
    f1_score = 2 * purity * completeness / both if both else 0.0
    return {"purity": round(purity, 4), "completeness": round(completeness, 4), "f1": round(f1_score, 4)}


def _bases_of_genomes(contigs: Iterable[ContigRecord], truth: Truth) -> dict[str, int]:
    bases: dict[str, int] = defaultdict(int)
    for contig in contigs:
        if contig.name in truth.owner:
            bases[truth.owner[contig.name]] += contig.codes.size
    return bases


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def nearest_centre(contigs: Sequence[ContigRecord], truth: Truth) -> dict[str, float]:
    """Return the percentage of windows of contigs that are nearest to the centre of their own genome, for each scale.

    By shares of tetranucleotides with median 0 and median deviation 1 in each column (robust z-scores), the same of
    logarithms of shares (centred log-ratios), and by the axes that gpuasm bin uses.
    """
    options = BinOptions()
    start = np.concatenate([[0], np.cumsum([c.codes.size for c in contigs])])
    pieces = cut_contigs(np.diff(start), window=options.window, least=options.least)
    begin = start[pieces.contig]
    counts = count_tetramers(np.concatenate([c.codes for c in contigs]), begin + pieces.begin, begin + pieces.end)
    share = counts / counts.sum(axis=1, keepdims=True)
    ratio = np.log(counts + 0.5)
    owner = np.array([truth.owner.get(contigs[c].name, "") for c in pieces.contig])
    seen = {
        "robust z-scores": robust_scores(share),
        "robust z-scores of log-ratios": robust_scores(ratio - ratio.mean(axis=1, keepdims=True)),
        "contrast": find_contrast(counts, pieces.contig, options.window).place(counts),
    }
    return {name: round(100 * nearest_share(rows, owner), 2) for name, rows in seen.items()}


def robust_scores(rows: np.ndarray) -> np.ndarray:
    apart = rows - np.median(rows, axis=0)
    deviation = np.median(np.abs(apart), axis=0)
    return apart / np.where(deviation > 0, deviation, 1.0)


def nearest_share(rows: np.ndarray, owner: np.ndarray) -> float:
    """Return the share of rows whose nearest centre is that of their own class; rows of class "" do not count."""
    names = sorted(set(owner.tolist()) - {""})
    centre = np.array([rows[owner == name].mean(axis=0) for name in names])
    distance = np.column_stack([((rows - c) ** 2).sum(axis=1) for c in centre])
    nearest = np.array(names)[distance.argmin(axis=1)]
    return float((nearest == owner)[owner != ""].mean())
