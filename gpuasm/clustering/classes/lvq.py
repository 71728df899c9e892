"""Classification by a map with learning vector quantisation (LVQ1): units move towards rows of their class.

Kohonen 1995, doi:10.1007/978-3-642-97610-0_6. Each row in turn moves its nearest unit by rate * (row - unit), towards
the row if the classes agree and away from it otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.checks import instance
from gpuasm.clustering.classes.labelling import as_classes, label_units, numbered_classes
from gpuasm.clustering.parameters import Parameters, not_fitted
from gpuasm.clustering.search.search import Searcher
from gpuasm.clustering.som import SelfOrganisingMap
from gpuasm.clustering.training.schedule import decayed, rates
from gpuasm.errors import UsageError
from gpuasm.parallel import compiled
from gpuasm.parallel import fused_multiply_add as fma


class MapClassifier(Parameters):
    """A classifier with scikit-learn's interface: the labelled units of a map, moved to separate the classes.

    Parameters
    ----------
    som
        The map, with its size and training; if untrained, it is trained without classes. None: a map of 20 x 20 units.
        It is not changed otherwise.
    epochs
        Passes over all rows of known class after that; with 0 the units are not moved.
    rate : (first, last)
        Share of the distance by which a row moves its unit; falls linearly.
    seed
        Seed of the order of rows, which is random in each epoch.

    Attributes
    ----------
    som_ : SelfOrganisingMap
    classes_ : list
    prototypes_ : (m, d) float32
        The labelled units after the epoch, or before the first one, with most rows classified correctly; on the host.
    prototype_classes_ : (m,) int32
        Indices into ``classes_``.
    history_ : list of float
        Share of correctly classified rows before each epoch, and after the last.

    Notes
    -----
    Runs on the host; the same rows and parameters give the same bytes. Only maps of the Euclidean metric can be moved
    (``epochs`` above 0); others are classified by their unmoved units.
    """

    def __init__(
        self,
        som: SelfOrganisingMap | None = None,
        *,
        epochs: int = 20,
        rate: tuple[float, float] = (0.05, 0.001),
        seed: int = 0,
    ) -> None:
        self.som, self.epochs, self.rate, self.seed = som, epochs, rate, seed

    def fit(self, X: Array, y: Sequence | np.ndarray) -> MapClassifier:  # noqa: N803 - scikit-learn's names
        """Train the map if necessary, label its units, and move them.

        Parameters
        ----------
        X : (n, d) numbers
            NaN for missing values.
        y : (n,)
            Classes; "" or None if unknown: such rows are used only to train the map.

        Raises
        ------
        UsageError
            If a parameter is out of its range.
        DataError
            If rows do not pass `checked_rows`, or ``y`` not `as_classes`, or no class is known.
        """
        if not isinstance(self.epochs, (int, np.integer)) or self.epochs < 0:
            raise UsageError("no epoch or more", repr(self.epochs), "give a whole number such as 20")
        bounds, y = rates(self.rate), as_classes(y)
        self.som_ = self.som if self.som is not None else SelfOrganisingMap()
        instance(self.som_, SelfOrganisingMap, "the map")
        if not hasattr(self.som_, "weights_"):
            self.som_ = SelfOrganisingMap(**self.som_.get_params()).fit(X)
        if self.epochs and self.som_.metric != "euclidean":
            raise UsageError(
                "the Euclidean metric, to move units", self.som_.metric, "train another map, or take epochs=0"
            )
        rows = self.som_.normalised(X)
        units = to_host(Searcher(rows, self.som_.metric)(self.som_.weights_)[0][0])
        labels = label_units(units, y, self.som_.grid_.n_units)
        self.classes_ = labels.classes
        self.prototype_classes_ = labels.of_unit[labels.labelled]
        self.prototypes_ = to_host(self.som_.weights_)[labels.labelled]
        self.n_features_in_ = int(self.prototypes_.shape[1])
        _, number = numbered_classes(y)
        known = np.flatnonzero(number >= 0)
        self._learn(np.ascontiguousarray(to_host(rows)[known]), number[known], bounds)
        return self

    def predict(self, X: Array) -> np.ndarray:  # noqa: N803
        """Return the class of the nearest labelled unit of each row, (n,), on the host."""
        nearest = self.prototypes(X)
        return np.array(self.classes_)[self.prototype_classes_[nearest]]

    def prototypes(self, X: Array) -> np.ndarray:  # noqa: N803
        """Return the nearest labelled unit of each row, (n,) int32, as an index into ``prototypes_``."""
        if not hasattr(self, "prototypes_"):
            raise not_fitted("a trained classifier", "one without units", "call fit first")
        rows = self.som_.normalised(X)
        searcher = Searcher(rows, self.som_.metric)
        return to_host(searcher(to_namespace(array_namespace(rows), self.prototypes_))[0][0])

    def score(self, X: Array, y: Sequence | np.ndarray) -> float:  # noqa: N803
        """Return the share of correctly classified rows."""
        return float((self.predict(X) == np.asarray(y)).mean())

    def _learn(self, rows: np.ndarray, number: np.ndarray, bounds: tuple[float, float]) -> None:
        searcher, rng = Searcher(rows, self.som_.metric), np.random.default_rng(self.seed)
        moving = self.prototypes_.copy()
        self.history_: list[float] = []
        for epoch in range(self.epochs + 1):
            right = float((self.prototype_classes_[searcher(moving)[0][0]] == number).mean())
            if right > max(self.history_, default=-1.0):
                self.prototypes_ = moving.copy()
            self.history_.append(right)
            if epoch < self.epochs:
                rate = np.float32(decayed(bounds, epoch, self.epochs, decay="linear"))
                _epoch(rows, number, rng.permutation(len(rows)), moving, self.prototype_classes_, rate)

    def __sklearn_tags__(self) -> Any:
        """Return the tags for scikit-learn, which is the only caller and can thus be imported."""
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags  # noqa: PLC0415

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(),
            input_tags=InputTags(allow_nan=True),
        )

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether `fit` was called."""
        return hasattr(self, "prototypes_")


@compiled()
def _epoch(rows, number, order, prototypes, classes, rate):
    n_prototypes, d = prototypes.shape
    for i in order:
        row = rows[i]
        best, least = 0, np.float32(np.inf)
        for p in range(n_prototypes):
            total = np.float32(0)
            for k in range(d):
                difference = row[k] - prototypes[p, k]
                if not np.isnan(difference):
                    total = fma(difference, difference, total)
            if total < least:
                best, least = p, total
        step = rate if classes[best] == number[i] else -rate
        for k in range(d):
            if not np.isnan(row[k]):
                prototypes[best, k] = fma(step, row[k] - prototypes[best, k], prototypes[best, k])
