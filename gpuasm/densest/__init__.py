"""Dense subgraphs: of k vertices, with an upper bound; of any size, by peeling; of rows and columns."""

from gpuasm.densest.adjacency import Adjacency
from gpuasm.densest.any_size import DensestSubgraph, densest_of_any_size
from gpuasm.densest.batch_peeling import BatchPeeling, peel_in_batches
from gpuasm.densest.blocks import DenseBlock, densest_block
from gpuasm.densest.finding import DenseSubgraph, densest_subgraph
from gpuasm.densest.inputs import SearchOptions
from gpuasm.densest.peeling import Peeling, peel
from gpuasm.densest.power_method import power_support

__all__ = [
    "Adjacency",
    "BatchPeeling",
    "DenseBlock",
    "DenseSubgraph",
    "DensestSubgraph",
    "Peeling",
    "SearchOptions",
    "densest_block",
    "densest_of_any_size",
    "densest_subgraph",
    "peel",
    "peel_in_batches",
    "power_support",
]
