"""A trained map as a file: the map, the names of its columns, and what is known of its units."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gpuasm.clustering import SelfOrganisingMap, UnitLabels
from gpuasm.clustering.classes.lvq import MapClassifier
from gpuasm.clustering.state import map_of, state_of
from gpuasm.errors import DataError
from gpuasm.io import atomic_output
from gpuasm.io.archives import ArrayRule, load_archive, sizes_in_archive

_REMEDY = "write one with gpuasm som train"
_SCHEMA = {
    "som_version": ArrayRule("iu", ()),
    "parameters": ArrayRule("U", ()),
    "weights": ArrayRule("f", ("u", "d"), least=-3e38, most=3e38),
    "units": ArrayRule("iu", ("n",), least=0),
    "history": ArrayRule("f", ("e", 2), nan=True),
    "normalisation": ArrayRule("f", (2, "d"), least=-1e300, most=1e300),
    "columns": ArrayRule("Uf", ("c",), nan=True, optional=True),
    "density": ArrayRule("f", ("r", "s"), least=0, optional=True),
    "cluster": ArrayRule("iu", ("u",), least=-1, optional=True),
    "classes": ArrayRule("U", ("k",), optional=True),
    "class_of_unit": ArrayRule("iu", ("u",), least=-1, optional=True),
    "class_share": ArrayRule("f", ("u",), least=0, most=1, nan=True, optional=True),
    "prototypes": ArrayRule("f", ("p", "d"), least=-3e38, most=3e38, optional=True),
    "prototype_classes": ArrayRule("iu", ("p",), least=0, optional=True),
    "accuracy": ArrayRule("f", ("a",), least=0, most=1, optional=True),
    "told_right": ArrayRule("f", ("a",), least=0, most=1, optional=True),
}
"""The arrays of a map; the last one is the accuracy in files of earlier versions."""


@dataclass
class TrainedMap:
    """A map and what is known of its units.

    Attributes
    ----------
    som
        The map.
    columns : list of str
        Names of the columns it was trained with; empty if they had none.
    density : (rows, columns) float64 or None
        The P-matrix of the rows that it was trained with.
    cluster : (units,) int32 or None
    labels : UnitLabels or None
    classifier : MapClassifier or None
        Labelled units, moved to where they separate the classes best.
    """

    som: SelfOrganisingMap
    columns: list[str] = field(default_factory=list)
    density: np.ndarray | None = None
    cluster: np.ndarray | None = None
    labels: UnitLabels | None = None
    classifier: MapClassifier | None = None


def save_trained_map(path: Path, trained: TrainedMap | None) -> None:
    """Write a trained map as .npz; without one, an empty file."""
    with atomic_output(path, "wb") as file:
        if trained is None:
            return
        arrays: dict[str, Any] = {**state_of(trained.som), "columns": np.array(trained.columns, dtype=np.str_)}
        if trained.density is not None:
            arrays["density"] = trained.density
        if trained.cluster is not None:
            arrays["cluster"] = trained.cluster
        if trained.labels is not None:
            labels = trained.labels
            arrays |= {
                "classes": np.array(labels.classes),
                "class_of_unit": labels.of_unit,
                "class_share": labels.share,
            }
        if trained.classifier is not None:
            classifier = trained.classifier
            arrays |= {
                "prototypes": classifier.prototypes_,
                "prototype_classes": classifier.prototype_classes_,
                "accuracy": np.array(classifier.history_),
            }
        np.savez(file, **arrays)


def load_trained_map(path: Path, xp: Any) -> TrainedMap:
    """Read a map that ``gpuasm som train`` or ``gpuasm bin`` wrote, its weights to where ``xp`` keeps its arrays.

    Raises
    ------
    NoInputError, ReadWriteError
        If the file cannot be opened, or a read fails.
    DataError
        If it is no such map.
    """
    if path.is_file() and path.stat().st_size == 0:
        raise DataError("a trained map", "an empty file, of a run without a map", _REMEDY, path=path)
    there: Any = {}
    with suppress(DataError):  # of which the loader reports the same with a remedy
        there = sizes_in_archive(path)
    try:
        if "som_version" not in there and "size" in there:
            from gpuasm.cli.contig_map_file import load_contig_map

            return TrainedMap(load_contig_map(path, xp).som)
        return _restored(load_archive(path, _SCHEMA, what="a trained map", remedy=_REMEDY), xp)
    except DataError as error:
        raise error.of_file(path) from error


def _check_sizes(found: dict[str, np.ndarray], som: SelfOrganisingMap) -> None:
    """Refuse what does not fit the map."""
    n_classes, columns = found.get("classes", np.array([])).size, found.get("columns", np.array([]))
    fits = {
        "names of columns": not columns.size or (columns.size == som.n_features_in_ and columns.dtype.kind == "U"),
        "density": "density" not in found or found["density"].shape == (som.rows, som.columns),
        "classes of units": not n_classes or {"class_of_unit", "class_share"} <= found.keys(),
    }
    for name in ("class_of_unit", "prototype_classes"):
        fits[name] = name not in found or bool((found[name] < n_classes).all())
    if "prototypes" in found:
        fits["prototypes"] = "prototype_classes" in found and bool({"accuracy", "told_right"} & found.keys())
    wrong = [name for name, is_right in fits.items() if not is_right]
    if wrong:
        raise DataError(f"{wrong[0]} of this map", "others", _REMEDY)


def _restored(found: dict[str, np.ndarray], xp: Any) -> TrainedMap:
    som = map_of(found, xp=xp)
    _check_sizes(found, som)
    trained = TrainedMap(som, found.get("columns", np.array([])).tolist(), found.get("density"), found.get("cluster"))
    if "classes" in found:
        trained.labels = UnitLabels(found["classes"].tolist(), found["class_of_unit"], found["class_share"])
    if trained.labels and "prototypes" in found:
        classifier = MapClassifier(trained.som)
        classifier.som_, classifier.classes_ = trained.som, trained.labels.classes
        classifier.prototypes_, classifier.prototype_classes_ = found["prototypes"], found["prototype_classes"]
        classifier.history_ = found["accuracy" if "accuracy" in found else "told_right"].tolist()
        classifier.n_features_in_ = trained.som.n_features_in_
        trained.classifier = classifier
    return trained
