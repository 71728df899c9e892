# Groups of samples that are assembled together, and what their rules share.
MOST_K_OF_GROUPS = 31


def read_groups():
    """Return {name: samples} of the groups to assemble together, or stop with everything that is wrong with them."""
    groups = {
        name: list(SAMPLES) if members == "all" else members
        for name, members in config["coassembly"].items()
    }
    problems = [
        f"{name}: the sheet has a sample of this name; rename the group"
        for name in groups
        if name in (*SAMPLES, "samples")
    ]
    problems += [
        f"{name}: {member} is not in the sample sheet; add it there, or remove it here"
        for name, members in groups.items()
        for member in members
        if member not in SAMPLES
    ]
    required = {"trim": False, "deduplicate": False, "depth": 0}
    problems += [
        f"{name} is {config[name]}; clean the reads before, and set it to {value}"
        for name, value in required.items()
        if config[name] != value
    ]
    if config["k"] > MOST_K_OF_GROUPS:
        problems.append(f"k is {config['k']}; it must be at most {MOST_K_OF_GROUPS}")
    if groups and problems:
        refuse("coassembly in the configuration cannot be used:", *problems)
    return groups


def names_assembled():
    """Return the names of the samples that are in no group, and of the groups."""
    members = {member for names in GROUPS.values() for member in names}
    return [name for name in SAMPLES if name not in members] + list(GROUPS)


def members_of(name):
    """Return the samples whose reads are assembled under a name: those of a group, or the sample itself."""
    return GROUPS.get(name, [name])


def statuses_of_assembled(wildcards):
    """Return the status of each step of all samples and groups that are assembled."""
    return [
        f"results/{name}/status/{step}.json"
        for name in ASSEMBLED
        for step in (GROUP_STEPS if name in GROUPS else STEPS) + LATER_STEPS
    ]


def files_named(name):
    """Return the read files that the sample sheet names for a sample or group; braces keep some from being inputs."""
    rows = [SAMPLES[member] for member in members_of(name)]
    return {path for row in rows for path in row["reads_1"] + row["reads_2"]}


def lanes_of_group(wildcards):
    """Return (sample, lane) of each lane of a group."""
    return [
        (member, lane)
        for member in GROUPS[wildcards.group]
        for lane in lanes_of(member)
    ]


def partitions_of_group(wildcards):
    """Return the folders of buckets of all lanes of a group."""
    return [
        f"results/{sample}/buckets/{lane}/superkmers"
        for sample, lane in lanes_of_group(wildcards)
    ]


def statuses_of_partitions(wildcards):
    """Return the status of the partition of each lane of a group."""
    return [
        f"results/{sample}/buckets/{lane}/status.json"
        for sample, lane in lanes_of_group(wildcards)
    ]


def bucket_files(wildcards, input):
    """Return the files of one bucket, one of each lane."""
    return [f"{folder}/bucket_{wildcards.bucket}.superkmers" for folder in input.lanes]


def lane_options(wildcards, input):
    """Return the options of gpuasm that name the reads of a lane."""
    return options_of_lane(wildcards.sample, wildcards.lane, input.reads)


def arguments_of_group(wildcards, input):
    """Return the options of gpuasm that name the reads of a group and its first graph."""
    return f"{read_arguments(wildcards, input)} --first-graph {shlex.quote(str(input.first_graph))}"


def by_size(least, per_mb):
    """Return a function that returns how much of a resource to ask a cluster for, more again after each failure.

    It is the least amount, and so much for each MB of the files of reads of the lane or group.
    """

    def amount(wildcards, input, attempt):
        if "lane" in wildcards.keys():
            paths = lanes_of(wildcards.sample)[wildcards.lane]
        else:
            name = wildcards.get("group", wildcards.get("sample"))
            paths = files_named(name) | set(reads_of(Wildcards(name)))
        return attempt * int(least + per_mb * size_mb(paths))

    return amount
