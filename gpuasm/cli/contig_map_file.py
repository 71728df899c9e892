"""A trained map of contigs as a file, for ``gpuasm bin --map``."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from gpuasm.arrays import to_host, to_namespace
from gpuasm.clustering import EpochErrors, MapGrid, SelfOrganisingMap
from gpuasm.clustering.bins.bins import ContigMap, NothingToBinError
from gpuasm.clustering.bins.contrast import Contrast
from gpuasm.clustering.normalising import fit_normalisation
from gpuasm.errors import DataError, NoInputError
from gpuasm.io import atomic_output

_CONTRAST = ("scale", "mean", "axes", "strength", "threshold")


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
    NoInputError
        If the file is not there.
    NothingToBinError
        If it is the empty file of a run without contigs for a map.
    DataError
        If it is no such map.
    """
    if path.is_file() and path.stat().st_size == 0:
        raise NothingToBinError(
            "a trained map", "an empty one: no contig was long enough", "assemble more reads", path=path
        )
    try:
        with np.load(path, allow_pickle=False) as file:
            found = {name: file[name] for name in file.files}
        contrast = Contrast(**{name: found[name] for name in _CONTRAST} | {"threshold": float(found["threshold"])})
        som = _restored(found, xp)
    except OSError as error:
        raise NoInputError(
            "a map", str(error.strerror).lower(), "write one with --stop-after map", path=path
        ) from error
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(
            "a map that gpuasm bin wrote", "another file", "write one with --stop-after map", path=path
        ) from error
    window, least = found["pieces"].tolist()
    return ContigMap(som, contrast, depth_scale=found["depth_scale"], window=window, least=least)


def _restored(found: dict[str, np.ndarray], xp: Any) -> SelfOrganisingMap:
    rows, columns = found["size"].tolist()
    som = SelfOrganisingMap(rows, columns, topology="toroidal")
    som.grid_ = MapGrid(rows, columns, "toroidal")
    som.weights_ = to_namespace(xp, found["weights"])
    som.history_ = [EpochErrors(*map(float, row)) for row in found["history"]]
    som.normalisation_ = fit_normalisation(found["weights"], "none")
    som.n_features_in_ = int(found["weights"].shape[1])
    return som
