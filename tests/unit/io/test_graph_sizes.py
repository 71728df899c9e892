"""Sizes of graphs in files, estimated before they are read."""

from __future__ import annotations

import gzip
import io
import itertools
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard

from gpuasm.graph.building import from_named_edges
from gpuasm.graph.random_graphs import rmat
from gpuasm.io.gfa import Link, Segment, write_gfa
from gpuasm.io.graph_sizes import size_of_graph
from gpuasm.io.graphs import read_graph, write_graph

_FORMATS = {"adjacency": "txt", "edges": "tsv", "mtx": "mtx", "gfa": "gfa", "npz": "npz"}


_LARGE = rmat(14, 16, seed=2)


@pytest.fixture(scope="module")
def texts() -> dict[str, bytes]:
    """The text of the large graph in each format that a test has written."""
    return {}


@pytest.mark.parametrize("file_format", _FORMATS)
def test_small_files_have_exact_sizes(tmp_path: Path, file_format: str) -> None:
    path = tmp_path / f"graph.{_FORMATS[file_format]}"
    write_graph(path, rmat(6, 4, seed=1))
    size, graph = size_of_graph(path), read_graph(path)
    assert size is not None
    assert size.file_format == file_format
    # Links that are given twice are one, and so are a link and its twin.
    assert size.n_edges == graph.n_edges or (file_format == "gfa" and size.n_edges == 2 * 256)
    assert size.n_vertices == graph.n_vertices or (file_format == "adjacency" and size.n_vertices >= 64)
    assert size.is_exact == (file_format in ("npz", "mtx"))


def test_npz_is_sized_from_headers_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "graph.npz"
    graph = rmat(10, 8, seed=1)
    write_graph(path, graph, weights=np.ones(graph.n_edges))

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr(np, "load", refuse)
    monkeypatch.setattr(np.lib.format, "read_array", refuse)
    size = size_of_graph(path)
    assert size is not None
    assert (size.n_vertices, size.n_edges, size.has_weights, size.n_names) == (1024, 8192, True, 0)
    assert size.text_bytes == 8 * 1025 + 4 * 8192 + 8 * 8192


def test_npz_is_sized_without_its_arrays(tmp_path: Path) -> None:
    path = tmp_path / "huge.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for name, size in (("row_offsets", 10**9 + 1), ("columns", 10**10)):
            header = io.BytesIO()
            np.lib.format.write_array_header_1_0(header, {"descr": "<i8", "fortran_order": False, "shape": (size,)})
            archive.writestr(f"{name}.npy", header.getvalue())
    size = size_of_graph(path)
    assert size is not None
    assert (size.n_vertices, size.n_edges) == (10**9, 10**10)
    assert size.text_bytes == 8 * (10**9 + 1) + 12 * 10**10  # columns are narrowed, which takes a copy


def test_names_in_npz(tmp_path: Path) -> None:
    path = tmp_path / "named.npz"
    write_graph(path, from_named_edges([("first", "second"), ("second", "x")]))
    size = size_of_graph(path)
    assert size is not None
    assert (size.n_vertices, size.n_edges, size.n_names, size.name_bytes) == (3, 2, 3, 12)


@pytest.mark.parametrize(
    ("file_format", "compress"),
    [
        *itertools.product(["adjacency", "edges", "mtx"], [None, gzip.compress, zstandard.compress]),
        ("gfa", None),  # links come last, and of a compressed file only the beginning is seen: see the next test
    ],
)
def test_large_texts_are_sized_within_a_third(
    tmp_path: Path, texts: dict[str, bytes], file_format: str, compress: Any
) -> None:
    path, graph = tmp_path / "graph", _LARGE
    if file_format not in texts:
        write_graph(path, graph, file_format=file_format)
        texts[file_format] = path.read_bytes()
    path.write_bytes(compress(texts[file_format]) if compress else texts[file_format])
    size = size_of_graph(path)
    assert size is not None
    assert size.n_edges == pytest.approx((1 + (file_format == "gfa")) * graph.n_edges, rel=0.34)
    if not compress:
        assert size.text_bytes == path.stat().st_size


def test_links_of_a_compressed_assembly_graph_are_assumed(tmp_path: Path) -> None:
    path, n = tmp_path / "graph.gfa", 20_000
    bases = "".join(np.random.default_rng(1).choice(list("ACGT"), 200))
    write_gfa(
        path,
        (Segment(f"contig_{i}", bases[i % 100 :]) for i in range(n)),
        (Link(f"contig_{i}", "+", f"contig_{(i * step) % n}", "+", 31) for i in range(n) for step in (1, 3)),
    )
    plain = size_of_graph(path)
    path.write_bytes(gzip.compress(path.read_bytes()))
    packed = size_of_graph(path)
    assert plain is not None
    assert packed is not None
    assert plain.n_vertices == pytest.approx(2 * n, rel=0.2)
    assert plain.n_edges == pytest.approx(4 * n, rel=0.2)
    assert 2 * n < packed.n_vertices
    assert packed.n_edges == pytest.approx(1.5 * packed.n_vertices, rel=0.01)


def test_names_of_a_large_edge_list(tmp_path: Path) -> None:
    path, n, m = tmp_path / "edges.tsv", 30_000, 300_000
    ends = np.random.default_rng(1).integers(0, n, (m, 2))
    path.write_text("".join(f"sample_{a}\tsample_{b}\n" for a, b in ends.tolist()))
    size = size_of_graph(path)
    assert size is not None
    assert size.n_edges == pytest.approx(m, rel=0.05)
    assert n / 2 < size.n_names < 4 * n
    assert size.name_bytes == pytest.approx(12 * size.n_names, rel=0.1)


def test_symmetric_matrix_market(tmp_path: Path) -> None:
    path = tmp_path / "graph.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real symmetric\n% made by hand\n5 5 2\n2 1 0.5\n3 1 1\n")
    size = size_of_graph(path)
    assert size is not None
    assert (size.n_vertices, size.n_edges, size.has_weights, size.is_symmetric) == (5, 4, True, True)
    path.write_text("%%MatrixMarket matrix coordinate pattern general\n5 5 1000000000000\n2 1\n")
    size = size_of_graph(path)
    assert size is not None
    assert size.n_edges < 100  # the file is too short to hold what its header states


@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04 no zip", b"\x1f\x8b\x08", b"%%MatrixMarket matrix coordinate real general\n"]
)
def test_what_is_no_graph_is_left_to_its_reader(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "graph"
    path.write_bytes(content)
    assert size_of_graph(path) is None


def test_standard_input_is_not_looked_at() -> None:
    assert size_of_graph("-") is None
