"""Repeats of an assembly graph have high ranks: a family of ten in a genome, which is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpuasm.io.graphs import read_graph
from gpuasm.ranking import power_iteration, random_walks
from tests.planted import COPIES, ELEMENT, planted_genome, planted_graph


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_family_of_repeats_is_in_the_top_hundredth(tmp_path: Path, seed: int) -> None:
    planted = planted_graph(tmp_path, seed=seed)
    assert planted.planted
    assert len(planted.names) > 400
    graph = read_graph(planted.path)
    for ranks in (power_iteration(graph).ranks, random_walks(graph, coupons=20, seed=seed).ranks):
        of_segment = ranks[::2] + ranks[1::2]
        place = {planted.names[i]: p for p, i in enumerate(np.argsort(-of_segment).tolist())}
        assert max(place[name] for name in planted.planted) < 0.01 * len(planted.names)


def test_the_genome_has_the_copies() -> None:
    genome, family = planted_genome(seed=4)
    backwards = (3 - family[::-1]).tobytes()
    assert genome.size == 400_000
    assert family.size == ELEMENT
    assert sum(genome.tobytes().count(text) for text in (family.tobytes(), backwards)) == COPIES
