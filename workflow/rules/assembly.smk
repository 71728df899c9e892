# From checked reads to k-mer counts, the compacted de Bruijn graph, and contigs.


rule count_kmers:
    input:
        reads=reads_of,
        cleaning=cleaning_files,
        check="results/{sample}/status/check_reads.json",
    output:
        counts="results/{sample}/kmers/counts.npz",
        spectrum="results/{sample}/kmers/spectrum.tsv",
        run="results/{sample}/kmers/run.json",
        status="results/{sample}/status/count_kmers.json",
    log:
        "logs/count_kmers/{sample}.log",
    benchmark:
        "results/{sample}/benchmarks/count_kmers.tsv"
    conda:
        "../envs/gpuasm.yaml"
    threads: 4
    resources:
        gpu=int(has_gpu()),
        mem_mb=memory_mb,
        runtime=120,
    params:
        guard=guard_command,
        reads=read_arguments,
        cleaning=CLEANING,
        device=device,
        k=config["k"],
    shell:
        "{params.guard} --sample {wildcards.sample} --status {output.status:q} --after {input.check:q}"
        " --output {output.counts:q} --output {output.spectrum:q} --output {output.run:q}"
        " -- count {params.reads} {params.cleaning} -k {params.k} -t {threads} --device {params.device}"
        " -o {output.counts:q} --spectrum {output.spectrum:q} --json {output.run:q} > {log:q} 2>&1"


rule de_bruijn_graph:
    input:
        reads=reads_of,
        cleaning=cleaning_files,
        check="results/{sample}/status/check_reads.json",
    output:
        graph="results/{sample}/graph/unitigs.gfa",
        run="results/{sample}/graph/run.json",
        status="results/{sample}/status/de_bruijn_graph.json",
    log:
        "logs/de_bruijn_graph/{sample}.log",
    benchmark:
        "results/{sample}/benchmarks/de_bruijn_graph.tsv"
    conda:
        "../envs/gpuasm.yaml"
    threads: 4
    resources:
        gpu=int(has_gpu()),
        mem_mb=memory_mb,
        runtime=120,
    params:
        guard=guard_command,
        reads=read_arguments,
        cleaning=CLEANING,
        device=device,
        k=config["k"],
        min_count=config["min_count"],
    shell:
        "{params.guard} --sample {wildcards.sample} --status {output.status:q} --after {input.check:q}"
        " --output {output.graph:q} --output {output.run:q}"
        " -- unitigs {params.reads} {params.cleaning} -k {params.k} --min-count {params.min_count} -t {threads}"
        " --device {params.device} -o {output.graph:q} --json {output.run:q} > {log:q} 2>&1"


rule assemble_contigs:
    input:
        reads=reads_of,
        cleaning=cleaning_files,
        check="results/{sample}/status/check_reads.json",
    output:
        contigs=report(
            "results/{sample}/assembly/contigs.fasta",
            caption="../report/contigs.rst",
            category="Contigs",
            labels={"sample": "{sample}", "file": "contigs"},
        ),
        scaffolds="results/{sample}/assembly/scaffolds.fasta",
        parts="results/{sample}/assembly/scaffolds.agp",
        gaps="results/{sample}/assembly/gaps.tsv",
        graph="results/{sample}/assembly/graph.gfa",
        table=report(
            "results/{sample}/assembly/contigs.tsv",
            caption="../report/contigs.rst",
            category="Contigs",
            labels={"sample": "{sample}", "file": "table"},
        ),
        depth="results/{sample}/assembly/depth.tsv",
        windows="results/{sample}/assembly/depth_windows.tsv",
        spectrum="results/{sample}/assembly/spectrum.tsv",
        inserts="results/{sample}/assembly/insert_sizes.tsv",
        run="results/{sample}/assembly/run.json",
        page="results/{sample}/assembly/report.html",
        messages="results/{sample}/assembly/assemble.log",
        status="results/{sample}/status/assemble_contigs.json",
    log:
        "logs/assemble_contigs/{sample}.log",
    benchmark:
        "results/{sample}/benchmarks/assemble_contigs.tsv"
    conda:
        "../envs/gpuasm.yaml"
    threads: 8
    resources:
        gpu=int(has_gpu()),
        mem_mb=memory_mb,
        runtime=240,
    params:
        guard=guard_command,
        reads=read_arguments,
        cleaning=CLEANING,
        device=device,
        mode=config["mode"],
        verdict=verdict_argument,
        folder=subpath(output.run, parent=True),
    shell:
        "{params.guard} --sample {wildcards.sample} --status {output.status:q} --after {input.check:q}"
        " --output {output.contigs:q} --output {output.scaffolds:q} --output {output.parts:q} --output {output.gaps:q}"
        " --output {output.graph:q} --output {output.table:q} --output {output.depth:q} --output {output.windows:q}"
        " --output {output.spectrum:q} --output {output.run:q} --output {output.page:q} --output {output.messages:q}"
        " --output {output.inserts:q}"
        " -- assemble {params.reads} {params.cleaning} --mode {params.mode} --prefix {wildcards.sample} --topology"
        " {params.verdict}"
        " -t {threads} --device {params.device} -o {params.folder:q} > {log:q} 2>&1"
