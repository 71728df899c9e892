"""Tables of numbers: every common notation reads as the same table."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from gpuasm.errors import DataError, NoInputError, UsageError
from gpuasm.io.esom import write_cls, write_lrn
from gpuasm.io.matrices import read_classes, read_matrix

VALUES = np.array([[1.5, -2, 3e4], [0, np.nan, 7], [9, 8, 7]])
NAMES, COLUMNS = ["a", "b", "c d"], ["x", "y", "z"]


def written(separator: str, *, header: bool, names: bool, missing: str = "NA") -> str:
    lines = [separator.join([*(["name"] if names else []), *COLUMNS])] if header else []
    for name, row in zip(NAMES, VALUES, strict=True):
        cells = [missing if np.isnan(v) else repr(float(v)) for v in row]
        lines.append(separator.join([*([name] if names else []), *cells]))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("names", [True, False])
@pytest.mark.parametrize("separator", ["\t", ",", ";"])
@pytest.mark.parametrize("missing", ["NA", "nan", "", "?"])
def test_text_of_any_form(tmp_path, separator, names, header, missing):
    path = tmp_path / "table"
    path.write_text(written(separator, header=header, names=names, missing=missing))
    found = read_matrix(path)
    assert np.array_equal(found.values, VALUES, equal_nan=True)
    assert found.names == (NAMES if names else ["1", "2", "3"])
    assert found.columns == (COLUMNS if header else ["column_1", "column_2", "column_3"])
    assert found.has_header == header
    assert found.classes == []


def test_compressed_text_with_carriage_returns_comments_and_no_last_newline(tmp_path):
    path = tmp_path / "table.gz"
    text = "# made by hand\n" + written("\t", header=True, names=True)
    path.write_bytes(gzip.compress(text.replace("\n", "\r\n").rstrip().encode()))
    assert np.array_equal(read_matrix(path).values, VALUES, equal_nan=True)


def test_columns_of_names_and_classes_by_their_header(tmp_path):
    path = tmp_path / "table.tsv"
    path.write_text("x\tid\ty\tkind\n1\t7\t2\tfox\n3\t8\t4\t\n")
    found = read_matrix(path, name_column="id", class_column="kind")
    assert found.names == ["7", "8"]
    assert found.classes == ["fox", ""]
    assert found.columns == ["x", "y"]
    assert found.values.tolist() == [[1, 2], [3, 4]]
    with pytest.raises(UsageError, match="'sort'"):
        read_matrix(path, class_column="sort")


def test_tables_of_r_have_no_header_above_names(tmp_path):
    path = tmp_path / "table.txt"
    path.write_text('"x" "y"\n"a" 1 2\n"b" 3 4\n')
    found = read_matrix(path)
    assert (found.names, found.columns, found.values.tolist()) == (["a", "b"], ["x", "y"], [[1, 2], [3, 4]])


def test_a_value_missing_in_the_first_line_makes_it_neither_header_nor_names(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(",1,\n2,3,4\n")
    found = read_matrix(path)
    assert np.array_equal(found.values, [[np.nan, 1, np.nan], [2, 3, 4]], equal_nan=True)
    assert not found.has_header


def test_arrays(tmp_path):
    np.save(tmp_path / "a.npy", VALUES.astype(np.float32))
    assert np.array_equal(read_matrix(tmp_path / "a.npy").values, VALUES, equal_nan=True)
    np.savez_compressed(tmp_path / "a.npz", X=VALUES, names=NAMES, columns=COLUMNS, classes=[1, 1, 2])
    found = read_matrix(tmp_path / "a.npz")
    assert (found.names, found.columns, found.classes) == (NAMES, COLUMNS, ["1", "1", "2"])
    np.savez(tmp_path / "b.npz", one=VALUES, two=VALUES)
    with pytest.raises(DataError, match="values"):
        read_matrix(tmp_path / "b.npz")
    np.savez(tmp_path / "c.npz", values=VALUES, names=["a"])
    with pytest.raises(DataError, match="3 names"):
        read_matrix(tmp_path / "c.npz")
    (tmp_path / "d.npy").write_bytes((tmp_path / "a.npy").read_bytes()[:-4])
    with pytest.raises(DataError, match="numpy"):
        read_matrix(tmp_path / "d.npy")


def test_what_is_written_for_esom_is_read_again(tmp_path):
    write_lrn(tmp_path / "a.lrn", VALUES, ["x", "y y", "z"])
    found = read_matrix(tmp_path / "a.lrn")
    assert np.array_equal(found.values, VALUES, equal_nan=True)
    assert (found.names, found.columns) == (["1", "2", "3"], ["x", "y_y", "z"])
    write_cls(tmp_path / "a.cls", np.array([1, -1, 0]), ["fox", "hen"])
    assert read_classes(tmp_path / "a.cls", found.names) == ["hen", "0", "fox"]


def test_kinds_of_columns_of_esom(tmp_path):
    path = tmp_path / "a.lrn"
    path.write_text("# a comment\n% 2\n% 4\n% 9\t1\t0\t3\n% Key\tx\tleft\tclass\n11\t1.5\t0\t2\n12\t2.5\t0\t1\n")
    found = read_matrix(path)
    assert (found.names, found.columns, found.classes) == (["11", "12"], ["x"], ["2", "1"])
    assert found.values.tolist() == [[1.5], [2.5]]


def test_columns_by_name_in_any_order(tmp_path):
    path = tmp_path / "table.tsv"
    path.write_text(written("\t", header=True, names=True))
    found = read_matrix(path).with_columns(["z", "x"])
    assert found.columns == ["z", "x"]
    assert np.array_equal(found.values, VALUES[:, [2, 0]])
    with pytest.raises(DataError, match="no column 'q'"):
        read_matrix(path).with_columns(["q"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty file"),
        ("x\ty\n", "0 rows"),
        ("a\nb\n", "0 columns"),
        ("1\t2\n3\n", "line 2: expected 2 fields"),
        ("1\t2\n3\tfox\n", "line 2: expected a number.*'fox'"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path, text, message):
    path = tmp_path / "table.tsv"
    path.write_text(text)
    with pytest.raises(DataError, match=f"table.tsv.*{message}"):
        read_matrix(path)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(NoInputError):
        read_matrix(tmp_path / "nothing")


def test_classes_by_name(tmp_path):
    path = tmp_path / "classes.tsv"
    path.write_text("b\tfox\nq\then\n")
    assert read_classes(path, ["a", "b"]) == ["", "fox"]
    with pytest.raises(DataError, match="other names"):
        read_classes(path, ["x"])
    path.write_text("alone\n")
    with pytest.raises(DataError, match=r"line 1.*a name and a class"):
        read_classes(path, ["alone"])


def test_columns_are_those_of_the_titles(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('c,"b, d",a\n1,2,3\n4,5,6\n')
    found = read_matrix(path)
    assert found.with_columns(["a", "b, d", "c"]).values.tolist() == [[3, 2, 1], [6, 5, 4]]
    with pytest.raises(DataError, match="no column 'x'"):
        found.with_columns(["a", "x", "c"])
    path.write_text("a,a,b\n1,2,3\n")
    with pytest.raises(DataError, match="several columns 'a'"):
        read_matrix(path).with_columns(["b", "a"])


@pytest.mark.parametrize("separator", [",", ";", "\t", " "])
def test_quoted_fields_hold_separators(tmp_path, separator):
    path = tmp_path / "table"
    path.write_text(
        separator.join(['"na, me;\t"', "x", '"y ""z"""']) + "\n" + separator.join(['"a;, b"', "1", '"2"']) + "\n"
    )
    found = read_matrix(path)
    assert (found.names, found.columns, found.values.tolist()) == (["a;, b"], ["x", 'y "z"'], [[1.0, 2.0]])


def test_an_open_quote_is_refused(tmp_path):
    path = tmp_path / "table"
    path.write_text('name,x\n"a,1\nb,2\n')
    with pytest.raises(DataError, match="close each double quote"):
        read_matrix(path)
