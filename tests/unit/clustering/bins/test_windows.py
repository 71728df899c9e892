"""Contigs cut into windows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.clustering.bins.windows import cut_contigs


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
def test_windows_follow_dick_et_al(length, expected):
    windows = cut_contigs(np.array([length]), window=5000, least=2500)
    assert list(zip(windows.begin.tolist(), windows.end.tolist(), strict=True)) == expected


@given(lengths=st.lists(st.integers(0, 400), max_size=20), window=st.integers(1, 90), least=st.integers(1, 200))
def test_windows_cover_each_long_contig_once(lengths, window, least):
    windows = cut_contigs(np.array(lengths, np.int64), window=window, least=least)
    covered = [np.zeros(n, int) for n in lengths]
    for contig, begin, end in zip(windows.contig, windows.begin, windows.end, strict=True):
        covered[contig][begin:end] += 1
        assert min(window, lengths[contig]) <= end - begin < 2 * window or lengths[contig] < 2 * window
    for n, times in zip(lengths, covered, strict=True):
        assert (times == (n >= least)).all()
    assert (np.diff(windows.contig) >= 0).all()
