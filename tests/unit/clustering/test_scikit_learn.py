"""The estimators pass scikit-learn's own checks, and behave without it."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from gpuasm.clustering import SelfOrganisingMap
from gpuasm.clustering.classes.labelling import as_classes
from gpuasm.clustering.classes.lvq import MapClassifier
from gpuasm.errors import DataError, UsageError


@pytest.mark.parametrize(
    "estimator",
    [SelfOrganisingMap(3, 4, epochs=2), MapClassifier(SelfOrganisingMap(4, 4, epochs=4), epochs=4)],
    ids=["map", "classifier"],
)
@pytest.mark.filterwarnings("ignore")
def test_check_estimator(estimator):
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    results = checks.check_estimator(estimator, on_fail=None)
    failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    assert failed == {}
    assert sum(result["status"] == "passed" for result in results) > 40


def test_no_map_without_scikit_learn(monkeypatch):
    monkeypatch.delitem(sys.modules, "sklearn", raising=False)
    with pytest.raises(UsageError, match="expected a trained map") as caught:
        SelfOrganisingMap(2, 2).predict(np.zeros((3, 2)))
    assert type(caught.value) is UsageError


def test_a_column_of_classes_without_scikit_learn(monkeypatch):
    monkeypatch.delitem(sys.modules, "sklearn", raising=False)
    with pytest.warns(UserWarning, match="column-vector"):
        assert as_classes(np.array([["a"], ["b"]])).tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (None, "found none"),
        (np.zeros((2, 2)), "found shape"),
        (np.array([0.5, 1.0]), "continuous"),
        (np.array([np.nan, 1.0]), "continuous"),
    ],
)
def test_what_are_no_classes(classes, message):
    with pytest.raises(DataError, match=message):
        as_classes(classes)
