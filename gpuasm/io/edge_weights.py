"""Weights of edges as text: the third column of edge lists and of Matrix Market."""

from __future__ import annotations

import numpy as np

from gpuasm.errors import DataError
from gpuasm.graph.rows import group_by
from gpuasm.io.graph_text import bad_line, quoted
from gpuasm.io.growing_array import GrowingArray
from gpuasm.io.numbers import real_number
from gpuasm.parallel import compiled, inlined

WEIGHT_COLUMN = 3


class EdgeWeights:
    """The weights of the edges read so far, in the order of the file; `sort` brings them into that of a graph.

    Parameters
    ----------
    allow_negative
        Whether a weight may be below 0.
    allow_any
        Whether a weight may be any number, infinite ones and NaN too, as none is used.
    """

    def __init__(self, *, allow_negative: bool = False, allow_any: bool = False) -> None:
        self.allow_negative, self.allow_any = allow_negative, allow_any
        self._values = GrowingArray(np.float64)

    def add(self, block: bytes, scanned: tuple[np.ndarray, np.ndarray], n_lines_before: int) -> None:
        """Append the weights of a block.

        Parameters
        ----------
        block
            Of whole lines.
        scanned : (n,) float64, (n,) int64
            The weights, NaN where they are no plain decimals, and where each begins in the block.
        n_lines_before
            Of the file.

        Raises
        ------
        DataError
            If a weight is no finite number, or negative; it names the line.
        """
        values, begins = scanned
        wrong = np.zeros(values.size, bool)
        for i in np.flatnonzero(np.isnan(values)).tolist():
            text_of_weight = block[begins[i] :].split(None, 1)[0].split(b",", 1)[0].decode(errors="replace")
            value = real_number(text_of_weight)
            values[i], wrong[i] = (np.nan, True) if value is None else (value, False)
        if not self.allow_any:
            wrong |= ~np.isfinite(values)
            if not self.allow_negative:
                wrong |= values < 0
        if wrong.any():
            begin = int(begins[wrong.argmax()])
            found = block[begin:].split(None, 1)[0].decode(errors="replace")
            raise bad_line(
                n_lines_before + block[:begin].count(b"\n") + 1, self._expected, quoted(found),
                "correct the third column, or leave it out",
            )  # fmt: skip
        self._values.append(values)

    @property
    def _expected(self) -> str:
        if self.allow_any:
            return "a number as the third column"
        return "a finite weight" if self.allow_negative else "a finite weight of 0 or more"

    @property
    def values(self) -> np.ndarray:
        """The weights in the order of the lines, (m,) float64."""
        return self._values.view()

    def sort(self, source: np.ndarray, n: int) -> np.ndarray:
        """Return the weights in the order of the edges of a graph whose edges came from these sources, (m,) float64."""
        values = self._values.finish()
        if values.size != source.size:  # or rows would be written outside their array
            found = f"{values.size} weights of {source.size} edges"
            raise DataError("a weight for each edge", found, "separate the columns by tabs")
        return group_by(source, values, n)[1]

    def mirror(self, kept: np.ndarray, *, negated: bool) -> None:
        """Let each weight be followed by that of the edge back, negated or not, and keep those marked."""
        if negated and not self.allow_negative:
            raise DataError("weights of 0 or more", "a skew-symmetric matrix", "write the entries as a general matrix")
        both = np.repeat(self._values.finish(), 2)
        if negated:
            both[1::2] *= -1.0
        self._values = GrowingArray(np.float64)
        self._values.append(both[kept])


def check_weights(weights: np.ndarray, n_edges: int, *, allow_negative: bool = False) -> np.ndarray:
    """Return weights that come as an array as (m,) float64.

    Raises
    ------
    DataError
        If they are not a number for each edge, finite, and of 0 or more.
    """
    if weights.shape != (n_edges,) or weights.dtype.kind not in "iuf":
        raise DataError(
            f"a weight for each of {n_edges} edges",
            f"{weights.dtype} of shape {weights.shape}",
            "give as many numbers as edges",
        )
    values = weights.astype(np.float64, copy=False)
    wrong = ~np.isfinite(values) if allow_negative else ~(np.isfinite(values) & (values >= 0))
    if wrong.any():
        edge = int(wrong.argmax())
        kind = "finite weights" if allow_negative else "finite weights of 0 or more"
        raise DataError(kind, f"{values[edge]} at edge {edge}", "correct the weights")
    return values


POWERS = 10.0 ** np.arange(16)
"""Powers of ten, for `decimal`."""
_POINT, _MINUS, _PLUS, _NEWLINE = 46, 45, 43, 10


@inlined()
def ends_field(byte):
    """Return whether a byte separates the fields of a line, or ends it; other control characters do not."""
    return byte == 44 or (byte <= 32 and byte in (32, 9, _NEWLINE, 13))


@compiled()
def decimal(text, at, end, powers):
    """Return the number of a field, NaN if it is no plain decimal of up to 15 digits, which Python parses then.

    Digits are an integer over a power of ten, both exact, so that the quotient is rounded correctly.
    """
    negative = text[at] == _MINUS
    if negative or text[at] == _PLUS:
        at += 1
    digits, decimals, value, after_point = 0, 0, np.int64(0), False
    while at < end:
        digit = np.int64(text[at]) - 48
        if text[at] == _POINT and not after_point:
            after_point = True
        elif 0 <= digit <= 9 and digits < 15:
            value = value * 10 + digit
            digits += 1
            decimals += after_point
        else:
            return np.nan
        at += 1
    if digits == 0:
        return np.nan
    number = np.float64(value) / powers[decimals]
    return -number if negative else number
