"""The format of a graph's text: stated rules, one reading or a refusal that names both."""

from __future__ import annotations

import logging
import time

import pytest

from gpuasm.errors import DataError, UsageError
from gpuasm.graph import from_edges
from gpuasm.graph.generators import de_bruijn_graph
from gpuasm.io.graph_formats import format_of_text
from gpuasm.io.graph_sizes import size_of_graph
from gpuasm.io.graphs import FORMATS, read_graph, read_weighted_graph, write_graph

MTX = "%%MatrixMarket matrix coordinate "


@pytest.fixture
def written(tmp_path):
    def write(text, name="graph"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def edges_of(graph):
    return list(graph.named_edges())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (MTX + "pattern general\n1 1 0\n", "mtx"),
        ("H\tVN:Z:1.0\n", "gfa"),
        ("# c\nS\ta\tACGT\n", "gfa"),
        ("L\ta\t+\tb\t-\t5M\n", "gfa"),
        ("S\ta\t3\nab\tc\t2\n", "edges"),
        ("L\ta\t3\n", "edges"),
        ("a -> b, c\nb ->\nNew York\n", "adjacency"),
        ("a->b\nb->a\n", "adjacency"),
        ("a\nb\n", "adjacency"),
        ("x\ta->b\nc\td\n", "edges"),
        ("a b\n", "edges"),
        ("1\n1 2\n", "edges"),
        ("a;b\n", "edges"),
        ("", "edges"),
        ('Creator "x"\ngraph\n[\n  node [ id 1 ]\n]\n', "gml"),
        ("graph [\n  node [ id 1 ]\n]\n", "gml"),
        ("<?xml version='1.0'?>\n<graphml/>\n", "graphml"),
    ],
)
def test_rules(text, expected):
    assert format_of_text(text.encode()) == expected


@pytest.mark.parametrize("text", ["a->b\tc\n", "a->b c\n# c\nd->e f\n", "a->b,c\n"])
def test_a_text_that_fits_two_formats_is_refused(written, text):
    path = written(text)
    with pytest.raises(DataError, match=r"adjacency text or an edge list .* --format adjacency or --format edges"):
        read_graph(path)
    assert size_of_graph(path) is None
    first, second = text.split("\n")[0].replace(",", "\t").replace(" ", "\t").split("\t")
    assert edges_of(read_graph(path, file_format="edges"))[0] == (first, second)
    assert read_graph(path, file_format="adjacency").n_edges >= 1


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("digraph{\na -> b;\n}\n", "DOT"),
        ("// c\nstrict graph x {\n a -- b;\n}\n", "DOT"),
        ("/* c */ digraph x {\n a -> b;\n}\n", "DOT"),
        ('digraph "a b"\n{\n a -> b;\n}\n', "DOT"),
        ("strict\ndigraph\n{\n a -> b;\n}\n", "DOT"),
        ("subgraph{\na -> b;\n}\n", "DOT"),
        (">>graph6<<Bw\n", "graph6"),
        ("<?xml version='1.0'?>\n<gexf/>\n", "XML"),
        ('{"nodes": []}\n', "JSON"),
        ("*Vertices 2\n", "Pajek"),
        ("%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n", "Matrix Market without its first line"),
    ],
)
def test_formats_that_are_not_read_are_named(written, text, name):
    with pytest.raises(DataError, match=f"found {name}"):
        read_graph(written(text))


@pytest.mark.parametrize("text", ["a;b\nb;c\n", "5\n4\n0 1\n1 2\n2 3\n3 0\n", "0\n1 2\n2\n", "a\nb\nc;d\n", "a\nb c\n"])
def test_lines_of_one_field_are_no_graph_by_chance(written, text):
    with pytest.raises(DataError, match="--format adjacency"):
        read_graph(written(text))


def test_vertices_alone(written, caplog):
    assert list(read_graph(written("a\nb\n"))) == [("a", []), ("b", [])]
    assert "no line has an arrow, so its 2 vertices have no edges" in caplog.text
    assert list(read_graph(written("a b\nc;d\n"), file_format="adjacency")) == [("a b", []), ("c;d", [])]


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_may_be_named(tmp_path, name):
    graph = from_edges([0, 1, 2], [1, 2, 0])
    write_graph(tmp_path / "g", graph, file_format=name)
    assert read_graph(tmp_path / "g", file_format=name).n_edges >= 3
    with pytest.raises(UsageError, match="a format: adjacency"):
        read_graph(tmp_path / "g", file_format="dot")


