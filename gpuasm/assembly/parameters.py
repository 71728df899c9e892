"""Thresholds of an assembly: one frozen dataclass for each mechanism, and what each mode changes.

Each field has its unit and its reason in one line. Compiled loops know no dataclasses: their modules bind the fields
that they use to names of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from math import inf


@dataclass(frozen=True)
class CoverageParameters:
    """Depth, copy number, what the sample is, and scaffolds."""

    few_reads: float = 3.0  # depth: reads of one error and few true reads look alike below it
    two_reads: float = 1.75  # windows a position: distinguishes two reads from one that another touches
    single_copy_ratio: float = 1.5  # of one copy's depth: above it a sequence occurs more than once
    strict_single_copy_ratio: float = 1.25  # the same where copies must be excluded: one copy and a quarter
    copy_min_odds: int = 100  # odds of one number of copies to the next by Poisson's distribution
    long_unitig_kmers: int = 200  # k-mers: strains that differ in one base of a hundred seldom share longer sequence
    local_depth_arcs: int = 3  # arcs: from one branch of a bubble in a repeat to the flank of the repeat
    tangle_arcs: int = 12  # arcs: out of a tangle, where all unitigs near by are short
    depth_tail_parts: int = 10  # one k-mer in so many has the lowest depth, or the highest
    even_depth_share: float = 0.9  # of the k-mers within a factor of two of the typical depth: a graph of one depth
    sample_read_share: float = 0.2  # of the bases read: less near the typical depth is not the sample
    gc_spread_min_bases: int = 1_000_000  # bases: the halves of a phage differ as much as genomes do
    gc_spread_of_many: float = 0.07  # standard deviation of unitigs' GC: that of one genome is less
    population_long_share: float = 0.1  # of the bases read in long unitigs: a population of variants has less
    error_depth_share: float = 0.06  # of the local depth: reads of one error are at most this share, or a few
    error_chance_bases: int = 3_000_000  # errors that a million bases may have: fewer than one is shared by chance
    error_max_reads: int = 64  # reads: `error_depth_share` of the depth is more
    dispersion_window_reads: int = 2  # read lengths of a window whose reads are counted
    dispersion_min_windows: int = 5  # windows: the median of fewer is unsure
    dispersion_margin: float = 3 * 2.33  # three standard errors of the variance, times the root of the windows
    repeat_kmer_bits: int = 4  # log2 odds of two copies: some short unitigs of a tangle have more depth by chance
    core_min_bases: int = 1000  # bases of a linear contig's core: the depth of a shorter one is unsure
    long_contig_rank: int = 10  # contigs at least half as long as the one of this rank show the depth of one copy
    missing_quarters: int = 3  # quarters of a copy that a junction's side must lack: half of one may be chance
    scaffold_min_gap: int = 10  # N of a gap: tools read fewer as bases that are unknown


@dataclass(frozen=True)
class SimplificationParameters:
    """What is removed from a graph, and which variants are merged."""

    round_strictness: tuple[float, ...] = (1 / 3, 2 / 3, *6 * (1.0,))  # share of the full thresholds in each round
    rare_share: float = 0.33  # of the local depth: a branch of less is rare
    negligible_ratio: float = 0.01  # of a competing branch: a hundred copies would have to lie side by side
    competitor_ratio: float = 2.0  # of a tip's depth, or a bubble's branch: a competitor of as much proves an error
    bubble_length_difference: int = 2  # k-mers by which the branches of a bubble may differ
    edge_competitor_ratio_few: float = 2.5  # instead of twice that, of few reads: overlapping mates show an error twice
    variant_max_kmers: int = 1000  # k-mers of a variant: longer ones may be haplotypes
    superbubble_max_unitigs: int = 256  # unitigs between entrance and exit
    superbubble_spacing: int = 50_000  # k-mers: a mixture has a variant of both genomes more often
    tandem_max_unitigs: int = 64  # unitigs: more are a tangle
    tandem_depth_ratio: int = 2  # a path around the cycle has at least this part of the removed unitig's depth
    supported_alike_ratio: float = 3.0  # two branches of one minor genome differ in depth by at most so much


@dataclass(frozen=True)
class AlignmentParameters:
    """Reads on unitigs and on contigs, and contigs on each other."""

    alignment_mismatch_cost: int = 5  # score: +1 for a match and -4 for a mismatch, so a mismatch costs 5
    alignment_min_score: int = 31  # score: one seed without a mismatch
    alignment_bases_per_mismatch: int = 12  # bases: about 8 % of an alignment may differ
    copy_bases_per_difference: int = 10  # bases: sequence of one copy has fewer differences, errors included
    similar_bases_per_difference: int = 20  # bases: sequence of one molecule or of two strains has fewer
    alignment_max_shift: int = 15  # bases: two alignments of a read closer to each other are one with a gap
    alignment_min_rest: int = 5  # bases: a shorter rest of a read may be an error near its end
    min_votes: int = 2  # reads or fragments that agree: two seldom share an error, and seldom are both chimeras
    vote_agreement: tuple[int, int] = (4, 5)  # four of five reads agree: else reads come from two copies
    seed_min_k: int = 11  # bases: shorter seeds occur by chance
    seeds_per_read: int = 12  # windows: enough that an aligned read has a seed without an error
    multi_mapping_max_places: int = 256  # places: more are sampled, as of homopolymers
    anchor_longer_k: tuple[int, ...] = (61, 121)  # bases: each at most twice the one before, less one
    read_path_max_unitigs: int = 8  # unitigs: a read with more lies in a tangle
    false_anchor_deviations: int = 5  # standard deviations: errors cluster, so more than Poisson's tail
    false_anchor_free_mismatches: int = 1  # bases: the anchor often starts behind one error
    alternative_max_unitigs: int = 32  # unitigs: a longer backward path is in a tangle
    alternative_max_paths: int = 64  # paths: a read with more lies in a tangle and keeps its anchor
    alternative_max_lag: int = 2  # bases: a backward path may match fewer bases than the anchor's and recover
    contained_end_min_bases: int = 50  # bases that contigs or ends share: fewer agree by chance, or as motifs do
    self_alignment_max_places: int = 100  # places: a k-mer of more copies identifies none of them


@dataclass(frozen=True)
class FragmentParameters:
    """Insert sizes, links, and what fragments span."""

    longest_insert: int = 4000  # bases: mates farther apart are not taken for one fragment
    insert_least_pairs: int = 100  # pairs: fewer do not show a distribution of insert sizes
    insert_tail_odds: int = 2000  # one fragment in so many may be shorter than the usual range, and one longer
    insert_outlier_widths: int = 8  # distances from median to quartile: beyond them are chimeras and repeats
    insert_floor_bits: int = 14  # log2: no length is less likely than the likeliest by more; chimeras have any length
    insert_smoothing: int = 8  # the density is smoothed over the standard deviation divided by this
    insert_unitig_medians: int = 5  # median inserts: on shorter unitigs only short fragments can be measured
    link_agreement: int = 70  # percent of a link's pairs that must agree with one distance
    gap_deviations: int = 3  # standard errors by which the size of a gap may be wrong
    gap_margin: int = 5  # bases by which it may be wrong besides
    sample_min_fragments: int = 10  # fragments: mean and distribution of fewer are unsure


@dataclass(frozen=True)
class PathParameters:
    """Which path two anchored ends are joined along."""

    max_walks: int = 8  # walks of a link: a link with more lies in a tangle
    max_walk_unitigs: int = 24  # unitigs of a walk between two anchors
    walk_search_steps: int = 3000  # steps of the search for the walks of one link
    tangle_budget: int = 4  # times the steps and the unitigs in a tangle, where reads exclude most branches
    consensus_agreement: int = 10  # agreeing pairs for each that disagrees
    walk_lead_bits: int = 10  # bits by which the chosen walk is likelier than any other: 1,000 to 1
    read_conflict_bits: int = 12  # bits that a walk loses by a read on another branch: an error or a chimera
    expected_sixteenths: tuple[int, int] = (4, 24)  # 1/16 of the expected pairs, least and most: depth varies
    prefix_rounds: int = 4  # rounds in which chosen walks extend the known prefixes
    single_min_anchors: int = 30  # 31-mers: fewer may be a variant of a repeat, or an error
    join_min_pairs: int = 3  # pairs: fewer may all be chimeras
    join_few_percent: int = 15  # % of the expected pairs, or of a join's: as few may be chimeras
    max_missing_pairs: int = 6  # expected pairs: if more are, none or one is hardly ever all that is seen
    join_third_percent: int = 35  # % of the expected pairs, or of a join's: as many may come from a third copy
    join_overlap_min_percent: int = 50  # % of the expected pairs: fewer may hide a missing tandem unit
    join_deciding_pairs: int = 8  # expected pairs: where so many are expected, hardly ever is none present
    replicon_min_share: int = 184  # 1/10,000 of the chromosome: shorter plasmids have several copies
    replicon_min_bases: int = 800  # bases: the shortest plasmids known have about 850
    repeat_flank_depth_ratio: float = 1.2  # ratio of the flanks' depths: both are single copies
    tandem_max_copies: int = 10  # copies: one more changes the depth by too little
    tandem_min_odds: int = 1000  # likelihood ratio of the number of copies to any other
    dominant_min_ratio: float = 2.0  # ratio of a dominant genome's depth to any other's
    minor_min_depth: float = 7.0  # reads over a base: at lower depth the minor genome has holes
    minor_compared_bases: int = 100  # bases of a minor branch that are aligned to the dominant branch


@dataclass(frozen=True)
class EndParameters:
    """Which dead ends are joined, and how they are extended."""

    extension_single_reads_per_error: int = 20  # bases of single reads are added until one of so many has an error
    extension_tail: int = 60  # bases of an end that extensions are compared with: reads show longer overlaps
    overlap_mismatch_cost: int = 4  # matches that outweigh a mismatch: one base, and its position
    overlap_seed_max_ends: int = 16  # ends: a seed at more of them does not distinguish these
    linked_chance: float = 1e-2  # wrong overlaps per sample: linked ends are neighbours, one error is short
    unlinked_chance: float = 1e-3  # wrong overlaps per sample: a wrong one joins unrelated ends
    dead_end_min_overlap: int = 12  # bases that two ends share, or next to an overlap: fewer occur in low complexity
    linked_dead_end_min_overlap: int = 10  # bases between ends that pairs link, in the first graph
    gap_min_overlap: int = 7  # bases between ends of a gap: fewer occur in low complexity
    gap_walk_min_pairs: int = 5  # pairs: fewer may come from other copies of a long repeat
    linked_min_overlap: int = 15  # bases that linked dead ends share exactly: fewer agree by chance
    unlinked_max_uncovered: float = 0.01  # share of junctions without a read: holes are rare
    local_reach_reads: int = 4  # read lengths before an end within which a read lies at it
    local_max_reads: int = 2000  # reads of one gap: bounds the time
    local_search_limits: tuple[int, int] = (64, 20_000)  # walks, and steps of one search: more leave the gap open
    local_min_k: int = 21  # bases: shorter k-mers recur by chance
    local_k_step: int = 10  # bases by which k falls until a walk is found
    local_min_windows: int = 10  # k-mers of a typical read at the largest k
    local_min_trim: int = 10  # bases trimmed from both ends: dead ends have errors and other copies' bases
    local_lead_ratio: int = 3  # ratio of those reads to the reads that support only the other
    fragment_lead_bits: int = 6  # bits by which fragments support the chosen walk: wrong in 1 of 64
    fragment_max_bits_lost: float = 0.5  # bits per fragment below the sample's: else no walk is right
    fragment_bases_per_difference: int = 25  # bases of a read for each difference from a walk


@dataclass(frozen=True)
class IterationParameters:
    """The values of k, and what one k passes to the next."""

    first_k_low_coverage: int = 25  # bases: low coverage needs reads that overlap by 25 to 30 bases
    first_k_sparse: int = 21  # bases: the first k where more than `missed_windows_share` of all windows is missing
    first_k_least: int = 11  # bases: the first k of very short reads
    first_k_read_share: tuple[int, int] = (2, 3)  # of the typical read: the first k where reads are short
    missed_windows_share: float = 1e-3  # share of windows without a solid k-mer: above it coverage is sparse
    chance_repeats: int = 16  # pairs of equal k-mers by chance: each tangles the first graph
    spare_windows: int = 9  # windows that a typical read keeps at the last k
    shortest_k_step: int = 8  # bases: a smaller step resolves too little for its time
    longest_k_step: int = 36  # bases: a repeat is resolved at the least k that spans it, by most fragments
    k_step_read_share: tuple[int, int] = (4, 7)  # of the windows left in a read: a step must not use up all of them
    dense_windows: float = 12.0  # windows of reads a base: with fewer, junctions are lost by chance
    dense_windows_small_k: float = 6.0  # the same up to `tangled_k`: pairs resolve little in graphs of small k
    tangled_k: int = 100  # bases: up to this k the graph is too tangled for pairs
    least_fragment_windows: float = 2.5  # windows of fragments a base: with fewer, a larger k loses more than it gains
    most_read_weight: int = 16  # times a read may count among fragments: then it has hardly a window left
    community_least_k_values: int = 2  # values of k at which the reads of a community are used at least
    correction_agreeing_bases: int = 16  # bases after a correction that the graph contains: fewer agree by chance
    flanks_lost_by_chance: float = 0.4  # true flanks of a graph that may be cut, in the mean
    flank_least_reads: float = 2.0  # expected reads: with none of them a flank is unsupported
    flank_right_share: float = 0.2  # share of the removed flanks that may be right


@dataclass(frozen=True)
class VerificationParameters:
    """What the aligned reads correct, break and trim."""

    polishing_bases_per_error: int = 100  # bases: reads with more errors need one vote more
    polishing_max_dissenters: int = 2  # reads: at low coverage, fewer than those that agree
    clipping_min_bases: int = 20  # bases: a shorter clipped tail may be errors
    clipping_cover_before: int = 30  # bases: covered before the breakpoint by a read that continues
    cover_beyond: int = 10  # bases on the other side of a place that a read or a fragment covers: fewer agree by chance
    clipping_reads_per_clipped: int = 100  # reads: more clipped reads are a sign of chimeric molecules
    clipping_pair_max_distance: int = 200  # bases: between two facing breakpoints
    discordant_min_reads: int = 8  # reads: fewer may be chimeric or misaligned
    discordant_min_share: float = 0.8  # of the reads there whose mates align uniquely
    discordant_max_unknown: float = 0.7  # of the usual reads: more mates without a unique place mean two copies
    discordant_max_rate: float = 0.2  # of all uniquely aligned mates: more mean files out of step
    discordant_fragment_quantile: float = 0.9  # of fragments: shorter ones end within the contig
    discordant_bases_per_mismatch: int = 50  # bases: a mate that fits nearly so well is concordant
    redundant_min_odds_dispersed: int = 4  # odds of one copy less, as depth varies
    redundant_excluded_odds: float = -1e3  # log odds of a base that no other contig contains
    redundant_depth_min_reads: int = 10  # read lengths: the median depth of shorter contigs is unsure
    redundant_outer_bases: int = 10  # bases at a contig end whose depth shows where molecules end
    redundant_outer_depth_ratio: int = 5  # a lower depth of the outer bases is the end of molecules
    circular_start_window: int = 31  # bases: both forms of a replicon may share so many at the breakpoint
    circular_start_min_bases: int = 200  # bases: shorter circular contigs have no distinct places
    circular_start_max_chance: float = 1e-3  # probability that so many reads are clipped at one place


COVERAGE = CoverageParameters()
SIMPLIFICATION = SimplificationParameters()
ALIGNMENT = AlignmentParameters()
FRAGMENTS = FragmentParameters()
PATHS = PathParameters()
ENDS = EndParameters()
ITERATION = IterationParameters()
VERIFICATION = VerificationParameters()


class DepthModel(Enum):
    """What the depth of a unitig shows about its copy number."""

    ONE = "one"  # the sample has one depth, which bounds the local depth
    LOCAL = "local"  # each genome of a community has its own depth
    NONE = "none"  # variants are so dense that no stretch has the depth of one copy


@dataclass(frozen=True)
class ModeParameters:
    """What a mode changes; the defaults are those of an isolate."""

    left_out: frozenset[str] = frozenset()  # rules that this mode does not use
    depth_model: DepthModel = DepthModel.ONE  # what depth shows
    keeps_variants: bool = False  # a rare branch may be a strain's
    keeps_minor_genomes: bool = False  # a rare branch may be that of a related genome of low coverage
    merges_superbubbles: bool = True  # one path of a superbubble is kept
    merges_final_variants: bool = False  # variants are merged in the last graph, not at each k
    merges_dead_ends: bool = False  # dead-end variants are merged at each k
    edges_by_rate: bool = True  # the sample's own rate of missing edges is the test of edge support
    breaks_by_pairs: bool = True  # contigs are broken at discordant pairs as well
    mismatched_ends: bool = True  # dead ends that should overlap but differ may be joined
    minor_variant_share: float = 1 / 3  # of the major one's depth: variants of more are kept, except in a mixture
    superbubble_max_depth: float = inf  # depth: superbubbles of more are kept at each k


_NEED_ONE_GENOME = frozenset("isolated-unitigs read-correction path-prefixes copy-number redundant-ends".split())
_OF_COMMUNITIES = frozenset("dominant-paths high-coverage-reads supported-branches".split())

ISOLATE_MODE = ModeParameters(left_out=_OF_COMMUNITIES)
COMMUNITY_MODE = ModeParameters(
    left_out=_NEED_ONE_GENOME,
    depth_model=DepthModel.LOCAL,
    keeps_minor_genomes=True,
    merges_final_variants=True,
    edges_by_rate=False,
    breaks_by_pairs=False,
    mismatched_ends=False,
    minor_variant_share=inf,
    superbubble_max_depth=10.0,
)
STRAINS_MODE = replace(
    COMMUNITY_MODE,
    keeps_variants=True,
    merges_superbubbles=False,
    merges_final_variants=False,
)
POPULATION_MODE = ModeParameters(
    left_out=_NEED_ONE_GENOME | _OF_COMMUNITIES | {"fragment-support"},
    depth_model=DepthModel.NONE,
    merges_dead_ends=True,
    edges_by_rate=False,
    breaks_by_pairs=False,
    mismatched_ends=False,
    minor_variant_share=inf,
)
