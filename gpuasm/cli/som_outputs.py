"""Write the files of ``gpuasm som``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gpuasm.arrays import to_host, to_namespace
from gpuasm.cli.som_file import TrainedMap, save_trained_map
from gpuasm.clustering import SelfOrganisingMap
from gpuasm.clustering.classes.labelling import numbered_classes
from gpuasm.clustering.surfaces.matrices import u_star
from gpuasm.errors import DataError
from gpuasm.io import esom, write_tsv
from gpuasm.io.matrices import Matrix

_UNIT_COLUMNS = ("row", "column", "height", "density", "u_star", "hits", "cluster", "class", "class_share")
_TRAINING_COLUMNS = ("epoch", "quantisation", "topographic")
_ROW_COLUMNS = (
    "name", "row", "column", "distance", "second_row", "second_column", "second_distance", "cluster", "class",
    "class_share",
)  # fmt: skip


def checked_table(matrix: Matrix, path: Path, *, is_training: bool) -> None:
    """Refuse infinity, rows and columns without any value, and for training rows that are all alike, by their names.

    Raises
    ------
    DataError
        If there are such.
    """
    infinite = np.argwhere(np.isinf(matrix.values))
    if infinite.size:
        row, column = (names[i] for names, i in zip((matrix.names, matrix.columns), infinite[0], strict=True))
        raise DataError(
            "finite numbers", "infinity", "correct it, or leave it empty if it is missing",
            path=path, place=f"row {row!r}, column {column!r}",
        )  # fmt: skip
    is_missing = np.isnan(matrix.values)
    for axis, kind, names in ((1, "row", matrix.names), (0, "column", matrix.columns)):
        is_empty = is_missing.all(axis=axis)
        if is_empty.any() and (axis == 1 or is_training):
            raise DataError(
                f"a value in each {kind}",
                f"{int(is_empty.sum())} of {is_empty.size} without any",
                f"leave out each {kind} in which everything is missing",
                path=path,
                place=f"{kind} {names[int(np.flatnonzero(is_empty)[0])]!r}",
            )
    if is_training and constant_columns(matrix).size == matrix.values.shape[1]:
        n = matrix.values.shape[0]
        found = "1 row" if n == 1 else f"{n} that are all alike"
        raise DataError("rows that differ", found, "a map needs at least two kinds of rows", path=path)


def constant_columns(matrix: Matrix) -> np.ndarray:
    """Return the columns in which all values that are there are the same."""
    least, most = (
        f(matrix.values, axis=0, initial=v) for f, v in ((np.fmin.reduce, np.inf), (np.fmax.reduce, -np.inf))
    )
    return np.flatnonzero(least >= most)


def write_trained(folder: Path, trained: TrainedMap | None, matrix: Matrix | None) -> None:
    """Write map.npz, map.tsv, rows.tsv and training.tsv, if only as empty files."""
    save_trained_map(folder / "map.npz", trained)
    columns = unit_table(trained) if trained else _nothing(_UNIT_COLUMNS)
    write_tsv(folder / "map.tsv", columns)
    write_tsv(folder / "rows.tsv", row_table(trained, matrix) if trained and matrix else _nothing(_ROW_COLUMNS))
    history = trained.som.history_ if trained else []
    values = (range(len(history)), [e.quantisation for e in history], [e.topographic for e in history])
    write_tsv(folder / "training.tsv", dict(zip(_TRAINING_COLUMNS, values, strict=True)))


def _nothing(columns: tuple[str, ...]) -> dict[str, Any]:
    return {name: [] for name in columns}


def unit_table(trained: TrainedMap) -> dict[str, Any]:
    """Return the columns of map.tsv."""
    som, n = trained.som, trained.som.grid_.n_units
    row, column = np.divmod(np.arange(n), som.grid_.columns)
    heights, nothing = som.u_matrix(), [None] * n
    labels, density = trained.labels, trained.density
    return {
        "row": row,
        "column": column,
        "height": heights.ravel(),
        "density": nothing if density is None else density.ravel(),
        "u_star": nothing if density is None else u_star(heights, density).ravel(),
        "hits": som.hit_map().ravel(),
        "cluster": nothing if trained.cluster is None else trained.cluster + 1,
        "class": nothing if labels is None else [labels.classes[c] if c >= 0 else None for c in labels.of_unit],
        "class_share": nothing if labels is None else [None if np.isnan(s) else s for s in labels.share.tolist()],
    }


def row_table(trained: TrainedMap, matrix: Matrix) -> dict[str, Any]:
    """Return the columns with the units of rows on a map, and the cluster and class that the map predicts."""
    som = trained.som
    found = som.best_units(_values_for(som, matrix))
    first, second = to_host(found.first), to_host(found.second)
    distance, second_distance = to_host(found.distance_first), to_host(found.distance_second)
    has_second, n = second >= 0, first.size
    (row, column), (row_2, column_2) = (np.divmod(units, som.grid_.columns) for units in (first, second))
    predicted: list[Any] = [None] * n
    share: list[Any] = [None] * n
    if trained.labels is not None:
        predicted, share = _predicted_classes(trained, matrix)
    return {
        "name": matrix.names,
        "row": row,
        "column": column,
        "distance": distance,
        "second_row": [int(v) if ok else None for v, ok in zip(row_2, has_second, strict=True)],
        "second_column": [int(v) if ok else None for v, ok in zip(column_2, has_second, strict=True)],
        "second_distance": [float(v) if ok else None for v, ok in zip(second_distance, has_second, strict=True)],
        "cluster": [None] * n if trained.cluster is None else trained.cluster[first] + 1,
        "class": predicted,
        "class_share": share,
    }


def _predicted_classes(trained: TrainedMap, matrix: Matrix) -> tuple[list[Any], list[Any]]:
    """Return the class of the nearest labelled unit of each row, and how pure that unit was when it was labelled."""
    labels = trained.labels
    assert labels is not None
    prototypes = trained.classifier or labelled_units(trained)
    nearest = prototypes.prototypes(_values_for(trained.som, matrix))
    of_prototype = prototypes.prototype_classes_[nearest]
    return [labels.classes[c] for c in of_prototype], labels.share[labels.labelled][nearest].tolist()


def labelled_units(trained: TrainedMap) -> Any:
    """Return a classifier of the labelled units as they lie on the map."""
    from gpuasm.clustering import MapClassifier

    labels = trained.labels
    assert labels is not None
    classifier = MapClassifier(trained.som, epochs=0)
    classifier.som_, classifier.classes_ = trained.som, labels.classes
    classifier.prototypes_ = to_host(trained.som.weights_)[labels.labelled]
    classifier.prototype_classes_ = labels.of_unit[labels.labelled]
    return classifier


def _values_for(som: SelfOrganisingMap, matrix: Matrix) -> Any:
    """Return the values of a table where the map's weights live."""
    from gpuasm.arrays import array_namespace

    return to_namespace(array_namespace(som.weights_), matrix.values)


