# Reads: simulated where the sample sheet gives a genome, and checked before anything else is done with them.


rule simulate_reads:
    input:
        genome=genome_of,
    output:
        reads_1="results/{sample}/reads/reads_1.fastq.gz",
        reads_2="results/{sample}/reads/reads_2.fastq.gz",
        truth="results/{sample}/reads/truth.tsv",
    log:
        "logs/simulate_reads/{sample}.log",
    benchmark:
        "results/{sample}/benchmarks/simulate_reads.tsv"
    conda:
        "../envs/gpuasm.yaml"
    threads: 1
    resources:
        gpu=0,
        mem_mb=1000,
        runtime=10,
    params:
        gpuasm=gpuasm_command,
        genome=genome_argument,
        simulation=config["simulation"],
    shell:
        "{params.gpuasm} simulate reads {params.genome} --fold {params.simulation[fold]}"
        " --length {params.simulation[length]} --seed {params.simulation[seed]} -t {threads}"
        " -1 {output.reads_1:q} -2 {output.reads_2:q} --truth {output.truth:q} > {log:q} 2>&1"


rule check_reads:
    input:
        reads=reads_of,
    output:
        check="results/{sample}/check.json",
        status="results/{sample}/status/check_reads.json",
    log:
        "logs/check_reads/{sample}.log",
    benchmark:
        "results/{sample}/benchmarks/check_reads.tsv"
    conda:
        "../envs/gpuasm.yaml"
    threads: 2
    resources:
        gpu=0,
        mem_mb=memory_mb,
        runtime=60,
    params:
        guard=guard_command,
        reads=read_arguments,
    shell:
        "{params.guard} --sample {wildcards.sample} --status {output.status:q} --output {output.check:q}"
        " -- check {params.reads} -t {threads} --json {output.check:q} > {log:q} 2>&1"


# Reads are examined as they are, and none is written. Of a file that fastp cannot read the outputs are empty.
rule fastp:
    input:
        reads=reads_of_lane,
        check="results/{sample}/status/check_reads.json",
    output:
        figures="results/{sample}/fastp/{lane}.fastp.json",
        page=report(
            "results/{sample}/fastp/{lane}.fastp.html",
            caption="../report/fastp.rst",
            category="Reads",
            labels={"sample": "{sample}", "file": "{lane}"},
        ),
        status="results/{sample}/fastp/{lane}.status.json",
    log:
        "logs/fastp/{sample}/{lane}.log",
    benchmark:
        "results/{sample}/fastp/{lane}.benchmark.tsv"
    conda:
        "../envs/fastp.yaml"
    threads: 4
    resources:
        gpu=0,
        mem_mb=2000,
        runtime=60,
    params:
        guard=guard_command,
        reads=lane_arguments,
    shell:
        "{params.guard} --program fastp --sample {wildcards.sample} --status {output.status:q} --after {input.check:q}"
        " --output {output.figures:q} --output {output.page:q}"
        " -- {params.reads} --thread {threads} --report_title {wildcards.lane}"
        " --json {output.figures:q} --html {output.page:q} > {log:q} 2>&1"
