"""Label files and tables of places: what is read, and what is refused and how."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gpuasm.errors import DataError, NoInputError, UsageError
from gpuasm.graph.building import from_edges
from gpuasm.io.labels import read_labels

NUMBERED = from_edges([0, 1, 2], [1, 2, 3], 5)
NAMED = from_edges([0, 1], [1, 2], names=["ant", "bee", "cat"])
NAN = math.nan


def read(tmp_path, text, graph=NUMBERED, **options):
    path = tmp_path / "labels"
    path.write_text(text)
    return read_labels(path, graph, **options)


def same(places, expected):
    return np.array_equal(places, np.array(expected, float), equal_nan=True)


def test_label_files_number_from_0_or_from_1(tmp_path):
    expected = [(1, 2), (NAN, NAN), (3.5, -4), (NAN, NAN), (NAN, NAN)]
    from_0 = read(tmp_path, "% Nodes Latitude Longitude\n5 2 2\n0 1 2\n2 3.5 -4\n3\n")
    assert same(from_0.places, expected)
    assert from_0.base == 0
    from_1 = read(tmp_path, "%\n5 2 2\n1 1 2\n3 3.5 -4\n5  \n")
    assert same(from_1.places, expected)
    assert from_1.base == 1
    assert same(read(tmp_path, "1 1 2\n3 3.5 -4\n", base=1).places, expected)
    assert same(read(tmp_path, "0\t1\t2\n2\t3.5\t-4\n").places, expected)


def test_numbers_whose_base_is_unclear(tmp_path):
    with pytest.raises(UsageError, match="--label-base"):
        read(tmp_path, "5 2 2\n1 1 2\n3 3 4\n")
    assert same(read(tmp_path, "5 2 2\n1 1 2\n", base=0).places[1], (1, 2))


def test_tables_have_names(tmp_path):
    text = "sample\treads\tlatitude\tlongitude\n# a comment\ncat\tx\t1\t2\nant\t\t\t\nbee\ty\t-90\t180\n"
    assert same(read(tmp_path, text, NAMED).places, [(NAN, NAN), (-90, 180), (1, 2)])
    assert same(read(tmp_path, "Longitude\tLatitude\tname\n2\t1\tcat\n", NAMED).places[2], (1, 2))
    assert same(read(tmp_path, "who\tlatitude\tlongitude\nbee\t1\t2\n", NAMED).places[1], (1, 2))
    assert same(read(tmp_path, "ant 1 2\nbee\n", NAMED).places[0], (1, 2))
    assert same(read(tmp_path, "vertex\tlatitude\tlongitude\n3\t1\t2\n").places[3], (1, 2))
    assert same(read(tmp_path, "vertex\tlatitude\tlongitude\n3\tNA\tnan\n4\t1\t2\n", base=1).places[3], (1, 2))


def test_names_of_others_can_be_passed_over(tmp_path):
    text = "sample\tlatitude\tlongitude\nant\t1\t2\ndog\t3\t4\n"
    labels = read(tmp_path, text, NAMED, skip_unknown=True)
    assert same(labels.places, [(1, 2), (NAN, NAN), (NAN, NAN)])
    assert labels.passed_over == ("dog",)


@pytest.mark.parametrize(
    ("text", "graph", "message"),
    [
        ("5 2 2\n0 91 2\n", NUMBERED, r"line 2: expected a latitude from -90 to 90 degrees, found '91'"),
        ("5 2 2\n0 1 -180.5\n", NUMBERED, r"line 2: expected a longitude from -180 to 180"),
        ("5 2 2\n0 one 2\n", NUMBERED, "latitude"),
        ("5 2 2\n0 1 inf\n", NUMBERED, "longitude"),
        ("5 2 2\n0 1\n", NUMBERED, "line 2: expected a vertex, latitude and longitude"),
        ("5 2 2\n0 1 2 3\n", NUMBERED, "line 2"),
        ("6 2 2\n0 1 2\n", NUMBERED, "labels of 5 vertices, as many as the graph has, found 6"),
        ("5 2 2\n0 1 2\n7 1 2\n", NUMBERED, "line 3: expected a vertex of the graph, such as 0, 1.*'7'"),
        ("5 2 2\n0 1 2\n-1 1 2\n", NUMBERED, "line 3"),
        ("5 2 2\n0 1 2\n% again\n0 1 3\n", NUMBERED, "line 4: expected one place.*another for '0'"),
        ("5 2 2\n5 1 2\n0 1 2\n", NUMBERED, "line 2: expected a vertex"),
        ("sample,latitude,longitude\nant,1,2\n", NAMED, "line 1: expected a header with the columns.*tabs between"),
        ("sample\tlat\tlong\nant\t1\t2\n", NAMED, "line 1: .*call the columns latitude and longitude"),
        ("7 1 2\n", from_edges([], [], 0), "line 1: expected a vertex of the graph, such as none"),
        ("", NUMBERED, "expected the place of at least one vertex, found none"),
        ("5 2 2\n0\n1\n", NUMBERED, "at least one"),
        ("sample\tlatitude\tlongitude\nant\t1\t\n", NAMED, "line 2: expected a longitude"),
        ("sample\tlatitude\tlongitude\nant\t\t\nant\t1\t2\nant\t2\t2\n", NAMED, "line 4: expected one place for each"),
        ("sample\tlatitude\tlongitude\ndog\t1\t2\n", NAMED, "line 2.*ant, bee, cat, found 'dog'.*--skip-unknown"),
        ("sample\tlatitude\tlongitude\n", NAMED, "at least one"),
    ],
)  # fmt: skip
def test_bad_labels_are_refused_with_their_line(tmp_path, text, graph, message):
    with pytest.raises(DataError, match=message) as error:
        read(tmp_path, text, graph)
    assert str(tmp_path) in str(error.value)


def test_no_file(tmp_path):
    with pytest.raises(NoInputError):
        read_labels(tmp_path / "none", NUMBERED)


def test_lines_of_one_vertex_that_agree_are_one(tmp_path):
    """Lanes of a sample have a line each; its place is in one of them or in all."""
    table = "sample\tlatitude\tlongitude\nant\t\t\nant\t1\t2\nant\t1\t2\nant\t\t\n"
    assert same(read(tmp_path, table, NAMED).places[0], (1, 2))


def test_a_first_line_is_a_number_of_vertices_by_its_form_alone(tmp_path):
    assert same(read(tmp_path, "3 10 10\n0 1 2\n").places[3], (10, 10))
    assert same(read(tmp_path, "3 2.0 2.0\n0 1 2\n").places[3], (2, 2))
    with pytest.raises(DataError, match=r"line 1: expected the number of vertices, 5, .* '3 2 2', which may be either"):
        read(tmp_path, "3 2 2\n0 1 2\n")
    with pytest.raises(DataError, match="labels of 5 vertices"):
        read(tmp_path, "3 2 2\n0 1 2\n3 1 2\n")


def test_other_columns_of_a_table(tmp_path):
    text = "sample\tLatitude\tlongitude\tCountry\tdate\nbee\t1\t2\t?\t2020\nbee\t1\t2\tPeru\nant\t\t\tChile\t\n"
    found = read(tmp_path, text, NAMED, columns=["country", "date", "city"])
    assert found.columns == {"country": ["Chile", "Peru", None], "date": [None, "2020", None]}
    assert read(tmp_path, text, NAMED).columns == {}
    more = text + "dog\t3\t4\tCuba\t2021\n"
    assert read(tmp_path, more, NAMED, columns=["country"], skip_unknown=True).columns == {
        "country": ["Chile", "Peru", None]
    }
    assert read(tmp_path, "0 1 2\n", columns=["country"]).columns == {}
