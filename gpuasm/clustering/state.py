"""Convert a trained map to plain arrays for any file of arrays, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from gpuasm.arrays import to_host, to_namespace
from gpuasm.clustering.grid import MapGrid
from gpuasm.clustering.normalising import KINDS, Normalisation
from gpuasm.clustering.search.search import METRICS
from gpuasm.clustering.som import TRAININGS, SelfOrganisingMap
from gpuasm.clustering.training.batch import EpochErrors
from gpuasm.errors import DataError, UsageError

VERSION = 1
"""Increases when an array changes its meaning or is removed."""


def state_of(som: SelfOrganisingMap) -> dict[str, np.ndarray]:
    """Return the arrays of a trained map: ``numpy.savez("map.npz", **state_of(som))`` saves it.

    Raises
    ------
    UsageError
        If the map is not trained.
    """
    if not hasattr(som, "weights_"):
        raise UsageError("a trained map", "one without weights", "call fit first")
    parameters = {name: _plain(value) for name, value in som.get_params().items()}
    return {
        "som_version": np.array(VERSION),
        "parameters": np.array(json.dumps(parameters)),
        "weights": to_host(som.weights_),
        "units": to_host(som.labels_),
        "history": np.array([(e.quantisation, e.topographic) for e in som.history_], np.float64).reshape(-1, 2),
        "normalisation": np.stack([som.normalisation_.shift, som.normalisation_.scale]),
    }


def map_of(state: Mapping[str, np.ndarray], *, xp: Any = np) -> SelfOrganisingMap:
    """Return the map of the arrays of `state_of`: ``map_of(numpy.load("map.npz"))``.

    Parameters
    ----------
    state
        Its arrays; others are ignored.
    xp
        Namespace for the weights and the units of rows.

    Raises
    ------
    DataError
        If an array is missing or does not fit, or is of a later version.
    """
    try:
        version = int(state["som_version"])
        if version > VERSION:
            raise DataError(f"a map of version {VERSION}", f"version {version}", "use a later gpuasm")
        som = _with_parameters(str(state["parameters"]))
        grid = MapGrid(som.rows, som.columns, som.topology, som.lattice)
        weights, units = np.asarray(state["weights"]), np.asarray(state["units"])
        shift, scale = np.asarray(state["normalisation"], np.float64)
        history = [EpochErrors(*map(float, row)) for row in state["history"]]
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError("the arrays of a trained map", f"others ({error})", "train the map anew") from error
    if weights.dtype != np.float32 or weights.shape != (grid.n_units, shift.size) or not shift.size:
        raise DataError(f"weights of {grid.n_units} units", f"shape {weights.shape}", "train the map anew")
    are_units = units.ndim == 1 and units.dtype.kind in "iu" and ((units >= 0) & (units < grid.n_units)).all()
    if not are_units or not np.isfinite(weights).all() or not (scale > 0).all():
        raise DataError("units of rows, finite weights and scales above 0", "others", "train the map anew")
    som.grid_, som.weights_, som.labels_ = grid, to_namespace(xp, weights), to_namespace(xp, units)
    som.normalisation_ = Normalisation(som.normalise, shift.copy(), scale.copy())
    som.history_, som.n_features_in_ = history, int(shift.size)
    return som


def _with_parameters(text: str) -> SelfOrganisingMap:
    """Return an untrained map with parameters, of which those are checked that a trained map uses."""
    parameters: Any = json.loads(text)
    if not isinstance(parameters, dict):
        raise DataError("parameters by name", "another JSON value", "train the map anew")
    som = SelfOrganisingMap().set_params(
        **{name: tuple(value) if isinstance(value, list) else value for name, value in parameters.items()}
    )
    known = {"metric": METRICS, "normalise": KINDS, "training": TRAININGS}
    for name, values in known.items():
        if getattr(som, name) not in values:
            raise DataError(f"a {name} named {', '.join(values)}", repr(getattr(som, name)), "train the map anew")
    if isinstance(som.rows, bool) or isinstance(som.columns, bool):
        raise DataError("numbers of rows and columns", "others", "train the map anew")
    return som


def _plain(value: Any) -> Any:
    """Return a parameter as a JSON value; initial weights are omitted, as the trained ones are kept."""
    if isinstance(value, tuple | list):
        return [_plain(v) for v in value]
    if isinstance(value, np.generic):
        return value.item()
    return value if isinstance(value, str | int | float | None) else "random"
