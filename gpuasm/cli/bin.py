"""``gpuasm bin``: contigs in, one bin a genome out."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpuasm.cli.options import CommonOptions, common_options, warn_of_unused
from gpuasm.cli.paths import INPUT, OutputFolder
from gpuasm.cli.ranges import Finite, Whole
from gpuasm.errors import DataError, UsageError

if TYPE_CHECKING:
    from gpuasm.cli.run_folder import RunFolder
    from gpuasm.cli.session import Session
    from gpuasm.clustering.bins.bins import Binning, BinOptions, ContigMap
    from gpuasm.clustering.bins.windows import Contigs

_LOG = logging.getLogger(__name__)
_LENGTH = Whole(1)
_FOLDER = OutputFolder(
    "bins/bin_*.fasta", "unbinned.fasta", "bins.tsv", "contigs.tsv", "contigs2bin.tsv", "map.npz", "map.tsv",
    "training.tsv", "run.json", "report.html",
)  # fmt: skip


@click.command(name="bin", short_help="Sort contigs into bins, one for each genome.")
@click.argument("contigs_path", type=INPUT, metavar="CONTIGS")
@click.option("-o", "--output", type=_FOLDER, required=True, metavar="DIR", help="Folder for results.")
@click.option(
    "--depth",
    "depth_paths",
    type=INPUT,
    multiple=True,
    metavar="TABLE",
    help="Depth of the contigs in one or several samples; may be repeated.  [default: the headers of CONTIGS]",
)
@click.option("--no-depth", is_flag=True, help="Bin by composition alone.")
@click.option(
    "--map",
    "map_path",
    type=INPUT,
    metavar="FILE",
    help="Use a map trained before, with its window and least length.",
)
@click.option(
    "--stop-after", type=click.Choice(["map", "bins"]), default="bins", show_default=True, help="map: train only."
)
@click.option("--window", type=Whole(500), default=5000, show_default=True, metavar="N", help="Bases of a piece.")
@click.option(
    "--min-map-contig", type=_LENGTH, default=2500, show_default=True, metavar="N",
    help="Least length of contigs that make the map.",
)  # fmt: skip
@click.option(
    "--min-contig", type=_LENGTH, default=500, show_default=True, metavar="N",
    help="Least length of contigs that are joined to bins.",
)  # fmt: skip
@click.option(
    "--min-bin", type=_LENGTH, default=200_000, show_default=True, metavar="N",
    help="Least bases of a bin; what is smaller is a plasmid or a phage.",
)  # fmt: skip
@click.option(
    "--sureness", type=Finite(0.5, 1.0), default=0.9, show_default=True, metavar="P",
    help="Least probability with which a contig belongs to its bin.",
)  # fmt: skip
@common_options
def command(
    *,
    contigs_path: Path,
    output: Path,
    depth_paths: tuple[Path, ...],
    no_depth: bool,
    map_path: Path | None,
    stop_after: str,
    window: int,
    min_map_contig: int,
    min_contig: int,
    min_bin: int,
    sureness: float,
    common: CommonOptions,
) -> None:
    """Sort the contigs of an assembly into bins, one for each genome, by composition and depth.

    DIR receives bins/bin_001.fasta and so on, unbinned.fasta, bins.tsv, contigs.tsv, contigs2bin.tsv, map.npz, map.tsv,
    training.tsv, run.json and report.html. All of them are always written; where there are no bins, run.json contains
    the reason. With --stop-after map it is map.npz, map.tsv, training.tsv and run.json.

    \b
    Examples:
      gpuasm bin assembly/contigs.fasta -o bins
      gpuasm bin contigs.fasta --depth depth_of_three_samples.tsv -o bins
    """
    from gpuasm.cli.run_folder import RunFolder
    from gpuasm.cli.session import run_session
    from gpuasm.clustering.bins.bins import BinOptions

    if no_depth and depth_paths:
        raise UsageError("--depth or --no-depth", "both", "leave one out")
    options = BinOptions(window=window, least=min_map_contig, shortest=min_contig, least_bin=min_bin, sureness=sureness)
    with run_session(common) as session, RunFolder(output, "bin") as folder:
        if map_path:
            warn_of_unused(("window", "min_map_contig"), "with --map, which has its own")
        if stop_after == "map":
            warn_of_unused(("min_contig", "min_bin", "sureness"), "with --stop-after map")
        run = _Run(folder, options, session, (map_path, stop_after))
        run.inputs = [{"path": str(path)} for path in (contigs_path, *depth_paths)]
        status = run.work((contigs_path, depth_paths), use_depth=not no_depth)
    click.echo(f"{output / 'bins.tsv'}: {status}")


class _Run:
    """One binning into one folder."""

    def __init__(
        self, folder: RunFolder, options: BinOptions, session: Session, steps: tuple[Path | None, str]
    ) -> None:
        self.folder, self.options, self.session = folder, options, session
        self.map_path, self.stop_after = steps
        self.inputs: list[dict[str, Any]] = []

    def work(self, paths: tuple[Path, tuple[Path, ...]], *, use_depth: bool) -> str:
        """Read, train, bin and write; return how it went."""
        from gpuasm.cli.contig_inputs import no_contigs, read_contigs_with_depth
        from gpuasm.clustering.bins.bins import NothingToBinError

        contigs = no_contigs()
        samples: list[str] = []
        found: tuple[ContigMap | None, Binning | None] = (None, None)
        try:
            with self.session.stages.stage("read contigs") as stage:
                contigs, samples = read_contigs_with_depth(*paths, use_depth=use_depth)
                stage.note(contigs=contigs.n, bases=int(contigs.codes.size), samples=len(samples))
            found = self._find(contigs)
        except NothingToBinError as error:
            status = f"no bin: {error}"
            _LOG.warning(status)
        except DataError as error:
            self._write((contigs, samples), found, str(error))
            raise
        else:
            status = "done" if found[1] else "stopped after map"
        return self._write((contigs, samples), found, status)

    def _find(self, contigs: Contigs) -> tuple[ContigMap, Binning | None]:
        from gpuasm.cli.contig_map_file import load_contig_map
        from gpuasm.clustering.bins.bins import bin_contigs, train_contig_map

        session = self.session
        if self.map_path:
            contig_map = load_contig_map(self.map_path, session.xp)
        else:
            contig_map = train_contig_map(contigs, self.options, xp=session.xp, stages=session.stages)
        if self.stop_after == "map":
            return contig_map, None
        return contig_map, bin_contigs(contigs, contig_map, self.options, stages=session.stages)

    def _write(
        self, read: tuple[Contigs, list[str]], found: tuple[ContigMap | None, Binning | None], status: str
    ) -> str:
        """Write every output; return a summary for the user."""
        from gpuasm.cli.bin_outputs import describe_map, is_bin, write_binning, write_map
        from gpuasm.report import write_bin_report

        contigs, samples = read
        contig_map, binning = found
        bins: list[dict[str, Any]] = []
        with self.session.stages.stage("write results"):
            write_map(self.folder.files, contig_map, binning)
            if self.stop_after == "bins":
                bins = write_binning(self.folder.files, contigs, samples, found)
        binned = sum(row["bases"] for row in bins)
        self.session.write_manifest(
            self.folder.files / "run.json",
            command="bin",
            parameters={**vars(self.options), "map": self.map_path, "samples": samples},
            inputs=self.inputs,
            results={
                "contigs": contigs.n, "bases": int(contigs.codes.size), "binned_bases": binned, "bins": bins,
                "map": describe_map(contig_map, binning),
            },
            status=status,
        )  # fmt: skip
        if self.stop_after == "bins":
            write_bin_report(self.folder.files, self.folder.name)
            self.folder.replace(is_old=is_bin)
        else:
            self.folder.replace()
        if not binning:
            return status
        share = 100 * binned / max(1, int(contigs.codes.size))
        return f"{len(bins)} bin{'s' if len(bins) != 1 else ''}, {share:.1f} % of {contigs.codes.size} bases"
