"""The compiled loops that assemblies of simulated samples call, and the types of their arguments.

    python -m tests.loops_in_use FOLDER

Prints them as JSON, in the notation of `gpuasm.parallel.signatures`. Loops must be on disk: where a loop is compiled,
those that it calls appear as called.
"""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from numba import types

from gpuasm.assembly.alignment import contig_alignment
from gpuasm.assembly.alignment.read_threading import MOST_UNITIGS
from gpuasm.assembly.ends import fragment_choice
from gpuasm.assembly.paths import graph_walks
from gpuasm.cli.assemble import command as assemble
from gpuasm.cli.assembly_page import AssemblyPage
from gpuasm.cli.simulate import command as simulate
from gpuasm.parallel import for_each
from gpuasm.sequence.reads import Reads

LIBRARY_READS = Path(__file__).parents[1] / "benchmarks" / "library_reads.py"
COMMUNITY = ("--abundance-sd", "1")
SAMPLES: dict[str, tuple[str, ...]] = {
    "isolate": (),
    "low coverage": ("--fold", "12"),
    "community": (*COMMUNITY, "--fold", "25"),
    "short reads": ("--length", "75", "--insert", "300"),
    "long reads": ("--length", "250", "--insert", "350", "--fold", "30"),
    "very low coverage": ("--fold", "7", "--insert", "500"),
    "single": ("--single",),
    "nextera": ("--kind", "nextera", "--seed", "1", "--fold", "60"),
}
"""Options of ``gpuasm simulate reads``, or of benchmarks/library_reads.py if they begin with ``--kind``."""


def main(folder: Path) -> None:
    """Assemble all samples and print the loops in use."""
    simulation = multiprocessing.get_context("fork").Process(target=_simulate, args=(folder,))
    simulation.start()  # another process, as this one counts the loops that it calls
    simulation.join()
    assert simulation.exitcode == 0
    for sample in SAMPLES:
        paths = sorted((folder / sample).iterdir())
        files = ["--single", str(paths[0])] if len(paths) == 1 else ["-1", str(paths[0]), "-2", str(paths[1])]
        arguments = [*files, "-q", "--device", "cpu", "-o", str(folder / sample / "assembly")]
        with mock.patch.multiple(AssemblyPage, begin=mock.DEFAULT, write=mock.DEFAULT):  # drawing calls no loop
            assemble.main(arguments, standalone_mode=False, obj={"args": arguments})
    _call_loops_of_large_samples()
    print(json.dumps(dict(loops_in_use())))


def _call_loops_of_large_samples() -> None:
    """Call the loops that small samples have no use for: batches of reads, tangled walks, mates in a gap."""
    with mock.patch.object(contig_alignment, "_BATCH", 1):
        list(contig_alignment.batches(Reads.from_strings(["ACGTACGTACGT"] * 2)))
    pairs, unitigs = np.zeros(1, np.int64), np.full(MOST_UNITIGS, -1, np.int32)
    graph_walks._agree(1, pairs, pairs, unitigs, unitigs)
    fragment_choice.places_on([bytes(4)], [bytes(3)])


def loops_in_use() -> Iterator[tuple[str, list[str]]]:
    """Yield the full name of each loop that has been called in this process, and the types of its arguments."""
    for module_name, module in list(sys.modules.items()):
        for name, value in list(vars(module).items()) if module_name.startswith("gpuasm.") else ():
            is_body = isinstance(value, for_each)
            loop: Any = vars(value).get("cpu_loop") if is_body else value
            is_own = getattr(value, "__module__", None) == module_name
            if is_own and hasattr(loop, "py_func") and loop.stats.cache_path and loop.signatures:
                texts = sorted(signature_text(called[2 * is_body :]) for called in loop.signatures)
                yield f"{module_name}.{value.kernel_name if is_body else name}", texts


def signature_text(argument_types: tuple[Any, ...]) -> str:
    """Return numba's types in the notation of `gpuasm.parallel.signatures`."""
    return ", ".join(map(_type_text, argument_types))


def _type_text(one: Any) -> str:
    if isinstance(one, types.Array):
        if one.layout == "C" and one.mutable and one.aligned:
            return f"{_type_text(one.dtype)}[{', '.join([':'] * (one.ndim - 1) + ['::1'])}]"
        return f"Array({_type_text(one.dtype)}, {one.ndim}, {one.layout!r}, {not one.mutable}, aligned={one.aligned})"
    if isinstance(one, types.BaseTuple):
        return f"Tuple(({''.join(_type_text(part) + ', ' for part in one.types)}))"
    return "boolean" if one == types.boolean else repr(one)


def _simulate(folder: Path) -> None:
    """Simulate the genomes, and the reads of each sample in a folder of its own."""
    genomes = [folder / f"{number}.fa" for number in range(3)]
    repeats = ("--repeats", 4, "--repeat-length", 700, "--repeat-copies", 3, "--circular", "--plasmid", "4000:3")
    for number, genome in enumerate(genomes):
        _gpuasm("genome", "--length", 60_000, *repeats, "--seed", number, "--name", f"g{number}", "-o", genome)
    for sample, options in SAMPLES.items():
        (folder / sample).mkdir()
        if "--kind" in options:
            command = [sys.executable, str(LIBRARY_READS), str(genomes[0]), f"{folder / sample}/reads_", *options]
            subprocess.run(command, check=True, capture_output=True)
            continue
        paths = [folder / sample / f"{mate}.fastq.gz" for mate in range(2 - ("--single" in options))]
        chosen = genomes if options[: len(COMMUNITY)] == COMMUNITY else genomes[:1]
        named = [part for flag, path in zip(("-1", "-2"), paths, strict=False) for part in (flag, path)]
        _gpuasm("reads", *chosen, *options, *named)


def _gpuasm(*arguments: object) -> None:
    simulate.main([*map(str, arguments)], standalone_mode=False)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
