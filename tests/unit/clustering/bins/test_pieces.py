"""Contigs cut into pieces."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.clustering.bins.pieces import cut_contigs


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (2499, []),
        (2500, [(0, 2500)]),
        (9999, [(0, 9999)]),
        (10_000, [(0, 5000), (5000, 10_000)]),
        (14_000, [(0, 5000), (5000, 14_000)]),  # Dick et al.: 5 kb + 9 kb
    ],
)
def test_a_contig_is_cut_as_dick_et_al_did(length, expected):
    pieces = cut_contigs(np.array([length]), window=5000, least=2500)
    assert list(zip(pieces.begin.tolist(), pieces.end.tolist(), strict=True)) == expected


@given(lengths=st.lists(st.integers(0, 400), max_size=20), window=st.integers(1, 90), least=st.integers(1, 200))
def test_pieces_cover_each_long_contig_once(lengths, window, least):
    pieces = cut_contigs(np.array(lengths, np.int64), window=window, least=least)
    covered = [np.zeros(n, int) for n in lengths]
    for contig, begin, end in zip(pieces.contig, pieces.begin, pieces.end, strict=True):
        covered[contig][begin:end] += 1
        assert min(window, lengths[contig]) <= end - begin < 2 * window or lengths[contig] < 2 * window
    for n, times in zip(lengths, covered, strict=True):
        assert (times == (n >= least)).all()
    assert (np.diff(pieces.contig) >= 0).all()
