"""Sketch the samples of a command line, with the requested kind of sketch or the one that suits them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpuasm.cli.sample_inputs import Sample
from gpuasm.errors import DataError
from gpuasm.samples.sketches import Sketches, SketchKind, sketch_kmers, sketch_text
from gpuasm.sequence.reads import Reads

DEFAULT_SIZE = 1000
"""Mash's own."""
_SHORT = 50_000
"""k-mers of a sample up to which all are kept: of a virus, a thousand would miss most single substitutions."""
_MOST_HASHES = 20_000_000
"""Of all samples together; above it one in two, three ... is kept."""


@dataclass(frozen=True)
class SketchOptions:
    """The options of the command line; size and scaled are None if not given."""

    k: int = 21
    size: int | None = None
    scaled: int | None = None
    seed: int = 42

    @property
    def kind(self) -> SketchKind | None:
        """The requested kind; None if the samples determine it."""
        if self.scaled is not None:
            return SketchKind.scaled(self.k, self.scaled, seed=self.seed)
        return SketchKind.bottom(self.k, self.size, seed=self.seed) if self.size is not None else None


class Sketcher:
    """Sketch samples one by one; short ones wait until it is known which kind suits all.

    Parameters
    ----------
    options
        The requested kind.
    xp
        Where to compute.
    """

    def __init__(self, options: SketchOptions, xp: Any) -> None:
        self._options, self._xp = options, xp
        self.samples: list[Sample] = []
        self._waiting: list[Any] = []
        self._kind = options.kind
        self._mixed = SketchKind.bottom(options.k, DEFAULT_SIZE, seed=options.seed)  # refuses a k out of range

    def add(self, sample: Sample) -> None:
        """Take a sample; its text is dropped once it is sketched."""
        content = sample.content
        if isinstance(content, (Reads, np.ndarray)):
            kind = self._kind
            if kind is None and _n_kmers(content, self._options.k) > _SHORT:
                kind = next((other.kind for other in self._waiting if isinstance(other, _Sketch)), self._mixed)
            if kind is not None:
                content = _Sketch(kind, self._sketch(content, kind))
        else:
            content = _Sketch(_kind_of(content), content.hashes)
        self.samples.append(sample.without_content())
        self._waiting.append(content)

    def finish(self) -> Sketches:
        """Return the sketches of all samples, of one kind.

        Raises
        ------
        DataError
            If sketches were given that cannot be compared.
        """
        kind = self._kind or self._suitable()
        parts = []
        for sample, content in zip(self.samples, self._waiting, strict=True):
            if isinstance(content, _Sketch):
                parts.append(_cut(sample, content, kind))
            else:
                parts.append(self._sketch(content, kind))
        return Sketches.join(kind, [sample.name for sample in self.samples], parts)

    def _sketch(self, content: Any, kind: SketchKind) -> np.ndarray:
        from gpuasm.arrays import to_host, to_namespace

        if isinstance(content, Reads):
            return to_host(sketch_text(content.moved_to(self._xp), kind))
        return to_host(sketch_kmers(to_namespace(self._xp, content), kind))

    def _suitable(self) -> SketchKind:
        """Return the kind that all sketches made can be cut to, or else one that keeps what memory has room for."""
        made = [content.kind for content in self._waiting if isinstance(content, _Sketch)]
        if made:
            # Of kinds that differ in more than size, the first is as good as any: the others are refused.
            size, largest = min(kind.size for kind in made), min(kind.max_hash for kind in made)
            return replace(made[0], size=size, max_hash=largest) if size or largest else made[0]
        total = sum(_n_kmers(content, self._options.k) for content in self._waiting)
        return SketchKind.scaled(self._options.k, max(1, -(-total // _MOST_HASHES)), seed=self._options.seed)


@dataclass(frozen=True)
class _Sketch:
    kind: SketchKind
    hashes: np.ndarray


def _n_kmers(content: Any, k: int) -> int:
    if isinstance(content, Reads):
        return int(np.maximum(content.length.astype(np.int64) - (k - 1), 0).sum())
    return int(content.size)


def _kind_of(signature: Any) -> SketchKind:
    return SketchKind(signature.k, signature.size, signature.max_hash, signature.seed)


def _cut(sample: Sample, sketch: _Sketch, kind: SketchKind) -> np.ndarray:
    if sketch.kind == kind:
        return sketch.hashes
    try:
        return Sketches.join(sketch.kind, [sample.name], [sketch.hashes]).cut_to(kind).hashes
    except DataError as error:
        raise DataError(error.expected, error.found, error.remedy, path=sample.file, place=sample.name) from error


def summary_of(samples: Iterable[Sample]) -> dict[str, int]:
    """Return how many samples there are of each kind."""
    found: dict[str, int] = {}
    for sample in samples:
        found[sample.kind] = found.get(sample.kind, 0) + 1
    return found
