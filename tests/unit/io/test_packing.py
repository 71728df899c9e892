"""Loops over found records."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.io.packing import ALL_COUNTED, QUALITY_SAMPLE, count_qualities


@given(
    st.lists(st.binary(max_size=40), min_size=1, max_size=40),
    st.sampled_from([0, 5, ALL_COUNTED - 3, ALL_COUNTED, ALL_COUNTED + 7, 10**9]),
)
def test_qualities_are_counted_of_the_first_records_and_of_a_sample(qualities, n_before):
    text = np.frombuffer(b"".join(qualities) + b"\n", np.uint8)
    end = np.cumsum([len(quality) for quality in qualities])
    records = np.zeros((len(qualities), 6), np.int64)
    records[:, 4], records[:, 5] = end - [len(quality) for quality in qualities], end
    counts = np.arange(256)
    count_qualities(text, records, n_before, counts)
    chosen = [n for n in range(len(qualities)) if n_before + n < ALL_COUNTED or (n_before + n) % QUALITY_SAMPLE == 0]
    seen = np.frombuffer(b"".join(qualities[n] for n in chosen), np.uint8)
    assert (counts - np.arange(256)).tolist() == np.bincount(seen, minlength=256).tolist()
