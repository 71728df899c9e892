"""A trained map as a file: the map, the names of its columns, and what is known of its units."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gpuasm.clustering import SelfOrganisingMap, UnitLabels
from gpuasm.clustering.classes.lvq import MapClassifier
from gpuasm.clustering.state import map_of, state_of
from gpuasm.errors import DataError, NoInputError
from gpuasm.io import atomic_output

_REMEDY = "write one with gpuasm som train"


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
    NoInputError
        If the file is not there.
    DataError
        If it is no such map.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            found = {name: file[name] for name in file.files}
    except OSError as error:
        raise NoInputError("a map", str(error.strerror or error).lower(), _REMEDY, path=path) from error
    except (ValueError, EOFError, zipfile.BadZipFile, AttributeError) as error:
        kind = "an empty file, of a run without a map" if path.stat().st_size == 0 else "another file"
        raise DataError("a trained map", kind, _REMEDY, path=path) from error
    if "som_version" not in found and "size" in found:
        from gpuasm.cli.contig_map_file import load_contig_map

        return TrainedMap(load_contig_map(path, xp).som)
    try:
        return _restored(found, xp)
    except DataError as error:
        raise error.of_file(path) from error


def _restored(found: dict[str, np.ndarray], xp: Any) -> TrainedMap:
    trained = TrainedMap(
        map_of(found, xp=xp), found.get("columns", np.array([])).tolist(), found.get("density"), found.get("cluster")
    )
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
