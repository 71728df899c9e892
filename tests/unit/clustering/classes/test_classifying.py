from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from gpuasm.arrays import to_namespace
from gpuasm.clustering import MapClassifier, SelfOrganisingMap
from gpuasm.clustering.classes.labelling import label_units
from gpuasm.errors import DataError, UsageError
from tests.oracles.som import distances


def overlapping(rng, n: int = 600) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of three classes whose borders cut through dense places, so that units by majority are blunt."""
    rows = rng.uniform(-1, 1, (n, 2))
    kind = np.array(["low", "middle", "top"])[np.digitize(rows[:, 1] + 0.3 * np.sin(4 * rows[:, 0]), [-0.3, 0.2])]
    return rows, kind


def test_units_have_the_class_of_most_of_their_rows(rng):
    units, kinds = rng.integers(0, 12, 200), rng.choice(["", "b", "a", "c"], 200)
    labels = label_units(units, kinds, 15)
    assert labels.classes == ["a", "b", "c"]
    for unit in range(15):
        counts = Counter(k for k in kinds[units == unit].tolist() if k)
        if not counts:
            assert labels.of_unit[unit] == -1
            assert np.isnan(labels.share[unit])
            continue
        best = min(counts, key=lambda k: (-counts[k], k))
        assert labels.classes[labels.of_unit[unit]] == best
        assert labels.share[unit] == counts[best] / counts.total()
    assert labels.labelled.tolist() == np.flatnonzero(labels.of_unit >= 0).tolist()


def test_classes_must_be_there():
    with pytest.raises(DataError, match="3 rows"):
        label_units(np.zeros(3, int), ["a"], 4)
    with pytest.raises(DataError, match="known"):
        label_units(np.zeros(2, int), ["", None], 4)


def test_learning_classifies_unseen_rows_better_than_labels(rng):
    rows, kind = overlapping(rng)
    unseen, truth = overlapping(rng, 2000)
    som = SelfOrganisingMap(5, 6).fit(rows)
    before = MapClassifier(som, epochs=0).fit(rows, kind)
    after = MapClassifier(som).fit(rows, kind)
    assert after.history_[0] == before.history_[0]
    assert max(after.history_) > before.history_[0] + 0.02
    assert after.score(unseen, truth) > before.score(unseen, truth)
    assert np.array_equal(som.weights_, SelfOrganisingMap(5, 6).fit(rows).weights_)  # the map itself stays


def test_unlabelled_units_answer_nothing(xp, rng):
    rows, kind = overlapping(rng, 40)
    found = MapClassifier(SelfOrganisingMap(10, 10), epochs=0).fit(to_namespace(xp, rows), kind)
    assert len(found.prototypes_) < 100
    others = rng.uniform(-1, 1, (50, 2)).astype(np.float32)
    nearest = distances(others, found.prototypes_).argmin(axis=1)
    expected = np.array(found.classes_)[found.prototype_classes_[nearest]]
    assert np.array_equal(found.predict(to_namespace(xp, others)), expected)


def test_an_epoch_follows_the_textbook_update(rng):
    rows, kind = overlapping(rng, 60)
    som = SelfOrganisingMap(3, 3, epochs=5).fit(rows)
    found = MapClassifier(som, epochs=1, rate=(0.3, 0.3), seed=4).fit(rows, kind)
    still = MapClassifier(som, epochs=0).fit(rows, kind)
    units = still.prototypes_.astype(np.float64)
    number = np.searchsorted(still.classes_, kind)
    for i in np.random.default_rng(4).permutation(60):
        best = ((units - rows[i]) ** 2).sum(axis=1).argmin()
        step = 0.3 if still.prototype_classes_[best] == number[i] else -0.3
        units[best] += step * (rows[i] - units[best])
    expected = (still.prototype_classes_[distances(rows, units).argmin(axis=1)] == number).mean()
    assert found.history_ == [still.history_[0], pytest.approx(expected)]
    if found.history_[1] > found.history_[0]:
        assert np.allclose(found.prototypes_, units, atol=1e-5)
    else:
        assert np.array_equal(found.prototypes_, still.prototypes_)


def test_missing_values_unknown_classes_and_normalisation(rng):
    rows, kind = overlapping(rng)
    rows[::4, 0] = np.nan
    kind[1::4] = ""
    som = SelfOrganisingMap(6, 6, normalise="zscore").fit(rows)
    found = MapClassifier(som, epochs=5).fit(rows * 1.0, kind)
    known = kind != ""
    assert found.classes_ == ["low", "middle", "top"]
    assert np.isfinite(found.prototypes_).all()
    assert found.score(rows[known], kind[known]) == pytest.approx(max(found.history_))
    assert found.score(rows[known], kind[known]) > 0.8


def test_invalid_input_raises_an_error(rng):
    rows, kind = overlapping(rng, 50)
    with pytest.raises(UsageError, match="fit first"):
        MapClassifier().predict(rows)
    with pytest.raises(UsageError, match="epoch"):
        MapClassifier(epochs=-1).fit(rows, kind)
    with pytest.raises(UsageError, match="Euclidean"):
        MapClassifier(SelfOrganisingMap(3, 3, metric="manhattan")).fit(rows, kind)
    by_units = MapClassifier(SelfOrganisingMap(3, 3, metric="manhattan"), epochs=0).fit(rows, kind)
    assert by_units.score(rows, kind) > 0.5


def test_scikit_learn_validates_it(rng):
    pytest.importorskip("sklearn", reason="scikit-learn is not needed to run gpuasm")
    from sklearn.base import clone, is_classifier
    from sklearn.model_selection import cross_val_score

    rows, kind = overlapping(rng)
    classifier = MapClassifier(SelfOrganisingMap(5, 5, epochs=5), epochs=5)
    twin = clone(classifier)
    assert twin.som is not classifier.som
    assert repr(twin) == repr(classifier)
    assert is_classifier(classifier)
    assert cross_val_score(classifier, rows, kind, cv=3).mean() > 0.8
    classifier.set_params(som__rows=4, epochs=3)
    assert (classifier.som.rows, classifier.epochs, classifier.get_params()["som__rows"]) == (4, 3, 4)
