from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.primitives.searching import run_of


@given(sizes=st.lists(st.integers(0, 4), min_size=1, max_size=20).filter(any))
def test_every_place_lies_in_its_run(sizes):
    start = np.concatenate([[0], np.cumsum(sizes)])
    found = [run_of(place, start, len(sizes)) for place in range(start[-1])]
    assert found == np.repeat(np.arange(len(sizes)), sizes).tolist()
