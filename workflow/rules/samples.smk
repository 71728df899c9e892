# How the samples are related: their contigs compared by sketches of their k-mers. Samples without contigs are left out,
# and results/samples/run.json lists them with the reason.


rule relate_samples:
    input:
        contigs=collect("results/{sample}/assembly/contigs.fasta", sample=ASSEMBLED),
        assembled=collect(
            "results/{sample}/status/assemble_contigs.json", sample=ASSEMBLED
        ),
    output:
        table=report(
            "results/samples/samples.tsv",
            caption="../report/samples.rst",
            category="Samples",
            labels={"file": "samples"},
        ),
        distances="results/samples/distances.tsv",
        matrix="results/samples/distances.phylip",
        picture=report(
            "results/samples/distances.svg",
            caption="../report/samples.rst",
            category="Samples",
            labels={"file": "distances"},
        ),
        graph="results/samples/graph.npz",
        edges="results/samples/graph.tsv",
        market="results/samples/graph.mtx",
        names="results/samples/graph.names",
        tree=report(
            "results/samples/tree.nwk",
            caption="../report/samples.rst",
            category="Samples",
            labels={"file": "tree"},
        ),
        run="results/samples/run.json",
    log:
        "logs/relate_samples.log",
    benchmark:
        "results/samples/benchmarks/relate_samples.tsv"
    conda:
        "../envs/gpuasm.yaml"
    threads: 2
    resources:
        gpu=0,
        mem_mb=memory_mb_of_all_contigs,
        runtime=60,
    params:
        gpuasm=gpuasm_command,
        samples=contigs_of_samples,
        folder=subpath(output.run, parent=True),
    shell:
        "{params.gpuasm} relate {params.samples:q} --skip-bad -t {threads} --device cpu -o {params.folder:q}"
        " > {log:q} 2>&1"


# Infer where the samples without a place are, from related ones with a place in the sample sheet.
rule geolocate_samples:
    input:
        graph="results/samples/graph.npz",
        sheet=sheet_of,
    output:
        table=report(
            "results/samples/locations.tsv",
            caption="../report/locations.rst",
            category="Samples",
            labels={"file": "locations"},
        ),
        places="results/samples/locations.json",
        picture=report(
            "results/samples/locations.svg",
            caption="../report/locations.rst",
            category="Samples",
            labels={"file": "map of locations"},
        ),
        run="results/samples/geolocation.json",
    log:
        "logs/geolocate_samples.log",
    benchmark:
        "results/samples/benchmarks/geolocate_samples.tsv"
    conda:
        "../envs/gpuasm.yaml"
    threads: 1
    resources:
        gpu=0,
        mem_mb=2000,
        runtime=30,
    params:
        gpuasm=gpuasm_command,
        sheet=sheet_argument,
    shell:
        "{params.gpuasm} geolocate {input.graph:q} {params.sheet} --skip-unknown -t {threads} --device cpu"
        " --geojson {output.places:q} --map {output.picture:q} --json {output.run:q} -o {output.table:q}"
        " > {log:q} 2>&1"
