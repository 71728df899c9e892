"""Names: the number and strand of the k-mer at each position of a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.errors import ResourceError
from gpuasm.kmers.counting import tally_kmers
from gpuasm.kmers.keys import MAX_PLAIN_K, NAME_BITS, pair_key
from gpuasm.kmers.rolling import all_but_last, rolled
from gpuasm.kmers.tally import Tally
from gpuasm.kmers.windows import tile_windows
from gpuasm.parallel import for_each, inlined, signatures
from gpuasm.primitives.hashing import build_index, find
from gpuasm.sequence.encoding import base_at
from gpuasm.sequence.reads import Reads

_ONE = np.uint64(1)


class KmerIndex(NamedTuple):
    """What kernels take of a `Dictionary`."""

    keys: Array
    slots: Array
    n_slots: Any


@inlined()
def find_pair(first, last, index):
    """Return the oriented number of the k-mer of two named k0-mers, or -1; for bodies of `for_each`.

    ``index`` has the fields of `KmerIndex`.
    """
    keyed = pair_key(first, last)
    number = find(keyed >> _ONE, index.keys, index.slots, index.n_slots)
    return 2 * number + np.int64(keyed & _ONE) if number >= 0 else np.int64(-1)


@dataclass(frozen=True)
class Dictionary:
    """Numbered k-mers and the index that finds them.

    Attributes
    ----------
    k, k0 : int
        Length of the k-mers and of the k0-mers whose pairs are their keys (0 up to k = 31).
    keys : (n,) uint64
    slots : (m,) int32
    n_slots : uint64
        Index of `gpuasm.primitives.hashing.build_index`.
    """

    k: int
    k0: int
    keys: Array
    slots: Array
    n_slots: Any

    @classmethod
    def of(cls, keys: Array, *, k: int, k0: int) -> Dictionary:
        """Index (n,) uint64 keys, all different.

        Raises
        ------
        ResourceError
            If there are too many k-mers for oriented names of 31 bits.
        """
        require_nameable(keys.size)
        return cls(k, k0, keys, *build_index(keys))

    @property
    def index(self) -> KmerIndex:
        """Keys and slots, for kernels."""
        return KmerIndex(self.keys, self.slots, self.n_slots)


def require_nameable(n: int) -> None:
    """Raise ResourceError if there are too many k-mers for oriented names of 31 bits."""
    most = 1 << (NAME_BITS - 1)
    if n >= most:
        raise ResourceError(
            f"fewer than {most:,} distinct k-mers", f"{n:,}", "raise --min-count or assemble fewer reads at a time"
        )


def name_windows(reads: Reads, dictionary: Dictionary, lower: Array | None = None) -> Array:
    """Name the k-mer at every position of the reads' text.

    Parameters
    ----------
    reads
        The reads whose windows are named.
    dictionary
        The named k-mers.
    lower : (32 * n_packed,) int32
        For k > 31, the names of the dictionary's k0-mers at every position.

    Returns
    -------
    (32 * n_packed,) int32: 2 * number + strand at the first base of each window, -1 if no window starts there or its
    k-mer is not in the dictionary.
    """
    xp = array_namespace(reads.packed)
    names = xp.full(reads.packed.size * 32, -1, dtype=np.int32)
    tiles = tile_windows(reads, dictionary.k)
    if dictionary.k <= MAX_PLAIN_K:
        _name_plain(tiles.n, tiles.position, tiles.count, reads.packed, dictionary.k, *dictionary.index, names)
    else:
        shift = dictionary.k - dictionary.k0
        _name_pairs(tiles.n, tiles.position, tiles.count, lower, shift, dictionary.index, names)
    return names


@for_each
def _name_plain(t, position, count, packed, k, keys, slots, n_slots, names):
    forward, backward = all_but_last(packed, position[t], k)
    for j in range(count[t]):
        p = position[t] + j
        forward, backward = rolled(forward, backward, base_at(packed, p + k - 1), k)
        if backward < forward:
            number = find(backward, keys, slots, n_slots)
            if number >= 0:
                names[p] = 2 * number + 1
        else:
            number = find(forward, keys, slots, n_slots)
            if number >= 0:
                names[p] = 2 * number


@signatures("int64[::1], int32[::1], int32[::1], int64, uint64[::1], int32[::1], uint64, int32[::1]")
@for_each
def _name_pairs(t, position, count, lower, shift, index: KmerIndex, names):
    for j in range(count[t]):
        p = position[t] + j
        first = lower[p]
        last = lower[p + shift]
        if first >= 0 and last >= 0:
            names[p] = find_pair(first, last, index)


def tally_by_doubling(
    reads: Reads, chain: list[int], *, min_count: int, with_followers: bool, last_min_count: int | None = None
) -> tuple[Tally, list[Dictionary]]:
    """Count the k-mers of the last k of a doubling chain, using the names at each k before it.

    Parameters
    ----------
    reads
        Packed reads.
    chain
        As returned by `gpuasm.kmers.keys.doubling_chain`.
    min_count
        Rarer k-mers are omitted at every k; counts only fall as k grows, so no k-mer is lost.
    with_followers
        Whether the last tally counts followers.
    last_min_count
        Another least count for the last k, if the histogram has to include k-mers that the tally omits.

    Returns
    -------
    tally : Tally of the last k.
    dictionaries : one for each k of the chain but the last.
    """
    names, k0, dictionaries = None, 0, []
    for k in chain[:-1]:
        tally = tally_kmers(reads, k, names, k0=k0, min_count=min_count, with_followers=False)
        dictionaries.append(Dictionary.of(tally.keys, k=k, k0=k0))
        names, k0 = name_windows(reads, dictionaries[-1], names), k
    least = min_count if last_min_count is None else last_min_count
    tally = tally_kmers(reads, chain[-1], names, k0=k0, min_count=least, with_followers=with_followers)
    return tally, dictionaries
