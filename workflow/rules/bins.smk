# Which genomes the contigs are of: a self-organising map of their composition and depth, and bins cut from it.


# Only if the configuration bins by all samples. Samples whose reads cannot be used are left out.
rule depth_of_contigs:
    input:
        contigs="results/{sample}/assembly/contigs.fasta",
        assembled="results/{sample}/status/assemble_contigs.json",
        reads=reads_of_samples(SAMPLES),
        cleaning=cleaning_files,
    output:
        depth="results/{sample}/depth/depth.tsv",
        run="results/{sample}/depth/run.json",
        status="results/{sample}/status/depth_of_contigs.json",
    log:
        "logs/depth_of_contigs/{sample}.log",
    benchmark:
        "results/{sample}/benchmarks/depth_of_contigs.tsv"
    conda:
        "../envs/gpuasm.yaml"
    threads: 4
    resources:
        gpu=int(has_gpu()),
        mem_mb=memory_mb_of_largest,
        runtime=120 + 10 * len(SAMPLES),
    params:
        guard=guard_command,
        samples=reads_of_each_sample,
        cleaning=CLEANING,
        device=device,
    shell:
        "{params.guard} --sample {wildcards.sample} --status {output.status:q} --after {input.assembled:q}"
        " --output {output.depth:q} --output {output.run:q}"
        " -- depth {input.contigs:q} {params.samples:q} {params.cleaning} --skip-bad -t {threads}"
        " --device {params.device} -o {output.depth:q} --json {output.run:q} > {log:q} 2>&1"


rule train_som:
    input:
        contigs="results/{sample}/assembly/contigs.fasta",
        depth=depth_in_all_samples,
        ready=step_before_bins,
    output:
        map="results/{sample}/map/map.npz",
        surface="results/{sample}/map/map.tsv",
        training="results/{sample}/map/training.tsv",
        run="results/{sample}/map/run.json",
        status="results/{sample}/status/train_som.json",
    log:
        "logs/train_som/{sample}.log",
    benchmark:
        "results/{sample}/benchmarks/train_som.tsv"
    conda:
        "../envs/gpuasm.yaml"
    threads: 4
    resources:
        gpu=int(has_gpu()),
        mem_mb=memory_mb_of_contigs,
        runtime=60,
    params:
        guard=guard_command,
        device=device,
        depth=depth_argument,
        folder=subpath(output.run, parent=True),
    shell:
        "{params.guard} --sample {wildcards.sample} --status {output.status:q} --after {input.ready:q}"
        " --output {output.map:q} --output {output.surface:q} --output {output.training:q} --output {output.run:q}"
        " -- bin {input.contigs:q} {params.depth} --stop-after map -t {threads} --device {params.device}"
        " -o {params.folder:q} > {log:q} 2>&1"


rule bin_contigs:
    input:
        contigs="results/{sample}/assembly/contigs.fasta",
        depth=depth_in_all_samples,
        map="results/{sample}/map/map.npz",
        trained="results/{sample}/status/train_som.json",
    output:
        bins=report(
            "results/{sample}/bins/bins.tsv",
            caption="../report/bins.rst",
            category="Bins",
            labels={"sample": "{sample}", "file": "bins"},
        ),
        contigs=report(
            "results/{sample}/bins/contigs.tsv",
            caption="../report/bins.rst",
            category="Bins",
            labels={"sample": "{sample}", "file": "contigs"},
        ),
        members="results/{sample}/bins/contigs2bin.tsv",
        genomes=directory("results/{sample}/bins/bins"),
        unbinned="results/{sample}/bins/unbinned.fasta",
        surface="results/{sample}/bins/map.tsv",
        training="results/{sample}/bins/training.tsv",
        run="results/{sample}/bins/run.json",
        page="results/{sample}/bins/report.html",
        status="results/{sample}/status/bin_contigs.json",
    log:
        "logs/bin_contigs/{sample}.log",
    benchmark:
        "results/{sample}/benchmarks/bin_contigs.tsv"
    conda:
        "../envs/gpuasm.yaml"
    threads: 2
    resources:
        gpu=0,
        mem_mb=memory_mb_of_contigs,
        runtime=60,
    params:
        guard=guard_command,
        min_bin=config["min_bin"],
        depth=depth_argument,
        folder=subpath(output.run, parent=True),
    shell:
        "mkdir -p {output.genomes:q} && {params.guard} --sample {wildcards.sample} --status {output.status:q}"
        " --after {input.trained:q}"
        " --output {output.bins:q} --output {output.contigs:q} --output {output.members:q}"
        " --output {output.unbinned:q} --output {output.surface:q}"
        " --output {output.training:q} --output {output.run:q} --output {output.page:q}"
        " -- bin {input.contigs:q} {params.depth} --map {input.map:q} --min-bin {params.min_bin} -t {threads} --device cpu"
        " -o {params.folder:q} > {log:q} 2>&1"
