# What all rules share: the checked configuration, the checked sample sheet, and small helpers.
import csv
import glob
import math
import os
import re
import shlex
import shutil
import sys
from collections import namedtuple
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.utils import validate

COLUMNS = ["sample", "reads_1", "reads_2", "latitude", "longitude"]
FILES_OF_ASSEMBLY = ["scaffolds.fasta", "scaffolds.agp", "gaps.tsv", "graph.gfa"]
FILES_OF_ASSEMBLY += ["depth.tsv", "depth_windows.tsv", "spectrum.tsv"]
FILES_OF_ASSEMBLY += ["insert_sizes.tsv", "run.json", "report.html", "assemble.log"]
Wildcards = namedtuple("Wildcards", "sample")
STEPS = ["check_reads", "count_kmers", "de_bruijn_graph", "assemble_contigs"]
GROUP_STEPS = ["partition_reads", "join_pieces", "assemble_contigs"]
TOUR_STEPS = ["euler_paths"]  # run only if the configuration requests them
RANK_STEPS = ["pagerank"]  # likewise
TANGLE_STEPS = ["densest_subgraph"]  # likewise
BIN_STEPS = ["train_som", "bin_contigs"]  # likewise
DEPTH_STEPS = ["depth_of_contigs"]  # likewise
IDENTITY_STEPS = ["identify_contigs"]  # likewise


def read_samples(path):
    """Return {name: row} of the sample sheet, or stop with everything that is wrong with it."""
    if not os.path.isfile(path):
        refuse(f"{path}: no such sample sheet; 'samples' in the configuration names it")
    try:
        lines, titles, rows = rows_of_sheet(path)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        found = " ".join(str(error).split())
        refuse(
            f"{path}: expected a table in UTF-8, tab-separated, found another file ({found}); save the sheet as such"
        )
    missing = [name for name in COLUMNS if name not in titles]
    if missing:
        refuse(
            f"{path}: no column {', '.join(missing)}; the sheet has the columns {', '.join(COLUMNS)}, tab-separated"
        )
    if twice := sorted({title for title in titles if titles.count(title) > 1}):
        refuse(f"{path}: two columns {', '.join(twice)}; remove one of the two")
    if not rows:
        refuse(f"{path}: no sample; add a line for each")
    problems = [
        f"{path}, line {number} ({row['sample'] or 'no name'}): {problem}"
        for index, (number, row) in enumerate(zip(lines[1:], rows))
        for problem in row_problems(row) + lane_problems(row, rows[:index])
    ]
    if problems:
        refuse("the sample sheet cannot be used:", *problems)
    return joined_lanes(rows)


