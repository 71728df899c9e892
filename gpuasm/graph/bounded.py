"""Random numbers below a bound, of random bits."""

from __future__ import annotations

import numpy as np

from gpuasm.parallel import inlined

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


@inlined()
def below(bits, n):
    """Return a random int64 from 0 to n - 1 of 64 random bits; n is an int64 below 2^63."""
    # The upper half of bits * n; the bias is n / 2^64.
    bound = np.uint64(n)
    low = (bits & _LOW) * (bound & _LOW)
    middle = (bits >> _HALF) * (bound & _LOW) + (low >> _HALF)
    other = (bits & _LOW) * (bound >> _HALF) + (middle & _LOW)
    return np.int64((bits >> _HALF) * (bound >> _HALF) + (middle >> _HALF) + (other >> _HALF))
