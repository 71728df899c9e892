"""From reads to contigs: the de Bruijn graph, its unitigs, clean-up, several k."""

from __future__ import annotations

from gpuasm.assembly.contigs import Contig
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.graph.unitigs_of_reads import unitigs_of_reads
from gpuasm.assembly.options import AssemblyOptions
from gpuasm.assembly.recipe import Assembly, assemble, resume
from gpuasm.assembly.scaffolds import Scaffold
from gpuasm.assembly.state import AssemblyState

__all__ = [
    "Assembly",
    "AssemblyOptions",
    "AssemblyState",
    "Contig",
    "Scaffold",
    "UnitigGraph",
    "assemble",
    "resume",
    "unitigs_of_reads",
]