def rows_of_sheet(path):
    """Return the numbers of the lines of a sample sheet, the titles of its columns, and its rows as dicts."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        lines = {
            number: line
            for number, line in enumerate(file, start=1)
            if line.strip() and not line.startswith("#")
        }
    if any("\0" in line for line in lines.values()):
        raise csv.Error("it has zero bytes")
    reader = csv.DictReader(lines.values(), delimiter="\t", restval="")
    rows = [
        {key: (row[key] or "").strip() for key in row if key} | {None: row.get(None)}
        for row in reader
    ]
    return list(lines), reader.fieldnames or [], rows


def row_problems(row):
    """Return what is wrong with one line of the sample sheet by itself, as sentences that contain the remedy."""
    problems = schema_problems({key: row[key] for key in row if key})
    if row[None]:
        problems.append("more cells than titles; add a title, or remove them")
    if row["sample"] == "samples":
        problems.append("the folder results/samples is that of all samples; rename it")
    if bool(row["reads_1"]) == bool(row.get("genome")):
        problems.append("reads_1 or genome must be filled in, and not both")
    if row["reads_2"] and row["reads_1"] in ("", row["reads_2"]):
        problems.append("reads_2 needs the file of the other mates in reads_1")
    if bool(row["latitude"]) != bool(row["longitude"]):
        problems.append(
            "half a location; fill in both latitude and longitude, or neither"
        )
    problems += [
        f"{name} is not there; correct the path"
        for name in files_of(row)
        if not os.path.isfile(name)
    ]
    return problems


def lane_problems(row, earlier):
    """Return why a line cannot be another lane of the sample that earlier lines name."""
    lanes = [other for other in earlier if other["sample"] == row["sample"]]
    if not lanes:
        return []
    first = lanes[0]
    named = [name for other in lanes for name in files_of(other)]
    problems = [
        f"{name} is in an earlier line of the sample; name each file once"
        for name in files_of(row)
        if name in named
    ]
    if row.get("genome") or first.get("genome"):
        problems.append(
            "an earlier line has a sample of the same name, and a genome has one line; rename one"
        )
    elif bool(row["reads_2"]) != bool(first["reads_2"]):
        problems.append(
            "lanes of one sample must all have reads_2, or none; fill it in, or rename one"
        )
    place = [row["latitude"], row["longitude"]]
    if any(place) and place != [first["latitude"], first["longitude"]]:
        problems.append(
            "another place than in the sample's first line; correct one, or rename one"
        )
    return problems


def files_of(row):
    """Return the files that a line of the sample sheet names."""
    return [
        row[column] for column in ("reads_1", "reads_2", "genome") if row.get(column)
    ]


def joined_lanes(rows):
    """Return {name: row}, with lists of files in reads_1 and reads_2: a file for each lane of the sample."""
    samples = {}
    for row in rows:
        joined = samples.setdefault(
            row["sample"], {**row, "reads_1": [], "reads_2": []}
        )
        for column in ("reads_1", "reads_2"):
            joined[column] += [row[column]] if row[column] else []
    return samples


def schema_problems(row):
    """Return where a line of the sample sheet disagrees with the schema."""
    location = {key: number_or_text(row[key]) for key in ("latitude", "longitude")}
    return disagreement({**row, **location}, "../schemas/samples.schema.yaml")


def disagreement(data, schema):
    """Return what is wrong with data by a schema, as a list of at most one sentence; fills in the schema's defaults."""
    try:
        validate(data, schema=schema)
    except WorkflowError as error:
        wrong = error.__context__
        if not getattr(wrong, "absolute_path", None):
            return [getattr(wrong, "message", str(error))]
        place = ".".join(map(str, wrong.absolute_path))
        return [
            f"{place} is {wrong.instance!r}; it must be {wrong.schema.get('description', wrong.message)}"
        ]
    return []


def number_or_text(text):
    """Return a text as a finite number if it is one, in ASCII digits."""
    if not text.isascii() or "_" in text:
        return text
    try:
        value = float(text)
    except ValueError:
        return text
    return value if math.isfinite(value) else text


def has_gpu():
    """Return whether jobs request a GPU: as configured, or else if this machine has one."""
    if config["device"] == "auto":
        return shutil.which("nvidia-smi") is not None
    return config["device"] == "cuda"


def device(wildcards, resources):
    """Return the device for gpuasm, which follows from the GPUs that the job was given."""
    if not resources.gpu:
        return "cpu"
    return "cuda" if config["device"] == "cuda" else "auto"


def reads_of(wildcards):
    """Return the read files of a sample or group, those of first mates of a sample before those of second ones."""
    return [
        path for name in members_of(wildcards.sample) for path in reads_of_member(name)
    ]


def reads_of_member(name):
    """Return the read files of a sample."""
    row = SAMPLES[name]
    if row.get("genome"):
        return reads_of_genome(name)
    return files_given(row["reads_1"] + row["reads_2"])


def reads_of_genome(sample):
    """Return the files of reads that are simulated for a sample."""
    return [f"results/{sample}/reads/reads_{mate}.fastq.gz" for mate in (1, 2)]


def genome_of(wildcards):
    """Return the genome that the reads of a sample are simulated from."""
    return files_given([SAMPLES[wildcards.sample]["genome"]])


def genome_argument(wildcards, input):
    """Return the path of that genome for a shell."""
    return shlex.quote(SAMPLES[wildcards.sample]["genome"])


def sheet_of(wildcards):
    """Return the sample sheet."""
    return files_given([config["samples"]])


def sheet_argument(wildcards, input):
    """Return the path of the sample sheet for a shell."""
    return shlex.quote(config["samples"])


def thresholds_given(wildcards):
    """Return the table of thresholds of verdicts, if the configuration names one."""
    return files_given(
        [config["verdict_thresholds"]] if config["verdict_thresholds"] else []
    )


def verdict_argument(wildcards, input):
    """Return the option of gpuasm that names the thresholds of verdicts; another table runs no assembly again."""
    path = config["verdict_thresholds"]
    return f"--verdict-thresholds {shlex.quote(path)}" if path else ""


def database_given(wildcards):
    """Return the database of sketches, if the configuration names one."""
    return files_given([config["database"]] if config["database"] else [])


def database_argument(wildcards, input):
    """Return the option of gpuasm that names the database of sketches."""
    return f"--database {shlex.quote(config['database'])}"


