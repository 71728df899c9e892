"""Compile every CUDA kernel without a device: ``python -m tests.gpu.compile_kernels``.

Bodies of ``for_each`` are compiled to PTX with the types that a small assembly on the CPU calls them with; what only a
device calls is called here on host arrays first. They are compiled for the oldest target alone: no body asks which one
it runs on, and a driver compiles PTX of an older target for a newer device. CUDA C++ goes through NVRTC, for all.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import pkgutil
import sys

import numpy as np
from cuda.bindings import nvrtc

import gpuasm
from gpuasm import parallel
from gpuasm.assembly import assemble, unitigs_of_reads
from gpuasm.assembly.consensus import batches, chimeras, departures, merged_mates
from gpuasm.assembly.pairs import anchors, walks
from gpuasm.clustering import SelfOrganisingMap
from gpuasm.densest import Adjacency, densest_subgraph
from gpuasm.densest.bounds import degree_bound
from gpuasm.densest.spectrum import largest_eigenpairs
from gpuasm.graph import generators
from gpuasm.graph.euler import find_euler_circuits
from gpuasm.graph.generators import de_bruijn_graph
from gpuasm.graph.undirected_graph import undirected_graph
from gpuasm.kmers import count_tetramers, spell_kmers, tally_by_doubling, tally_cuda, tally_kmers
from gpuasm.kmers.windows import tile_windows
from gpuasm.parallel import for_each
from gpuasm.primitives import strand_walks
from gpuasm.ranking import places, power_iteration, random_walks, work_by_coupon
from gpuasm.samples import SketchKind, sketch_kmers, sketch_text
from gpuasm.sequence.reads import Reads
from tests.samples import simulated_genome, simulated_pairs, simulated_reads

TARGETS = ((7, 0), (8, 0), (9, 0))


def main() -> int:
    sources = cuda_sources()
    seen = record_signatures()
    missing = [body.__name__ for body in for_each.instances if not any(key is body for key, _ in seen)]
    failures = [f"{name}: never called, so its types are unknown" for name in missing]
    targets = [cc for cc in TARGETS if nvrtc_supports(cc)]
    texts = [(name, text, cc) for cc in targets for name, text in sources.items()]
    failures += _on_every_core([(body, signature, targets[0]) for body, signature in seen], texts)
    print("\n".join(failures))
    oldest = "{}.{}".format(*targets[0])
    print(f"{len(seen)} bodies for {oldest}, {len(sources)} CUDA sources for {targets}: {len(failures)} failures")
    return 1 if failures else 0


Wanted = tuple[for_each, tuple[str, ...], tuple[int, int]]
_wanted: list[Wanted] = []
"""What a forked process finds here: bodies cannot be sent to one."""


def _on_every_core(wanted: list[Wanted], texts: list[tuple[str, str, tuple[int, int]]]) -> list[str]:
    """Compile bodies and texts for targets, as many at a time as there are cores; return what went wrong."""
    _wanted[:] = wanted
    with multiprocessing.get_context("fork").Pool(len(os.sched_getaffinity(0))) as pool:
        of_texts = pool.starmap_async(compile_source, texts, chunksize=4)
        errors = pool.map(compile_body, range(len(wanted)), chunksize=4) + of_texts.get()
    return [error for error in errors if error]


def compile_body(number: int) -> str:
    """Compile one of the wanted bodies to PTX; return what went wrong, or nothing."""
    body, signature, cc = _wanted[number]
    return "" if ".entry" in body.ptx(signature, cc) else f"{body.__name__} for {cc}: no kernel"


def cuda_sources() -> dict[str, str]:
    """Return every CUDA C++ text of the package, by module."""
    found = {}
    for module in pkgutil.walk_packages(gpuasm.__path__, "gpuasm."):
        if module.name == "gpuasm.__main__":
            continue
        text = vars(importlib.import_module(module.name)).get("_CUDA")
        if isinstance(text, str):
            found[module.name] = text
        elif isinstance(text, dict):
            found |= {f"{module.name}[{key}]": own for key, own in text.items()}
    return found


def record_signatures() -> list[tuple[for_each, tuple[str, ...]]]:
    """Return each body with the types it is called with."""
    seen: dict[tuple[int, tuple[str, ...]], tuple[for_each, tuple[str, ...]]] = {}
    call = for_each.__call__

    def recording(self: for_each, n: int, *args: object) -> None:
        signature = parallel.signature_of(args)
        seen[id(self), signature] = self, signature
        call(self, n, *args)

    for_each.__call__ = recording  # type: ignore[method-assign]
    try:
        _call_everything()
    finally:
        for_each.__call__ = call  # type: ignore[method-assign]
    return list(seen.values())


def _call_everything() -> None:
    reads = simulated_reads(length=6000, fold=20, repeats=2)
    assemble(reads)
    genome = simulated_genome(length=20_000, repeats=3, repeat_length=250)
    assemble(Reads.from_strings(simulated_pairs(genome, fold=20, length=100), paired=True))
    assemble(simulated_reads(length=4000, fold=5))  # thin enough for gaps that single reads bridge
    graph_input, _ = tally_by_doubling(reads, [31, 61], min_count=1, with_followers=True)
    overlapping = Reads.from_strings(simulated_pairs(genome, fold=6, length=100, insert=150), paired=True)
    assemble(overlapping)
    mates = merged_mates.overlapping_mates(overlapping, 25)
    merged_mates.merge_mates(overlapping, mates)
    chimeras.count_chimeras(overlapping, mates, tally_kmers(overlapping, 31, min_count=2))
    spell_kmers(reads.words, graph_input)
    one = np.ones(1, np.int64)
    departures._mark_covered(1, one, 9 * one, 2 * one, 3 * one, 1, np.zeros(1, np.uint8))
    batches._choose_batch(1, np.zeros(1, np.int64), reads.start, reads.words, np.uint64(2), np.empty(1, np.int32))
    unitigs_of_reads(reads, 63, min_count=2)
    tiles = tile_windows(reads, 31)
    names = np.full(reads.words.size * 32, -1, np.int32)
    for k, k0 in ((31, 0), (61, 31)):
        where = (reads, (tiles.position, tiles.count), names)
        tally_cuda._window_keys(*where, k=k, k0=k0)
        tally_cuda._keys_of_part(*where, k=k, k0=k0, part=(0, 2))
    count_tetramers(np.zeros(9, np.uint8), np.zeros(1, np.int64), np.full(1, 9))
    one = (np.zeros(1, np.int64), np.zeros(1, np.int32))
    anchors._anchor_named(1, *one, np.full(32, -1, np.int32), 61, np.zeros(1, np.int64), *one)
    pins = np.full(24, -1, np.int32)
    pair, length = (np.zeros(1, np.int64), np.ones(1, np.int64)), np.zeros(1, np.int32)
    walks._middle(1, *pair, length, length, length, length.copy())
    walks._agree(1, *pair, np.zeros(8, np.int32), 8, 24, 10, pins)
    sketch_text(reads, SketchKind.bottom(21, 9))
    sketch_kmers(np.zeros(1, np.uint64), SketchKind.scaled(21, 1))
    strand_walks._rank(np.array([2, -1, -1, 1], np.int32))
    generators.deep_eulerian(10, 3)
    find_euler_circuits(de_bruijn_graph(4, 8), pairing="fifo")  # more circuits than are spliced
    find_euler_circuits(generators.shallow_eulerian(100, 300))
    generators.many_circuits(10)
    generators.random_eulerian(10, 20)
    generators.shuffled(generators.rmat(3, 2))
    graph = generators.rmat(3, 2)
    places._look_up(1, *np.zeros((3, 1), np.int32))
    power_iteration(graph, weights=np.ones(graph.n_edges))
    random_walks(graph, weights=np.ones(graph.n_edges))
    work_by_coupon(graph, n_threads=2)
    _train_maps()
    _find_dense_subgraphs()


def _find_dense_subgraphs() -> None:
    directed = generators.rmat(9, 4)
    for weights in (None, np.ones(directed.n_edges)):
        graph = undirected_graph(directed, weights)
        densest_subgraph(graph, 5)
        degree_bound(graph, 5)
        largest_eigenpairs(Adjacency(graph), 2)


def _train_maps() -> None:
    rows = np.random.default_rng(1).normal(size=(60, 9)).astype(np.float32)
    SelfOrganisingMap(3, 4, metric="cosine", epochs=1).fit(rows)
    rows[::5, 1] = np.nan
    SelfOrganisingMap(3, 4, epochs=1).fit(rows).p_matrix(rows)


def nvrtc_supports(cc: tuple[int, int]) -> bool:
    """Tell whether the installed compiler still knows a target: CUDA 13 dropped sm_70."""
    _, n = nvrtc.nvrtcGetNumSupportedArchs()
    _, supported = nvrtc.nvrtcGetSupportedArchs()
    return cc[0] * 10 + cc[1] in list(supported)[:n]


def compile_source(name: str, text: str, cc: tuple[int, int]) -> str:
    """Compile CUDA C++; return what went wrong, or nothing."""
    _, program = nvrtc.nvrtcCreateProgram(text.encode(), f"{name}.cu".encode(), 0, [], [])
    options = [f"--gpu-architecture=compute_{cc[0]}{cc[1]}".encode(), b"--std=c++17"]
    (result,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    if result == nvrtc.nvrtcResult.NVRTC_SUCCESS:
        return ""
    _, size = nvrtc.nvrtcGetProgramLogSize(program)
    log = b" " * size
    nvrtc.nvrtcGetProgramLog(program, log)
    return f"{name} for {cc}: {log.decode()}"


if __name__ == "__main__":
    sys.exit(main())
