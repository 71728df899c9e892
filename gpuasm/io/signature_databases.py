"""Databases of sketches of genomes, searched by sourmash (doi:10.21105/joss.00027)."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gpuasm.errors import DataError, DeviceError, NoInputError

NO_DATABASE = "not identified: no database was given (gpuasm identify --database)"
"""The species of contigs that were not searched in a database."""
LEAST_HASHES = 3
"""Hashes that a match must share: fewer are shared by chance, or by one common gene."""
_MOST_K = 31
_REMEDY = "name a file of sourmash, .sig or .sig.zip, of scaled sketches of DNA"


@dataclass(frozen=True)
class Match:
    """A genome of a database that explains part of a query.

    Attributes
    ----------
    name : str
        As the database has it.
    share : float
        Share of the query, from 0 to 1, that this genome explains and no better one does; by abundance, if it is known.
    ani : float or None
        Average nucleotide identity, from 0 to 1, by the larger containment; None if there are too few hashes.
    genome_share : float
        Share of the genome that the query contains.
    bases : int
        Different k-mers of ``share``, estimated.
    genome_size : int or None
        Different k-mers of the genome, estimated; None if there are too few hashes.
    """

    name: str
    share: float
    ani: float | None
    genome_share: float
    bases: int
    genome_size: int | None


class SignatureDatabase:
    """The scaled DNA sketches of a file of sourmash that have one k.

    Parameters
    ----------
    path
        ``.sig``, ``.sig.gz`` or ``.sig.zip``. Other databases of sourmash name more files, which are not opened.
    k
        Of the sketches; None: the largest up to 31.

    Attributes
    ----------
    k, scaled, n : int
        One k-mer in ``scaled`` is in the sketches, of which there are n.

    Raises
    ------
    DataError
        If the file is another one, is damaged, or has no such sketch.
    NoInputError
        If it is not there.
    DeviceError
        If sourmash is not installed.
    """

    def __init__(self, path: str | Path, k: int | None = None) -> None:
        if not Path(path).is_file():
            raise NoInputError("a file of sketches", "none", "check the path", path=path)
        self._path, index = path, _loaded(path)
        with _damage_reported(path):
            kinds = {kind for kind in _kinds(index) if kind[0] <= _MOST_K}
        ks = sorted({size for size, _ in kinds})
        if not ks or (k is not None and k not in ks):
            found = f"k = {', '.join(map(str, ks))}" if ks else "none"
            of_k = f"of k = {k}" if k else f"of k up to {_MOST_K}"
            raise DataError(f"scaled sketches of DNA {of_k}", found, _REMEDY, path=path)
        self.k = k or ks[-1]
        self.scaled = max(scaled for size, scaled in kinds if size == self.k)
        with _damage_reported(path):
            self._index = index.select(ksize=self.k, moltype="DNA", scaled=self.scaled, containment=True)
            self.n = len(self._index)

    @property
    def max_hash(self) -> int:
        """The largest hash of a sketch."""
        return int(self._minhash()._max_hash)  # noqa: SLF001 - it has no other name

    def search(self, hashes: np.ndarray, abundances: np.ndarray | None = None) -> list[Match]:
        """Return the genomes that explain a query, the one that explains most first (doi:10.1101/2022.01.11.475838).

        Parameters
        ----------
        hashes : (n,) uint64
            Different, none above `max_hash`.
        abundances : (n,) int
            How often each occurs; None if this does not matter.

        Raises
        ------
        DataError
            If the file is damaged.
        """
        from sourmash import SourmashSignature  # noqa: PLC0415 - an optional library that loads slowly
        from sourmash.search import GatherDatabases  # noqa: PLC0415

        if hashes.size < LEAST_HASHES:
            return []
        minhash = self._minhash(track_abundance=abundances is not None)
        if abundances is None:
            minhash.add_many(hashes.tolist())
        else:
            minhash.set_abundances(dict(zip(hashes.tolist(), abundances.tolist(), strict=True)))
        query, least = SourmashSignature(minhash).to_frozen(), LEAST_HASHES * self.scaled
        with _damage_reported(self._path):
            counter = self._index.counter_gather(query, least)
            results = GatherDatabases(query, [counter], threshold_bp=least, ignore_abundance=abundances is None)
            return [_match(result) for result in results]

    def _minhash(self, **options: Any) -> Any:
        from sourmash import MinHash  # noqa: PLC0415

        return MinHash(n=0, ksize=self.k, scaled=self.scaled, **options)


def _match(result: Any) -> Match:
    minhash = result.match.minhash
    return Match(
        name=result.match.name or result.match.filename or result.match.md5sum(),
        share=float(result.f_unique_weighted),
        ani=None if result.max_containment_ani is None else float(result.max_containment_ani),
        genome_share=float(result.f_match_orig),
        bases=int(result.unique_intersect_bp),
        genome_size=int(minhash.unique_dataset_hashes) if minhash.size_is_accurate() else None,
    )


@contextmanager
def _damage_reported(path: str | Path) -> Iterator[None]:
    """Turn what sourmash raises of damaged files into a DataError; it does not check what it reads."""
    from sourmash.exceptions import SourmashError  # noqa: PLC0415

    try:
        yield
    except (SourmashError, OSError, ValueError, LookupError, TypeError, AttributeError, zipfile.BadZipFile) as error:
        found = " ".join(str(error).split()) or type(error).__name__
        raise DataError("a database of sketches", f"another file ({found})", _REMEDY, path=path) from error


def _loaded(path: str | Path) -> Any:
    try:
        from sourmash.index import LinearIndex, ZipFileLinearIndex  # noqa: PLC0415
        from sourmash.signature import load_signatures_from_json  # noqa: PLC0415
    except ImportError as error:
        remedy = "install it, with pip install 'gpuasm[identify]'"
        raise DeviceError("sourmash, which searches databases of sketches", "none", remedy) from error
    with _damage_reported(path):
        if zipfile.is_zipfile(path):
            return ZipFileLinearIndex.load(str(path))
        return LinearIndex(list(load_signatures_from_json(str(path), do_raise=True)), str(path))


def _kinds(index: Any) -> Iterable[tuple[int, int]]:
    """Return k and scaled of the scaled DNA sketches of an index."""
    manifest = getattr(index, "manifest", None)
    if manifest is not None:
        rows = [(row["moltype"], row["ksize"], row["scaled"]) for row in manifest.rows]
    else:
        sketches = [signature.minhash for signature in index.signatures()]
        rows = [(sketch.moltype, sketch.ksize, sketch.scaled) for sketch in sketches]
    return [(int(k), int(scaled)) for kind, k, scaled in rows if kind == "DNA" and scaled]
