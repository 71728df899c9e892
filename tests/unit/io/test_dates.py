"""Dates of samples."""

from __future__ import annotations

import math

import pytest

from gpuasm.io.dates import year_of


@pytest.mark.parametrize(
    ("text", "year"),
    [
        ("2020", 2020.5), ("2020-07", 2020 + 197.5 / 366), ("2020-01-01", 2020 + 0.5 / 366),
        ("2019-12-31", 2019 + 364.5 / 365), ("2020-XX-XX", 2020.5), ("2020-02-xx", 2020 + 45.5 / 366),
        ("2009.57", 2009.57), (" 1999-03-01T10:00 ", 1999 + 59.5 / 365), ("0000", 0.5),
    ],
)  # fmt: skip
def test_dates(text, year):
    assert year_of(text) == pytest.approx(year)


@pytest.mark.parametrize("text", [None, "", "?", "2020-13-01", "2020-02-30", "2020-00", "1e9", "nan", "yesterday"])
def test_no_dates(text):
    assert math.isnan(year_of(text))
