"""A trained map of contigs as a file, for ``gpuasm bin --map``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gpuasm.arrays import to_host, to_namespace
from gpuasm.clustering import EpochErrors, MapGrid, SelfOrganisingMap
from gpuasm.clustering.bins.bins import ContigMap, NothingToBinError
from gpuasm.clustering.bins.contrast import Contrast
from gpuasm.clustering.normalising import fit_normalisation
from gpuasm.errors import DataError
from gpuasm.io import atomic_output
from gpuasm.io.archives import ArrayRule, load_archive
from gpuasm.kmers.composition import N_COLUMNS

_CONTRAST = ("scale", "mean", "axes", "strength", "threshold")
_MOST = 1e9  # of what is multiplied with shares; far above what any contigs give
_SCHEMA = {
    "weights": ArrayRule("f", ("u", "w"), least=-1e30, most=1e30),
    "size": ArrayRule("iu", (2,), least=1, most=1 << 20),
    "history": ArrayRule("f", ("e", 2), least=0, nan=True),
    "depth_scale": ArrayRule("f", (2, "s"), least=-_MOST, most=_MOST),
    "pieces": ArrayRule("iu", (2,), least=1, most=1 << 40),
    "scale": ArrayRule("f", ("c",), least=1e-12, most=_MOST),
    "mean": ArrayRule("f", ("c",), least=-_MOST, most=_MOST),
    "axes": ArrayRule("f", ("c", "d"), least=-_MOST, most=_MOST),
    "strength": ArrayRule("f", ("q",), least=0),
    "threshold": ArrayRule("f", (), least=0),
}
_REMEDY = "write one with --stop-after map"


def save_contig_map(path: Path, contig_map: ContigMap | None) -> None:
    """Write a trained map as .npz; without one, an empty file."""
    with atomic_output(path, "wb") as file:
        if contig_map is None:
            return
        som = contig_map.som
        np.savez(
            file,
            weights=to_host(som.weights_),
            size=np.array([som.rows, som.columns]),
            history=np.array([(e.quantisation, e.topographic) for e in som.history_]),
            depth_scale=contig_map.depth_scale,
            pieces=np.array([contig_map.window, contig_map.least]),
            **{name: getattr(contig_map.contrast, name) for name in _CONTRAST},
        )


def load_contig_map(path: Path, xp: Any) -> ContigMap:
    """Read a trained map, its weights to where namespace ``xp`` keeps its arrays.

    Raises
    ------
    NoInputError, ReadWriteError
        If the file cannot be opened, or a read fails.
    NothingToBinError
        If it is the empty file of a run without contigs for a map.
    DataError
        If it is no such map.
    """
    if path.is_file() and path.stat().st_size == 0:
        raise NothingToBinError(
            "a trained map", "an empty one: no contig was long enough", "assemble more reads", path=path
        )
    found = load_archive(path, _SCHEMA, what="a map that gpuasm bin wrote", remedy=_REMEDY)
    for name, array in found.items():
        if array.dtype.kind == "f":
            found[name] = array.astype(np.float32 if name == "weights" else np.float64, copy=False)
    _check_sizes(found, path)
    scale, mean, axes, strength, threshold = (found[name] for name in _CONTRAST)
    contrast = Contrast(scale, mean, axes, strength, float(threshold))
    window, least = found["pieces"].tolist()
    som = _restored(found, xp)
    return ContigMap(som, contrast, depth_scale=found["depth_scale"], window=window, least=least)


def _check_sizes(found: dict[str, np.ndarray], path: Path) -> None:
    """Refuse arrays that do not fit each other."""
    n_units, n_columns = found["weights"].shape
    expected = int(found["size"].prod()), found["axes"].shape[1] + found["depth_scale"].shape[1]
    n_tetramers = found["axes"].shape[0]
    if (n_units, n_columns, n_tetramers) != (*expected, N_COLUMNS) or not (found["depth_scale"][1] > 0).all():
        raise DataError(
            f"weights of {expected[0]} units and {expected[1]} columns, and {N_COLUMNS} tetranucleotides",
            f"{n_units}, {n_columns} and {n_tetramers}", _REMEDY, path=path,
        )  # fmt: skip


def _restored(found: dict[str, np.ndarray], xp: Any) -> SelfOrganisingMap:
    rows, columns = found["size"].tolist()
    som = SelfOrganisingMap(rows, columns, topology="toroidal")
    som.grid_ = MapGrid(rows, columns, "toroidal")
    som.weights_ = to_namespace(xp, found["weights"])
    som.history_ = [EpochErrors(*map(float, row)) for row in found["history"]]
    som.normalisation_ = fit_normalisation(found["weights"], "none")
    som.n_features_in_ = int(found["weights"].shape[1])
    return som
