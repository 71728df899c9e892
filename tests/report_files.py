"""Files of a run for tests of reports, and a parser that checks pages."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

MANIFEST = {
    "status": "done",
    "command_line": "gpuasm assemble -1 a_1.fq -2 a_2.fq -o a",
    "wall_s": 7.1,
    "versions": {"gpuasm": "0.1.0", "python": "3.12.1"},
    "machine": {"cpu": "a CPU", "threads": 2, "system": "Linux", "device": {"device": "cpu"}},
    "inputs": [{"path": "a_1.fq", "format": "fastq", "compression": "none", "n_reads": 1000, "n_bases": 150_000}],
    "stages": [
        {"name": "count k-mers", "parameters": {"k": 31}, "wall_s": 3.0, "cpu_s": 5.0, "peak_rss_bytes": 1 << 30},
        {"name": "build graph", "depth": 1, "wall_s": 1.5, "counts": {"unitigs": 12345, "tips": 0, "disk_bytes": 5}},
    ],
    "results": {"spectrum": {"threshold": 3, "peak": 40, "threshold_reason": "3, the valley", "genome_size": 5386}},
    "warnings": ["reads hold <b>adapters</b>"],
}
CONTIGS = """name	length	depth	copies	circular	gc
contig_000001	5386	40.1	1	yes	0.447
contig_000002	500	80.0	2	no	0.5
"""
SPECTRUM = "multiplicity\tkmers\n1\t900\n2\t20\n3\t0\n39\t2000\n40\t2500\n41\t1900\n"
WINDOWS = "contig\tstart\tend\tdepth\n" + "".join(
    f"{name}\t{start}\t{min(start + 1000, length)}\t{depth + start % 7}.5\n"
    for name, length, depth in (("contig_000001", 5386, 40), ("contig_000002", 500, 80))
    for start in range(0, length, 1000)
)
INSERT_SIZES = "insert_size\tpairs\n" + "".join(f"{size}\t{1 + size % 50}\n" for size in range(200, 400))
GRAPH = "H\tVN:Z:1.0\n" + "".join(
    f"S\t{name}\t*\tLN:i:{length}\tdp:f:{depth}\n"
    for name, length, depth in (("left_1", 900, 40), ("left_2", 800, 40), ("repeat", 300, 80), ("right_1", 700, 40),
                                ("right_2", 600, 40), ("circle", 500, 40))
) + "".join(
    f"L\t{a}\t+\t{b}\t+\t30M\n"
    for a, b in (("left_1", "repeat"), ("left_2", "repeat"), ("repeat", "right_1"), ("repeat", "right_2"),
                 ("circle", "circle"))
)  # fmt: skip


def write_files(folder, *, with_figures=True):
    """Write the files of a run into a new folder."""
    folder.mkdir(parents=True)
    files = {"run.json": json.dumps(MANIFEST), "contigs.tsv": CONTIGS, "spectrum.tsv": SPECTRUM}
    if with_figures:
        files |= {"depth_windows.tsv": WINDOWS, "insert_sizes.tsv": INSERT_SIZES, "graph.gfa": GRAPH}
    for name, text in files.items():
        (folder / name).write_text(text)


class Tags(HTMLParser):
    """Collects tags, identifiers and what a browser would fetch; complains of tags left open."""

    VOID = {"meta", "br", "img", "link", "input", "hr"}

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.fetched = [], [], []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag not in self.VOID:
            self.open.append(tag)
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag in {"link", "img", "iframe"} or "src" in attributes:
            self.fetched.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def parse(page):
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert tags.fetched == []
    assert len(set(tags.ids)) == len(tags.ids)
    assert re.findall(r"https?://(?!www\.w3\.org/)", page) == []
    return tags
