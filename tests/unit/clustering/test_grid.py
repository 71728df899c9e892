from __future__ import annotations

import numpy as np
import pytest

from gpuasm.clustering import MapGrid
from gpuasm.errors import UsageError
from tests.oracles.som import touching

SHAPES = [(1, 1), (1, 5), (2, 2), (2, 7), (4, 3), (6, 5)]


@pytest.mark.parametrize("lattice", ["rectangular", "hexagonal"])
@pytest.mark.parametrize("topology", ["planar", "toroidal"])
@pytest.mark.parametrize("shape", SHAPES)
def test_neighbours_are_the_units_at_distance_one(shape, topology, lattice):
    if lattice == "hexagonal" and topology == "toroidal" and shape[0] % 2:
        with pytest.raises(UsageError, match="even number of rows"):
            MapGrid(*shape, topology, lattice)
        return
    grid = MapGrid(*shape, topology, lattice)
    found = np.zeros((grid.n_units, grid.n_units), bool)
    for unit, others in enumerate(grid.neighbours()):
        present = others[others >= 0]
        assert (np.diff(present) > 0).all()
        assert (others[present.size :] == -1).all()
        found[unit, present] = True
    if topology == "planar" or min(shape) > 2:  # on a ring of two, both directions are equally long
        assert np.array_equal(found, touching(grid))
    assert np.array_equal(found, found.T)


def test_inner_units_have_eight_or_six_neighbours():
    for lattice, n in (("rectangular", 8), ("hexagonal", 6)):
        assert ((MapGrid(6, 6, "toroidal", lattice).neighbours() >= 0).sum(axis=1) == n).all()


@pytest.mark.parametrize(
    ("arguments", "found"),
    [((0, 3), "0"), ((2.5, 3), "2.5"), ((3, 3, "flat"), "'flat'"), ((3, 3, "planar", "cubic"), "'cubic'"),
     ((1 << 16, 1 << 16), "4,294,967,296")],
)  # fmt: skip
def test_impossible_grids_are_refused(arguments, found):
    with pytest.raises(UsageError, match="expected") as error:
        MapGrid(*arguments)
    assert error.value.found == found


def test_images_have_rows_and_columns():
    grid = MapGrid(2, 3)
    assert grid.image(np.arange(6)).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert grid.positions().tolist()[4] == [1, 1]
    assert MapGrid(2, 3, lattice="hexagonal").positions()[4].tolist() == [1.5, 3**0.5 / 2]
