"""Self-organising maps: training, best units, and what their surfaces show."""

from gpuasm.clustering.batch import EpochErrors
from gpuasm.clustering.grid import MapGrid
from gpuasm.clustering.search import BestUnits
from gpuasm.clustering.som import SelfOrganisingMap

__all__ = ["BestUnits", "EpochErrors", "MapGrid", "SelfOrganisingMap"]
