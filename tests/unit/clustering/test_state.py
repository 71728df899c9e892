from __future__ import annotations

import numpy as np
import pytest

from gpuasm.arrays import to_host, to_namespace
from gpuasm.clustering import SelfOrganisingMap, map_of, state_of
from gpuasm.errors import DataError, UsageError


def test_a_map_is_the_same_after_it_was_saved(xp, rng, tmp_path):
    rows = to_namespace(xp, rng.normal(size=(50, 3)))
    som = SelfOrganisingMap(3, 4, epochs=2, normalise="minmax", start=np.zeros((12, 3))).fit(rows)
    np.savez(tmp_path / "map.npz", **state_of(som), more=np.arange(3))
    back = map_of(np.load(tmp_path / "map.npz"), xp=xp)
    assert type(back.weights_) is type(som.weights_)
    assert np.array_equal(to_host(back.predict(rows)), to_host(som.predict(rows)))
    assert np.array_equal(back.hit_map(), som.hit_map())
    assert back.get_params() == som.get_params() | {"start": "random"}  # weights to start from are not kept
    assert (back.history_, back.n_features_in_) == (som.history_, 3)


def test_arrays_that_are_not_a_map_are_refused(rng):
    with pytest.raises(UsageError, match="fit first"):
        state_of(SelfOrganisingMap())
    state = state_of(SelfOrganisingMap(2, 2, epochs=1).fit(rng.normal(size=(9, 2))))
    for name in state:
        with pytest.raises(DataError, match="arrays of a trained map"):
            map_of({key: value for key, value in state.items() if key != name})
    with pytest.raises(DataError, match="later"):
        map_of(state | {"som_version": np.array(99)})
    with pytest.raises(DataError, match="parameters by name"):
        map_of(state | {"parameters": np.array("7")})
    with pytest.raises(DataError, match="weights of 4 units"):
        map_of(state | {"weights": state["weights"][:3]})
