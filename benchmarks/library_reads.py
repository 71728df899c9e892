"""Reads of a genome as libraries have them: uneven, copied, chimeric, run into adapters, wrong at places of their own.

    python benchmarks/library_reads.py GENOME OUT/NAME_ --kind nextera --fold 60 --seed 301

ART's reads are of an even, clean library. Here fragments are drawn with a length (log-normal, so that some run into the
adapter) and taken less often the further their GC content is from what amplification favours
(doi:10.1186/gb-2011-12-2-r18), and from place to place. Some are joined of two, some are copies of another, a few are
PhiX. Bases are wrong more often towards the end of a read, in second mates, in some reads, and after GGC on the strand
that is read (doi:10.1093/nar/gkr344; doi:10.1186/s12859-016-0976-y). Qualities have four values, as newer machines give
them, and what follows a fragment and its adapter is G, as two-colour machines call no light. No rate was fitted to an
assembler. The same arguments give the same reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np

from gpuasm.io.genomes import read_genome

_NEXTERA = ("CTGTCTCTTATACACATCTCCGAGCCCACGAGAC", "CTGTCTCTTATACACATCTGACGCTGCCGACGA")
_TRUSEQ = ("AGATCGGAAGAGCACACGTCTGAACTCCAGTCAC", "AGATCGGAAGAGCGTCGTGTAGGGAAAGAGTGT")
_QUALITIES = np.array([2, 12, 23, 37], np.uint8)
_LETTERS = np.frombuffer(b"ACGTN", np.uint8)
_A, _C, _G, _T, _N = range(5)
_LONG_REPLICON, _AT_ENDS, _STEP = 500_000, 0.6, 800
_BEST_GC, _LONGEST, _BLOCK = 0.48, 2_000, 1 << 16
_BAD, _SECOND, _MARKED, _UNKNOWN = 5.0, 1.6, 0.7, 0.0001


@dataclass(frozen=True)
class Kind:
    """What a kind of library is like: lengths in bases, and shares.

    Attributes
    ----------
    length
        Of reads.
    insert, spread, shortest
        Median of the fragments' lengths, sigma of their logarithm, and the shortest.
    gc_width, local
        How far from the best GC content amplification falls off, and sigma of a place's own factor.
    copies, chimeras, phix
        Fragments that are copies of another, joined of two, and of PhiX.
    first, last, bad
        Wrong bases at a read's begin and end, and the reads with five times that.
    motif
        How much likelier the base after GGC is wrong.
    adapters
        What follows a fragment in either mate.
    """

    length: int = 150
    insert: int = 350
    spread: float = 0.3
    shortest: int = 35
    gc_width: float = 0.2
    local: float = 0.3
    copies: float = 0.1
    chimeras: float = 0.005
    phix: float = 0.002
    first: float = 0.0005
    last: float = 0.006
    bad: float = 0.04
    motif: float = 0.01
    adapters: tuple[str, str] = _TRUSEQ


KINDS = {
    "pcr-free": Kind(insert=450, spread=0.2, gc_width=0.5, local=0.15, copies=0.02, chimeras=0.001),
    "truseq": Kind(),
    "nextera": Kind(insert=260, spread=0.5, gc_width=0.16, local=0.4, chimeras=0.01, adapters=_NEXTERA),
    "over-amplified": Kind(insert=300, spread=0.4, gc_width=0.13, local=0.4, copies=0.4, chimeras=0.02),
    "miseq": Kind(length=250, insert=420, spread=0.4, last=0.02, bad=0.1, adapters=_NEXTERA),
}


class Template:
    """Replicons in a row, each circular one followed by its own beginning, and how likely a fragment begins at a base.

    The last `phix` places are PhiX's.
    """

    def __init__(self, genome: Path, phix: Path | None, kind: Kind, rng: np.random.Generator) -> None:
        self.kind, self.rng = kind, rng
        molecules = read_genome(genome) + (read_genome(phix) if phix else [])
        texts = [np.resize(one.codes, one.codes.size + _LONGEST * one.circular) for one in molecules]
        sizes = np.array([one.codes.size for one in molecules])
        ends = np.cumsum([text.size for text in texts])
        self.text = np.concatenate(texts)
        self.place = np.concatenate([e - t.size + np.arange(n) for e, t, n in zip(ends, texts, sizes, strict=True)])
        self.end = np.repeat(ends, sizes)
        self.phix = int(sizes[-1]) if phix else 0
        self.factor = np.concatenate([uneven(n, rng, sigma=kind.local, at_ends=_AT_ENDS) for n in sizes.tolist()])
        self.most = np.percentile(self.factor, 99.9)
        self._gc = np.concatenate([[0], np.cumsum((self.text == _C) | (self.text == _G))])

    def draw(self, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return where n fragments begin in the text, how long they are, and whether the other strand is read first."""
        kept: list[np.ndarray] = []
        while sum(map(len, kept)) < n:
            drawn = self.rng.integers(self.place.size - self.phix, size=_BLOCK)
            if self.phix:
                other = self.rng.random(_BLOCK) < self.kind.phix
                drawn = np.where(other, self.place.size - 1 - drawn % self.phix, drawn)
            size = self.kind.insert * np.exp(self.rng.normal(0, self.kind.spread, _BLOCK))
            size = np.clip(size.astype(np.int64), self.kind.shortest, _LONGEST)
            begin = self.place[drawn]
            inside = begin + size <= self.end[drawn]
            gc = (self._gc[np.where(inside, begin + size, 0)] - self._gc[begin]) / size
            chance = self.factor[drawn] / self.most * np.exp(-(((gc - _BEST_GC) / self.kind.gc_width) ** 2))
            taken = inside & (self.rng.random(_BLOCK) < chance)
            kept.append(np.stack([begin[taken], size[taken]], axis=1))
        begin, size = np.concatenate(kept)[:n].T
        return begin, size, self.rng.random(n) < 0.5


