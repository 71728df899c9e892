"""Genome assembly from short reads on CPUs and GPUs, to the same bytes.

The names of ``__all__`` are the public interface. Each is imported when it is first used: ``import gpuasm`` is quick.
"""

import _signal  # Python has loaded it: nothing else is imported, nor any file read, before signals wait

_masked = _signal.pthread_sigmask(_signal.SIG_BLOCK, (_signal.SIGINT, _signal.SIGTERM))
from gpuasm import first_signals as first_signals  # noqa: E402

_signal.pthread_sigmask(_signal.SIG_SETMASK, _masked)  # those that came are handled here

from gpuasm.lazy import names_from  # noqa: E402

__version__ = "0.2.0"

_HOMES = {
    "arrays": ["namespace_of", "to_device", "to_host"],
    "assembly.contig": ["Contig"],
    "assembly.options": ["AssemblyOptions"],
    "assembly.pipeline": ["Assembly", "assemble"],
    "errors": [
        "DataError",
        "DeviceError",
        "GpuasmError",
        "NoInputError",
        "OutputError",
        "ReadWriteError",
        "ResourceError",
        "UsageError",
    ],
    "geolocation": [
        "HeldOut",
        "LocatingOptions",
        "Locations",
        "gunrock_locations",
        "hold_out",
        "locate",
        "spherical_median",
    ],
    "graph.balance": ["EulerCheck"],
    "graph.directed_graph": ["DirectedGraph"],
    "graph.drawing": ["Drawing", "DrawingOptions"],
    "graph.generators": [
        "de_bruijn_graph",
        "deep_eulerian",
        "many_circuits",
        "random_eulerian",
        "random_regular",
        "rmat",
        "shallow_eulerian",
        "shuffled",
    ],
    "graph.finding": ["find_euler_tour"],
    "graph.tours": ["EulerTour", "check_tour"],
    "io": ["FileSummary", "ReadSet", "read_reads"],
    "io.graphs": ["read_graph", "write_graph"],
    "io.growing_matrix": ["GrowingMatrix"],
    "kmers.counting": ["tally_kmers"],
    "kmers.spectrum": ["Spectrum"],
    "kmers.tally": ["Tally"],
    "samples.comparison": ["Comparison", "compare"],
    "samples.neighbours": ["GraphOptions"],
    "samples.relation": ["Relation", "relate"],
    "samples.sketches": ["SketchKind", "Sketches", "sketch_kmers", "sketch_text"],
    "sequence.genomes": ["Molecule", "Repeats", "simulate_molecule"],
    "sequence.reads": ["Reads"],
    "sequence.simulation": ["ReadOptions", "ReadSimulation"],
    "stages": ["StageEvent", "StageRecord", "Stages"],
    "threads": ["set_threads", "thread_count"],
}
_HOME_OF = {name: f"gpuasm.{module}" for module, names in _HOMES.items() for name in names}

__all__ = [*sorted(_HOME_OF), "__version__"]  # noqa: PLE0604 - all of them are strings
__getattr__ = names_from(__name__, _HOME_OF)


def __dir__() -> list[str]:
    return __all__
