"""``gpuasm devices``: what there is to compute on."""

from __future__ import annotations

import json

import click


@click.command(short_help="List the devices that gpuasm can use here.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def command(*, as_json: bool) -> None:
    """List the CPU, the memory that a run may use, and the CUDA devices.

    The names in the first column are what --device takes.

    \b
    Example:
      gpuasm devices --json
    """
    from gpuasm import arrays
    from gpuasm.cli.manifest import cpu_name
    from gpuasm.resources import memory_budget
    from gpuasm.threads import available_cpus

    cpu = {"device": "cpu", "name": cpu_name(), "threads": available_cpus(), "free_bytes": memory_budget()}
    devices = [cpu, *arrays.device_properties()]
    click.echo(json.dumps(devices, indent=2) if as_json else _table(devices))


def _table(devices: list[dict]) -> str:
    from gpuasm.cli.progress import aligned
    from gpuasm.resources import format_bytes

    rows = [["device", "free memory", "threads", "compute capability", "name"]]
    for device in devices:
        about = [str(device.get(key, "-")) for key in ("threads", "compute_capability", "name")]
        rows.append([device["device"], format_bytes(device["free_bytes"]), *about])
    lines = [aligned(rows)]
    if len(devices) == 1:
        lines.append("No CUDA device: none is visible, or cupy is missing (pip install 'gpuasm[cuda12]' or [cuda13]).")
    return "\n".join(lines)
