"""Tables, JSON and other small texts: what is too long, too deep or no text is refused with its place."""

from __future__ import annotations

import pytest

from gpuasm.cli.sample_inputs import find_samples
from gpuasm.errors import DataError
from gpuasm.graph import from_edges
from gpuasm.io.contigs import read_depth_table
from gpuasm.io.gfa_segments import read_segment_graph
from gpuasm.io.json_text import read_json
from gpuasm.io.labels import read_labels
from gpuasm.io.matrices import read_matrix
from gpuasm.io.personalisation import read_personalisation
from gpuasm.io.signatures import read_signatures
from gpuasm.io.text_tables import read_rows, read_table

LONG = "1" * 140_000
GRAPH = from_edges([0, 1], [1, 0])
SKETCH = '[{{"name":{name},"signatures":[{{"ksize":{k},"mins":{mins}}}]}}]'


def test_rows_have_the_numbers_of_their_lines(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_bytes(b'a\tb\r\n\n# c\n"x\ty"\t2\n"q\nr"\t3')
    assert list(read_rows(path, comments=True)) == [(1, ["a", "b"]), (4, ["x\ty", "2"]), (6, ["q\nr", "3"])]


def test_rows_of_a_table_by_their_titles(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text(" name\tn \tshare\n# c\n x \t3\n")
    (row,) = read_table(path, required=("name",), comments=True, padded=True)
    assert (row.cells, row.place, row.whole("n")) == ({"name": "x", "n": "3", "share": ""}, "line 3", 3)
    for read, message in (
        (lambda: row.whole("n", least=4), "line 3: expected a whole number as n, found '3'"),
        (lambda: row.real("share"), "line 3: expected a number as share, found ''"),
        (lambda: row.text("no"), "line 3: expected a column no, found none"),
        (lambda: list(read_table(path, comments=True)), "line 3: expected a cell for each title, found 2 cells for 3"),
        (lambda: list(read_table(path, required=["m"])), "t.tsv: expected the column m, found none"),
    ):
        with pytest.raises(DataError, match=message):
            read()
    path.write_text("name\tn\t\t\nx\t3\t\t\t\t\n")  # as spreadsheets write it
    assert [row.cells for row in read_table(path, padded=True)] == [{"name": "x", "n": "3", "": ""}]
    path.write_text("name\tname\n")
    with pytest.raises(DataError, match="found two columns 'name'"):
        list(read_table(path))


@pytest.mark.parametrize("cell", [f"x{LONG}", f'"{LONG}', '"' + "a\n" * 100_000])
def test_long_cells_are_refused(tmp_path, cell):
    path = tmp_path / "t.tsv"
    path.write_text(f"sample\tfile\na\t{cell}\n")
    with pytest.raises(DataError, match=r"t\.tsv, line \d+: expected cells of a table, found 'field larger"):
        list(read_rows(path))
    with pytest.raises(DataError, match="cells of a table"):
        find_samples((str(path),))


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "9" * 5000, "[NaN]", "[1", "", "\x00", '"\\ud800'])
def test_json_that_is_none(tmp_path, text):
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(DataError, match=r"x\.json: expected JSON, found .*; make it anew"):
        read_json(path, remedy="make it anew")
    path.write_bytes(b'["\xff"]')
    with pytest.raises(DataError, match="expected JSON"):
        read_json(path, remedy="make it anew")


@pytest.mark.parametrize(
    "changes",
    [
        {"name": '["x"]'},
        {"k": "2.5"},
        {"k": "true"},
        {"k": "0"},
        {"k": "9" * 30},
        {"mins": "[1.5]"},
        {"mins": "[[1]]"},
        {"mins": "[-1]"},
        {"mins": f"[{1 << 64}]"},
        {"mins": "5"},
        {"mins": "null"},
    ],
    ids=str,
)
def test_sketches_of_other_types(tmp_path, changes):
    path = tmp_path / "x.sig"
    path.write_text(SKETCH.format(**{"name": '"x"', "k": "21", "mins": f"[1, {(1 << 64) - 1}]"} | changes))
    with pytest.raises(DataError, match=r"x\.sig: expected"):
        read_signatures(path)
    path.write_text(SKETCH.format(name="null", k="21", mins=f"[1, {(1 << 64) - 1}]"))
    assert read_signatures(path)[0].hashes.tolist() == [1, (1 << 64) - 1]


@pytest.mark.parametrize("name", ["9" * 5000, "\u00b2", "\u0661", "-1", "1_0"])
def test_names_that_are_no_numbers_of_vertices(tmp_path, name):
    path = tmp_path / "x.txt"
    path.write_text(f"0 1 2\n{name} 1 2\n")
    with pytest.raises(DataError, match="a vertex of the graph"):
        read_labels(path, GRAPH)
    path.write_text(f"{name}\t1\n")
    with pytest.raises(DataError, match="a vertex of the graph"):
        read_personalisation(path, GRAPH)


@pytest.mark.parametrize("number", ["9" * 5000, "1_0", "\u0661", "0x1", "-1", "x"])
def test_numbers_of_other_notations(tmp_path, number):
    path = tmp_path / "x.tsv"
    path.write_text(f"contig\tdepth\na\t{number}\n")
    with pytest.raises(DataError, match="line 2: expected a depth"):
        read_depth_table(path, ["a"])
    path.write_text(f"0\t{number}\n")
    with pytest.raises(DataError, match="a share of 0 or more"):
        read_personalisation(path, GRAPH)
    path.write_text(f"S\ta\t*\tLN:i:5\nS\tb\tAC\tdp:f:{number}\n")
    with pytest.raises(DataError, match="line 2: expected numbers in the tags"):
        read_segment_graph(path)


@pytest.mark.parametrize("tag", ["LN:i:-5", "LN:i:" + "9" * 30, "KC:i:1.5", "dp:f:nan", "dp:f:inf"])
def test_tags_out_of_range(tmp_path, tag):
    path = tmp_path / "x.gfa"
    path.write_text(f"S\ta\t{'*' if 'LN' in tag else 'ACGT'}\t{tag}\n")
    if tag == "dp:f:nan":  # unknown
        assert read_segment_graph(path).depths.size == 1
        return
    with pytest.raises(DataError, match="line 1: expected numbers in the tags"):
        read_segment_graph(path)


@pytest.mark.parametrize(
    ("read", "first"),
    [
        (lambda path: read_depth_table(path, ["a"]), "contig\tdepth"),
        (lambda path: find_samples((str(path),)), "sample\tfile"),
        (lambda path: read_labels(path, GRAPH), "1\t2\t3"),
        (lambda path: read_personalisation(path, GRAPH), "1\t1"),
        (read_matrix, "1\t1"),
        (read_segment_graph, "S\tx\t*"),
    ],
)
@pytest.mark.parametrize("harm", [b"\xff", b"\0"])
def test_bytes_that_are_no_text(tmp_path, read, first, harm):
    path = tmp_path / "x"
    path.write_bytes(first.encode() + b"\n0\t1" + harm + b"\n")
    with pytest.raises(DataError, match=f"line 2: expected text in UTF-8, found byte {harm[0]:#x}"):
        read(path)