def members_of_bins(wildcards):
    """Return the bin of each contig of a sample, if the configuration requests bins."""
    return f"results/{wildcards.sample}/bins/contigs2bin.tsv" if config["bins"] else []


def members_argument(wildcards, input):
    """Return the option of gpuasm that names the bin of each contig."""
    return f"--bins {shlex.quote(str(input.members))}" if config["bins"] else ""


def identities_requested(wildcards):
    """Return the tables of species of all samples, if the configuration names a database."""
    return collect(
        "results/{sample}/identity/identities.tsv",
        sample=ASSEMBLED if config["database"] else [],
    )


def identities_argument(wildcards, input):
    """Return the option of gpuasm report that names the folders of species."""
    folders = files_of_samples("*/identity")(wildcards, input)
    return f"--identities {shlex.quote(folders)}" if config["database"] else ""


def cleaning_files(wildcards):
    """Return the files that the configuration names to clean reads."""
    named = [config["primers"], config["primers_reference"]]
    return files_given(config["remove"] + [path for path in named if path])


def files_given(paths):
    """Return files that the user named as inputs of a rule: no module's prefix applies to them.

    Snakemake takes braces in a path for wildcards and has no escape for them. Such files are no inputs, so a change of
    them runs no job again.
    """
    return [local(path) for path in paths if not set("{}") & set(path)]


def tours_requested(wildcards):
    """Return the Euler tours of all samples, if the configuration requests them."""
    return collect(
        "results/{sample}/tours/tours.tsv",
        sample=ASSEMBLED if config["euler_paths"] else [],
    )


def ranks_requested(wildcards):
    """Return the ranks of the segments of all samples, if the configuration requests them."""
    return collect(
        "results/{sample}/ranks/ranks.tsv",
        sample=ASSEMBLED if config["ranks"] else [],
    )


def tangles_requested(wildcards):
    """Return the densest tangles of all samples, if the configuration requests them."""
    return collect(
        "results/{sample}/tangle/members.tsv",
        sample=ASSEMBLED if config["tangle"] else [],
    )


def bins_requested(wildcards):
    """Return the tables of bins of all samples, if the configuration requests them."""
    return collect(
        "results/{sample}/bins/bins.tsv", sample=ASSEMBLED if config["bins"] else []
    )


def depth_in_all_samples(wildcards):
    """Return the depth of the contigs of a sample in all samples, if the configuration bins by these."""
    by_all = config["bin_by"] == "all"
    return f"results/{wildcards.sample}/depth/depth.tsv" if by_all else []


def depth_argument(wildcards, input):
    """Return the option of gpuasm bin that names this depth; without it the depth is that of the headers."""
    return f"--depth {shlex.quote(str(input.depth))}" if input.depth else ""


def step_before_bins(wildcards):
    """Return the status of the step whose depth bins are made by."""
    step = "depth_of_contigs" if config["bin_by"] == "all" else "assemble_contigs"
    return f"results/{wildcards.sample}/status/{step}.json"


def relation_requested(wildcards):
    """Return the table of how samples are related, if the configuration requests it and there are two."""
    return (
        "results/samples/samples.tsv" if config["relate"] and len(ASSEMBLED) > 1 else []
    )


def places_requested(wildcards):
    """Return where the samples are, if the configuration requests it, they are related, and the sheet knows a place."""
    known = any(SAMPLES.get(name, {}).get("latitude") for name in ASSEMBLED)
    return (
        "results/samples/locations.json"
        if config["geolocate"] and known and relation_requested(wildcards)
        else []
    )


def multiqc_requested(wildcards):
    """Return the page of MultiQC, if the configuration requests it."""
    return "results/multiqc/multiqc_report.html" if config["multiqc"] else []


def folders_of_runs(wildcards, input):
    """Return the runs that a report is about, NAME=FOLDER for each sample."""
    folders = [Path(path).parent for path in input.runs]
    return [f"{sample}={folder}" for sample, folder in zip(ASSEMBLED, folders)]


def files_of_samples(pattern):
    """Return a function that returns a pattern of files in the folders of all samples, wherever these are."""

    def found(wildcards, input):
        results = Path(input.runs[0]).parents[2]
        return str(Path(glob.escape(str(results)), pattern))

    return found


def bins_argument(wildcards, input):
    """Return the option of gpuasm report that names the folders of bins."""
    folders = files_of_samples("*/bins")(wildcards, input)
    return f"--bins {shlex.quote(folders)}" if config["bins"] else ""


