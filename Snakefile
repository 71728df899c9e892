include: "workflow/rules/configuration.smk"


check_configuration("config/config.yaml")


configfile: "config/config.yaml"


module gpuasm:
    snakefile:
        "workflow/Snakefile"
    config:
        config


use rule * from gpuasm
