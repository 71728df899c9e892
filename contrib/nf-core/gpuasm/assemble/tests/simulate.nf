// Reads for the tests: a genome of a few thousand bases, the same bytes on every machine.
process GPUASM_SIMULATE {
    conda "${moduleDir}/../environment.yml"
    container 'localhost/gpuasm:0.2.0'

    output:
    path("reads_{1,2}.fastq.gz"), emit: reads

    script:
    """
    gpuasm simulate genome --length 6000 --seed 1 --output genome.fasta
    gpuasm simulate reads genome.fasta --fold 30 --seed 1 -1 reads_1.fastq.gz -2 reads_2.fastq.gz
    """
}