def test_the_format_is_reported(written, caplog):
    with caplog.at_level(logging.INFO, "gpuasm"):
        read_graph(written("a b\n"))
    assert "is read as an edge list" in caplog.text


# First lines


@pytest.mark.parametrize(
    ("text", "n", "m"),
    [
        ("4 5\n10 20\n20 30\n30 40\n40 10\n10 30\n", 41, 5),
        ("5 4\n0 1\n1 2\n2 3\n3 4\n", 5, 4),
        ("3 5\n1 2\n2 3\n3 1\n1 3\n2 1\n", 4, 5),
        ("10 12\n" + "0 1\n" * 12, 10, 12),
        ("3 2\na b\nb c\n", 3, 2),
        ("3 3\na b\nb c\nc a\n", 3, 3),
        ("4 4\n0 1\n1 2\n2 3\n3 0\n", 4, 4),
    ],
)
def test_numbers_of_vertices_and_edges_are_no_edge(written, caplog, text, n, m):
    graph = read_graph(written(text))
    assert (graph.n_vertices, graph.n_edges) == (n, m)
    assert "is taken as the numbers of vertices and edges" in caplog.text
    assert read_graph(written(text), file_format="edges").n_edges == m + 1


@pytest.mark.parametrize(
    "text",
    ["3 1\n0 1\n", "10 3\n0 1\n1 2\n5 6\n", "3 2\n2 1\n1 3\n", "3 3\n1 2\n2 3\n3 1\n", "2 1\n1 2\n",
     "5 3\na b\nb c\nc a\n", "3 3\na b\nb 3\n3 a\n", "u v\n0 1\n1 2\n", "node1\tnode2\n1\t2\n", "id,other\n7,9\n"],
)  # fmt: skip
def test_a_first_line_that_may_be_either_is_refused(written, text):
    with pytest.raises(DataError, match=r"line 1: .*may be either; begin the line with # .* --format edges"):
        read_graph(written(text))
    assert read_graph(written(text), file_format="edges").n_edges == text.count("\n")


@pytest.mark.parametrize(
    "text",
    ["1 0\n", "0 1\n1 0\n", "0 2\n1 0\n0 1\n", "7 3\n0 1\n", "1 2\n2 3\n3 1\n", "3 3\n0 1\n1 2\n2 3\n", "a b\n",
     "a b\n1 c\n", "2 3\na b\nb c\nc a\n", "a 1\n2 3\n"],
)  # fmt: skip
def test_other_first_lines_are_edges(written, caplog, text):
    assert read_graph(written(text)).n_edges == text.count("\n")
    assert "first line" not in caplog.text


@pytest.mark.parametrize(
    "text", ["3 3 3\n0 1 1\n1 2 1\n2 0 1\n", "% c\n3 3 3\n1 2 0.5\n2 3 0.5\n3 1 1\n", "4 9 1\n1 2 1\n"]
)
def test_the_size_of_a_matrix_is_no_edge(written, text):
    with pytest.raises(DataError, match=r"an edge or the size of a matrix, found .* may be either"):
        read_weighted_graph(written(text))
    assert read_weighted_graph(written(text), file_format="edges")[0].n_edges == text.count("\n") - text.count("%")


@pytest.mark.parametrize("titles", ["from\tto", "Source,Target", "from to weight", '"source","target","weight"'])
def test_titles_of_columns_are_no_edge(written, titles):
    weight = "\t2" if "weight" in titles else ""
    path = written(f"# c\n{titles}\na\tb{weight}\n")
    graph, weights = read_weighted_graph(path)
    assert edges_of(graph) == [("a", "b")]
    assert (weights is not None) == bool(weight)
    assert edges_of(read_graph(path, pass_over_weights=True)) == [("a", "b")]


@pytest.mark.parametrize("text", ["a pp b\n", "a -- b\n", "a => b\n", "a \u2192 b\n", "0 1 {}\n", "a b 1_0\n"])
def test_a_third_column_that_is_no_number_is_no_weight(written, text):
    with pytest.raises(DataError, match="line 1: expected a number as the third column"):
        read_graph(written(text), pass_over_weights=True)


@pytest.mark.parametrize("third", ["1", "-2.5", "nan", "inf", "1e400", "9" * 5000])
def test_weights_that_are_passed_over_are_any_numbers(written, third):
    assert read_graph(written(f"a b {third[:400]}\n"), pass_over_weights=True).n_edges == 1


