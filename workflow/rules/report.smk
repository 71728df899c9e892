# One page about all samples, those that failed included; and MultiQC's, if the configuration requests it.


localrules:
    table_of_jobs,


rule report:
    input:
        runs=collect("results/{sample}/assembly/run.json", sample=ASSEMBLED),
        status=statuses_of_assembled,
        bins=bins_requested,
        identities=identities_requested,
        places=places_requested,
        thresholds=thresholds_given,
    output:
        page=report(
            "results/report.html", caption="../report/report.rst", category="Report"
        ),
        summary=report(
            "results/summary.tsv", caption="../report/summary.rst", category="Report"
        ),
        multiqc="results/gpuasm_mqc.tsv",
    log:
        "logs/report.log",
    conda:
        "../envs/gpuasm.yaml"
    threads: 1
    resources:
        gpu=0,
        mem_mb=1000,
        runtime=10,
    params:
        gpuasm=gpuasm_command,
        runs=folders_of_runs,
        status=files_of_samples("*/status/*.json"),
        checks=files_of_samples("*/check.json"),
        benchmarks=files_of_samples("*/benchmarks/*.tsv"),
        bins=bins_argument,
        identities=identities_argument,
        places=places_argument,
        verdict=verdict_argument,
    shell:
        "{params.gpuasm} report {params.runs:q} --status {params.status:q} --checks {params.checks:q}"
        " --benchmarks {params.benchmarks:q} {params.bins} {params.identities} {params.places} {params.verdict}"
        " -o {output.page:q} --summary {output.summary:q} --multiqc {output.multiqc:q} > {log:q} 2>&1"


# Snakemake's own report has the time of each job; this table has its memory too.
rule table_of_jobs:
    input:
        summary="results/summary.tsv",
        tours=tours_requested,
        ranks=ranks_requested,
        tangles=tangles_requested,
        relation=relation_requested,
        places=places_requested,
    output:
        jobs=report(
            "results/samples/benchmarks/jobs.tsv",
            caption="../report/jobs.rst",
            category="Report",
        ),
    log:
        "logs/table_of_jobs.log",
    conda:
        "../envs/gpuasm.yaml"
    threads: 1
    resources:
        gpu=0,
        mem_mb=500,
        runtime=10,
    params:
        results=subpath(input.summary, parent=True),
    shell:
        "{{ cd {params.results:q} && printf 'job\\t' && cat */benchmarks/*.tsv | sed -n 1p"
        " && find * '(' -path '*/benchmarks/*.tsv' -o -name '*.benchmark.tsv' ')' ! -name jobs.tsv"
        " -exec awk 'FNR > 1 {{print FILENAME \"\\t\" $0}}' {{}} + | sort; }} > {output.jobs:q} 2> {log:q}"


rule multiqc:
    input:
        table="results/gpuasm_mqc.tsv",
        fastp=fastp_requested,
    output:
        page=report(
            "results/multiqc/multiqc_report.html",
            caption="../report/multiqc.rst",
            category="Report",
        ),
        data=directory("results/multiqc/multiqc_report_data"),
    log:
        "logs/multiqc.log",
    conda:
        "../envs/multiqc.yaml"
    threads: 1
    resources:
        gpu=0,
        mem_mb=2000,
        runtime=30,
    params:
        results=subpath(input.table, parent=True),
        folder=subpath(output.page, parent=True),
    shell:
        "multiqc --force --cl-config 'use_filename_as_sample_name: [fastp]' --outdir {params.folder:q} --filename multiqc_report.html {params.results:q} > {log:q} 2>&1"
