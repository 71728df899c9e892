"""The workflow through both its entry points, on tiny genomes: good samples, bad ones, and wrong sheets."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("snakemake")

ROOT = Path(__file__).parents[2]
ENTRY_POINTS = ["Snakefile", "workflow/Snakefile"]
HEADER = "sample\treads_1\treads_2\tgenome\tlatitude\tlongitude\n"


def run(command, folder):
    # The jobs start 'python -m gpuasm' in the folder of the results.
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def gpuasm(*args, folder):
    done = run([sys.executable, "-m", "gpuasm", *map(str, args)], folder)
    assert done.returncode == 0, done.stderr


def snakemake(folder, *args, entry_point="Snakefile"):
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "-s",
        ROOT / entry_point,
        "--directory",
        folder,
        "--cores",
        "2",
        *args,
    ]
    return run(list(map(str, command)), folder)


@pytest.fixture
def planned(monkeypatch):
    """Return a function that runs Snakemake in this process and no job: what it plans, or why it refuses."""
    from snakemake.cli import main

    def plan(folder, *args, entry_point="Snakefile"):
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "path", list(sys.path))
        out, err = io.StringIO(), io.StringIO()
        command = ["-s", ROOT / entry_point, "--directory", folder, "--cores", "2", "-n", "-p", *args]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as end:
            main(list(map(str, command)))
        return SimpleNamespace(returncode=int(end.value.code or 0), stdout=out.getvalue(), stderr=err.getvalue())

    return plan


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Return a folder with a genome, reads of it, and the same reads with the second file cut off."""
    folder = tmp_path_factory.mktemp("data")
    gpuasm("simulate", "genome", "--length", 4000, "--circular", "--seed", 2, "-o", "genome.fasta", folder=folder)
    reads = ["-1", "good_1.fastq.gz", "-2", "good_2.fastq.gz"]
    gpuasm("simulate", "reads", "genome.fasta", "--fold", 40, *reads, folder=folder)
    shutil.copy(folder / "good_1.fastq.gz", folder / "cut_1.fastq.gz")
    whole = (folder / "good_2.fastq.gz").read_bytes()
    (folder / "cut_2.fastq.gz").write_bytes(whole[: len(whole) // 2])
    return folder


@pytest.fixture
def project(tmp_path, data):
    """Return a function that fills a folder with a configuration, a sample sheet and reads."""

    def make(*lines, **settings):
        (tmp_path / "config").mkdir()
        text = (ROOT / "config" / "config.yaml").read_text()
        for name, value in settings.items():
            text = "".join(
                f"{name}: {value}\n" if line.startswith(f"{name}:") else line for line in text.splitlines(keepends=True)
            )
        (tmp_path / "config" / "config.yaml").write_text(text)
        (tmp_path / "config" / "samples.tsv").write_text(HEADER + "".join(line + "\n" for line in lines))
        for file in data.iterdir():
            shutil.copy(file, tmp_path)
        return tmp_path

    return make


def table(path, key):
    with path.open(newline="") as file:
        return {row[key]: row for row in csv.DictReader(file, delimiter="\t")}


def summary(folder):
    return table(folder / "results" / "summary.tsv", "sample")


def test_a_bad_sample_does_not_stop_the_others(project, planned):
    """The bad one has braces in a path, which are no wildcards; the good one is unpaired."""
    bad = "p{1}/a{x}.fq"
    folder = project(f"cut\t{bad}\t\t\t\t", "good\tgood_1.fastq.gz\t\t\t-12.5\t30.25")
    (folder / "p{1}").mkdir()
    shutil.copy(folder / "cut_2.fastq.gz", folder / bad)
    assert f"check --single '{bad}'" in planned(folder).stdout
    done = snakemake(folder, entry_point="workflow/Snakefile")
    assert done.returncode == 0, done.stderr
    rows = summary(folder)
    assert rows["good"]["status"] == "ok"
    assert (rows["good"]["contigs"], rows["good"]["bases"], rows["good"]["circular"]) == ("1", "4000", "1")
    assert rows["cut"]["status"] == "failed"
    assert rows["cut"]["reason"].startswith(f"check_reads: {bad}")
    assert "cut off" in rows["cut"]["reason"]
    assert rows["cut"]["reason"] in (folder / "results" / "report.html").read_text()
    steps = {path.stem: json.loads(path.read_text()) for path in (folder / "results" / "cut" / "status").iterdir()}
    assert {step: status["status"] for step, status in steps.items()} == {
        "check_reads": "failed", "count_kmers": "skipped", "de_bruijn_graph": "skipped", "assemble_contigs": "skipped",
        "euler_paths": "skipped", "pagerank": "skipped", "densest_subgraph": "skipped", "train_som": "skipped",
        "bin_contigs": "skipped",
    }  # fmt: skip
    assert (folder / "results" / "cut" / "assembly" / "contigs.fasta").read_text() == ""
    assert (folder / "results" / "good" / "benchmarks" / "assemble_contigs.tsv").exists()
    header, tour = (folder / "results" / "good" / "tours" / "tours.tsv").read_text().splitlines()
    row = dict(zip(header.split("\t"), tour.split("\t"), strict=True))
    assert (row["tour"], row["walk"]) == ("circuit", "good_unitig_000001+")
    assert (folder / "results" / "cut" / "tours" / "tours.tsv").read_text() == ""
    ranks = (folder / "results" / "good" / "ranks" / "ranks.tsv").read_text().splitlines()
    assert ranks[0] == "segment\tlength\tdepth\tlinks\trank"
    assert [line.split("\t")[0::4] for line in ranks[1:]] == [["good_unitig_000001", "1"]]
    assert "<svg" in (folder / "results" / "good" / "ranks" / "ranks.svg").read_text()
    assert (folder / "results" / "cut" / "ranks" / "ranks.tsv").read_text() == ""
    tangle = folder / "results" / "good" / "tangle"
    assert (tangle / "members.tsv").read_text() == "segment\tdegree\twithin\tlength\tdepth\n"
    assert json.loads((tangle / "figures.json").read_text())["results"]["members"] == 0
    assert "<svg" in (tangle / "tangle.svg").read_text()
    assert (folder / "results" / "cut" / "tangle" / "members.tsv").read_text() == ""
    assert (folder / "results" / "cut" / "bins" / "bins.tsv").read_text() == ""
    assert len((folder / "results" / "good" / "bins" / "bins.tsv").read_text().splitlines()) == 2
    assert (folder / "results" / "good" / "bins" / "bins" / "bin_001.fasta").read_text().count(">") == 1
    assert "Map of contigs" not in (folder / "results" / "report.html").read_text()  # of one contig
    related = json.loads((folder / "results" / "samples" / "run.json").read_text())
    assert related["status"] == "nothing to compare: 1 sample"
    assert [row["sample"] for row in related["results"]["left_out"]] == ["cut"]
    for rule in ("train_som", "bin_contigs"):
        assert (folder / "results" / "good" / "benchmarks" / f"{rule}.tsv").exists()


@pytest.mark.parametrize("entry_point", ENTRY_POINTS)
@pytest.mark.parametrize(
    ("settings", "left_out"),
    [
        ({}, []),
        ({"euler_paths": "false"}, ["euler_paths"]),
        ({"ranks": "false"}, ["pagerank"]),
        ({"tangle": "0"}, ["densest_subgraph"]),
        ({"bins": "false"}, ["train_som", "bin_contigs"]),
        ({"geolocate": "false"}, ["geolocate_samples"]),
        ({"relate": "false"}, ["relate_samples", "geolocate_samples"]),
        ({"multiqc": "true"}, []),
    ],
    ids=str,
)
def test_steps_that_the_configuration_leaves_out(project, planned, settings, left_out, entry_point):
    lines = ["good\tgood_1.fastq.gz\tgood_2.fastq.gz\t\t-12.5\t30.25", "other\tgood_1.fastq.gz\t\t\t\t"]
    done = planned(project(*lines, **settings), entry_point=entry_point)
    assert done.returncode == 0, done.stderr
    steps = {"euler_paths", "pagerank", "densest_subgraph", "train_som", "bin_contigs", "relate_samples"}
    steps |= {"assemble_contigs", "geolocate_samples", "report"}
    assert {step for step in steps if f"rule {step}:" in done.stdout} == steps - set(left_out)
    assert ("rule multiqc:" in done.stdout) == ("multiqc" in settings)


def test_true_and_false_of_the_command_line_are_those_of_yaml(project, planned):
    folder = project("good\tgood_1.fastq.gz\tgood_2.fastq.gz\t\t\t")
    done = planned(folder, "--config", "multiqc=true", "ranks=false")
    assert done.returncode == 0, done.stderr
    assert "rule multiqc:" in done.stdout
    assert "rule pagerank:" not in done.stdout
    refused = planned(folder, "--config", "multiqc=yes")
    assert "multiqc is 'yes'; it must be true or false" in refused.stderr


def test_rules_declare_every_file_of_their_commands(project, planned):
    """Snakemake knows these only."""
    from tests.read_files import OUTPUTS

    done = planned(project("good\tgood_1.fastq.gz\t\t\t\t"))
    outputs = dict(re.findall(r"^rule (\w+):\n(?:    .*\n)*?    output: (.*)$", done.stdout, re.MULTILINE))
    in_folder = {rule: {Path(name).name for name in names.split(", ")} for rule, names in outputs.items()}
    assert set(OUTPUTS) <= in_folder["assemble_contigs"]
    of_bins = {"bins", "bins.tsv", "contigs.tsv", "contigs2bin.tsv", "map.tsv", "report.html", "run.json"}
    assert of_bins | {"training.tsv", "unbinned.fasta"} <= in_folder["bin_contigs"]
    assert "assemble --single good_1.fastq.gz --trim auto --mode auto --prefix good --topology" in done.stdout


def test_a_report_describes_the_tangle():
    caption = (ROOT / "workflow" / "report" / "tangle.rst").read_text()
    assert "bound that no segments in as great a number exceed" in caption


@pytest.mark.parametrize(("n", "known"), [(1, True), (2, False)], ids=["one sample", "no place"])
def test_what_takes_two_samples_or_a_place(project, planned, n, known):
    place = "-12.5\t30.25" if known else "\t"
    done = planned(project(*[f"{name}\tgood_1.fastq.gz\t\t\t{place}" for name in ("good", "other")[:n]]))
    assert done.returncode == 0, done.stderr
    assert ("rule relate_samples:" in done.stdout) == (n == 2)
    assert "rule geolocate_samples:" not in done.stdout


def test_a_module_with_a_prefix_another_interpreter_lanes_and_a_simulated_sample(project, planned, tmp_path_factory):
    folder = project(
        "# a comment moves no line number",
        "12-a.7\tlane-1_R1.fastq.gz\tlane-1_R2.fastq.gz\t\t47.5\t8.25",
        "simulated\t\t\tgenome.fasta\t\t",
        "12-a.7\tlane-2_R1.fastq.gz\tlane-2_R2.fastq.gz\t\t\t",
        euler_paths="false",
        ranks="false",
        tangle="0",
    )
    for mate in (1, 2):
        lines = gzip.decompress((folder / f"good_{mate}.fastq.gz").read_bytes()).splitlines(keepends=True)
        half = len(lines) // 8 * 4
        for lane, part in ((1, lines[:half]), (2, lines[half:])):
            text = b"".join(line.lower() if lane == 2 and number % 4 == 1 else line for number, line in enumerate(part))
            (folder / f"lane-{lane}_R{mate}.fastq.gz").write_bytes(gzip.compress(text))
    (folder / "Snakefile").write_text(
        f'configfile: "config/config.yaml"\n\n\nmodule gpuasm:\n    snakefile:\n'
        f'        "{ROOT}/workflow/Snakefile"\n    config:\n        config\n    prefix:\n        "sub"\n\n\n'
        "use rule * from gpuasm as of_*\n"
    )
    own = folder / "Snakefile"
    assert "--bins 'sub/results/*/bins'" in planned(folder, entry_point=own).stdout
    (folder / "config" / "config.yaml").write_text(
        (folder / "config" / "config.yaml").read_text().replace("bins: true", "bins: false")
    )
    done = snakemake(folder, entry_point=own)
    assert done.returncode == 0, done.stderr
    results = folder / "sub" / "results"
    assert {name: row["status"] for name, row in summary(folder / "sub").items()} == {"12-a.7": "ok", "simulated": "ok"}
    contigs = (results / "12-a.7" / "assembly" / "contigs.tsv").read_text().splitlines()
    assert [line.split("\t")[1] for line in contigs[1:]] == ["4000"]
    manifest = json.loads((results / "12-a.7" / "assembly" / "run.json").read_text())
    assert [Path(entry["path"]).name for entry in manifest["inputs"] if "n_reads" in entry] == [
        "lane-1_R1.fastq.gz", "lane-1_R2.fastq.gz", "lane-2_R1.fastq.gz", "lane-2_R2.fastq.gz",
    ]  # fmt: skip
    assert (results / "simulated" / "graph" / "unitigs.gfa").read_text().startswith("H\t")
    rows = table(results / "samples" / "samples.tsv", "sample")
    assert {name: (row["nearest"], row["distance"]) for name, row in rows.items()} == {
        "12-a.7": ("simulated", "0"), "simulated": ("12-a.7", "0"),
    }  # fmt: skip
    assert (results / "samples" / "tree.nwk").read_text() == "(12-a.7:0,simulated:0);\n"
    assert (results / "samples" / "benchmarks" / "relate_samples.tsv").exists()
    rows = table(results / "samples" / "locations.tsv", "vertex")
    placed = {name: [row[key] for key in ("latitude", "longitude", "status")] for name, row in rows.items()}
    assert placed == {
        "12-a.7": ["47.500000", "8.250000", "known"], "simulated": ["47.500000", "8.250000", "inferred"],
    }  # fmt: skip
    assert "<svg" in (results / "samples" / "locations.svg").read_text()
    page = (results / "report.html").read_text()
    assert "Where the samples are" in page
    assert "inferred (1)" in page
    python = tmp_path_factory.mktemp("other") / "environment"
    python.symlink_to(sys.prefix)
    again = run([str(python / "bin" / "python"), "-m", "snakemake", "--cores", "1", "-n"], folder)
    assert "Nothing to be done" in again.stdout + again.stderr


def test_a_bad_sample_fails_the_workflow_if_configured(project):
    folder = project("cut\tcut_1.fastq.gz\tcut_2.fastq.gz\t\t\t", fail_on_bad_sample="true")
    done = snakemake(folder)
    assert done.returncode == 1
    assert not (folder / "results" / "summary.tsv").exists()
    assert "cut_2.fastq.gz" in (folder / "logs" / "check_reads" / "cut.log").read_text()


def test_all_mistakes_of_a_sheet_are_named_before_anything_runs(project):
    folder = project(
        "good\tgood_1.fastq.gz\tgood_2.fastq.gz\t\t\t",
        "good\tgood_1.fastq.gz\t\t\t\t",
        "absent\tabsent_1.fastq.gz\t\t\t\t",
        "a/b\tgood_1.fastq.gz\t\t\t\t",
        "nothing\t\t\t\t\t",
        "both\tgood_1.fastq.gz\t\tgenome.fasta\t\t",
        "twice\tgood_1.fastq.gz\tgood_1.fastq.gz\t\t\t",
        "half\tgood_1.fastq.gz\t\t\t12\t",
        "far\tgood_1.fastq.gz\t\t\t91\t0",
        "samples\tgood_1.fastq.gz\t\t\t\t",
        "good\t\t\tgenome.fasta\t\t",
        "half\tgood_2.fastq.gz\t\t\t13\t14",
        "digits\tgood_1.fastq.gz\t\t\t1_0\t\u0663",
        "more\tgood_1.fastq.gz\t\t\t\t\t\tx",
        f"long\t{'x' * 5000}\t\t\t\t",
    )
    done = snakemake(folder, "-n")
    assert done.returncode == 1
    assert "common.smk" not in done.stdout + done.stderr
    assert max(map(len, done.stderr.splitlines())) <= 400
    for text in (
        "line 3 (good): good_1.fastq.gz is in an earlier line of the sample; name each file once",
        "line 3 (good): lanes of one sample must all have reads_2, or none",
        "line 12 (good): an earlier line has a sample of the same name, and a genome has one line",
        "line 13 (half): another place than in the sample's first line",
        "line 4 (absent): absent_1.fastq.gz is not there",
        "line 5 (a/b): sample is 'a/b'; it must be letters",
        "line 6 (nothing): reads_1 or genome must be filled in",
        "line 7 (both): reads_1 or genome must be filled in",
        "line 8 (twice): reads_2 needs the file of the other mates",
        "line 9 (half): half a location",
        "line 11 (samples): the folder results/samples is that of all samples",
        "line 10 (far): latitude is 91.0; it must be degrees from -90 to 90",
        "line 14 (digits): latitude is '1_0'; it must be degrees from -90 to 90",
        "line 15 (more): more cells than titles",
        "line 16 (long): xxx",
    ):
        assert text in done.stdout + done.stderr
    assert not (folder / "results").exists()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"k": "30"}, "k is 30; it must be an odd number from 15 to 127"),
        ({"samples": "none.tsv"}, "none.tsv: no such sample sheet"),
    ],
)
def test_a_wrong_configuration_is_refused(project, planned, settings, message):
    done = planned(project("good\tgood_1.fastq.gz\tgood_2.fastq.gz\t\t\t", **settings))
    assert done.returncode == 1
    assert message in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("device", "tpu", "auto, cpu or cuda"),
        ("min_count", 0, "auto or a number from 1 to 2147483647"),
        ("min_count", int("9" * 20), "auto or a number from 1 to 2147483647"),
        ("mode", "single", "auto, isolate or meta"),
        ("trim", "always", "auto, true or false"),
        ("remove", "host.fasta", "a list of paths of FASTA files"),
        ("genome_size", "big", "auto, or a number of bases such as 4600000 or 4.6M"),
        ("min_bin", "none", "a whole number from 1 to 2147483647"),
        ("tangle", 1, "0 or a whole number from 2 to 2147483647"),
    ],
)
def test_a_wrong_value_of_the_configuration_is_described(name, value, expected):
    import jsonschema
    import yaml

    schema = yaml.safe_load((ROOT / "workflow" / "schemas" / "config.schema.yaml").read_text())
    good = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
    jsonschema.validate(good, schema)
    errors = list(jsonschema.Draft202012Validator(schema).iter_errors(good | {name: value}))
    assert [(list(error.absolute_path), error.schema["description"]) for error in errors] == [([name], expected)]


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"k: \xe9\n", "another file"),
        (b"[" * 1000, "nested values"),
        (b"a: &a [x]\nb: [*a, *a]\n", "an alias"),
        (b"k: " + b"9" * 5000 + b"\n", "a value of more than 400 characters"),
        (b"k: {\n", "another file"),
        (b"#" * 2_000_000, "more than 1 MB"),
    ],
    ids=["no UTF-8", "deep", "alias", "digits", "cut off", "large"],
)
def test_what_is_no_configuration_is_described(tmp_path, content, found):
    path = tmp_path / "config.yaml"
    path.write_bytes(content)
    functions = runpy.run_path(str(ROOT / "workflow" / "rules" / "configuration.smk"))
    assert functions["problem_of_configuration"](path).startswith(found)


