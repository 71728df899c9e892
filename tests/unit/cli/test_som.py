"""The som commands: train, map, draw; every file is always written, and each refusal contains a remedy."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from gpuasm.cli.som_file import TrainedMap, load_trained_map, save_trained_map
from gpuasm.clustering import SelfOrganisingMap
from gpuasm.errors import DataError
from gpuasm.io import write_fasta
from gpuasm.io.matrices import read_classes, read_matrix
from tests.communities import community
from tests.oracles.som import distances
from tests.tables import rows_of

FILES = {"map.npz", "map.tsv", "rows.tsv", "training.tsv", "run.json"}
ESOM = {"map.lrn", "map.wts", "map.bm", "map.umx", "map.names", "map.cls"}
OPTIONS = ("--device", "cpu", "-q")
TORUS = ("--lattice", "hexagonal", "--topology", "toroidal")
SMALL = ("--size", "8x10", "--epochs", 5, *OPTIONS)


@pytest.fixture
def table(tmp_path, rng):
    """Return a table of three clouds, in units that differ by a million, with names and classes."""
    kind = np.arange(150) % 3
    values = (rng.normal(size=(150, 3)) + 8 * kind[:, None] * [1, -1, 0.5]) * [1, 1e6, 1]
    path = tmp_path / "table.tsv"
    lines = ["name\tlength\twidth\theight\tsort"]
    for i, row in enumerate(values):
        cells = [f"{v:.7g}" for v in row]
        cells[1] = "NA" if i % 10 == 0 else cells[1]
        lines.append("\t".join([f"thing {i}", *cells, "" if i % 7 == 0 else ("fox", "hen", "owl")[kind[i]]]))
    path.write_text("\n".join(lines) + "\n")
    return path


def column(table, name):
    return [row[name] for row in table]


def test_training_writes_the_files_of_the_map(run_cli, tmp_path, table):
    out = tmp_path / "out"
    code, printed, _ = run_cli("som", "train", table, "--class-column", "sort", "-o", out, *SMALL)
    assert code == 0
    assert "8 x 10 units" in printed
    assert {path.name for path in out.iterdir()} == FILES
    manifest = json.loads((out / "run.json").read_text())
    assert manifest["status"] == "done"
    assert manifest["parameters"]["normalise"] == "zscore"
    matrix = read_matrix(table, class_column="sort")
    som = SelfOrganisingMap(8, 10, epochs=5, normalise="zscore").fit(matrix.values)
    found = rows_of(out / "rows.tsv")
    assert column(found, "name") == matrix.names
    assert [10 * int(r["row"]) + int(r["column"]) for r in found] == som.labels_.tolist()
    assert [10 * int(r["second_row"]) + int(r["second_column"]) for r in found] == som.best_units(
        matrix.values
    ).second.tolist()
    assert np.allclose(list(map(float, column(found, "cluster"))), som.clusters()[som.labels_] + 1)
    units = rows_of(out / "map.tsv")
    assert np.allclose(list(map(float, column(units, "height"))), som.u_matrix().ravel(), rtol=1e-5)
    assert np.allclose(list(map(float, column(units, "density"))), som.p_matrix(matrix.values).ravel())
    assert np.allclose(list(map(float, column(units, "u_star"))), som.u_star_matrix(matrix.values).ravel(), rtol=1e-5)
    assert list(map(int, column(units, "hits"))) == som.hit_map().ravel().tolist()
    training = rows_of(out / "training.tsv")
    assert len(training) == 6
    assert float(training[-1]["quantisation"]) == pytest.approx(som.history_[-1].quantisation, rel=1e-5)
    predicted = dict(zip(matrix.names, column(found, "class"), strict=True))
    assert all(predicted[name] == kind for name, kind in zip(matrix.names, matrix.classes, strict=True) if kind)


def test_other_rows_are_mapped_and_classified(run_cli, tmp_path, table, rng):
    out = tmp_path / "out"
    assert run_cli("som", "train", table, "--class-column", "sort", "--lvq", 3, "-o", out, *SMALL)[0] == 0
    others = tmp_path / "others.csv"
    others.write_text("height,width,length\n0,0,0\n4,-8e6,8\n,-16e6,16\n")  # other order, one value missing
    code, printed, _ = run_cli("som", "map", out / "map.npz", others, *OPTIONS)
    assert code == 0
    found = list(csv.DictReader(printed.splitlines(), delimiter="\t"))
    assert column(found, "class") == ["fox", "hen", "owl"]
    trained = load_trained_map(out / "map.npz", np)
    normal = trained.som.normalised(np.array([[0, 0, 0], [8, -8e6, 4], [16, -16e6, np.nan]]))
    near = distances(normal, trained.som.weights_)
    assert [10 * int(r["row"]) + int(r["column"]) for r in found] == near.argmin(axis=1).tolist()
    assert np.allclose(list(map(float, column(found, "distance"))), near.min(axis=1), rtol=1e-4)
    code, _, err = run_cli("som", "map", out / "map.npz", table, *OPTIONS)
    assert code == 65  # the column of classes is no number, and was not named
    assert "'fox'" in err or "'hen'" in err
    run_cli("som", "map", out / "map.npz", table, "--class-column", "sort", "-o", tmp_path / "same.tsv", *OPTIONS)
    assert (tmp_path / "same.tsv").read_bytes() == (out / "rows.tsv").read_bytes()


@pytest.mark.parametrize("lattice", ["rectangular", "hexagonal"])
def test_maps_are_drawn(run_cli, tmp_path, table, lattice):
    out = tmp_path / "out"
    run_cli("som", "train", table, "--class-column", "sort", "--lattice", lattice, "-o", out, *SMALL)
    assert run_cli("som", "draw", out / "map.npz", "-o", tmp_path / "a.svg")[0] == 0
    picture = (tmp_path / "a.svg").read_text()
    for text in ("U-matrix", "P-matrix", "U*-matrix", "hits", "clusters", "classes", "owl", "width", "training"):
        assert text in picture


def test_pictures_of_some_panels_in_all_formats(run_cli, tmp_path, table):
    out = tmp_path / "out"
    run_cli("som", "train", table, "--class-column", "sort", "-o", out, *SMALL)
    for name, head in (("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.pdf", b"%PDF"), ("b.svg", b"<?xml")):
        some = ("--what", "planes", "--column", "width", "-o", tmp_path / name)
        assert run_cli("som", "draw", out / "map.npz", *some)[0] == 0
        assert (tmp_path / name).read_bytes().startswith(head)
    planes = (tmp_path / "a.svg").read_text()
    assert "width" in planes
    assert "length" not in planes
    assert (tmp_path / "b.svg").read_text() == planes


def test_a_map_of_contigs_can_be_drawn_except_for_what_it_lacks(run_cli, tmp_path):
    contigs, _ = community(2)
    path = tmp_path / "contigs.fasta"
    spans = zip(contigs.start[:-1], contigs.start[1:], strict=True)
    write_fasta(path, contigs.names, [""] * contigs.n, [contigs.codes[a:b] for a, b in spans])
    assert run_cli("bin", path, "--stop-after", "map", "-o", tmp_path / "bins", *OPTIONS)[0] == 0
    picture = tmp_path / "map.svg"
    assert run_cli("som", "draw", tmp_path / "bins" / "map.npz", "-o", picture)[0] == 0
    assert "U-matrix" in picture.read_text()
    code, _, err = run_cli("som", "draw", tmp_path / "bins" / "map.npz", "--what", "hits", "-o", picture)
    assert (code, "a map with hits" in err) == (2, True)


def test_files_of_esom_fit_each_other(run_cli, tmp_path, table):
    out = tmp_path / "out"
    run_cli("som", "train", table, "--class-column", "sort", "--esom", "-o", out, *SMALL)
    assert {path.name for path in out.iterdir()} == FILES | ESOM
    matrix, som = read_matrix(table, class_column="sort"), load_trained_map(out / "map.npz", np).som
    lrn = read_matrix(out / "map.lrn")
    assert lrn.columns == ["length", "width", "height"]
    assert np.array_equal(lrn.values.astype(np.float32), som.normalised(matrix.values), equal_nan=True)
    lines = {suffix: (out / f"map.{suffix}").read_text().splitlines() for suffix in ("wts", "bm", "umx", "names")}
    assert lines["wts"][:2] == ["% 8 10", "% 3"]
    assert np.array_equal(np.loadtxt(lines["wts"][2:], dtype=np.float32), som.weights_)
    assert lines["bm"][:2] == ["% 8 10", "% 150"]
    best = np.loadtxt(lines["bm"][2:], dtype=int)
    assert np.array_equal(best, np.column_stack([np.arange(1, 151), som.transform(matrix.values)]))
    assert lines["umx"][0] == "% 8 10"
    assert np.allclose(np.loadtxt(lines["umx"][1:]), som.u_matrix())
    assert lines["names"][:2] == ["% 150", "1\tthing_0\tthing_0"]
    assert [c if c != "0" else "" for c in read_classes(out / "map.cls", lrn.names)] == matrix.classes
    again = tmp_path / "again"  # what ESOM reads, we read too
    code, printed, _ = run_cli("som", "train", out / "map.lrn", "--classes", out / "map.cls", "-o", again, *SMALL)
    assert (code, "classes correct" in printed) == (0, True)


def test_everything_that_is_saved_comes_back(tmp_path, rng):
    values = rng.normal(size=(60, 2))
    som = SelfOrganisingMap(
        4, 5, topology="toroidal", lattice="hexagonal", metric="manhattan", epochs=2, radius=(2, 1), normalise="robust"
    ).fit(values)
    save_trained_map(tmp_path / "map.npz", TrainedMap(som, ["a", "b"]))
    back = load_trained_map(tmp_path / "map.npz", np)
    assert back.columns == ["a", "b"]
    assert (back.density, back.cluster, back.labels, back.classifier) == (None, None, None, None)
    assert back.som.get_params() == som.get_params()
    assert back.som.history_ == som.history_
    assert np.array_equal(back.som.predict(values), som.predict(values))
    assert np.array_equal(back.som.component_planes(), som.component_planes())
    assert np.array_equal(back.som.hit_map(), som.hit_map())


def test_columns_of_a_saved_map_are_named_by_texts(tmp_path, rng):
    som = SelfOrganisingMap(2, 2, epochs=1).fit(rng.normal(size=(9, 2)))
    save_trained_map(tmp_path / "map.npz", TrainedMap(som, ["a", "b"]))
    np.savez(tmp_path / "other.npz", **(dict(np.load(tmp_path / "map.npz")) | {"columns": np.array([1.0, 2.0])}))
    with pytest.raises(DataError, match="names of columns"):
        load_trained_map(tmp_path / "other.npz", np)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "an empty file"),
        ("a\tb\n", "0 rows"),
        ("1\t2\n", "rows that differ, found 1 row"),
        ("1\t2\n1\t2\n1\t2\n", "rows that differ, found 3 that are all alike"),
        ("a\tb\n1\tNA\n2\tNA\n", "column 'b': expected a value in each column, found 1 of 2 without any"),
        ("x\t1\t2\ny\tNA\t\n", "row 'y': expected a value in each row"),
        ("1\tinf\n2\t3\n", "row '1', column 'column_2': expected finite numbers"),
        ("1\t2\n3\n", "line 2: expected 2 fields"),
    ],
)
def test_bad_tables_are_refused_and_all_files_are_written(run_cli, tmp_path, text, message):
    path, out = tmp_path / "bad.tsv", tmp_path / "out"
    path.write_text(text)
    code, printed, err = run_cli("som", "train", path, "-o", out, "--esom", *SMALL)
    assert (code, printed) == (65, "")
    assert err.startswith("gpuasm: error: ")
    assert err.count("\n") == 1
    assert "bad.tsv" in err
    assert message in err
    assert {p.name for p in out.iterdir()} == FILES | ESOM
    assert message.split(": ")[-1] in json.loads((out / "run.json").read_text())["status"]
    assert rows_of(out / "rows.tsv") == rows_of(out / "map.tsv") == []
    code, _, err = run_cli("som", "draw", out / "map.npz", "-o", tmp_path / "map.svg")
    assert (code, "empty file" in err) == (65, True)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--size", "30"), 2, "--size 30x45"),
        (("--size", "0x3"), 2, "--size 30x45"),
        (("--class-column", "sort", "--size", "20000x20000"), 75, "a map of 400,000,000 units"),
        (
            ("--class-column", "sort", "--size", "3x4", "--lattice", "hexagonal", "--topology", "toroidal"),
            2,
            "even number of rows",
        ),
        (("--class-column", "sort", "--radius", "1", "2"), 2, "not rising"),
        (("--class-column", "sort", "--rate", "2", "1"), 2, "rates up to 1"),
        (("--lvq", "3"), 2, "--class-column"),
        (("--class-column", "sort", "--metric", "cosine"), 65, "no missing values with the cosine metric"),
        (("--class-column", "colour"), 2, "'colour'"),
    ],
)
def test_options_that_cannot_be_are_refused(run_cli, tmp_path, table, arguments, code, message):
    found, printed, err = run_cli("som", "train", table, "-o", tmp_path / "out", *OPTIONS, *arguments)
    assert (found, printed) == (code, "")
    assert message in err
    assert err.count("\n") == 1


def test_warnings_describe_odd_options(run_cli, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b,same\n1,2,7\n2,1,7\n3,5,7\n")
    assert run_cli("som", "train", path, "-o", tmp_path / "out", "--size", "4x4", *OPTIONS)[0] == 0
    warnings = json.loads((tmp_path / "out" / "run.json").read_text())["warnings"]
    assert any("constant" in text and "same" in text for text in warnings)
    assert any("3 rows for 16 units" in text for text in warnings)


def test_inputs_that_are_missing_or_of_another_kind(run_cli, tmp_path, table):
    assert run_cli("som", "train", tmp_path / "nothing.tsv", "-o", tmp_path / "out", *OPTIONS)[0] == 66
    assert run_cli("som", "map", tmp_path / "nothing.npz", table, *OPTIONS)[0] == 66
    code, _, err = run_cli("som", "map", table, table, *OPTIONS)
    assert (code, "trained map" in err) == (65, True)
    run_cli("som", "train", table, "--class-column", "sort", "-o", tmp_path / "map", *SMALL)
    assert run_cli("som", "draw", tmp_path / "map" / "map.npz", "-o", tmp_path / "map.gif")[0] == 2
    narrow = tmp_path / "narrow.tsv"
    narrow.write_text("1\t2\n")
    code, _, err = run_cli("som", "map", tmp_path / "map" / "map.npz", narrow, *OPTIONS)
    assert (code, "3 columns, as the map has" in err, "narrow.tsv" in err) == (65, True, True)
    code, _, err = run_cli("bin", "x.fasta", "-o", tmp_path / "map", *OPTIONS)
    assert (code, "a folder of its own" in err) == (2, True)
