"""Small work that calls every kernel of one body, with the types that a user's work calls it with."""

from __future__ import annotations

import numpy as np

from gpuasm.assembly import assemble, unitigs_of_reads
from gpuasm.assembly.alignment import contig_alignment, graph_anchors
from gpuasm.assembly.graph.piece_joining import PieceLinks, all_pieces, join_pieces
from gpuasm.assembly.iteration.first_graph import build_first_graph
from gpuasm.assembly.iteration.next_graph import build_next_graph
from gpuasm.assembly.options import AssemblyOptions
from gpuasm.assembly.paths import graph_walks
from gpuasm.assembly.verification import read_evidence
from gpuasm.clustering import SelfOrganisingMap
from gpuasm.densest import Adjacency, densest_subgraph
from gpuasm.densest.bounds import degree_bound
from gpuasm.densest.spectrum import largest_eigenpairs
from gpuasm.graph import generators
from gpuasm.graph.euler import find_euler_circuits
from gpuasm.graph.generators import de_bruijn_graph
from gpuasm.graph.undirected_graph import undirected_graph
from gpuasm.kmers import count_tetramers, spell_kmers, tally_by_doubling, tally_cuda
from gpuasm.kmers.bucket_texts import texts_of_buckets
from gpuasm.kmers.buckets import cut_buckets
from gpuasm.kmers.pieces import compact_kmers
from gpuasm.kmers.windows import tile_windows
from gpuasm.primitives import strand_walks
from gpuasm.ranking import degree_order, power_iteration, random_walks, work_by_coupon
from gpuasm.samples import SketchKind, sketch_kmers, sketch_text
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.false_edges import two_places
from tests.samples import pairs_of_relatives, simulated_genome, simulated_pairs, simulated_reads


def call_every_kernel() -> None:
    """Call every kernel of one body on the host, those that only a device calls as well."""
    reads = simulated_reads(length=6000, fold=20, repeats=2)
    assemble(reads)
    genome = simulated_genome(length=20_000, repeats=3, repeat_length=250)
    assemble(Reads.from_strings(simulated_pairs(genome, fold=20, length=100), paired=True))
    assemble(simulated_reads(length=4000, fold=5))  # coverage low enough for gaps that single reads bridge
    assemble(Reads.from_strings(pairs_of_relatives(length=5000), paired=True), AssemblyOptions(mode="meta"))
    false_edge = Reads.from_strings(two_places(fold=10)[1])
    build_next_graph(build_first_graph(false_edge, AssemblyOptions(k=(21, 41)), Stages()), 41, Stages())
    graph_input, _ = tally_by_doubling(reads, [31, 61], min_count=1, with_followers=True)
    overlapping = Reads.from_strings(simulated_pairs(genome, fold=6, length=100, insert=150), paired=True)
    assemble(overlapping)
    spell_kmers(reads.packed, graph_input)
    one = np.ones(1, np.int64)
    read_evidence._mark_covered(1, one, 9 * one, 2 * one, 3 * one, 1, np.zeros(1, np.uint8))
    contig_alignment._choose_batch(
        1, np.zeros(1, np.int64), reads.start, reads.packed, np.uint64(2), np.empty(1, np.int32)
    )
    unitigs_of_reads(reads, 63, min_count=2)
    _join_buckets(reads)
    tiles = tile_windows(reads, 31)
    names = np.full(reads.packed.size * 32, -1, np.int32)
    for k, k0 in ((31, 0), (61, 31)):
        where = (reads, (tiles.position, tiles.count), names)
        tally_cuda._window_keys(*where, k=k, k0=k0)
        tally_cuda._keys_of_part(*where, k=k, k0=k0, part=(0, 2))
    count_tetramers(np.zeros(9, np.uint8), np.zeros(1, np.int64), np.full(1, 9))
    one = (np.zeros(1, np.int64), np.zeros(1, np.int32))
    graph_anchors._anchor_named(1, *one, np.full(32, -1, np.int32), 61, np.zeros(1, np.int64), *one)
    pins = np.full(24, -1, np.int32)
    graph_walks._agree(1, np.zeros(1, np.int64), np.ones(1, np.int64), np.zeros(8, np.int32), pins)
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
    degree_order._look_up(1, *np.zeros((3, 1), np.int32))
    power_iteration(graph, weights=np.ones(graph.n_edges))
    random_walks(graph, weights=np.ones(graph.n_edges))
    work_by_coupon(graph, n_threads=2)
    _train_maps()
    _find_dense_subgraphs()


def _join_buckets(reads: Reads) -> None:
    buckets = [cut_buckets(reads, 31, range(number, number + 1), n_buckets=2)[0] for number in range(2)]
    parts = [compact_kmers(bucket.tally(min_count=2, min_follow=2)) for bucket in buckets]
    pieces = all_pieces(parts)
    join_pieces([pieces], PieceLinks.of(pieces, np, min_follow=2, followers=buckets[0].followers))
    texts_of_buckets(*cut_buckets(reads, 31, range(2), n_buckets=2), 2)


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