def values_of_many_names(n_levels):
    values = ["x"]
    for _ in range(n_levels):
        values = [values] * 10
    return values


def values_within_themselves():
    values = []
    values.append({"k": values})
    return values


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ({"k": values_of_many_names(11)}, "too many values"),
        ({"k": values_within_themselves()}, "nested values"),
        ({str(number): 0 for number in range(5000)}, "too many values"),
        ({"k": 31, "samples": "a.tsv"}, None),
    ],
    ids=["names", "circle", "long", "good"],
)
def test_values_of_the_command_line_are_bounded(tmp_path, capsys, values, found):
    check = runpy.run_path(str(ROOT / "workflow" / "rules" / "configuration.smk"))["check_configuration"]
    check.__globals__["config"] = values
    if found is None:
        check(tmp_path / "config.yaml")
        return
    with pytest.raises(SystemExit):
        check(tmp_path / "config.yaml")
    assert capsys.readouterr().err == (
        f"--config or --configfile: expected names and values in YAML, found {found}; correct it\n"
    )


def test_what_is_no_configuration_ends_in_one_line(project, planned):
    folder = project("good\tgood_1.fastq.gz\tgood_2.fastq.gz\t\t\t")
    (folder / "config" / "config.yaml").write_bytes(b"k: {\n" + b"#" * 500)
    done = planned(folder)
    assert done.returncode == 1
    assert "config/config.yaml: expected names and values in YAML, found another file" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert ".smk" not in done.stdout + done.stderr
    assert max(map(len, done.stderr.splitlines())) <= 400


