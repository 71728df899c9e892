from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from gpuasm.io.digits import put_number


@given(value=st.integers(0, 2**63 - 1), at=st.integers(0, 5))
@example(value=0, at=0)
@example(value=10, at=0)
@example(value=2**63 - 1, at=0)
def test_digits_are_those_of_the_number(value, at):
    text = np.full(30, ord("."), np.uint8)
    end = put_number(text, at, np.int64(value))
    assert text.tobytes().decode() == "." * at + str(value) + "." * (30 - end)
    assert end == at + len(str(value))
