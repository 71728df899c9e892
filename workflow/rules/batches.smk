# Contigs of several samples in one job, where batch_size of the configuration is above 1: the job starts once, and
# reads the next samples while it assembles others. The files of each sample are those of assemble_contigs.
BATCHES = batches_of(config["batch_size"])
FILE_OPTIONS = " ".join(
    f"--file {file}" for file in ["contigs.fasta", "contigs.tsv", *FILES_OF_ASSEMBLY]
)


for number, names in enumerate(BATCHES, start=1):
    workflow.ruleorder(f"assemble_batch_{number}", "assemble_contigs")

    rule:
        name:
            f"assemble_batch_{number}"
        input:
            reads=reads_of_samples(names),
            cleaning=cleaning_files(None),
            checks=collect("results/{sample}/status/check_reads.json", sample=names),
        output:
            *[
                report(
                    f"results/{sample}/assembly/{file}",
                    caption="../report/contigs.rst",
                    category="Contigs",
                    labels={"sample": sample, "file": label},
                )
                for sample in names
                for file, label in (
                    ("contigs.fasta", "contigs"),
                    ("contigs.tsv", "table"),
                )
            ],
            files=collect(
                "results/{sample}/assembly/{file}",
                sample=names,
                file=FILES_OF_ASSEMBLY,
            ),
            statuses=collect(
                "results/{sample}/status/assemble_contigs.json", sample=names
            ),
        log:
            f"logs/assemble_batch_{number}.log",
        benchmark:
            f"results/samples/benchmarks/assemble_batch_{number}.tsv"
        conda:
            "../envs/gpuasm.yaml"
        threads: 16
        resources:
            gpu=int(has_gpu()),
            mem_mb=memory_mb_of_batch(names),
            runtime=240 + 10 * len(names),
        params:
            guard=batch_guard_command,
            results=results_of_batch,
            files=FILE_OPTIONS,
            lines=lines_of_batch(names),
            cleaning=CLEANING,
            device=device,
            mode=config["mode"],
            verdict=verdict_argument,
        shell:
            "{params.guard} --results {params.results:q} {params.files}"
            " -- {params.lines:q} -- {params.cleaning} --mode {params.mode} --prefix-samples --topology"
            " {params.verdict} -t {threads} --device {params.device} > {log:q} 2>&1"