def write_esom(folder: Path, trained: TrainedMap | None, matrix: Matrix | None, classes: list[str]) -> None:
    """Write map.lrn, .wts, .bm, .umx, .names and .cls for Databionic ESOM, if only as empty files.

    The rows are those that the map compares, normalised. Classes are those given; without any, the clusters.
    """
    paths = {suffix: folder / f"map{suffix}" for suffix in esom.SUFFIXES}
    if trained is None or matrix is None:
        for path in paths.values():
            path.write_bytes(b"")
        return
    som = trained.som
    shape, units = (som.grid_.rows, som.grid_.columns), to_host(som.labels_)
    esom.write_lrn(paths[".lrn"], to_host(som.normalised(_values_for(som, matrix))), matrix.columns)
    esom.write_wts(paths[".wts"], to_host(som.weights_), shape)
    esom.write_bm(paths[".bm"], units, shape)
    esom.write_umx(paths[".umx"], som.u_matrix())
    esom.write_names(paths[".names"], matrix.names)
    if classes:
        titles, number = numbered_classes(classes)
    elif trained.cluster is not None:
        number = trained.cluster[units]
        titles = [f"cluster_{c + 1}" for c in range(int(trained.cluster.max()) + 1)]
    else:
        number, titles = np.full(units.size, -1), []
    esom.write_cls(paths[".cls"], number, titles)
