"""``gpuasm unitigs``: the compacted de Bruijn graph at one k."""

from __future__ import annotations

from pathlib import Path

import click

from gpuasm.cli.options import CommonOptions, ReadInputs, cleaned_read_options, common_options, parse_min_count
from gpuasm.cli.paths import OUTPUT
from gpuasm.cli.ranges import Whole


@click.command(short_help="Build the compacted de Bruijn graph of reads.")
@cleaned_read_options(trim="no")
@click.option(
    "-k", "k", type=Whole(1), default=31, show_default=True, metavar="K", help="Odd length of the k-mers, any size."
)
@click.option(
    "--min-count",
    default="auto",
    show_default=True,
    metavar="N",
    help="Least multiplicity of a k-mer; auto takes it from the spectrum.",
)
@click.option(
    "--edges",
    type=click.Choice(["overlap", "observed"]),
    default="overlap",
    show_default=True,
    help="Join k-mers that share k - 1 bases, or only where reads show one after the other.",
)
@click.option("-o", "--output", type=OUTPUT, metavar="FILE", help="The graph, as GFA 1.")
@click.option("--fasta", type=OUTPUT, metavar="FILE", help="The unitigs, as FASTA.")
@click.option("--json", "json_path", type=OUTPUT, metavar="FILE", help="Manifest of the run.")
@common_options
def command(
    *,
    k: int,
    min_count: str,
    edges: str,
    output: Path | None,
    fasta: Path | None,
    json_path: Path | None,
    inputs: ReadInputs,
    common: CommonOptions,
) -> None:
    """Build unitigs: the maximal unbranching paths of the de Bruijn graph, both strands as one.

    \b
    Examples:
      gpuasm unitigs -1 reads_1.fastq.gz -2 reads_2.fastq.gz -k 31 --min-count 3 -o unitigs.gfa
      gpuasm unitigs genome.fasta -k 63 --min-count 1 --fasta unitigs.fa
    """
    from gpuasm.assembly import unitigs_of_reads
    from gpuasm.cli.inputs import read_inputs
    from gpuasm.cli.outputs import write_graph, write_unitigs
    from gpuasm.cli.session import run_session
    from gpuasm.kmers.keys import check_k

    check_k(k)
    least = parse_min_count(min_count)
    with run_session(common) as session:
        read_set = read_inputs(inputs, session.stages, k=k)
        reads = read_set.reads.moved_to(session.xp)
        graph = unitigs_of_reads(reads, k, min_count=least, observed=edges == "observed", stages=session.stages)
        with session.stages.stage("write unitigs"):
            if output:
                write_graph(output, graph)
            if fasta:
                write_unitigs(fasta, graph)
        if json_path:
            session.write_manifest(
                json_path,
                command="unitigs",
                parameters={"k": k, "min_count": min_count, "edges": edges, **inputs.cleaning},
                inputs=[file.as_dict() for file in read_set.files],
                results={"unitigs": graph.n, "bases": int(graph.bases.size), "kmers": int(graph.n_kmers.sum())},
            )
    if "-" not in (str(output), str(fasta), str(json_path)):
        longest = int(graph.length.max()) if graph.n else 0
        click.echo(f"{graph.n} unitigs, {graph.bases.size} bases, longest {longest}")
