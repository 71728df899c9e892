configfile: "config/config.yaml"


module gpuasm:
    snakefile:
        "workflow/Snakefile"
    config:
        config


use rule * from gpuasm
