# The types of the public names, each of which is imported at its first use. A test compares it with __init__.py.
# ruff: noqa: I001 - one statement for each module

from gpuasm.arrays import (
    namespace_of as namespace_of,
    to_device as to_device,
    to_host as to_host,
)
from gpuasm.assembly.contig import (
    Contig as Contig,
)
from gpuasm.assembly.options import (
    AssemblyOptions as AssemblyOptions,
)
from gpuasm.assembly.pipeline import (
    Assembly as Assembly,
    assemble as assemble,
)
from gpuasm.errors import (
    DataError as DataError,
    DeviceError as DeviceError,
    GpuasmError as GpuasmError,
    NoInputError as NoInputError,
    OutputError as OutputError,
    ReadWriteError as ReadWriteError,
    ResourceError as ResourceError,
    UsageError as UsageError,
)
from gpuasm.geolocation import (
    HeldOut as HeldOut,
    LocatingOptions as LocatingOptions,
    Locations as Locations,
    gunrock_locations as gunrock_locations,
    hold_out as hold_out,
    locate as locate,
    spherical_median as spherical_median,
)
from gpuasm.graph.balance import (
    EulerCheck as EulerCheck,
)
from gpuasm.graph.directed_graph import (
    DirectedGraph as DirectedGraph,
)
from gpuasm.graph.drawing import (
    Drawing as Drawing,
    DrawingOptions as DrawingOptions,
)
from gpuasm.graph.finding import (
    find_euler_tour as find_euler_tour,
)
from gpuasm.graph.generators import (
    de_bruijn_graph as de_bruijn_graph,
    deep_eulerian as deep_eulerian,
    many_circuits as many_circuits,
    random_eulerian as random_eulerian,
    random_regular as random_regular,
    rmat as rmat,
    shallow_eulerian as shallow_eulerian,
    shuffled as shuffled,
)
from gpuasm.graph.tours import (
    EulerTour as EulerTour,
    check_tour as check_tour,
)
from gpuasm.io import (
    FileSummary as FileSummary,
    ReadSet as ReadSet,
    read_reads as read_reads,
)
from gpuasm.io.graphs import (
    read_graph as read_graph,
    write_graph as write_graph,
)
from gpuasm.io.growing_matrix import (
    GrowingMatrix as GrowingMatrix,
)
from gpuasm.kmers.counting import (
    tally_kmers as tally_kmers,
)
from gpuasm.kmers.spectrum import (
    Spectrum as Spectrum,
)
from gpuasm.kmers.tally import (
    Tally as Tally,
)
from gpuasm.samples.comparison import (
    Comparison as Comparison,
    compare as compare,
)
from gpuasm.samples.neighbours import (
    GraphOptions as GraphOptions,
)
from gpuasm.samples.relation import (
    Relation as Relation,
    relate as relate,
)
from gpuasm.samples.sketches import (
    SketchKind as SketchKind,
    Sketches as Sketches,
    sketch_kmers as sketch_kmers,
    sketch_text as sketch_text,
)
from gpuasm.sequence.genomes import (
    Molecule as Molecule,
    Repeats as Repeats,
    simulate_molecule as simulate_molecule,
)
from gpuasm.sequence.reads import (
    Reads as Reads,
)
from gpuasm.sequence.simulation import (
    ReadOptions as ReadOptions,
    ReadSimulation as ReadSimulation,
)
from gpuasm.stages import (
    StageEvent as StageEvent,
    StageRecord as StageRecord,
    Stages as Stages,
)
from gpuasm.threads import (
    set_threads as set_threads,
    thread_count as thread_count,
)

__version__: str
