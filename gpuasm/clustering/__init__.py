"""Self-organising maps: training, best units, surfaces, clusters and classes."""

from gpuasm.clustering.classes.labelling import UnitLabels, label_units
from gpuasm.clustering.classes.lvq import MapClassifier
from gpuasm.clustering.grid import MapGrid
from gpuasm.clustering.normalising import Normalisation, fit_normalisation
from gpuasm.clustering.search.search import BestUnits
from gpuasm.clustering.som import SelfOrganisingMap
from gpuasm.clustering.state import map_of, state_of
from gpuasm.clustering.training.batch import EpochErrors

__all__ = [
    "BestUnits",
    "EpochErrors",
    "MapClassifier",
    "MapGrid",
    "Normalisation",
    "SelfOrganisingMap",
    "UnitLabels",
    "fit_normalisation",
    "label_units",
    "map_of",
    "state_of",
]
