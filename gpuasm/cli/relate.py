"""``gpuasm relate``: samples in; their distances, graph, clusters and tree out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpuasm.cli.options import CommonOptions, common_options, parse_min_count
from gpuasm.cli.paths import OutputFile, OutputFolder
from gpuasm.cli.ranges import Finite, Whole
from gpuasm.errors import DataError, UsageError

if TYPE_CHECKING:
    from gpuasm.cli.session import Session
    from gpuasm.cli.sketching import SketchOptions
    from gpuasm.samples.neighbours import GraphOptions

_NUMBER = Whole(1)
_FOLDER = OutputFolder(
    "samples.tsv", "distances.tsv", "distances.phylip", "graph.tsv", "graph.mtx", "graph.names", "graph.npz",
    "tree.nwk", "distances.svg", "run.json",
)  # fmt: skip


@click.command(short_help="Compare samples by their k-mers: distances, graph, clusters, tree.")
@click.argument("samples", nargs=-1, required=True, metavar="SAMPLES...")
@click.option("-o", "--output", type=_FOLDER, required=True, metavar="DIR", help="Folder for results.")
@click.option("--each-sequence", is_flag=True, help="Each sequence of a FASTA file is a sample.")
@click.option("-k", "k", type=Whole(1), default=21, show_default=True, metavar="K", help="Length, 3 to 31.")
@click.option(
    "-s", "--sketch-size", "size", type=_NUMBER, metavar="N",
    help="Least hashes kept of each sample.  [default: 1000, or all if no sample has more than 50,000 k-mers]",
)  # fmt: skip
@click.option("--scaled", type=_NUMBER, metavar="N", help="Keep one k-mer in N instead, of samples of any size.")
@click.option("--seed", type=Whole(0, (1 << 32) - 1), default=42, show_default=True, metavar="N", help="Of the hash.")
@click.option(
    "--min-count", default="auto", show_default=True, metavar="N",
    help="How often a k-mer of reads must occur to count; auto takes it from the k-mer spectrum.",
)  # fmt: skip
@click.option(
    "--distance",
    type=click.Choice(["auto", "mash", "containment"]),
    default="auto",
    show_default=True,
    help="Of the graph, the clusters and the tree; auto takes containment for scaled sketches, else mash.",
)
@click.option(
    "--neighbours", type=Whole(0), default=10, show_default=True, metavar="N",
    help="Nearest samples that each is linked to, with all as near as the last; 0 for all within --threshold.",
)  # fmt: skip
@click.option(
    "--threshold", type=Finite(0, 1), default=1.0, show_default=True, metavar="D",
    help="Greatest distance of a link.",
)  # fmt: skip
@click.option("--mutual", is_flag=True, help="Link two samples only if each is among the other's nearest.")
@click.option(
    "--cluster-distance", type=Finite(0, 1), default=0.05, show_default=True, metavar="D",
    help="Greatest distance between neighbours of a cluster; 0.05 is about a species of bacteria.",
)  # fmt: skip
@click.option(
    "--pairs-within", type=Finite(0, 1), default=1.0, show_default=True, metavar="D",
    help="Greatest distance of pairs in distances.tsv, which has half a million lines for 1,000 samples.",
)  # fmt: skip
@click.option(
    "--sketches", "sketches_path", type=OutputFile(allow_dash=False, makes_folder=True), metavar="FILE",
    help="Write the sketches too, as JSON that sourmash reads; they replace their samples in later runs.",
)  # fmt: skip
@click.option("--skip-bad", is_flag=True, help="Leave out samples that cannot be used, and list them.")
@common_options
def command(
    *,
    samples: tuple[str, ...],
    output: Path,
    each_sequence: bool,
    k: int,
    size: int | None,
    scaled: int | None,
    seed: int,
    min_count: str,
    distance: str,
    neighbours: int,
    threshold: float,
    mutual: bool,
    cluster_distance: float,
    pairs_within: float,
    sketches_path: Path | None,
    skip_bad: bool,
    common: CommonOptions,
) -> None:
    """Sketch samples by their k-mers, compare all with all, and link each to its nearest.

    SAMPLES are assemblies (FASTA), reads (FASTQ, of which k-mers count that occur often enough), sketches of sourmash
    (JSON), each as FILE or NAME=FILE, or a tab-separated sheet with columns sample and file, or sample, reads_1 and
    reads_2. Hashes are those of Mash and sourmash, and distances are those that 'mash dist' prints.

    DIR receives samples.tsv, distances.tsv, distances.phylip, graph.tsv (from, to, weight), graph.mtx with graph.names,
    graph.npz, tree.nwk, distances.svg and run.json. All of them are always written.

    \b
    Examples:
      gpuasm relate isolates/*.fasta -o samples
      gpuasm relate genomes.fasta --each-sequence -o samples
      gpuasm relate north=north_R1.fastq.gz south=south.fasta --scaled 1000 -k 31 -o samples
    """
    from gpuasm.cli.folders import check_folder
    from gpuasm.cli.relate_outputs import write_sketches
    from gpuasm.cli.run_folder import RunFolder
    from gpuasm.cli.session import run_session
    from gpuasm.cli.sketching import SketchOptions
    from gpuasm.samples.neighbours import GraphOptions

    if size is not None and scaled is not None:
        raise UsageError("--sketch-size or --scaled", "both", "leave one out")
    check_folder(output)
    with run_session(common) as session:
        run = _Run(session, SketchOptions(k, size, scaled, seed), GraphOptions(neighbours, threshold, mutual))
        run.reading = {"min_count": parse_min_count(min_count), "each_sequence": each_sequence, "skip_bad": skip_bad}
        run.distance, run.cluster_distance, run.pairs_within = distance, cluster_distance, pairs_within
        run.read(samples)
        with RunFolder(output, "relate") as folder:
            lines = run.compare(folder.files)
            if sketches_path:
                write_sketches(sketches_path, run.samples, run.sketches)
            folder.replace()
    click.echo("\n".join(lines))


class _Run:
    """One comparison."""

    def __init__(self, session: Session, sketching: SketchOptions, graph: GraphOptions) -> None:
        self.session, self.sketching, self.graph = session, sketching, graph
        self.reading: dict[str, Any] = {}
        self.distance, self.cluster_distance, self.pairs_within = "auto", 0.05, 1.0
        self.left_out: list[dict[str, str]] = []

    def read(self, samples: tuple[str, ...]) -> None:
        """Read and sketch all samples.

        Raises
        ------
        DataError
            If there are fewer than two, unless bad ones may be left out.
        """
        from gpuasm.cli.sample_inputs import find_samples, read_all
        from gpuasm.cli.sketching import Sketcher, summary_of

        session, sketcher = self.session, Sketcher(self.sketching, self.session.xp)
        with session.stages.stage("sketch samples", unit="files", k=self.sketching.k) as stage:
            files = find_samples(samples)
            stage.set_total(len(files))
            seen: set[str] = set()
            for sample in read_all(files, k=self.sketching.k, left_out=self.left_out, **self.reading):
                sketcher.add(sample)
                if sample.file not in seen:
                    seen.add(sample.file)
                    stage.advance()
            self.sketches, self.samples = sketcher.finish(), sketcher.samples
            stage.note(hashes=int(self.sketches.offsets[-1]), **summary_of(self.samples))
        if len(self.samples) < 2 and not self.reading["skip_bad"]:
            remedy = "name more, or take each sequence of a file as a sample with --each-sequence"
            raise DataError("two samples or more", str(len(self.samples)), remedy)
        if self.distance == "containment" and not self.sketches.kind.is_scaled:
            raise UsageError("scaled sketches for containment", "sketches of a size", "add --scaled N")

    def compare(self, folder: Path) -> list[str]:
        """Compare, write all files to a folder, and return the lines of the summary."""
        from gpuasm.cli.relate_outputs import check_memory, summary, write_relation
        from gpuasm.samples.comparison import compare
        from gpuasm.samples.relation import relate

        stages = self.session.stages
        check_memory(self.sketches, self.session.memory)
        with stages.stage("compare all with all") as stage:
            comparison = compare(self.sketches, self.session.xp)
            stage.note(pairs=comparison.n * (comparison.n - 1) // 2)
        with stages.stage("graph, clusters, tree") as stage:
            relation = relate(
                self.sketches, comparison, self.graph,
                distance=self.distance, cluster_distance=self.cluster_distance,
            )  # fmt: skip
            stage.note(edges=relation.graph.n_edges, clusters=relation.n_clusters)
        with stages.stage("write results"):
            write_relation(folder, relation, self.samples, within=self.pairs_within)
        self._write_manifest(folder, relation)
        return summary(relation)

    def _write_manifest(self, folder: Path, relation: Any) -> None:
        from gpuasm.cli.relate_outputs import inputs_of
        from gpuasm.samples.sketches import describe

        status = (
            "done"
            if relation.n > 1
            else f"nothing to compare: {relation.n or 'no'} sample{'' if relation.n == 1 else 's'}"
        )
        self.session.write_manifest(
            folder / "run.json",
            command="relate",
            parameters={
                **vars(self.sketching), **vars(self.graph), **self.reading,
                "distance": relation.kind, "cluster_distance": self.cluster_distance,
                "pairs_within": self.pairs_within,
            },
            inputs=inputs_of(self.samples),
            results={
                "samples": relation.n, "left_out": self.left_out, "sketches": describe(self.sketches.kind),
                "edges": relation.graph.n_edges, "clusters": relation.n_clusters, "tree": relation.tree_note,
            },
            status=status,
        )  # fmt: skip
