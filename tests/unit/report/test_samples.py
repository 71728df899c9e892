"""The picture of distances."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.report import sample_figures
from gpuasm.report.sample_figures import distance_figure


@pytest.mark.parametrize("n", [1, 3, 61])
def test_names_are_written_where_there_is_room(n):
    names = [f"sample_{i}_{'x' * 30}" for i in range(n)]
    svg = distance_figure(names, np.ones((n, n)), list(range(n)))
    assert svg.startswith("<svg")
    assert svg == distance_figure(names, np.ones((n, n)), list(range(n)))
    assert svg.count("sample_0_xxxxxxxxxxxxxx…") == (2 if n <= 60 else 0)
    assert (f"{n} samples in the order of their tree" in svg) == (n > 60)


def test_large_pictures_are_means(monkeypatch):
    monkeypatch.setattr(sample_figures, "_MOST_CELLS", 2)
    values = np.arange(25.0).reshape(5, 5)
    thin = sample_figures._thinned(values)
    assert thin.tolist() == [
        [values[:2, :2].mean(), values[:2, 2:].mean()],
        [values[2:, :2].mean(), values[2:, 2:].mean()],
    ]
