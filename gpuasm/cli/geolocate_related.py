"""``gpuasm geolocate`` for samples that ``gpuasm relate`` compared: places and their names from related samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpuasm.geolocation.calibration import RADIUS_SHARES, macro_f1
from gpuasm.geolocation.holdout import A_METRE, HeldOut
from gpuasm.geolocation.predictors import RelatedSamples
from gpuasm.geolocation.related import RelatedLocations, RelatedNames, locate_related, name_related

_LEAST_SHOWN = 0.005


@dataclass
class RelatedRun:
    """One inference from related samples.

    Attributes
    ----------
    samples : RelatedSamples
    names : dict
        For each column the name of each sample's place, or None.
    max_radius_km : float or None
        Samples whose radius of 50 % is larger, or unknown, stay unknown.
    """

    samples: RelatedSamples
    names: dict[str, list[str | None]]
    max_radius_km: float | None = None
    located: RelatedLocations = field(init=False)
    named: dict[str, RelatedNames] = field(init=False)
    _again: tuple[RelatedLocations, dict[str, RelatedNames]] = field(init=False)

    def run(self, places: np.ndarray) -> None:
        """Infer the places and the names of all samples."""
        self.located, self.named = self.infer(places, np.empty(0, np.int64))

    def infer_again(self, left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Infer from the places that are left; return places and radii of 50 %."""
        hidden = np.flatnonzero((self.located.rounds == 0) & np.isnan(left).any(axis=1))
        self._again = self.infer(left, hidden)
        return self._again[0].places, self._again[0].radius_km[:, 0]

    def infer(self, places: np.ndarray, hidden: np.ndarray) -> tuple[RelatedLocations, dict[str, RelatedNames]]:
        """Return places, and names by their columns; those of hidden samples are not used."""
        located, named = locate_related(self.samples, places), {}
        if self.max_radius_km is not None:
            far = (located.rounds > 0) & ~(located.radius_km[:, 0] <= self.max_radius_km)
            located.places[far], located.radius_km[far], located.rounds[far] = np.nan, np.nan, -1
        left = set(hidden.tolist())
        for title, names in self.names.items():
            visible = [None if i in left else name for i, name in enumerate(names)]
            if any(name is not None for name in visible):
                named[title] = name_related(self.samples, visible)
        return located, named

    def errors(self) -> dict[str, Any]:
        """Return the errors by cross-validation over the known places and names, and the weights of the predictors."""
        located = self.located
        error = located.error_km if located.known.size > 1 else located.error_km[:0]
        nearest = located.nearest_km[~np.isnan(located.nearest_km)]
        return {
            "cross_validated_median_km": float(np.median(error)) if error.size else None,
            "cross_validated_mean_km": float(error.mean()) if error.size else None,
            "nearest_relative_median_km": float(np.median(nearest)) if nearest.size else None,
            "nearest_relative_mean_km": float(nearest.mean()) if nearest.size else None,
            "names": [
                {"column": title, "kinds": len(one.names), "macro_f1": _score(one)} for title, one in self.named.items()
            ],
            "predictors": [{"predictor": name, "weight": round(weight, 4)} for name, weight in located.weights.items()],
        }

    def columns(self) -> dict[str, list[str | None]]:
        """Return the columns of the table beyond those of other methods."""
        located, inferred = self.located, self.located.rounds > 0
        radius = [
            f"{value:.3f}" if here and not np.isnan(value) else None
            for value, here in zip(located.radius_km[:, 1].tolist(), inferred.tolist(), strict=True)
        ]
        found: dict[str, list[str | None]] = {"radius_90_km": radius}
        for title, one in self.named.items():
            shown = np.where(one.given >= 0, one.given, one.best)
            found[title] = [one.names[i] if i >= 0 else None for i in shown.tolist()]
            found[f"{title}_probability"] = [
                f"{one.probability[row, best]:.4f}" if given < 0 <= best else None
                for row, (given, best) in enumerate(zip(one.given.tolist(), one.best.tolist(), strict=True))
            ]
        return found

    def probabilities(self, vertices: Sequence[str]) -> dict[str, list[str]]:
        """Return a row for each inferred sample, column and name of some probability, as columns of a table."""
        rows = [
            (vertices[row], title, one.names[name], f"{one.probability[row, name]:.4f}")
            for title, one in self.named.items()
            for row in np.flatnonzero((one.given < 0) & (one.best >= 0)).tolist()
            for name in np.argsort(-one.probability[row], kind="stable").tolist()
            if one.probability[row, name] >= _LEAST_SHOWN
        ]
        titles = ("vertex", "column", "name", "probability")
        return {title: [row[i] for row in rows] for i, title in enumerate(titles)}

    def held_out(self, held: HeldOut) -> dict[str, Any]:
        """Return the share of hidden samples within their radius of 90 %, and how good the names of these are."""
        located, named = self._again
        radius = located.radius_km[held.vertices, RADIUS_SHARES.index(0.9)]
        has_radius = ~np.isnan(radius) & ~np.isnan(held.error_km)
        is_within = (held.error_km <= radius + A_METRE)[has_radius]
        return {
            "within_radius_90": float(is_within.mean()) if is_within.size else None,
            "held_out_names": [
                {"column": title, "macro_f1": self._score_of_hidden(title, one, held.vertices)}
                for title, one in named.items()
            ],
        }

    def _score_of_hidden(self, title: str, found: RelatedNames, hidden: np.ndarray) -> float | None:
        """Return macro F1 of the hidden names of a column."""
        pairs = [
            (truth, found.names[best] if best >= 0 else None)
            for best, truth in zip(found.best[hidden].tolist(), (self.names[title][i] for i in hidden), strict=True)
            if truth is not None
        ]
        number = {
            name: i for i, name in enumerate(sorted({name for pair in pairs for name in pair if name is not None}))
        }
        numbers = np.array([(number[truth], -1 if best is None else number[best]) for truth, best in pairs])
        return macro_f1(*numbers.T) if pairs else None


def _score(named: RelatedNames) -> float | None:
    known = np.flatnonzero(named.given >= 0)
    return macro_f1(named.given[known], named.best[known]) if known.size > 1 else None
