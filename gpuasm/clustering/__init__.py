"""Self-organising maps: training, best units, what their surfaces show, clusters and classes."""

from gpuasm.clustering.batch import EpochErrors
from gpuasm.clustering.grid import MapGrid
from gpuasm.clustering.labelling import UnitLabels, label_units
from gpuasm.clustering.lvq import MapClassifier
from gpuasm.clustering.normalising import Normalisation, fit_normalisation
from gpuasm.clustering.search import BestUnits
from gpuasm.clustering.som import SelfOrganisingMap
from gpuasm.clustering.state import map_of, state_of

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
