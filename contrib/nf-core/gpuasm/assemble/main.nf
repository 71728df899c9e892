process GPUASM_ASSEMBLE {
    tag "${meta.id}"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container 'localhost/gpuasm:0.2.0' // built from the Containerfile of gpuasm

    input:
    tuple val(meta), path(reads)

    output:
    tuple val(meta), path("${prefix}.contigs.fasta.gz")  , emit: contigs
    tuple val(meta), path("${prefix}.scaffolds.fasta.gz"), emit: scaffolds
    tuple val(meta), path("${prefix}.graph.gfa.gz")      , emit: graph
    tuple val(meta), path("${prefix}.contigs.tsv")       , emit: table
    tuple val(meta), path("${prefix}.depth.tsv")         , emit: depth
    tuple val(meta), path("${prefix}.run.json")          , emit: run
    tuple val(meta), path("${prefix}.report.html")       , emit: report
    tuple val(meta), path("${prefix}.assemble.log")      , emit: log
    tuple val("${task.process}"), val('gpuasm'), eval("gpuasm --version | sed 's/gpuasm //'"), topic: versions, emit: versions_gpuasm

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    prefix = task.ext.prefix ?: "${meta.id}"
    def input = meta.single_end ? "--single ${reads}" : "-1 ${reads[0]} -2 ${reads[1]}"
    def memory = task.memory ? "--memory ${task.memory.toMega()}M" : ''
    """
    gpuasm assemble \\
        ${args} \\
        --threads ${task.cpus} \\
        ${memory} \\
        --prefix ${prefix} \\
        ${input} \\
        --output assembly

    gzip -n assembly/contigs.fasta assembly/scaffolds.fasta assembly/graph.gfa
    for file in contigs.fasta.gz scaffolds.fasta.gz graph.gfa.gz contigs.tsv depth.tsv run.json report.html assemble.log; do
        mv assembly/\$file ${prefix}.\$file
    done
    """

    stub:
    prefix = task.ext.prefix ?: "${meta.id}"
    """
    for file in contigs.fasta scaffolds.fasta graph.gfa; do
        echo "" | gzip -n > ${prefix}.\$file.gz
    done
    touch ${prefix}.contigs.tsv ${prefix}.depth.tsv ${prefix}.run.json ${prefix}.report.html ${prefix}.assemble.log
    """
}
