"""Genome assembly: from reads to contigs by de Bruijn graphs of increasing k.

Each name is imported at its first use, so that options are available before the assembler is loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuasm.lazy import names_from

if TYPE_CHECKING:
    from gpuasm.assembly.contig import Contig
    from gpuasm.assembly.graph.unitig_graph import UnitigGraph
    from gpuasm.assembly.graph.unitigs import unitigs_of_reads
    from gpuasm.assembly.options import AssemblyOptions
    from gpuasm.assembly.pipeline import Assembly, assemble, resume
    from gpuasm.assembly.scaffold import Scaffold
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

_HOMES = {
    "contig": ["Contig"],
    "graph.unitig_graph": ["UnitigGraph"],
    "graph.unitigs": ["unitigs_of_reads"],
    "options": ["AssemblyOptions"],
    "pipeline": ["Assembly", "assemble", "resume"],
    "scaffold": ["Scaffold"],
    "state": ["AssemblyState"],
}
__getattr__ = names_from(__name__, {name: f"{__name__}.{home}" for home, names in _HOMES.items() for name in names})