def uneven(size: int, rng: np.random.Generator, *, sigma: float, at_ends: float) -> np.ndarray:
    """Return how often fragments begin at each base of a replicon: (size,) float64, up to a factor.

    From its middle to its ends it falls to ``at_ends``, if it is long; from place to place it is log-normal, with
    straight lines between values every 800 bases.
    """
    place = np.arange(size)
    ends = 1 - (1 - at_ends) * np.abs(2 * (place / size) - 1) if size > _LONG_REPLICON else np.ones(size)
    knots = rng.normal(0, sigma, size // _STEP + 3)
    return ends * np.exp(np.interp(place / _STEP, np.arange(knots.size), knots))


@dataclass(frozen=True)
class Fragments:
    """Fragments of one piece of a text, or of two.

    Attributes
    ----------
    begin, size : (2, n) int64
        Where both pieces begin in the text, and their bases there.
    turned : (2, n) bool
        Whether the other strand of a piece is read.
    cut, whole : (n,) int64
        Base of the fragment from which on it is its second piece, and how many it has.
    """

    begin: np.ndarray
    size: np.ndarray
    turned: np.ndarray
    cut: np.ndarray
    whole: np.ndarray

    def part(self, begin: int, end: int) -> Fragments:
        """Return fragments begin to end."""
        some = slice(begin, end)
        pieces = (values[:, some] for values in (self.begin, self.size, self.turned))
        return Fragments(*pieces, self.cut[some], self.whole[some])

    def bases(self, text: np.ndarray, at: np.ndarray) -> np.ndarray:
        """Return the codes at places (n, length) of the fragments; beyond their ends is anything."""
        at = np.clip(at, 0, self.whole[:, None] - 1)
        second = (at >= self.cut[:, None]).astype(np.int64)
        row = np.arange(self.cut.size)[:, None]
        at = at - np.where(second == 1, self.cut[:, None], 0)
        begin, size, turned = self.begin[second, row], self.size[second, row], self.turned[second, row]
        codes = text[np.where(turned, begin + size - 1 - at, begin + at)]
        return np.where(turned, _complement(codes), codes)


def _complement(codes: np.ndarray) -> np.ndarray:
    return np.where(codes < _N, _T - codes, _N).astype(np.uint8)


def fragments_of(template: Template, n: int) -> Fragments:
    """Draw fragments: some joined of two, some copies of another."""
    kind, rng = template.kind, template.rng
    pieces = [np.stack(values) for values in zip(template.draw(n), template.draw(n), strict=True)]
    begin, size, turned = pieces
    cut = size[0].copy()
    joined = rng.random(n) < kind.chimeras
    cut[joined] = (size[0][joined] * rng.uniform(0.2, 0.8, joined.sum())).astype(np.int64)
    whole = np.where(joined, cut + size[1], size[0])
    model = np.where(rng.random(n) < kind.copies, rng.integers(n, size=n), np.arange(n))
    return Fragments(begin[:, model], size[:, model], turned[:, model], cut[model], whole[model])


def read(fragments: Fragments, template: Template, mate: int) -> tuple[np.ndarray, np.ndarray]:
    """Return codes and qualities of one mate of each fragment: (n, length) uint8 each."""
    kind, rng, n = template.kind, template.rng, fragments.cut.size
    cycle = np.arange(kind.length)[None]
    at = fragments.whole[:, None] - 1 - cycle if mate else np.repeat(cycle, n, axis=0)
    codes = fragments.bases(template.text, at)
    codes = _complement(codes) if mate else codes
    adapter = np.array(["ACGT".index(base) for base in kind.adapters[mate]] + [_G], np.uint8)
    beyond = cycle - fragments.whole[:, None]
    codes = np.where(beyond >= 0, adapter[np.clip(beyond, 0, adapter.size - 1)], codes)
    dark = beyond >= adapter.size - 1
    rates = _rates(codes, kind, mate, rng)
    wrong = (rng.random(codes.shape) < rates) & ~dark & (codes < _N)
    codes[wrong] = (codes[wrong] + rng.integers(1, 4, wrong.sum())) % 4
    level = np.where(rng.random(codes.shape) < 4 * rates, 2, 3)  # some of what is right is uncertain too
    marked = wrong & (rng.random(codes.shape) < _MARKED)
    level[marked] = rng.integers(1, 3, marked.sum())
    unknown = (rng.random(codes.shape) < _UNKNOWN) | (codes == _N)
    codes[unknown] = _N
    level[dark | unknown] = 0
    return codes, _QUALITIES[level]


def _rates(codes: np.ndarray, kind: Kind, mate: int, rng: np.random.Generator) -> np.ndarray:
    """Return how likely each base is read wrong."""
    cycle = np.arange(kind.length) / kind.length
    rate = (kind.first + (kind.last - kind.first) * cycle**2) * (_SECOND if mate else 1.0)
    rates = rate[None] * np.where(rng.random(len(codes)) < kind.bad, _BAD, 1.0)[:, None]
    after = (codes[:, :-3] == _G) & (codes[:, 1:-2] == _G) & (codes[:, 2:-1] == _C)
    rates[:, 3:] += np.where(after, kind.motif, 0.0)
    return rates


def write(path: Path, blocks: Iterator[tuple[np.ndarray, np.ndarray]], mate: int) -> None:
    """Write FASTQ."""
    number = 0
    with path.open("wb") as file:
        for codes, qualities in blocks:
            for bases, values in zip(_LETTERS[codes], qualities + 33, strict=True):
                file.write(b"@read%d/%d\n%s\n+\n%s\n" % (number, mate, bases.tobytes(), values.tobytes()))
                number += 1


@click.command()
@click.argument("genome", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("prefix", type=click.Path(path_type=Path))
@click.option("--kind", type=click.Choice(list(KINDS)), default="truseq", show_default=True)
@click.option("--fold", default=60.0, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--phix", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="PhiX174's genome.")
def main(*, genome: Path, prefix: Path, kind: str, fold: float, seed: int, phix: Path | None) -> None:
    """Write PREFIX1.fq and PREFIX2.fq: reads of GENOME (FASTA) as a library of a kind has them."""
    chosen, rng = KINDS[kind], np.random.default_rng(seed)
    template = Template(genome, phix, chosen, rng)
    n = int(fold * (template.place.size - template.phix) / (2 * chosen.length))
    fragments = fragments_of(template, n)
    prefix.parent.mkdir(parents=True, exist_ok=True)
    for mate in (0, 1):
        blocks = (read(fragments.part(begin, begin + _BLOCK), template, mate) for begin in range(0, n, _BLOCK))
        write(Path(f"{prefix}{mate + 1}.fq"), blocks, mate + 1)
    print(f"{n:,} pairs, {fold:g}-fold")


if __name__ == "__main__":
    main()
