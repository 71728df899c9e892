"""Compile every CUDA kernel without a device: ``python -m tests.gpu.compile_kernels``.

Bodies of ``for_each`` are compiled to PTX with the types that small work on the CPU calls them with (`every_kernel`).
CUDA C++ is compiled by NVRTC. All are compiled for the oldest target alone: none depends on its target, which is
checked, and a driver compiles PTX of an older target for a newer device.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import pkgutil
import sys

from cuda.bindings import nvrtc

import gpuasm
from gpuasm import parallel
from gpuasm.parallel import for_each
from tests.gpu.every_kernel import call_every_kernel
from tests.launches import looked_at

TARGETS = ((7, 0), (9, 0))
"""The oldest target, and one for a compiler that does not know it any more."""
_OF_A_TARGET = "__CUDA_ARCH__"


def main() -> int:
    sources = cuda_sources()
    seen = record_signatures()
    missing = [body.__name__ for body in for_each.instances if not any(key is body for key, _ in seen)]
    failures = [f"{name}: never called, so its types are unknown" for name in missing]
    failures += [f"{name}: depends on its target" for name, text in sources.items() if _OF_A_TARGET in text]
    target = next(filter(nvrtc_supports, TARGETS))
    texts = [(name, text, target) for name, text in sources.items()]
    failures += _on_every_core([(body, signature, target) for body, signature in seen], texts)
    print("\n".join(failures))
    oldest = "{}.{}".format(*target)
    print(f"{len(seen)} bodies and {len(sources)} CUDA sources for {oldest}: {len(failures)} failures")
    return 1 if failures else 0


_Task = tuple[for_each, tuple[str, ...], tuple[int, int]]
_tasks: list[_Task] = []
"""Tasks of a forked process: bodies cannot be sent to one."""


def _on_every_core(tasks: list[_Task], texts: list[tuple[str, str, tuple[int, int]]]) -> list[str]:
    """Compile bodies and texts for targets, as many at a time as there are cores; return what went wrong."""
    _tasks[:] = tasks
    with multiprocessing.get_context("fork").Pool(len(os.sched_getaffinity(0))) as pool:
        of_texts = pool.starmap_async(compile_source, texts, chunksize=4)
        errors = pool.map(compile_body, range(len(tasks)), chunksize=4) + of_texts.get()
    return [error for error in errors if error]


def compile_body(number: int) -> str:
    """Compile one of the tasks to PTX; return what went wrong, or nothing."""
    body, signature, cc = _tasks[number]
    return "" if ".entry" in body.ptx(signature, cc) else f"{body.__name__} for {cc}: no kernel"


def cuda_sources() -> dict[str, str]:
    """Return every CUDA C++ text of the package, by module."""
    found = {}
    for module in pkgutil.walk_packages(gpuasm.__path__, "gpuasm."):
        if module.name == "gpuasm.__main__":
            continue
        text = vars(importlib.import_module(module.name)).get("_CUDA")
        if isinstance(text, str):
            found[module.name] = text
        elif isinstance(text, dict):
            found |= {f"{module.name}[{key}]": own for key, own in text.items()}
    return found


def record_signatures() -> list[tuple[for_each, tuple[str, ...]]]:
    """Return each body with the types it is called with."""
    seen: dict[tuple[int, tuple[str, ...]], tuple[for_each, tuple[str, ...]]] = {}

    def note(kernel: for_each, _n: int, args: tuple[object, ...]) -> None:
        signature = parallel.signature_of(args)
        seen[id(kernel), signature] = kernel, signature

    with looked_at(note):
        call_every_kernel()
    return list(seen.values())


def nvrtc_supports(cc: tuple[int, int]) -> bool:
    """Return whether the installed compiler supports a target: CUDA 13 dropped sm_70."""
    _, n = nvrtc.nvrtcGetNumSupportedArchs()
    _, supported = nvrtc.nvrtcGetSupportedArchs()
    return cc[0] * 10 + cc[1] in list(supported)[:n]


def compile_source(name: str, text: str, cc: tuple[int, int]) -> str:
    """Compile CUDA C++; return what went wrong, or nothing."""
    _, program = nvrtc.nvrtcCreateProgram(text.encode(), f"{name}.cu".encode(), 0, [], [])
    options = [f"--gpu-architecture=compute_{cc[0]}{cc[1]}".encode(), b"--std=c++17"]
    (result,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    if result == nvrtc.nvrtcResult.NVRTC_SUCCESS:
        return ""
    _, size = nvrtc.nvrtcGetProgramLogSize(program)
    log = b" " * size
    nvrtc.nvrtcGetProgramLog(program, log)
    return f"{name} for {cc}: {log.decode()}"


if __name__ == "__main__":
    sys.exit(main())
