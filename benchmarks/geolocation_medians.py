"""Compare medians on the sphere with the lowest of many searches by scipy, set by set; about 15 minutes on one core.

    python benchmarks/geolocation_medians.py --json results/geolocation_medians.json

10,000 sets of 3 to 1,000 points: all over the sphere, or around one place with a spread of 10 m to the whole Earth, a
fifth with points that repeat, two fifths with weights; every fifth set lies across the date line, every fifth around a
pole. A set is right if the median is within 10 m of the lowest minimum found, or is itself lower.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from record import record

from gpuasm import arrays
from gpuasm.geolocation import medians_of

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.oracles import geolocation as oracle
from tests.unit.geolocation.test_median import random_set

METRES = 6_371_000.0
KINDS = ("all over the sphere", "10 m", "10 km", "300 km", "2,000 km", "whole Earth")


def moved_to(points: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Rotate points so that the first lies at a place."""
    axis = np.cross(points[0], place)
    sine, cosine = np.linalg.norm(axis), float(points[0] @ place)
    if sine < 1e-9:
        return points * np.sign(cosine)
    x, y, z = axis / sine
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    turned = points @ (np.eye(3) + sine * cross + (1 - cosine) * cross @ cross).T
    return turned / np.linalg.norm(turned, axis=1)[:, None]


def one_set(rng: np.random.Generator, i: int) -> tuple[np.ndarray, np.ndarray]:
    points, weights = random_set(rng, i % len(KINDS))
    if i % 5 == 0:
        points = moved_to(points, np.array([-1.0, 0.0, 0.0]))
    if i % 5 == 1:
        points = moved_to(points, np.array([0.0, 0.0, (-1.0) ** i]))
    return points, weights


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=10_000, help="sets")
    parser.add_argument("--starts", type=int, default=8, help="random starts of the searches, besides the best points")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rng = np.random.default_rng(7)
    sets = [one_set(rng, i) for i in range(options.n)]
    starts = np.concatenate([[0], np.cumsum([len(w) for _, w in sets])])
    together = [np.concatenate(parts) for parts in zip(*sets, strict=True)]
    found = medians_of(starts, *together)
    if arrays.device_count():
        xp = arrays.namespace_of("cuda")
        on_device = medians_of(*(xp.asarray(a) for a in (starts, *together)))
        print("device and CPU agree to the bit:", arrays.to_host(on_device).tobytes() == found.tobytes())
    rows = [{"kind": kind, "sets": 0, "largest_m": 0.0, "lower": 0, "wrong": 0} for kind in KINDS]
    for i, (points, weights) in enumerate(sets):
        row, expected = rows[i % len(KINDS)], oracle.median(points, weights, n_starts=options.starts, seed=i)
        metres = float(oracle.arcs(found[i : i + 1], expected)[0]) * METRES
        mine, other = (float(weights @ oracle.arcs(points, place)) for place in (found[i], expected))
        row["sets"] += 1
        if metres <= 10:
            row["largest_m"] = max(row["largest_m"], metres)
        else:
            row["lower" if mine <= other * (1 + 1e-12) else "wrong"] += 1
    for row in rows:
        print(row)
    record(options.json, "geolocation_medians", {"starts": options.starts}, rows)
    sys.exit(1 if any(row["wrong"] for row in rows) else 0)


if __name__ == "__main__":
    main()
