"""``gpuasm warmup``: compile ahead what assemblies need on this machine."""

from __future__ import annotations

from typing import Any

import click

from gpuasm.cli.options import CommonOptions, common_options

_SAMPLES = ("isolate", 28), ("meta", 28), ("meta", 6)
"""Mode and depth of simulated reads, which together use the kernels of isolates and of communities."""


@click.command(short_help="Compile ahead what assemblies need on this machine.")
@common_options
def command(*, common: CommonOptions) -> None:
    """Compile all loops of an assembly and keep them for later runs.

    Without it, the first run on a machine compiles what it needs. The code is kept in GPUASM_CACHE_DIR or in the user's
    cache. It is compiled for the CPU and, if --device is a GPU, for that as well. Run it once after installing or
    updating gpuasm, or when building a container. Exits with 1 if a loop cannot be compiled.

    \b
    Examples:
      gpuasm warmup
      GPUASM_CACHE_DIR=/scratch/gpuasm gpuasm warmup --device cuda
    """
    from gpuasm.assembly.warmup import warm_up
    from gpuasm.cli.session import run_session
    from gpuasm.compiled_cache import has_folder
    from gpuasm.errors import OutputError
    from gpuasm.precompilation import compile_all

    if not has_folder():
        raise OutputError(
            "a folder for compiled code", "none that is yours alone and has room", "set GPUASM_CACHE_DIR to one"
        )
    with run_session(common) as session:
        setting: dict[str, Any] = {"threads": session.threads, "memory": session.memory}
        with session.stages.stage("compile loops of the CPU") as stage:
            failed = compile_all(**setting)
            stage.note(failed=len(failed))
        if session.device != "cpu":
            from gpuasm.arrays import compute_capability

            with session.stages.stage("compile loops of the device") as stage:
                failed += compile_all(**setting, capability=compute_capability())
                stage.note(failed=len(failed))
            with session.stages.stage("assemble simulated reads"):  # cupy compiles its kernels when they are used
                for mode, depth in _SAMPLES:
                    warm_up(session.xp, should_stop=lambda: False, mode=mode, depth=depth)
    if failed:
        raise click.ClickException(f"could not be compiled: {', '.join(sorted(set(failed)))}")
    click.echo("all loops are compiled")
