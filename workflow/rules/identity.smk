# Which known genomes contigs, bins and the reads not in contigs are of, by a database of sketches.


rule identify_contigs:
    input:
        contigs="results/{sample}/assembly/contigs.fasta",
        assembled="results/{sample}/status/assemble_contigs.json",
        members=members_of_bins,
        reads=reads_of,
        cleaning=cleaning_files,
        database=database_given,
    output:
        table=report(
            "results/{sample}/identity/identities.tsv",
            caption="../report/identities.rst",
            category="Species",
            labels={"sample": "{sample}", "file": "identities"},
        ),
        run="results/{sample}/identity/run.json",
        status="results/{sample}/status/identify_contigs.json",
    log:
        "logs/identify_contigs/{sample}.log",
    benchmark:
        "results/{sample}/benchmarks/identify_contigs.tsv"
    conda:
        "../envs/identify.yaml"
    threads: 2
    resources:
        gpu=0,
        mem_mb=memory_mb,
        runtime=120,
    params:
        guard=guard_command,
        reads=read_arguments,
        cleaning=CLEANING,
        database=database_argument,
        bins=members_argument,
        folder=subpath(output.run, parent=True),
    shell:
        "{params.guard} --sample {wildcards.sample} --status {output.status:q} --after {input.assembled:q}"
        " --output {output.table:q} --output {output.run:q}"
        " -- identify {input.contigs:q} {params.database} {params.bins} {params.reads} {params.cleaning}"
        " -t {threads} --device cpu -o {params.folder:q} > {log:q} 2>&1"
