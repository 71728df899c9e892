"""Places and their names from related samples: predictors, weights, calibration, and edge cases."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.metrics import f1_score

from gpuasm.errors import DataError
from gpuasm.geolocation import related as module
from gpuasm.geolocation.calibration import calibrated_factor, macro_f1
from gpuasm.geolocation.predictors import RelatedSamples, predictions
from gpuasm.geolocation.related import kilometres, locate_related, name_related
from gpuasm.geolocation.stacking import stack
from gpuasm.geolocation.tree_states import SampleTree, leaf_probabilities
from gpuasm.samples.trees import neighbour_joining

GENOME = 1000.0
CENTRES = np.array([[47.0, 8.0], [-33.0, 151.0], [35.0, 139.0]])


def related(distance, *, years=None, own=None) -> RelatedSamples:
    n = len(distance)
    tree = neighbour_joining(distance, [str(i) for i in range(n)])
    trees = {"Mash": SampleTree(tree.parent, tree.length)} if n > 2 else {}
    distances = {"Mash": distance} | ({} if own is None else {"own containment": own})
    return RelatedSamples(distances, trees, np.full(n, GENOME), np.full(n, np.nan) if years is None else years)


def clades(n: int = 24, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Return distances of samples in three clades, and the clade of each."""
    rng = np.random.default_rng(seed)
    clade = np.arange(n) % 3
    position = np.stack([clade * 0.05, rng.random(n) * 0.004], axis=1)
    distance = np.abs(position[:, None] - position[None]).sum(axis=2)
    return distance, clade


@pytest.mark.parametrize("seed", range(4))
def test_probabilities_on_a_tree_are_those_of_all_histories(seed):
    rng = np.random.default_rng(seed)
    n, n_states, rate, least = 5, 3, 7.0, 0.01
    points = rng.random((n, 2))
    distance = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    built = neighbour_joining(distance, list("abcde"))
    states = rng.integers(0, n_states, n)
    states[rng.integers(0, n)] = -1
    tree = SampleTree(built.parent, built.length)
    found = leaf_probabilities(tree, states, n_states, rates=np.array([1.0, rate]), least_length=least)[1]
    stays = np.exp(-rate * (built.length + least))
    expected = np.zeros((n, n_states))
    for history in itertools.product(range(n_states), repeat=len(built.parent)):
        chance = 1.0
        for node, parent in enumerate(built.parent[:-1]):
            same = history[node] == history[parent]
            chance *= stays[node] * same + (1 - stays[node]) / n_states
        for leaf in range(n):
            if all(states[other] in (-1, history[other]) for other in range(n) if other != leaf):
                expected[leaf, history[leaf]] += chance
    np.testing.assert_allclose(found, expected / expected.sum(axis=1, keepdims=True), rtol=1e-9)


def test_no_predictor_uses_the_state_of_the_sample_itself():
    distance, clade = clades()
    samples = related(distance, years=2000 + np.arange(24) / 7, own=distance * 1.5)
    states = np.where(np.arange(24) % 5 == 0, -1, clade)
    before = predictions(samples, states, 3)
    assert {"all samples", "10 nearest, own containment, date within 0.1", "tree, Mash, rate 3"} <= set(before)
    for sample in (1, 7):
        other = states.copy()
        other[sample] = (states[sample] + 1) % 3
        after = predictions(samples, other, 3)
        for name, shares in before.items():
            np.testing.assert_allclose(after[name][sample], shares[sample], err_msg=name)
            np.testing.assert_allclose(shares.sum(axis=1), 1, err_msg=name)
            assert (shares >= 0).all(), name


def test_dates_are_used_only_if_there_are_enough_and_they_differ():
    distance, clade = clades()
    years = np.full(24, 2020.0)
    assert not [name for name in predictions(related(distance, years=years), clade, 3) if "date" in name]
    years[:5] = np.nan
    years[5:] += np.arange(19) / 3
    assert [name for name in predictions(related(distance, years=years), clade, 3) if "date" in name]
    years[:13] = np.nan
    assert not [name for name in predictions(related(distance, years=years), clade, 3) if "date" in name]