def test_two_columns_of_one_name_are_refused(project, planned):
    folder = project("good\tgood_1.fastq.gz\tgood_2.fastq.gz\t\t\t")
    sheet = folder / "config" / "samples.tsv"
    sheet.write_text(sheet.read_text().replace("genome", "sample", 1))
    done = planned(folder)
    assert done.returncode == 1
    assert "two columns sample; remove one of the two" in done.stderr


@pytest.mark.parametrize("entry_point", ENTRY_POINTS)
def test_lint_finds_nothing(planned, entry_point):
    done = planned(ROOT, "--lint", entry_point=entry_point)
    assert done.returncode == 0, done.stderr
    assert "in a good condition" in done.stdout


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        ({}, "--trim auto -"),
        ({"trim": "false", "remove_phix": "true"}, "--trim no --remove-phix -"),
        ({"trim": "true"}, "--trim yes -"),
        ({"deduplicate": "true"}, "--trim auto --deduplicate -"),
        ({"remove": "[genome.fasta]", "depth": "50"}, "--trim auto --remove genome.fasta --depth 50 -"),
        ({"primers": "genome.fasta", "genome_size": "4.6M"}, "--primers genome.fasta --genome-size 4.6M -"),
    ],
)
def test_the_configuration_sets_the_cleaning_of_reads(project, planned, settings, options):
    done = planned(project("good\tgood_1.fastq.gz\tgood_2.fastq.gz\t\t\t", **settings))
    assert done.stdout.count(options) == 3


