"""Contigs as targets: stretches between gaps, circular contigs, weights."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from gpuasm.arrays import namespace_of, to_host
from gpuasm.assembly.alignment.seed_index import Targets
from gpuasm.sequence.encoding import decode, encode, unpack

REACH = 7


def plain_targets(contigs):
    """Return text, size, whether it is circular, offset and weight of each target."""
    rows, place = [], 0
    for text, is_circular, depth in contigs:
        for found in re.finditer("[ACGT]+", text):
            own, is_whole = found[0], is_circular and len(found[0]) == len(text)
            around = (own * (REACH + 1))[: len(own) + REACH] if is_whole else own
            rows.append((around, len(own), is_whole, place + found.start(), max(1, round(16 * depth))))
        place += len(text)
    return rows, place


@given(st.lists(st.tuples(st.text("ACGTN", max_size=20), st.booleans(), st.floats(0, 9))))
def test_targets_are_the_stretches_without_gaps(contigs):
    texts, is_circular, depth = ([row[i] for row in contigs] for i in range(3))
    xp = namespace_of("cpu")
    found = Targets.of([encode(text) for text in texts], is_circular, depth=depth, reach=REACH, xp=xp)
    expected, n_places = plain_targets(contigs)
    bounds = found.start.tolist()
    packed = to_host(found.packed)
    rows = [
        (decode(unpack(packed, begin, end - begin)), *row)
        for begin, end, *row in zip(
            bounds[:-1],
            bounds[1:],
            *(column.tolist() for column in (found.size, found.is_circular, found.offset, found.weight)),
            strict=True,
        )
    ]
    assert rows == expected
    assert found.n_places == n_places