def test_weights_of_a_true_predictor_among_noise():
    rng = np.random.default_rng(1)
    truth, known = rng.integers(0, 4, 60), np.arange(60)
    between = 1 - np.eye(4)
    right = 0.7 * np.eye(4)[truth] + 0.075
    noise = [rng.dirichlet(np.ones(4), 60) for _ in range(4)]
    shares, weights = stack([*noise, right], known, between[truth], between)
    assert weights.argmax() == 4
    assert weights.sum() == pytest.approx(1)

    def energy(mix):
        mean = sum(w * one for w, one in zip(mix, [*noise, right], strict=True))
        return (mean * between[truth]).sum() - 0.5 * ((mean @ between) * mean).sum()

    assert energy(weights) < min(energy(np.eye(5)[i]) for i in range(5)) + 0.5
    np.testing.assert_allclose(shares.sum(axis=1), 1)


def test_weights_of_known_samples_do_not_depend_on_their_own_states():
    rng = np.random.default_rng(2)
    truth, known, between = rng.integers(0, 3, 30), np.arange(30), 1 - np.eye(3)
    given = [rng.dirichlet(np.ones(3), 31) for _ in range(3)]
    before = stack(given, known, between[truth], between).shares
    other = truth.copy()
    other[4] = (truth[4] + 1) % 3
    after = stack(given, known, between[other], between).shares
    np.testing.assert_array_equal(after[4], before[4])
    assert not np.array_equal(after[30], before[30])


@pytest.mark.parametrize(("n", "share", "rank"), [(1, 0.5, 1), (9, 0.9, 9), (19, 0.9, 18), (10, 0.5, 6)])
def test_rank_of_a_calibrated_radius(n, share, rank):
    scores = np.random.default_rng(n).permutation(np.arange(1, n + 1)).astype(float)
    assert calibrated_factor(scores, share) == rank


@pytest.mark.parametrize(("n", "share"), [(0, 0.5), (8, 0.9), (0, 0.9)])
def test_no_radius_of_too_few_samples(n, share):
    assert np.isnan(calibrated_factor(np.ones(n), share))


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_calibrated_radii_hold_their_share_of_new_scores(share):
    rng = np.random.default_rng(8)
    held = [rng.exponential(size=1)[0] <= calibrated_factor(rng.exponential(size=49), share) for _ in range(2000)]
    assert np.mean(held) == pytest.approx(share, abs=0.03)


def test_macro_f1_is_that_of_scikit_learn():
    rng = np.random.default_rng(4)
    for _ in range(5):
        truth, best = rng.integers(0, 4, 30), rng.integers(0, 5, 30)
        assert macro_f1(truth, best) == pytest.approx(f1_score(truth, best, average="macro"))
    assert macro_f1(np.array([0, 0, 1]), np.array([0, -1, 1])) == pytest.approx((2 / 3 + 1) / 2)


def test_samples_are_placed_with_their_clade():
    distance, clade = clades(30)
    places = CENTRES[clade]
    hidden = np.arange(0, 30, 4)
    left = places.copy()
    left[hidden] = np.nan
    found = locate_related(related(distance), left)
    np.testing.assert_array_equal(found.places, places)
    assert found.rounds.tolist() == [1 if i in hidden else 0 for i in range(30)]
    assert (found.error_km == 0).all()
    assert (found.radius_km[hidden] == 0).all()
    assert sum(found.weights.values()) == pytest.approx(1)
    assert list(found.weights.values()) == sorted(found.weights.values(), reverse=True)
    names = [None if i in hidden else "abc"[c] for i, c in enumerate(clade)]
    named = name_related(related(distance), names)
    assert [named.names[i] for i in named.best] == ["abc"[c] for c in clade]
    assert (named.probability[hidden, clade[hidden]] > 0.9).all()
    assert named.given[hidden].tolist() == [-1] * hidden.size


def test_errors_are_those_of_each_sample_without_its_own_place():
    distance, clade = clades(30)
    places = CENTRES[clade]
    places[7] = [0.0, -60.0]
    found = locate_related(related(distance), places)
    expected = kilometres(places[7:8], CENTRES[clade[7]][None])[0, 0]
    assert found.error_km[7] == pytest.approx(expected)
    assert found.nearest_km[7] == pytest.approx(expected)
    np.testing.assert_array_equal(found.radius_km, 0)


def test_fragments_do_not_attract_other_samples():
    distance, clade = clades(30)
    fragments = np.array([3, 10, 17])
    near = distance.copy()
    near[fragments], near[:, fragments] = 0.0, 0.0  # what the samples share with a fragment is the same in all
    own = near.copy()
    own[:, fragments] = 0.2  # but a fragment has little of what they have
    own[fragments] = 0.0
    np.fill_diagonal(own, 0)
    places = CENTRES[clade]
    places[fragments] = [[60.0, 100.0], [0.0, -60.0], [10.0, 30.0]]
    found = locate_related(related(near, own=own), places)
    whole = np.setdiff1d(np.arange(30), fragments)
    assert (found.nearest_km[whole] > 1000).all()
    assert (found.error_km[whole] == 0).mean() > 0.8


