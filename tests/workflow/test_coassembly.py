"""The workflow with groups of samples that are assembled together."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
import shlex
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from gpuasm.cli import gathered_status, guarded_step
from tests.read_files import genome_text, outputs_of, simulated_pairs, write_pairs

pytest.importorskip("snakemake")

ROOT = Path(__file__).parents[2]
RULES = ROOT / "workflow" / "rules"
STEPS = [
    "check_reads", "partition_reads", "gather_partitions", "count_bucket", "gather_spectra", "compact_bucket",
    "join_pieces", "assemble_group",
]  # fmt: skip
HEADER = "sample\treads_1\treads_2\tgenome\tlatitude\tlongitude"


def settings_of(**settings):
    """Return the shipped configuration with other settings, without what takes assembled samples."""
    text = (ROOT / "config" / "config.yaml").read_text()
    settings = {"trim": "false", "bins": "false", "ranks": "false", "euler_paths": "false", "tangle": "0"} | settings
    for name, value in settings.items():
        text = re.sub(rf"^{name}: .*", f"{name}: {value}", text, flags=re.MULTILINE)
    return text


@pytest.fixture
def planned(tmp_path, monkeypatch):
    """Return a function that plans the workflow for lines of a sheet in this process: the jobs, as text."""
    from snakemake.cli import main

    def plan(*lines, options=(), **settings):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "config").mkdir(exist_ok=True)
        (tmp_path / "config" / "config.yaml").write_text(settings_of(**settings))
        (tmp_path / "config" / "samples.tsv").write_text("\n".join([HEADER, *lines]) + "\n")
        out, err = io.StringIO(), io.StringIO()
        command = ["-s", ROOT / "Snakefile", "--cores", "2", "-n", "-p", *options]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as end:
            main(list(map(str, command)))
        assert not end.value.code, err.getvalue()
        return out.getvalue()

    return plan


def shells_of(plan):
    """Return the shell commands of a plan by rule."""
    found = {}
    for rule, command in re.findall(r"^(?:local)?rule (\w+):\n(?:    .*\n)*?Shell command: (.*)", plan, re.MULTILINE):
        found.setdefault(rule, []).append(command)
    return found


def test_reads_of_a_group_go_through_buckets(planned, tmp_path):
    for name in ("a_1", "a_2", "b x", "c"):
        (tmp_path / f"{name}.fq").touch()
    genome = ROOT / "config" / "example" / "phix174.fasta.gz"
    lines = ["a\ta_1.fq\ta_2.fq", "b\tb x.fq", "b\tc.fq", f"made\t\t\t{genome}", "alone\tc.fq"]
    shells = shells_of(planned(*lines, coassembly="{gut: [a, b, made]}", buckets="2"))
    counts = {rule: len(shells[rule]) for rule in STEPS}
    assert counts == {
        "check_reads": 4, "partition_reads": 4, "gather_partitions": 1, "count_bucket": 2, "gather_spectra": 1,
        "compact_bucket": 2, "join_pieces": 1, "assemble_group": 1,
    }  # fmt: skip
    made = "-1 results/made/reads/reads_1.fastq.gz -2 results/made/reads/reads_2.fastq.gz"
    reads = ["-1 a_1.fq -2 a_2.fq", "--single 'b x.fq'", "--single c.fq", made]
    for lane in reads:
        command = f"-- partition {lane} --trim no -k 31 --buckets 2"
        assert sum(command in each for each in shells["partition_reads"]) == 1
    folders = ["a/buckets/a", "b/buckets/b_lane1", "b/buckets/b_lane2", "made/buckets/made"]
    files = " ".join(f"results/{folder}/superkmers/bucket_0001.superkmers" for folder in folders)
    assert sum(f"-- compact {files} --spectrum-only" in each for each in shells["count_bucket"]) == 1
    assert sum(f"-- compact {files} --spectrum results/gut/" in each for each in shells["compact_bucket"]) == 1
    graph = "results/gut/graph/first.graph"
    assert f"-o {graph} --gfa results/gut/graph/unitigs.gfa" in shells["join_pieces"][0]
    assert f"-- assemble {' '.join(reads)} --first-graph {graph} --trim no" in shells["assemble_group"][0]
    assert [re.search(r"--prefix (\w+)", each)[1] for each in shells["assemble_contigs"]] == ["alone"]
    assert "report alone=results/alone/assembly gut=results/gut/assembly " in shells["report"][0]


def in_process(run_cli, monkeypatch, command):
    """Run a shell command of the workflow in this process; one of another program as it is."""
    if " -m gpuasm" not in command:
        subprocess.run(["bash", "-c", command], check=True)
        return
    words = shlex.split(command.partition(" > ")[0])
    if words[0] == "mkdir":
        Path(words[2]).mkdir(parents=True)
    module, *arguments = words[words.index("-m") + 1 :]
    step = {"gpuasm.cli.guarded_step": guarded_step, "gpuasm.cli.gathered_status": gathered_status}[module]
    monkeypatch.setattr(step, "run_command", lambda words: run_cli(*words[3:])[::2], raising=False)
    with pytest.raises(SystemExit) as end:
        step.main(arguments)
    assert not end.value.code


def test_a_group_has_the_bytes_of_one_assembly(planned, run_cli, monkeypatch, tmp_path):
    genome = genome_text(length=2500)
    lanes = [write_pairs(tmp_path, simulated_pairs(genome, fold=20, seed=i), name=name) for i, name in enumerate("ab")]
    lines = [f"{name}\t{name}_1.fastq\t{name}_2.fastq" for name in "ab"]
    options = ["--until", "assemble_group"]
    plan = planned(*lines, options=options, coassembly="{gut: all}", buckets="2", device="cpu")
    (tmp_path / "logs" / "gather_spectra").mkdir(parents=True)
    for folder in re.findall(r"(results/\S*)/[^/\s,]+", " ".join(re.findall(r" output: (.*)", plan))):
        if not folder.endswith("superkmers"):
            Path(folder).mkdir(parents=True, exist_ok=True)
    shells = shells_of(plan)
    for rule in STEPS:
        for command in shells[rule]:
            in_process(run_cli, monkeypatch, command)
    reads = [option for pair in lanes for option in ("-1", pair[0], "-2", pair[1])]
    more = ["--trim", "no", "--prefix", "gut", "--topology", "--device", "cpu", "-o", "expected", "-q"]
    assert run_cli("assemble", *reads, *more)[0] == 0
    assert outputs_of(Path("results/gut/assembly")) == outputs_of(Path("expected"))
    assert len(Path("expected/contigs.tsv").read_text().splitlines()) > 1


@pytest.fixture
def groups():
    """Return a function that reads groups with some settings: the groups, or why they are refused."""

    def read(coassembly, **settings):
        functions = runpy.run_path(str(RULES / "groups.smk"))
        refused = []
        config = {"coassembly": coassembly, "trim": False, "deduplicate": False, "depth": 0, "k": 31} | settings
        known = {"SAMPLES": {"a": {}, "b": {}}, "config": config, "refuse": lambda *lines: refused.extend(lines[1:])}
        functions["read_groups"].__globals__.update(known)
        found = functions["read_groups"]()
        return refused or found

    return read


def test_groups_name_samples_or_all(groups):
    assert groups({}, trim="auto", k=127) == {}
    assert groups({"x": ["b"], "y": "all"}) == {"x": ["b"], "y": ["a", "b"]}


@pytest.mark.parametrize(
    ("coassembly", "settings", "message"),
    [
        ({"a": ["b"]}, {}, "a: the sheet has a sample of this name; rename the group"),
        ({"samples": ["b"]}, {}, "samples: the sheet has a sample of this name; rename the group"),
        ({"x": ["a", "c"]}, {}, "x: c is not in the sample sheet; add it there, or remove it here"),
        ({"x": "all"}, {"trim": "auto"}, "trim is auto; clean the reads before, and set it to False"),
        ({"x": "all"}, {"depth": 50}, "depth is 50; clean the reads before, and set it to 0"),
        ({"x": "all"}, {"k": 33}, "k is 33; it must be at most 31"),
    ],
)
def test_groups_that_cannot_be_assembled_are_refused(groups, coassembly, settings, message):
    assert groups(coassembly, **settings) == [message]


@pytest.mark.parametrize(
    ("coassembly", "expected"),
    [
        ({"a b": "all"}, "letters, digits, dots, dashes and underscores, the first a letter or digit"),
        ({"x": "some"}, "a list of samples, or all"),
        ({"x": []}, "a list of samples, or all"),
    ],
)
def test_the_schema_describes_groups(coassembly, expected):
    import jsonschema
    import yaml

    schema = yaml.safe_load((ROOT / "workflow" / "schemas" / "config.schema.yaml").read_text())
    errors = list(jsonschema.Draft202012Validator(schema).iter_errors({"coassembly": coassembly}))
    assert [error.schema["description"] for error in errors] == [expected]


def test_jobs_ask_for_more_with_larger_files_and_after_failures(monkeypatch):
    by_size = runpy.run_path(str(RULES / "groups.smk"))["by_size"]
    sizes = {"a_1.fq": 300, "a_2.fq": 200}
    known = {"lanes_of": lambda sample: {"a": tuple(sizes)}, "size_mb": lambda paths: sum(map(sizes.get, paths))}
    by_size.__globals__.update(known)
    lane = SimpleNamespace(sample="a", lane="a", keys=lambda: ["sample", "lane"])
    assert [by_size(1000, 2)(lane, None, attempt) for attempt in (1, 2)] == [2000, 4000]


def test_the_table_of_jobs_has_a_line_for_each(planned, tmp_path):
    (tmp_path / "a.fq").touch()
    (command,) = shells_of(planned("a\ta.fq", coassembly="{gut: all}", buckets="1"))["table_of_jobs"]
    for place in ("gut/benchmarks/join_pieces.tsv", "gut/buckets/0000/count_bucket.benchmark.tsv"):
        path = Path("results", place)
        path.parent.mkdir(parents=True)
        path.write_text("s\tmax_rss\n1.5\t20\n")
    Path("results/samples/benchmarks").mkdir(parents=True)
    Path("logs").mkdir()
    subprocess.run(["bash", "-euo", "pipefail", "-c", command], check=True)
    assert Path("results/samples/benchmarks/jobs.tsv").read_text() == (
        "job\ts\tmax_rss\n"
        "gut/benchmarks/join_pieces.tsv\t1.5\t20\n"
        "gut/buckets/0000/count_bucket.benchmark.tsv\t1.5\t20\n"
    )
