"""From reads to contigs: the de Bruijn graph, its unitigs, clean-up, several k.

Each name is imported when it is first used: options are known before the machinery has been loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuasm.lazy import names_from

if TYPE_CHECKING:
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

_HOMES = {
    "contigs": ["Contig"],
    "graph.unitig_graph": ["UnitigGraph"],
    "graph.unitigs_of_reads": ["unitigs_of_reads"],
    "options": ["AssemblyOptions"],
    "recipe": ["Assembly", "assemble", "resume"],
    "scaffolds": ["Scaffold"],
    "state": ["AssemblyState"],
}
__getattr__ = names_from(__name__, {name: f"{__name__}.{home}" for home, names in _HOMES.items() for name in names})
