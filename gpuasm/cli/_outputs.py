"""Stands in for gpuasm.io's writers until those are there."""

from __future__ import annotations
import contextlib, sys
from gpuasm.sequence.encoding import decode

try:
    from gpuasm.io import atomic_output
except ImportError:

    @contextlib.contextmanager
    def atomic_output(path, mode="wb"):
        if str(path) == "-":
            yield sys.stdout.buffer
        else:
            with open(path, mode) as f:
                yield f


try:
    from gpuasm.io import write_fasta
except ImportError:

    def write_fasta(path, names, descriptions, sequences, width=80):
        with atomic_output(path, "wb") as f:
            for n, d, s in zip(names, descriptions, sequences):
                t = decode(s)
                f.write(
                    f">{n} {d}\n".encode()
                    + b"".join(t[i : i + width].encode() + b"\n" for i in range(0, len(t), width))
                )