@pytest.mark.parametrize("text", ["a --> b\n", "a-->b\n", "a <-> b\n", "a =-> b\n", "a ->> b\n", "a <--> b\n"])
def test_other_arrows_are_no_part_of_names(written, text):
    with pytest.raises(DataError, match="line 1: expected the arrow '->'"):
        read_graph(written(text))


@pytest.mark.parametrize(
    "text", ["# vertices 3 edges 3\n0\t1\n1\t2\n", "# vertices 3 edges 1\n0\t1\n1\t2\n", "# vertices 2 edges 1\n0\t2\n",
             "# vertices 3 edges 3\na\tb\nb\tc\n", "# vertices 1 edges 1\na\tb\n"]
)  # fmt: skip
def test_a_list_of_ours_that_is_cut_off_is_refused(written, text):
    with pytest.raises(DataError, match=r"line 1: expected \d vertices and \d edges below it"):
        read_graph(written(text))
    assert read_graph(written(text.replace("# ", "# about ", 1))).n_edges == text.count("\n") - 1


# Output


@pytest.mark.parametrize("name", ["g.gexf", "g.tsv.gz", "g.dot", "g.json"])
def test_unknown_suffixes_are_refused(tmp_path, name):
    with pytest.raises(UsageError, match=r"\.npz, \.mtx, \.gfa, .*\.tsv.*found '\.\w+'"):
        write_graph(tmp_path / name, from_edges([0], [1]))
    assert not (tmp_path / name).exists()
    write_graph(tmp_path / name, from_edges([0], [1]), file_format="adjacency")


@pytest.mark.parametrize("alphabet", ["01", "a,", "#x", "a "])
def test_names_of_strings_are_checked_as_others(tmp_path, alphabet):
    graph = de_bruijn_graph(alphabet, 3)
    if alphabet == "01":
        write_graph(tmp_path / "g.txt", graph)
        assert read_graph(tmp_path / "g.txt") == graph
        return
    with pytest.raises(UsageError, match="names that an edge list can hold"):
        write_graph(tmp_path / "g.tsv", graph)


def test_arrows_in_names(tmp_path):
    graph = de_bruijn_graph("->", 3)
    with pytest.raises(UsageError, match="names that adjacency text can hold"):
        write_graph(tmp_path / "g.txt", graph)
    write_graph(tmp_path / "g.tsv", graph)  # its comment shows that it is an edge list
    assert read_graph(tmp_path / "g.tsv") == graph


def test_the_empty_name_is_refused(tmp_path):
    for suffix in (".txt", ".tsv", ".gfa"):
        with pytest.raises(UsageError, match=r"found ''; write \.npz instead"):
            write_graph(tmp_path / f"g{suffix}", de_bruijn_graph("01", 1))
    write_graph(tmp_path / "g.npz", de_bruijn_graph("01", 1))
    assert read_graph(tmp_path / "g.npz").names == ("",)


# Numbers


@pytest.mark.parametrize(
    "text",
    [
        f"# vertices {(1 << 63) - 1} edges 1\n0\t1\n",
        f"# vertices {10**17} edges 1\n0\t1\n",
        f"# vertices {'9' * 5000} edges 1\n0\t1\n",
        f"{MTX}pattern general\n{'9' * 18} {'9' * 18} 1\n1 1\n",
        f"{MTX}pattern general\n{'9' * 5000} 3 1\n1 1\n",
        f"{MTX}pattern general\n\u00b2 3 1\n1 1\n",
    ],
    ids=lambda text: text[:60],
)
def test_sizes_beyond_memory_and_strange_digits(written, text):
    path = written(text)
    size_of_graph(path)
    with pytest.raises((DataError, MemoryError)) as caught:
        read_graph(path)
    assert caught.value.exit_code in (65, 75)


@pytest.mark.parametrize(
    "text",
    ["\n" * (2 << 20), " " * (2 << 20), "%\n" * (1 << 20), "/**/" * (1 << 19), "graph " * (1 << 19), "x\n" * (1 << 20)],
    ids=["newlines", "blanks", "percents", "comments", "words", "lines"],
)  # fmt: skip
def test_the_format_of_a_long_text_is_known_at_once(text):
    began = time.process_time()
    format_of_text(text.encode())
    assert time.process_time() - began < 5
