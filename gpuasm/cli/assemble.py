"""``gpuasm assemble``: assemble reads into contigs."""

from __future__ import annotations

import contextlib
import gc
import importlib
import logging
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpuasm.cli.naming import Naming, naming_options
from gpuasm.cli.options import (
    CommonOptions,
    ReadInputs,
    cleaned_read_options,
    common_options,
    parse_ks,
    parse_min_count,
)
from gpuasm.cli.paths import INPUT, IndexedOutput, OutputFolder, check_parent
from gpuasm.cli.ranges import Finite, NameOf, Whole
from gpuasm.cli.verdicts import describe_verdict, read_verdict_thresholds, thresholds_option, verdict_of_assembly
from gpuasm.errors import DataError

if TYPE_CHECKING:
    from gpuasm.assembly import Assembly, AssemblyOptions, Contig
    from gpuasm.assembly.state import AssemblyState
    from gpuasm.cli.assembly_page import AssemblyPage
    from gpuasm.cli.run_folder import RunFolder
    from gpuasm.cli.session import Session
    from gpuasm.io.read_ahead import ReadAhead
    from gpuasm.io.read_texts import ReadTexts
    from gpuasm.report.verdict_thresholds import Threshold
    from gpuasm.sequence.reads import Reads

_LOG = logging.getLogger(__name__)
_RUN_PER_CHECKPOINT = 10
"""Least time between two checkpoints, as a multiple of the time to write one."""
LOG = "assemble.log"
"""The log file, to which each run in a folder appends."""
_FOLDER = OutputFolder(
    LOG, "contigs.fasta", "scaffolds.fasta", "scaffolds.agp", "gaps.tsv", "graph.gfa", "contigs.tsv", "depth.tsv",
    "depth_windows.tsv", "spectrum.tsv", "insert_sizes.tsv", "run.json", "report.html", ".checkpoint.npz",
)  # fmt: skip