def test_one_known_place():
    distance, _ = clades(9)
    places = np.full((9, 2), np.nan)
    places[4] = [10.0, 20.0]
    found = locate_related(related(distance), places)
    np.testing.assert_array_equal(found.places, np.tile([10.0, 20.0], (9, 1)))
    assert np.isnan(np.delete(found.radius_km, 4, axis=0)).all()
    assert name_related(related(distance), [None] * 8 + ["x"]).best.tolist() == [0] * 9


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_samples(n):
    places = np.full((n, 2), np.nan)
    places[0] = [10.0, 20.0]
    found = locate_related(related(clades(n)[0]), places)
    np.testing.assert_array_equal(found.places[0], [10.0, 20.0])
    assert found.rounds.tolist() == [0, 1, 1][:n]


def test_all_samples_at_one_place_and_copies_of_one_genome():
    places = np.tile([12.0, -170.0], (12, 1))
    places[::3] = np.nan
    found = locate_related(related(np.zeros((12, 12))), places)
    np.testing.assert_array_equal(found.places, np.tile([12.0, -170.0], (12, 1)))
    np.testing.assert_array_equal(found.radius_km[::3, 0], 0)
    assert np.isnan(found.radius_km[::3, 1]).all()


def test_places_on_both_sides_of_the_date_line_are_near():
    distance, clade = clades(30)
    places = np.array([[-17.0, 179.9], [-17.0, -179.9], [50.0, 0.0]])[clade]
    places[2::3] = np.nan
    found = locate_related(related(np.where(distance > 0.08, 1.0, distance)), places)
    inferred = found.rounds > 0
    assert (found.error_km < 22).all()
    assert (found.radius_km[inferred] < 50).all()


def test_samples_without_relatives_stay_unknown():
    distance, clade = clades(12)
    distance[clade == 2] = 1.0
    distance[:, clade == 2] = 1.0
    np.fill_diagonal(distance, 0)
    places = CENTRES[clade]
    places[[0, 2, 5]] = np.nan
    found = locate_related(related(distance), places)
    assert found.rounds[[0, 2, 5]].tolist() == [1, -1, -1]
    assert np.isnan(found.places[[2, 5]]).all()
    assert np.isnan(found.radius_km[[2, 5]]).all()
    names = [None if i in (0, 2, 5) else str(c) for i, c in enumerate(clade)]
    assert name_related(related(distance), names).best[[2, 5]].tolist() == [-1, -1]


def test_many_places_are_joined_to_cells(monkeypatch):
    monkeypatch.setattr(module, "MOST_NAMES", 20)
    position = np.linspace(0, 1, 80)
    distance = np.abs(position[:, None] - position[None]) / 10
    samples = RelatedSamples({"Mash": distance}, {}, np.full(80, GENOME), np.full(80, np.nan))
    places = np.stack([position * 40, position * 90], axis=1)
    left = places.copy()
    left[::20] = np.nan
    found = locate_related(samples, left)
    assert np.diagonal(kilometres(places[::20], found.places[::20])).max() < 1500
    assert len(np.unique(found.places[::20], axis=0)) == 4
    assert (found.error_km > 0).any()


def test_results_do_not_depend_on_the_order_of_samples():
    distance, clade = clades(30)
    places = CENTRES[clade] + np.random.default_rng(3).random((30, 2))
    left = places.copy()
    left[::4] = np.nan
    order = np.random.default_rng(1).permutation(30)
    found = locate_related(related(distance), left)
    again = locate_related(related(distance[np.ix_(order, order)]), left[order])
    apart = np.diagonal(kilometres(found.places[order], again.places))
    assert np.median(apart) == 0
    assert apart.max() < 300


def test_refusals():
    distance, clade = clades(6)
    with pytest.raises(DataError, match="at least one sample"):
        locate_related(related(distance), np.full((6, 2), np.nan))
    with pytest.raises(DataError, match="1 to 512 names"):
        name_related(related(distance), [None] * 6)
    with pytest.raises(DataError, match="distance of all samples"):
        RelatedSamples({"Mash": distance}, {}, np.ones(5), np.ones(5))
    with pytest.raises(DataError, match="1 to 512 names"):
        name_related(related(distance), ["a"] * 5)
    assert clade.size == 6