def contigs_of_samples(wildcards, input):
    """Return the contigs of all samples, NAME=FILE for each."""
    return [f"{sample}={path}" for sample, path in zip(ASSEMBLED, input.contigs)]


def places_argument(wildcards, input):
    """Return the option of gpuasm report that names where the samples are."""
    return f"--locations {shlex.quote(str(input.places))}" if input.places else ""


def read_arguments(wildcards, input):
    """Return the options of gpuasm that name the reads of a sample or group, those of its lanes one after another."""
    return " ".join(
        options_of_lane(member, lane, input.reads)
        for member in members_of(wildcards.sample)
        for lane in lanes_of(member)
    )


def options_of_lane(sample, lane, inputs):
    """Return the options of gpuasm that name the reads of a lane; simulated ones are among the inputs of the job."""
    files = lanes_of(sample)[lane]
    if SAMPLES[sample].get("genome"):
        # A module's prefix may be before their names.
        files = [
            next(str(path) for path in inputs if str(path).endswith(file))
            for file in files
        ]
    options = ("-1", "-2") if len(files) == 2 else ("--single",)
    return " ".join(
        f"{option} {shlex.quote(file)}" for option, file in zip(options, files)
    )


def cleaning_arguments():
    """Return the options of gpuasm that clean reads."""
    trim = {True: "yes", False: "no"}.get(config["trim"], "auto")
    flags = ("deduplicate", "remove_phix")
    given = [("remove", path) for path in config["remove"]]
    given += [(name, config[name]) for name in ("primers", "primers_reference")]
    given += [("depth", config["depth"])]
    given += [("genome_size", str(config["genome_size"]).replace("auto", ""))]
    return " ".join(
        [
            f"--trim {trim}",
            *(f"--{flag.replace('_', '-')}" for flag in flags if config[flag]),
            *(
                f"--{name.replace('_', '-')} {shlex.quote(str(value))}"
                for name, value in given
                if value
            ),
        ]
    )


def lanes_of(sample):
    """Return {name: files} of the files of reads of each lane of a sample, which is the name if there is one lane."""
    row = SAMPLES[sample]
    first, second = row["reads_1"], row["reads_2"]
    if row.get("genome"):
        first, second = ([file] for file in reads_of_genome(sample))
    lanes = (
        list(zip(first, second, strict=True)) if second else [(file,) for file in first]
    )
    if len(lanes) == 1:
        return {sample: lanes[0]}
    return {f"{sample}_lane{number}": files for number, files in enumerate(lanes, 1)}


def reads_of_lane(wildcards):
    """Return the files of reads of a lane."""
    files = lanes_of(wildcards.sample)[wildcards.lane]
    is_made = SAMPLES[wildcards.sample].get("genome")
    return list(files) if is_made else files_given(files)


def lane_arguments(wildcards, input):
    """Return the options of fastp that name the reads of a lane."""
    row = SAMPLES[wildcards.sample]
    files = (
        input.reads if row.get("genome") else lanes_of(wildcards.sample)[wildcards.lane]
    )
    return " ".join(
        f"{option} {shlex.quote(str(file))}"
        for option, file in zip(("-i", "-I"), files)
    )


def fastp_requested(wildcards):
    """Return what fastp finds in the reads of all lanes, if the configuration requests it."""
    return [
        f"results/{sample}/fastp/{lane}.fastp.json"
        for sample in (SAMPLES if config["fastp"] else [])
        for lane in lanes_of(sample)
    ]


def batches_of(size):
    """Return the names of the samples of each batch; none if each sample has a job of its own."""
    names = [name for name in ASSEMBLED if name not in GROUPS]
    return [names[i : i + size] for i in range(0, len(names), size)] if size > 1 else []


def reads_of_samples(names):
    """Return the read files of several samples."""
    return [path for name in names for path in reads_of(Wildcards(name))]


def lines_of_batch(names):
    """Return a function that returns the lines of a sheet of samples: the name and files of each lane."""

    def lines(wildcards, input):
        found = []
        for name in names:
            for files in lanes_of(name).values():
                if SAMPLES[name].get("genome"):
                    folder = Path(input.checks[0]).parents[2]
                    files = [
                        folder / Path(file).relative_to("results") for file in files
                    ]
                found.append("\t".join(map(str, [name, *files])))
        return found

    return lines


def reads_of_each_sample(wildcards, input):
    """Return the lanes of all samples, NAME=FILES for each, those of the sample itself first."""
    results = Path(input.contigs).parents[2]
    found = []
    for name in sorted(SAMPLES, key=lambda name: name != wildcards.sample):
        for files in lanes_of(name).values():
            if SAMPLES[name].get("genome"):
                files = [results / Path(file).relative_to("results") for file in files]
            found.append(f"{name}={','.join(map(str, files))}")
    return found