@click.command(short_help="Assemble reads into contigs.")
@cleaned_read_options(trim="auto")
@click.option(
    "-o",
    "--output",
    type=_FOLDER,
    required=True,
    metavar="DIR",
    help="Folder for the results.",
)
@click.option(
    "-k",
    "ks",
    default="auto",
    show_default=True,
    metavar="LIST",
    help="Values of k, as 31,61,91; auto chooses by read length.",
)
@click.option(
    "--min-count",
    default="auto",
    show_default=True,
    metavar="N",
    help="Least multiplicity of a solid k-mer; auto takes it from the spectrum.",
)
@click.option(
    "--min-contig",
    type=Whole(1),
    default=200,
    show_default=True,
    metavar="N",
    help="Least length of a contig.",
)
@click.option(
    "--mode",
    type=NameOf("MODES"),
    default="auto",
    show_default=True,
    metavar="MODE",
    help="isolate (one organism), meta (many) or auto, which decides by the first graph.",
)
@click.option(
    "--stop-after",
    type=NameOf("STAGES"),
    default="check",
    show_default=True,
    metavar="STAGE",
    help="first-graph, reads, fragments, pairs or check (all): write the state after it; --resume continues.",
)
@click.option(
    "--without",
    multiple=True,
    type=NameOf("RULES"),
    metavar="RULE",
    help="Leave out one rule of the assembly, by its name in docs/modes.md; may be repeated.",
)
@click.option(
    "--first-graph",
    type=INPUT,
    metavar="FILE",
    help="The graph that gpuasm join wrote of the same reads, in place of counting the first k.",
)
@click.option("--resume", "resuming", is_flag=True, help="Continue a killed run of the same reads and options.")
@click.option(
    "--checkpoint-after",
    type=Finite(min=0),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="Least time between two checkpoints, which are written after a k; 0 writes one after each k.",
)
@click.option(
    "--bam-out",
    type=IndexedOutput(),
    metavar="FILE",
    help="Also align all reads to the contigs, and write them here as sorted BAM with names, qualities and an index.",
)
@thresholds_option
@click.option("--force", is_flag=True, help="Replace the results of other reads in DIR.")
@naming_options
@common_options
def command(
    *,
    output: Path,
    ks: str,
    min_count: str,
    min_contig: int,
    mode: str,
    stop_after: str,
    without: tuple[str, ...],
    first_graph: Path | None,
    resuming: bool,
    checkpoint_after: float,
    bam_out: Path | None,
    verdict_thresholds: Path | None,
    force: bool,
    inputs: ReadInputs,
    naming: Naming,
    common: CommonOptions,
) -> None:
    """Assemble short reads into contigs.

    --device may name several devices, as cuda:0,1, or all of them, which build the first graph together.

    DIR receives contigs.fasta, scaffolds.fasta with their gaps.tsv and scaffolds.agp, graph.gfa, contigs.tsv,
    depth.tsv, depth_windows.tsv, spectrum.tsv, insert_sizes.tsv, run.json and report.html. All of them are always
    written; where there are no contigs, run.json contains the reason. assemble.log has the messages, also of a run
    that failed.

    \b
    Examples:
      gpuasm assemble -1 reads_1.fastq.gz -2 reads_2.fastq.gz -o assembly
      gpuasm assemble --bam unaligned.bam -t 8 --device cpu --memory 8G -o assembly
      gpuasm assemble --single reads.fastq -k 31,61,91 --resume -o assembly
      gpuasm assemble -1 a_1.fastq.gz -2 a_2.fastq.gz --prefix a --topology -o a
    """
    from gpuasm.assembly.options import AssemblyOptions
    from gpuasm.cli.assembly_page import AssemblyPage, page_process_ahead
    from gpuasm.cli.device_names import devices_of_run
    from gpuasm.cli.folders import check_reads
    from gpuasm.cli.inputs import read_ahead
    from gpuasm.cli.switch_interval import shorten_switch_interval
    from gpuasm.driver import driver_opening
    from gpuasm.resources import keep_freed_memory

    options = AssemblyOptions(
        k=None if ks == "auto" else parse_ks(ks),
        min_count=parse_min_count(min_count),
        min_contig_length=min_contig,
        mode=mode,
        stop_after=stop_after,
        without=without,
    )
    thresholds = read_verdict_thresholds(verdict_thresholds)
    if bam_out is not None:
        check_parent(bam_out, made=output)
    if not force:
        check_reads(output, inputs.files)
    shorten_switch_interval()
    devices = devices_of_run(common.device)
    keep_freed_memory()  # before anything is read
    with driver_opening(*devices), read_ahead(inputs, common.memory) as ahead, page_process_ahead(inputs):
        from gpuasm.cli.log_file import RunLog
        from gpuasm.cli.run_folder import RunFolder
        from gpuasm.cli.session import run_session

        if options.k:
            from gpuasm.assembly.iteration.k_values import check_k_values

            check_k_values(options.k)
        with (
            run_session(common, devices=devices, warm_up=warm_up_device) as session,
            RunLog(session.stages) as log,
            RunFolder(output, "assemble", is_own=False) as folder,
            contextlib.closing(AssemblyPage(folder)) as page,
        ):
            log.open(output / LOG)
            run = _Run(
                folder, options, inputs, session, naming=naming, page=page, checkpoint_after=checkpoint_after,
                bam_out=bam_out, first_graph=first_graph,
            )  # fmt: skip
            run.thresholds, run.thresholds_file = thresholds, verdict_thresholds
            try:
                assembly = run.assemble(ahead, resuming=resuming)
            except DataError as error:
                run.write_empty(str(error))
                raise
            run.write(assembly)
    from gpuasm.cli.assembly_outputs import summary_of

    click.echo(summary_of(output, assembly))
    click.echo(describe_verdict(run.verdict))


def warm_up_device(xp: Any, should_stop: Callable[[], bool]) -> None:
    """Load what assemblies need on a device; see `gpuasm.cli.session.WarmUp`."""
    from gpuasm.assembly.warmup import warm_up

    warm_up(xp, should_stop=should_stop)


