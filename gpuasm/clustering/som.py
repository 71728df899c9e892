"""Self-organising maps, with the interface of scikit-learn's estimators, for rows on the host or on a device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.checks import whole
from gpuasm.clustering.grid import MapGrid
from gpuasm.clustering.memory import require_memory_for_map
from gpuasm.clustering.normalising import Normalisation, fit_normalisation
from gpuasm.clustering.parameters import Parameters, not_fitted
from gpuasm.clustering.rows import as_array, check_spread, checked_rows
from gpuasm.clustering.search.search import BestUnits, Searcher
from gpuasm.clustering.surfaces.density import density_around, pareto_radius
from gpuasm.clustering.surfaces.immersion import u_star_clusters
from gpuasm.clustering.surfaces.matrices import distance_to_neighbours, u_star
from gpuasm.clustering.surfaces.watershed import watersheds
from gpuasm.clustering.training.batch import BatchTraining, EpochErrors
from gpuasm.clustering.training.neighbourhood import neighbourhood_of
from gpuasm.clustering.training.online import OnlineTraining
from gpuasm.clustering.training.schedule import decayed, radii, rates
from gpuasm.clustering.training.start import start_weights
from gpuasm.errors import UsageError

TRAININGS = ("batch", "online")
_MOST_EPOCHS = 1_000_000
CLUSTERINGS = ("watershed", "ustar")


class SelfOrganisingMap(Parameters):
    """A map of units, each a point in the space of the rows; neighbouring units on the map are close in that space.

    Parameters
    ----------
    rows, columns
        Units along each side of the map.
    topology : "planar" or "toroidal"
    lattice : "rectangular" or "hexagonal"
    neighbourhood : "gaussian", "bubble", "triangle" or "mexican_hat"
        See `neighbourhood_of`.
    metric : "euclidean", "cosine", "manhattan" or "chebyshev"
        Distance of rows and units. With every metric units become weighted means of rows.
    training : "batch" or "online"
        All rows at once, or one after another in a random order for each epoch, which is slower and seldom better.
    epochs
        Passes over all rows.
    start : "pca", "linear", "random", or (units, d) array
        See `start_weights`.
    radius : (first, last) or None
        Radius of the neighbourhood in the first and the last epoch, in distances between units; for "gaussian" its
        standard deviation. None: a quarter of the shorter side, at least 1, and 0.5.
    decay : "linear" or "exponential"
        Decay of the radius and of the rate.
    rate : (first, last)
        Share of the distance by which a row moves its best unit, in online training.
    normalise : "none", "minmax", "zscore" or "robust"
        Normalisation of columns, see `fit_normalisation`. It is computed by `fit` and applied to all rows.
    seed
        Seed of a random start, and of the order of rows in online training.

    Attributes
    ----------
    grid_ : MapGrid
    weights_ : (units, d) float32
        In the memory of the rows of `fit`, on the scale of normalised rows. Unit u is in row u // columns of the map.
    normalisation_ : Normalisation
    labels_ : (n,) int32
        Best unit of each row of `fit`.
    history_ : list of EpochErrors
        Before each epoch, and after the last.
    n_features_in_ : int

    Notes
    -----
    The same rows and parameters give the same bytes on the CPU and on CUDA, with any number of threads. Missing values
    (NaN) are excluded from distances and means; constant columns have no effect. There may be fewer rows than units:
    units between rows are interpolated.
    """

    def __init__(
        self,
        rows: int = 20,
        columns: int = 20,
        *,
        topology: str = "planar",
        lattice: str = "rectangular",
        neighbourhood: str = "gaussian",
        metric: str = "euclidean",
        training: str = "batch",
        epochs: int = 20,
        start: str | Array = "pca",
        radius: tuple[float, float] | None = None,
        decay: str = "linear",
        rate: tuple[float, float] = (0.5, 0.02),
        normalise: str = "none",
        seed: int = 0,
    ) -> None:
        self.rows, self.columns = rows, columns
        self.topology, self.lattice = topology, lattice
        self.neighbourhood, self.metric = neighbourhood, metric
        self.training, self.epochs = training, epochs
        self.start, self.seed = start, seed
        self.radius, self.decay, self.rate = radius, decay, rate
        self.normalise = normalise

    def fit(self, X: Array, y: Any = None, *, progress: Callable[[int], object] | None = None) -> SelfOrganisingMap:  # noqa: ARG002, N803 - scikit-learn's names
        """Train the map.

        Parameters
        ----------
        X : (n, d) numbers
            On the host or a device; NaN for missing values.
        y
            Not used; pipelines pass it.
        progress
            Called with 1 after each epoch.

        Raises
        ------
        UsageError
            If a parameter is out of its range.
        DataError
            If rows do not pass `checked_rows`, or their values differ by too little.
        ResourceError
            If there is not enough memory.
        """
        grid = MapGrid(self.rows, self.columns, self.topology, self.lattice)
        if self.training not in TRAININGS:
            raise UsageError(
                f"a training named {' or '.join(TRAININGS)}", repr(self.training), "use one of those names"
            )
        whole(self.epochs, "epochs", least=1, most=_MOST_EPOCHS)
        whole(self.seed, "seed")
        bounds, falling_rate = radii(grid, self.radius), rates(self.rate)
        steps = [decayed(bounds, epoch, self.epochs, decay=self.decay) for epoch in range(self.epochs)]
        neighbourhood_of(MapGrid(2, 2), self.neighbourhood, 1.0)  # reports an unknown name before any computation
        X = as_array(X)  # noqa: N806
        checked = checked_rows(X)
        normalisation = fit_normalisation(X, self.normalise)
        if self.normalise == "none":
            check_spread(X)
        X = checked if self.normalise == "none" else normalisation.apply(X)  # noqa: N806
        xp = array_namespace(X)
        require_memory_for_map(X, grid)
        weights = to_namespace(xp, start_weights(X, grid, self.start, seed=self.seed))
        training = BatchTraining(X, grid, self.metric)
        if self.training == "batch":
            epochs = (neighbourhood_of(grid, self.neighbourhood, radius) for radius in steps)
            weights = training.run(weights, epochs, progress)
        else:
            online = OnlineTraining(
                grid, self.metric, self.neighbourhood, bounds, falling_rate, self.decay, self.epochs, self.seed
            )
            weights = training.run_online(weights, online, progress)
        units, values = training.searcher(weights)
        training.note_errors(units, values)
        self.grid_, self.weights_, self.labels_ = grid, weights, units[0]
        self.normalisation_: Normalisation = normalisation
        self.history_: list[EpochErrors] = training.errors()
        self.n_features_in_ = int(X.shape[1])
        return self

    def fit_predict(self, X: Array, y: Any = None) -> Array:  # noqa: N803
        """Train the map and return the best unit of each row, (n,) int32."""
        return self.fit(X, y).labels_

    def fit_transform(self, X: Array, y: Any = None) -> Array:  # noqa: N803
        """Train the map and return the position of each row on it; see `transform`."""
        return self._places(self.fit(X, y).labels_)

    def normalised(self, X: Array) -> Array:  # noqa: N803
        """Return normalised rows, (n, d) float32.

        Raises
        ------
        UsageError
            If the map is not trained.
        DataError
            If rows do not pass `checked_rows`.
        """
        X = as_array(X)  # noqa: N806
        checked = checked_rows(X, n_columns=self._weights().shape[1])
        return checked if self.normalisation_.kind == "none" else self.normalisation_.apply(X)

    def best_units(self, X: Array) -> BestUnits:  # noqa: N803
        """Find the nearest and the second nearest unit of each row, with their distances."""
        X = self.normalised(X)  # noqa: N806
        return Searcher(X, self.metric).best_units(to_namespace(array_namespace(X), self._weights()))

    def predict(self, X: Array) -> Array:  # noqa: N803
        """Return the best unit of each row, (n,) int32."""
        return self.best_units(X).first

    def transform(self, X: Array) -> Array:  # noqa: N803
        """Return the position of each row's best unit on the map: its row and its column, (n, 2) int32.

        Unlike other clusterings it does not return the distances to all units, which seldom fit into memory.
        """
        return self._places(self.predict(X))

    def u_matrix(self) -> np.ndarray:
        """Return the mean distance of each unit to its neighbours, (rows, columns) float32, on the host."""
        return self.grid_.image(distance_to_neighbours(to_host(self._weights()), self.grid_, self.metric))

    def p_matrix(self, X: Array) -> np.ndarray:  # noqa: N803
        """Return the number of rows within the Pareto radius of each unit, (rows, columns) float64, on the host."""
        X = self.normalised(X)  # noqa: N806
        radius = pareto_radius(X, self.metric)
        return density_around(self._weights(), X, radius, metric=self.metric, grid=self.grid_)

    def u_star_matrix(self, X: Array) -> np.ndarray:  # noqa: N803
        """Return the U-matrix weighted by the density of rows, (rows, columns) float64, on the host; see `u_star`."""
        return u_star(self.u_matrix(), self.p_matrix(X))

    def clusters(self, method: str = "watershed", X: Array | None = None, *, depth: float = 0.2) -> np.ndarray:  # noqa: N803
        """Divide the map into clusters; ``clusters()[som.predict(X)]`` are those of rows.

        Parameters
        ----------
        method
            "watershed": the valleys of the U-matrix; "ustar": U*C, by walks on U-matrix and P-matrix and the valleys of
            the U*-matrix. See `watersheds` and `u_star_clusters`.
        X : (n, d) numbers
            Rows that define the density, for "ustar".
        depth
            Valleys of less depth than this share of the walls' height are merged; 0 as published for U*C.

        Returns
        -------
        (units,) int32, on the host.

        Raises
        ------
        UsageError
            If the method is unknown, or rows are missing.
        """
        if method not in CLUSTERINGS:
            raise UsageError(f"a clustering named {' or '.join(CLUSTERINGS)}", repr(method), "use one of those names")
        heights = self.u_matrix()
        if method == "watershed":
            return watersheds(heights, self.grid_, depth=depth)
        if X is None:
            raise UsageError("rows for the density of U*C", "none", "give those that the map was trained with")
        density = self.p_matrix(X)
        return u_star_clusters(heights, density, u_star(heights, density), self.grid_, depth=depth)

    def component_planes(self) -> np.ndarray:
        """Return the weights by position on the map, (d, rows, columns) float32, on the host and the data's scale."""
        return np.moveaxis(self.grid_.image(self.normalisation_.undo(to_host(self._weights()))), 2, 0)

    def hit_map(self, X: Array | None = None) -> np.ndarray:  # noqa: N803
        """Return the number of rows of ``X``, or of `fit`, in each unit: (rows, columns) int64, on the host."""
        units = self.labels_ if X is None else self.predict(X)
        return self.grid_.image(np.bincount(to_host(units), minlength=self.grid_.n_units))

    def __sklearn_tags__(self) -> Any:
        """Return the tags for scikit-learn, which is the only caller and can thus be imported."""
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags  # noqa: PLC0415

        return Tags(
            estimator_type="clusterer",
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(preserves_dtype=[]),
            input_tags=InputTags(allow_nan=True),
        )

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether `fit` was called."""
        return hasattr(self, "weights_")

    def _places(self, units: Array) -> Array:
        return array_namespace(units).stack([units // self.grid_.columns, units % self.grid_.columns], axis=1)

    def _weights(self) -> Array:
        if not hasattr(self, "weights_"):
            raise not_fitted("a trained map", "one without weights", "call fit first, or load a map")
        return self.weights_