def results_of_batch(wildcards, input):
    """Return the folder of the results of all samples, wherever it is."""
    return str(Path(input.checks[0]).parents[2])


def memory_mb_of_batch(names):
    """Return a function that returns the memory to ask a cluster for, in MB: that of the largest sample, and of code."""

    def memory(wildcards, input, attempt):
        largest = max(size_mb(reads_of(Wildcards(name))) for name in names)
        return attempt * int(
            max(2000, 20 * largest + 8 * size_mb(config["remove"])) + 8000
        )

    return memory


def memory_mb(wildcards, input, attempt):
    """Return the memory to ask a cluster for, in MB: more for larger files, and more again after a failure."""
    paths = files_named(wildcards.sample) | set(map(str, input.reads))
    return attempt * int(max(2000, 20 * size_mb(paths) + 8 * size_mb(config["remove"])))


def memory_mb_of_largest(wildcards, input, attempt):
    """Return the memory to ask a cluster for where the samples are read one after another, in MB."""
    largest = max(size_mb(reads_of(Wildcards(name))) for name in SAMPLES)
    contigs = size_mb([input.contigs])
    return attempt * int(
        max(2000, 20 * largest + 100 * contigs + 8 * size_mb(config["remove"]))
    )


def memory_mb_of_contigs(wildcards, input, attempt):
    """Return the memory to ask a cluster for where contigs are binned, in MB."""
    return attempt * int(max(2000, 40 * size_mb([input.contigs])))


def memory_mb_of_all_contigs(wildcards, input, attempt):
    """Return the memory to ask a cluster for where all samples are compared, in MB."""
    largest = max((size_mb([path]) for path in input.contigs), default=0)
    return attempt * int(
        max(
            2000,
            100 * largest + 0.1 * len(input.contigs) + len(input.contigs) ** 2 / 1e4,
        )
    )


def size_mb(paths):
    """Return the size of those files that are there already, in MB."""
    files = [Path(path) for path in paths]
    return sum(path.stat().st_size for path in files if path.is_file()) / 1e6


def python_command():
    """Return the Python that has gpuasm: that of the job's own environment if it gets one, else the one running this."""
    return (
        "python"
        if workflow.deployment_settings.deployment_method
        else shlex.quote(sys.executable)
    )


def gpuasm_command(wildcards, input):
    """Return what runs gpuasm.

    Params that are functions of the input are derived: another path of Python runs no finished job again.
    """
    return f"{python_command()} -m gpuasm"


def guard_command(wildcards, input):
    """Return what runs a step of gpuasm so that a sample with bad data is recorded and does not stop the others."""
    stop = " --fail" if config["fail_on_bad_sample"] else ""
    return f"{python_command()} -m gpuasm.cli.guarded_step{stop}"


def batch_guard_command(wildcards, input):
    """Return what runs gpuasm batch so that samples with bad data are recorded and do not stop the others."""
    stop = " --fail" if config["fail_on_bad_sample"] else ""
    return f"{python_command()} -m gpuasm.cli.guarded_batch{stop}"


# Snakemake takes true and false after --config for text, unlike in YAML, where they are also written so.
config.update(
    {name: text == "true" for name, text in config.items() if text in ("true", "false")}
)
for problem in disagreement(config, "../schemas/config.schema.yaml"):
    refuse(f"the configuration cannot be used: {problem}")
LATER_STEPS = []
LATER_STEPS += TOUR_STEPS if config["euler_paths"] else []
LATER_STEPS += RANK_STEPS if config["ranks"] else []
LATER_STEPS += TANGLE_STEPS if config["tangle"] else []
LATER_STEPS += DEPTH_STEPS if config["bins"] and config["bin_by"] == "all" else []
LATER_STEPS += BIN_STEPS if config["bins"] else []
LATER_STEPS += IDENTITY_STEPS if config["database"] else []
SAMPLES = read_samples(config["samples"])
GROUPS = read_groups()
ASSEMBLED = names_assembled()
CLEANING = cleaning_arguments()


wildcard_constraints:
    sample="[A-Za-z0-9][A-Za-z0-9._-]*",
    lane="[A-Za-z0-9][A-Za-z0-9._-]*",
    group="|".join(map(re.escape, GROUPS)) or "(?!)",
    bucket="[0-9]+",
