# Analyses of assembly graphs: Euler tours of components, ranks of segments, and the densest tangle.


rule euler_paths:
    input:
        graph="results/{sample}/assembly/graph.gfa",
        assembled="results/{sample}/status/assemble_contigs.json",
    output:
        tours=report(
            "results/{sample}/tours/tours.tsv",
            caption="../report/tours.rst",
            category="Euler tours",
            labels={"sample": "{sample}", "file": "tours"},
        ),
        status="results/{sample}/status/euler_paths.json",
    log:
        "logs/euler_paths/{sample}.log",
    benchmark:
        "results/{sample}/benchmarks/euler_paths.tsv"
    conda:
        "../envs/gpuasm.yaml"
    threads: 1
    resources:
        gpu=0,
        mem_mb=2000,
        runtime=30,
    params:
        guard=guard_command,
    shell:
        "{params.guard} --sample {wildcards.sample} --status {output.status:q} --after {input.assembled:q}"
        " --output {output.tours:q}"
        " -- euler {input.graph:q} --assembly -t {threads} --device cpu -o {output.tours:q} > {log:q} 2>&1"


rule pagerank:
    input:
        graph="results/{sample}/assembly/graph.gfa",
        assembled="results/{sample}/status/assemble_contigs.json",
    output:
        ranks=report(
            "results/{sample}/ranks/ranks.tsv",
            caption="../report/ranks.rst",
            category="PageRank",
            labels={"sample": "{sample}", "file": "ranks"},
        ),
        picture=report(
            "results/{sample}/ranks/ranks.svg",
            caption="../report/ranks.rst",
            category="PageRank",
            labels={"sample": "{sample}", "file": "picture"},
        ),
        status="results/{sample}/status/pagerank.json",
    log:
        "logs/pagerank/{sample}.log",
    benchmark:
        "results/{sample}/benchmarks/pagerank.tsv"
    conda:
        "../envs/gpuasm.yaml"
    threads: 1
    resources:
        gpu=0,
        mem_mb=2000,
        runtime=30,
    params:
        guard=guard_command,
    shell:
        "{params.guard} --sample {wildcards.sample} --status {output.status:q} --after {input.assembled:q}"
        " --output {output.ranks:q} --output {output.picture:q}"
        " -- pagerank {input.graph:q} -t {threads} --device cpu -o {output.ranks:q} --picture {output.picture:q}"
        " > {log:q} 2>&1"


rule densest_subgraph:
    input:
        graph="results/{sample}/assembly/graph.gfa",
        assembled="results/{sample}/status/assemble_contigs.json",
    output:
        members=report(
            "results/{sample}/tangle/members.tsv",
            caption="../report/tangle.rst",
            category="Densest tangle",
            labels={"sample": "{sample}", "file": "members"},
        ),
        picture=report(
            "results/{sample}/tangle/tangle.svg",
            caption="../report/tangle.rst",
            category="Densest tangle",
            labels={"sample": "{sample}", "file": "picture"},
        ),
        figures="results/{sample}/tangle/figures.json",
        status="results/{sample}/status/densest_subgraph.json",
    log:
        "logs/densest_subgraph/{sample}.log",
    benchmark:
        "results/{sample}/benchmarks/densest_subgraph.tsv"
    conda:
        "../envs/gpuasm.yaml"
    threads: 1
    resources:
        gpu=0,
        mem_mb=2000,
        runtime=30,
    params:
        guard=guard_command,
        size=config["tangle"],
    shell:
        "{params.guard} --sample {wildcards.sample} --status {output.status:q} --after {input.assembled:q}"
        " --output {output.members:q} --output {output.picture:q} --output {output.figures:q}"
        " -- densest {input.graph:q} --assembly -k {params.size} -t {threads} --device cpu -o {output.members:q}"
        " --picture {output.picture:q} --json {output.figures:q} > {log:q} 2>&1"