def _load_while_reading(*modules: str, then: Callable[[], None]) -> threading.Thread:
    """Import the modules that follow the reading in a thread, while the main one waits for files; return the thread."""

    def load() -> None:
        for name in modules:
            with contextlib.suppress(ImportError):  # the import that needs it reports it
                importlib.import_module(name)
        with contextlib.suppress(Exception):  # what needs it reports it
            then()

    thread = threading.Thread(target=load, name="load modules", daemon=True)
    thread.start()
    return thread


class _Run:
    """One assembly into one folder."""

    def __init__(
        self,
        folder: RunFolder,
        options: AssemblyOptions,
        inputs: ReadInputs,
        session: Session,
        *,
        naming: Naming,
        page: AssemblyPage,
        checkpoint_after: float,
        bam_out: Path | None,
        first_graph: Path | None,
    ) -> None:
        from gpuasm.cli.checkpoint import Checkpoint, fingerprint

        self.folder, self.options, self.inputs, self.session = folder, options, inputs, session
        self.naming, self.page = naming, page
        self.first_graph = first_graph
        self.checkpoint = Checkpoint(folder.path, fingerprint(inputs, options, first_graph=first_graph))
        self.files: list[dict[str, Any]] = []
        self.plan: dict[str, int] = {}
        self.bam_out = None if bam_out is None else folder.place_of(bam_out)
        self.thresholds: tuple[Threshold, ...] | None = None
        self.thresholds_file: Path | None = None
        self.verdict: dict[str, Any] = {}
        self.reads: Reads | None = None
        """Those to write as BAM."""
        self.texts: ReadTexts | None = None
        self.n_pairs = 0
        self.checkpoint_after, self.next_checkpoint = checkpoint_after, time.monotonic() + checkpoint_after

    def assemble(self, ahead: ReadAhead, *, resuming: bool) -> Assembly:
        from gpuasm.cli.checkpoint import remove_leftovers
        from gpuasm.cli.inputs import ask_for_mates, read_inputs, size_of_inputs, warn_about_reads
        from gpuasm.io.usability import SHORTEST_READ
        from gpuasm.resources import return_freed_memory

        stored = self.checkpoint.load(self.session.xp) if resuming else None
        remove_leftovers(self.folder.path)
        if not stored:
            self.checkpoint.remove()
        self.page.begin(size_of_inputs(self.inputs))
        loading = _load_while_reading(
            "gpuasm.assembly.pipeline", "gpuasm.cli.planning", "gpuasm.cli.assembly_outputs", "gpuasm.report.verdict",
            then=self._load_loops,
        )  # fmt: skip
        least_k = self.options.k[0] if self.options.k else SHORTEST_READ
        texts = None
        if self.bam_out:
            texts = tempfile.TemporaryFile(dir=self.folder.files)  # noqa: SIM115 - `_write_bam` closes it
        read_set = read_inputs(self.inputs, self.session.stages, k=least_k, ahead=ahead, texts=texts)
        return_freed_memory()
        self.texts, self.n_pairs = read_set.texts, read_set.n_pairs
        warn_about_reads(read_set)
        ask_for_mates(self.inputs, read_set)
        gc.enable()  # all is loaded
        from gpuasm.assembly import assemble, resume

        self.files = [file.as_dict() for file in read_set.files]
        if stored:
            _LOG.info("resuming after k = %d", stored.kmer_graph.graph.k)
            reads = self._moved(read_set.reads)
            return resume(stored, reads, self.options, stages=self.session.stages, keep_state=self._keep)
        loading.join()  # its memory is in use when the rest is forecast
        self._plan(read_set.reads)
        reads, first_graph = self._moved(read_set.reads), None
        if self.first_graph:
            from gpuasm.cli.bucket_files import read_first_graph

            first_graph = read_first_graph(self.first_graph)
        return assemble(
            reads, self.options, stages=self.session.stages, keep_state=self._keep, first_graph=first_graph,
            devices=self.session.devices,
        )  # fmt: skip

    def _load_loops(self) -> None:
        """Load compiled loops, unless the files are so small that these are needed before."""
        from gpuasm.compiled_cache import load_ahead

        if self.page.is_apart:
            load_ahead(on_device=self.session.may_have_device)

    def _moved(self, reads: Reads) -> Reads:
        """Return the reads in the memory of the device, and keep them if they are to be written."""
        moved = reads.moved_to(self.session.xp)
        self.reads = moved if self.bam_out else None
        return moved

    def _plan(self, reads: Reads) -> None:
        from gpuasm.cli.planning import plan_assembly

        if self.bam_out:
            from gpuasm.cli.aligned_reads import require_memory_for

            require_memory_for(reads, self.session.memory)
        k = self.options.k[0] if self.options.k else 31
        with self.session.stages.stage("estimate memory", k=k) as stage:
            self.plan = plan_assembly(
                reads, self.options, self.session, self.folder.path, draws_apart=self.page.is_apart
            )
            stage.note(**self.plan)

    def _keep(self, state: AssemblyState) -> None:
        self.page.draw_spectrum(state.spectrum)
        began = time.monotonic()
        if began < self.next_checkpoint:
            return
        with self.session.stages.stage("write checkpoint", k=state.kmer_graph.graph.k):
            self.checkpoint.save(state)
        ended = time.monotonic()
        pause = max(self.checkpoint_after, _RUN_PER_CHECKPOINT * (ended - began)) if self.checkpoint_after else 0
        self.next_checkpoint = ended + pause

    def write(self, assembly: Assembly) -> None:
        """Write every output."""
        from gpuasm.cli.assembly_outputs import results_of, status_of, write_assembly

        with self.session.stages.stage("write results"):
            write_assembly(self.folder.files, assembly, self.naming, table_written=self.page.draw_contigs)
        self._write_bam(assembly)
        results = results_of(assembly)
        if assembly.state:
            with self.session.stages.stage("write checkpoint", k=assembly.state.kmer_graph.graph.k):
                self.checkpoint.save(assembly.state)
        self._finish(results, status_of(assembly, self.options), assembly.contigs)
        if not assembly.state:
            self.checkpoint.remove()

    def _write_bam(self, assembly: Assembly | None) -> None:
        """Write the reads on the contigs, if that is requested; without an assembly all are unaligned."""
        if self.bam_out is None:
            return
        from gpuasm.cli.aligned_reads import write_aligned_reads
        from gpuasm.cli.naming import renamed

        with self.session.stages.stage("write aligned reads") as stage:
            contigs = renamed(assembly, self.naming).contigs if assembly else []
            options: dict[str, Any] = {"n_pairs": self.n_pairs, "texts": self.texts, "threads": self.session.threads}
            stage.note(**write_aligned_reads(self.bam_out, contigs, self.reads, **options))
        if self.texts:
            self.texts.file.close()

    def write_empty(self, reason: str) -> None:
        """Write every output without content, and the reason into run.json."""
        from gpuasm.cli.assembly_outputs import write_no_assembly

        write_no_assembly(self.folder.files, self.naming)
        self._write_bam(None)
        self._finish({"contigs": 0, "total_length": 0}, reason, [])

    def _finish(self, results: dict[str, Any], status: str, contigs: Sequence[Contig]) -> None:
        session, options = self.session, self.options
        parameters = {
            **vars(options), **self.inputs.cleaning, **vars(self.naming), "memory": session.memory,
            "verdict_thresholds": self.thresholds_file, "first_graph": self.first_graph, "plan": self.plan,
            "devices": session.devices.n,
        }  # fmt: skip
        known: dict[str, Any] = {"parameters": parameters, "inputs": self.files, "results": results, "status": status}
        known["stages"] = session.stages.records
        self.verdict = verdict_of_assembly(contigs, known, self.thresholds)
        session.write_manifest(
            self.folder.files / "run.json",
            command="assemble",
            parameters=parameters,
            inputs=self.files,
            results={**results, "verdict": self.verdict},
            status=status,
        )
        self.page.write()
        self.folder.replace()
