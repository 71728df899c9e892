# What the graphs of an assembly say: Euler tours of their components.


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
        guard=GUARD,
    shell:
        "{params.guard} --sample {wildcards.sample} --status {output.status:q} --after {input.assembled:q}"
        " --output {output.tours:q}"
        " -- euler {input.graph:q} --assembly -t {threads} --device cpu -o {output.tours:q} > {log:q} 2>&1"
