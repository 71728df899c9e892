# Samples of a group assembled together. The k-mers of each lane are sorted into buckets by their minimizer; each bucket
# is counted, and compacted to pieces of unitigs, by a job of its own; the pieces are joined to the first graph. Any of
# these jobs can be run again by itself. A group with a sample whose reads cannot be used is not assembled.
BUCKETS = [f"{number:04}" for number in range(config["buckets"])]


rule partition_reads:
    input:
        reads=reads_of_lane,
        cleaning=cleaning_files,
        check="results/{sample}/status/check_reads.json",
    output:
        buckets=temp(directory("results/{sample}/buckets/{lane}/superkmers")),
        status="results/{sample}/buckets/{lane}/status.json",
    log:
        "logs/partition_reads/{sample}/{lane}.log",
    benchmark:
        "results/{sample}/buckets/{lane}/partition_reads.benchmark.tsv"
    conda:
        "../envs/gpuasm.yaml"
    threads: 4
    resources:
        gpu=0,
        mem_mb=by_size(2000, 12),
        disk_mb=by_size(1000, 4),
        runtime=by_size(30, 0.02),
    params:
        guard=guard_command,
        reads=lane_options,
        cleaning=CLEANING,
        k=config["k"],
        n_buckets=config["buckets"],
    shell:
        "mkdir -p {output.buckets:q} && {params.guard} --sample {wildcards.sample} --status {output.status:q}"
        " --after {input.check:q}"
        " -- partition {params.reads} {params.cleaning} -k {params.k} --buckets {params.n_buckets} -t {threads}"
        " --device cpu -o {output.buckets:q} > {log:q} 2>&1"


localrules:
    gather_partitions,
    gather_spectra,


rule gather_partitions:
    input:
        statuses=statuses_of_partitions,
    output:
        status="results/{group}/status/partition_reads.json",
    log:
        "logs/gather_partitions/{group}.log",
    conda:
        "../envs/gpuasm.yaml"
    threads: 1
    resources:
        gpu=0,
        mem_mb=500,
        runtime=10,
    params:
        python=python_command(),
    shell:
        "{params.python} -m gpuasm.cli.gathered_status --group {wildcards.group} --status {output.status:q}"
        " {input.statuses:q} > {log:q} 2>&1"


rule count_bucket:
    input:
        lanes=partitions_of_group,
        partitioned="results/{group}/status/partition_reads.json",
    output:
        spectrum=temp("results/{group}/buckets/{bucket}/spectrum.tsv"),
        status=temp("results/{group}/buckets/{bucket}/count_bucket.json"),
    log:
        "logs/count_bucket/{group}/{bucket}.log",
    benchmark:
        "results/{group}/buckets/{bucket}/count_bucket.benchmark.tsv"
    conda:
        "../envs/gpuasm.yaml"
    threads: 4
    resources:
        gpu=int(has_gpu()),
        mem_mb=by_size(2000, 100 / config["buckets"]),
        disk_mb=1000,
        runtime=by_size(30, 0.02 / config["buckets"]),
    params:
        guard=guard_command,
        device=device,
        files=bucket_files,
    shell:
        "{params.guard} --fail --sample {wildcards.group} --status {output.status:q} --after {input.partitioned:q}"
        " --output {output.spectrum:q}"
        " -- compact {params.files:q} --spectrum-only -t {threads} --device {params.device}"
        " -o {output.spectrum:q} > {log:q} 2>&1"


# Rows of one multiplicity are added up by who reads the table.
rule gather_spectra:
    input:
        spectra=collect(
            "results/{{group}}/buckets/{bucket}/spectrum.tsv", bucket=BUCKETS
        ),
    output:
        spectrum=temp("results/{group}/buckets/spectrum.tsv"),
    log:
        "logs/gather_spectra/{group}.log",
    conda:
        "../envs/gpuasm.yaml"
    threads: 1
    resources:
        gpu=0,
        mem_mb=500,
        runtime=10,
    shell:
        "awk 'NR == 1 || FNR > 1' {input.spectra:q} > {output.spectrum:q} 2> {log:q}"


rule compact_bucket:
    input:
        lanes=partitions_of_group,
        partitioned="results/{group}/status/partition_reads.json",
        spectrum="results/{group}/buckets/spectrum.tsv",
    output:
        pieces=temp("results/{group}/buckets/{bucket}/unitigs.pieces"),
        status=temp("results/{group}/buckets/{bucket}/compact_bucket.json"),
    log:
        "logs/compact_bucket/{group}/{bucket}.log",
    benchmark:
        "results/{group}/buckets/{bucket}/compact_bucket.benchmark.tsv"
    conda:
        "../envs/gpuasm.yaml"
    threads: 4
    resources:
        gpu=int(has_gpu()),
        mem_mb=by_size(2000, 100 / config["buckets"]),
        disk_mb=by_size(1000, 4 / config["buckets"]),
        runtime=by_size(30, 0.02 / config["buckets"]),
    params:
        guard=guard_command,
        device=device,
        files=bucket_files,
    shell:
        "{params.guard} --fail --sample {wildcards.group} --status {output.status:q} --after {input.partitioned:q}"
        " --output {output.pieces:q}"
        " -- compact {params.files:q} --spectrum {input.spectrum:q} -t {threads} --device {params.device}"
        " -o {output.pieces:q} > {log:q} 2>&1"


ruleorder: join_pieces > de_bruijn_graph


rule join_pieces:
    input:
        pieces=collect(
            "results/{{group}}/buckets/{bucket}/unitigs.pieces", bucket=BUCKETS
        ),
        partitioned="results/{group}/status/partition_reads.json",
    output:
        first_graph=temp("results/{group}/graph/first.graph"),
        graph="results/{group}/graph/unitigs.gfa",
        run="results/{group}/graph/run.json",
        status="results/{group}/status/join_pieces.json",
    log:
        "logs/join_pieces/{group}.log",
    benchmark:
        "results/{group}/benchmarks/join_pieces.tsv"
    conda:
        "../envs/gpuasm.yaml"
    threads: 4
    resources:
        gpu=int(has_gpu()),
        mem_mb=by_size(4000, 10),
        disk_mb=by_size(1000, 4),
        runtime=by_size(30, 0.02),
    params:
        guard=guard_command,
        device=device,
    shell:
        "{params.guard} --sample {wildcards.group} --status {output.status:q} --after {input.partitioned:q}"
        " --output {output.first_graph:q} --output {output.graph:q} --output {output.run:q}"
        " -- join {input.pieces:q} -t {threads} --device {params.device} -o {output.first_graph:q}"
        " --gfa {output.graph:q} --json {output.run:q} > {log:q} 2>&1"


ruleorder: assemble_group > assemble_contigs


use rule assemble_contigs as assemble_group with:
    input:
        reads=reads_of,
        cleaning=cleaning_files,
        first_graph="results/{sample}/graph/first.graph",
        check="results/{sample}/status/join_pieces.json",
    benchmark:
        "results/{sample}/benchmarks/assemble_group.tsv"
    wildcard_constraints:
        sample="|".join(map(re.escape, GROUPS)) or "(?!)",
    resources:
        gpu=int(has_gpu()),
        mem_mb=by_size(8000, 20),
        disk_mb=by_size(1000, 4),
        runtime=by_size(240, 0.2),
    params:
        guard=guard_command,
        reads=arguments_of_group,
        cleaning=CLEANING,
        device=device,
        mode=config["mode"],
        verdict=verdict_argument,
        folder=subpath(output.run, parent=True),