@pytest.mark.parametrize(("bins", "option"), [("true", "--bins results/good/bins/contigs2bin.tsv"), ("false", " -1")])
def test_a_database_names_the_species(project, planned, bins, option):
    folder = project("good\tgood_1.fastq.gz\tgood_2.fastq.gz\t\t\t", database="known.sig", bins=bins)
    (folder / "known.sig").write_text("")
    commands = planned(folder).stdout
    assert commands.count("-- identify results/good/assembly/contigs.fasta --database known.sig") == 1
    (command,) = (line for line in commands.splitlines() if " -- identify " in line)
    assert option in command.partition("known.sig")[2]
    assert "-1 good_1.fastq.gz -2 good_2.fastq.gz --trim auto" in command
    assert "--identities 'results/*/identity'" in commands


def test_bins_follow_the_depth_in_all_samples(project, planned):
    """Those of the sample itself are the first column of the table."""
    lines = ["one\tgood_1.fastq.gz\tgood_2.fastq.gz\t\t\t", "two\tcut_1.fastq.gz\t\t\t\t", "made\t\t\tgenome.fasta\t\t"]
    folder = project(*lines, bin_by="all")
    commands = planned(folder).stdout
    one, two = "one=good_1.fastq.gz,good_2.fastq.gz", "two=cut_1.fastq.gz"
    made = "made=results/made/reads/reads_1.fastq.gz,results/made/reads/reads_2.fastq.gz"
    for sample, reads in (("one", (one, two, made)), ("two", (two, one, made)), ("made", (made, one, two))):
        expected = f"-- depth results/{sample}/assembly/contigs.fasta {' '.join(reads)} --trim auto --skip-bad"
        assert commands.count(expected) == 1
        option = f"-- bin results/{sample}/assembly/contigs.fasta --depth results/{sample}/depth/depth.tsv"
        assert commands.count(option) == 2
    assert "rule depth_of_contigs:" not in planned(folder, "--config", "bin_by=own").stdout
    refused = planned(folder, "--config", "bin_by=some")
    assert refused.returncode == 1
    assert "own or all" in refused.stderr


