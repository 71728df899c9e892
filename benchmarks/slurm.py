"""Co-assemble four samples on a Slurm of two nodes, kill a node in the middle, and compare with one machine.

    python benchmarks/slurm.py --json benchmarks/results/slurm.json

The cluster is made on this machine (see slurm_cluster.py), and the workflow runs on it with Snakemake's executor for
Slurm. The node that runs the first job of the rule ``--kill-in`` is killed with its jobs. The contigs, scaffolds and
graph must be those of one ``gpuasm assemble`` of all reads, byte for byte; otherwise the exit code is 1. It needs root,
the Debian packages slurm-wlm and munge, and snakemake-executor-plugin-slurm in gpuasm's environment. ``--folder`` keeps
the project, with the report of Snakemake.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from processes import GPUASM, measure
from record import record
from slurm_cluster import SlurmCluster, missing_programs, name_of_node, slurm_cluster

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.fuzz.small_workflow import write_project  # noqa: E402 - no installed package has it
from tests.read_files import genome_text, outputs_of, simulated_pairs, write_pairs  # noqa: E402 - likewise

GROUP = "together"
_N_NODES, _CPUS, _MEMORY_MB = 2, 8, 64_000  # jobs take as much by their rules, but use less
_N_SAMPLES = 4
_FOLD = 15
_SECONDS_BETWEEN = 0.2
_PLUGIN = "snakemake_executor_plugin_slurm"


def write_samples(folder: Path, *, length: int, n_buckets: int) -> list[tuple[Path, Path]]:
    """Write a project with one group of samples of the same two genomes, and return their files of reads."""
    names = [f"sample_{number}" for number in range(1, _N_SAMPLES + 1)]
    write_project(folder, {name: (f"reads/{name}_1.fastq.gz", f"reads/{name}_2.fastq.gz") for name in names})
    path = folder / "config" / "config.yaml"
    settings = {"coassembly: {}": f"coassembly: {{{GROUP}: all}}", "trim: auto": "trim: false"}
    settings["buckets: 64"] = f"buckets: {n_buckets}"
    text = path.read_text()
    for old, new in settings.items():
        text = text.replace(old, new)
    path.write_text(text)
    genomes = [genome_text(length=length, seed=seed, repeats=2) for seed in (1, 2)]
    files = []
    for seed, name in enumerate(names):
        pairs = [pair for text in genomes for pair in simulated_pairs(text, fold=_FOLD, length=150, seed=seed)]
        files.append(write_pairs(folder / "reads", pairs, name=name, compress=True))
    return files


def assemble_at_once(folder: Path, files: list[tuple[Path, Path]]) -> float:
    """Assemble the reads of all samples by one command, and return its seconds."""
    reads = [option for pair in files for option in ("-1", pair[0], "-2", pair[1])]
    options = ["--trim", "no", "--prefix", GROUP, "--topology", "--device", "cpu", "-t", "2", "-o", "expected"]
    return measure([*GPUASM, "assemble", *reads, *options], folder=folder, log=folder / "expected.log").wall_s


def snakemake(folder: Path, *options: str) -> list[str]:
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--directory", str(folder)]
    return [*command, *options]


def executor_options() -> list[str]:
    """Return the options of Snakemake for this cluster; a job is sent again by Snakemake, and not by Slurm."""
    text = "--executor slurm --jobs 8 --retries 2 --latency-wait 10 --slurm-status-command squeue"
    text += " --slurm-init-seconds-before-status-checks 5 --seconds-between-status-checks 5 --slurm-no-requeue"
    return [*text.split(), "--default-resources", "slurm_partition=normal", "slurm_account=none"]


def run_and_kill(cluster: SlurmCluster, folder: Path, rule: str) -> tuple[float, str]:
    """Run the workflow to its end; return its seconds, and the job that ran on the node when it was killed.

    Raises
    ------
    RuntimeError
        If the workflow fails.
    """
    environment = {**cluster.environment, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    started, killed = time.monotonic(), ""
    with (folder / "snakemake.log").open("w") as log:
        command = snakemake(folder, *executor_options())
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        while process.poll() is None:
            time.sleep(_SECONDS_BETWEEN)
            if killed:
                continue
            for node in (name_of_node(number) for number in range(_N_NODES, 0, -1)):
                if job := next((job for job in cluster.running(node) if rule in job), ""):
                    time.sleep(1)  # it is at work then
                    cluster.kill_node(node)
                    killed = f"{job} on {node}"
                    break
    if process.returncode or not killed:
        raise RuntimeError(f"killed: {killed or 'nothing'}\n{(folder / 'snakemake.log').read_text()[-2000:]}")
    return time.monotonic() - started, killed


def jobs(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield number, time and memory of the jobs of each rule, by the table of the workflow."""
    text = (folder / "results" / "samples" / "benchmarks" / "jobs.tsv").read_text()
    by_rule: dict[str, list[dict[str, str]]] = {}
    for row in csv.DictReader(text.splitlines(), delimiter="\t"):
        by_rule.setdefault(Path(row["job"]).name.partition(".")[0], []).append(row)
    for rule, rows in sorted(by_rule.items()):
        peaks = [float(row["max_rss"]) for row in rows if row["max_rss"] not in ("-", "NA")]
        yield {
            "rule": rule,
            "jobs": len(rows),
            "most_s": max(float(row["s"]) for row in rows),
            "peak_rss_mb": round(max(peaks, default=0)),
        }


def run(folder: Path, options: argparse.Namespace) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the figures of the whole run, and those of each rule."""
    files = write_samples(folder, length=options.length, n_buckets=options.buckets)
    alone_s = assemble_at_once(folder, files)
    with slurm_cluster(folder / "slurm", n_nodes=_N_NODES, cpus=_CPUS, memory_mb=_MEMORY_MB) as cluster:
        cluster_s, killed = run_and_kill(cluster, folder, options.kill_in)
    expected, found = outputs_of(folder / "expected"), outputs_of(folder / "results" / GROUP / "assembly")
    different = [name for name, text in expected.items() if found[name] != text]
    subprocess.run(snakemake(folder, "--report", "report.html"), check=True, capture_output=True)
    whole = {"samples": len(files), "nodes": _N_NODES, "buckets": options.buckets, "killed": killed}
    whole |= {
        "same": not different,
        "different": different,
        "one_machine_s": round(alone_s),
        "slurm_s": round(cluster_s),
    }
    return whole, list(jobs(folder))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--length", type=int, default=50_000, help="bases of each of the two genomes")
    parser.add_argument("--buckets", type=int, default=4)
    parser.add_argument("--kill-in", default="compact_bucket", metavar="RULE")
    parser.add_argument("--folder", type=Path, help="a new folder; without it nothing is kept")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    missing = missing_programs() + ([] if importlib.util.find_spec(_PLUGIN) else [_PLUGIN])
    if missing:
        print(f"skipped: this machine lacks {', '.join(missing)}")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the cluster is stopped then too
    with tempfile.TemporaryDirectory() as name:
        folder = (options.folder or Path(name)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        whole, rules = run(folder, options)
    print(whole, *rules, sep="\n")
    record(options.json, "slurm", whole, rules, key=options.kill_in)
    return 0 if whole["same"] else 1


if __name__ == "__main__":
    sys.exit(main())
