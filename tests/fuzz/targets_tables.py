"""Fuzzed readers of tables, of sketches and of sequences with attributes."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from gpuasm.cli.sample_inputs import find_samples, read_samples
from gpuasm.io.contigs import read_contigs, read_depth_table
from gpuasm.io.genomes import read_genome
from gpuasm.io.labels import read_labels
from gpuasm.io.matrices import read_classes, read_matrix
from gpuasm.io.personalisation import read_personalisation
from gpuasm.io.signatures import Signature, read_signatures, write_signatures
from gpuasm.report.verdict_thresholds import read_thresholds
from tests.fuzz.target import Target, Written, texts
from tests.fuzz.targets_graphs import named_graph, numbered_graph

_KIND = "tables, sketches and sequences"
LABELS = b"vertex\tlatitude\tlongitude\na\t1\t2\nb\t\t\n"
DEPTH = b"contigName\tcontigLen\ttotalAvgDepth\tx\tx-var\na\t9\t5\t5\t1\nb\t8\t3\t3\t0\n"
CLASSES = b"a\tx\nb\ty\n"
CONTIGS = b">a depth=3.5 circular=yes\nACGT\nAC\n>b\nNNACG\n"
GENOME = b">a copies=3 circular=yes\nACGT\n"
GENBANK = b"LOCUS       x 4 bp DNA circular\nORIGIN\n        1 acgt\n//\n"
_LRN = b"% 2\n% 3\n% 9\t1\t1\n% Key\tx\ty\n1\t0.5\t2\n2\tNaN\t3\n"
THRESHOLDS = b"# c\ncheck\twarn_below\tfail_below\twarn_above\tfail_above\tcommunities\ndepth\t9\t5.5\t\t\tno\n"
TABLE = b"name\tx\ty\na\t1\t2.5\nb\tNA\t3\n"


def _labels(path: Path) -> None:
    for graph in (named_graph(), numbered_graph()):
        for base in (None, 1):
            try:
                read_labels(path, graph, base=base, skip_unknown=base == 1)
            except ValueError:
                if base == 1:
                    raise


def signatures(folder: Path) -> list[bytes]:
    """Return a file of sketches."""
    written = Written(folder)
    signature = Signature("x", "x.fa", 21, 1000, 0, 42, np.array([1, 5, 1 << 63], np.uint64))
    written.add(lambda p: write_signatures(p, [signature, signature]), ".sig")
    return written.found


def _samples(path: Path) -> None:
    for files in find_samples((str(path),)):
        list(read_samples(files, k=21, min_count=None, each_sequence=True))


def _matrices(_: Path) -> list[bytes]:
    file, both = io.BytesIO(), io.BytesIO()
    np.save(file, np.arange(6.0).reshape(3, 2))
    np.savez(both, values=np.arange(6.0).reshape(3, 2), names=["a", "b", "c"], columns=["x", "y"])
    return [TABLE, b"1,2\n3,4\n", _LRN, file.getvalue(), both.getvalue()]


TARGETS = {
    "labels": Target(_KIND, _labels, texts(b"5 2 2\n1 10 20\n2 -5.5 3\n3\n", LABELS)),
    "personalisation": Target(_KIND, lambda p: read_personalisation(p, named_graph()), texts(b"a\t0.5\nb\n# c\nd,2\n")),
    "sketches": Target(_KIND, read_signatures, signatures),
    "samples": Target(
        _KIND,
        _samples,
        lambda p: [*signatures(p), b"sample\tfile\na\tx.fa\n", b">a\nACGTACGTACGTACGTACGTACGT\n"],
    ),
    "matrix": Target(_KIND, read_matrix, _matrices),
    "classes": Target(_KIND, lambda p: read_classes(p, ["a", "b"]), texts(CLASSES, b"% 2\n% 1 fox 1 2 3\n1\t1\n")),
    "depth table": Target(_KIND, lambda p: read_depth_table(p, ["a", "b"]), texts(DEPTH, b"c\tdepth\na\t3\nb\t4\n")),
    "thresholds": Target(_KIND, read_thresholds, texts(THRESHOLDS)),
    "contigs": Target(_KIND, read_contigs, texts(CONTIGS)),
    "genome": Target(_KIND, read_genome, texts(GENOME, GENBANK)),
}