def test_fastp_runs_for_each_lane(project, planned):
    two = "two\tgood_1.fastq.gz\tgood_2.fastq.gz\t\t\t"
    one = ["one\tcut_1.fastq.gz\t\t\t\t", "made\t\t\tgenome.fasta\t\t"]
    folder = project(two, two.replace("good", "cut"), *one, fastp="true", multiqc="true")
    commands = re.findall(r"-- (-i .*) --json", planned(folder).stdout)
    assert sorted(commands) == [
        "-i cut_1.fastq.gz --thread 2 --report_title one",
        "-i cut_1.fastq.gz -I cut_2.fastq.gz --thread 2 --report_title two_lane2",
        "-i good_1.fastq.gz -I good_2.fastq.gz --thread 2 --report_title two_lane1",
        "-i results/made/reads/reads_1.fastq.gz -I results/made/reads/reads_2.fastq.gz --thread 2 --report_title made",
    ]


def test_the_configuration_names_the_thresholds_of_verdicts(project, planned):
    folder = project("good\tgood_1.fastq.gz\tgood_2.fastq.gz\t\t\t", verdict_thresholds="own.tsv")
    (folder / "own.tsv").write_text("")
    assert planned(folder).stdout.count("--verdict-thresholds own.tsv") == 2


def test_devices_follow_the_resources(project, planned):
    folder = project("good\tgood_1.fastq.gz\tgood_2.fastq.gz\t\t\t", device="cuda")
    on_device = planned(folder).stdout
    assert on_device.count("--device cuda") == 4
    sent_away = planned(folder, "--set-resources", "assemble_contigs:gpu=0").stdout
    # Four of those on the CPU make tours, ranks and tangles and cut the map, which is never done elsewhere.
    assert (sent_away.count("--device cuda"), sent_away.count("--device cpu")) == (3, 5)


@pytest.mark.parametrize("profile", ["slurm", "local-gpu"])
def test_profiles_name_rules_that_exist(profile):
    import yaml

    settings = yaml.safe_load((ROOT / "workflow" / "profiles" / profile / "profile.yaml").read_text())
    rules = "".join(path.read_text() for path in (ROOT / "workflow" / "rules").glob("*.smk"))
    known = set(re.findall(r"^(?:rule (\w+):|use rule \w+ as (\w+) with:)", rules, re.MULTILINE))
    assert set(settings["set-resources"]) <= {name for names in known for name in names}


def test_the_example_is_complete(planned):
    done = planned(ROOT)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("content", [b"sample\treads_1\xff\n", b"s\0x\n", b'sample\t"' + b"x" * 200_000 + b"\n"])
def test_a_sheet_that_is_no_table_ends_in_one_line(project, planned, content):
    folder = project()
    (folder / "config" / "samples.tsv").write_bytes(content)
    done = planned(folder, "-q")
    text = done.stdout + done.stderr
    assert done.returncode == 1
    assert "expected a table in UTF-8, tab-separated" in text
    assert "Traceback" not in text
    assert "File " not in text.replace("Config file", "")
