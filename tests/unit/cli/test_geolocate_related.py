"""``gpuasm geolocate`` for samples that ``gpuasm relate`` compared."""

from __future__ import annotations

import json

import numpy as np
import pytest

from gpuasm.cli.compared_samples import arrays_of_samples, read_compared_samples
from gpuasm.cli.related_inputs import related_samples
from gpuasm.io.graph_writers import write_npz
from gpuasm.io.graphs import read_weighted_graph, write_graph
from gpuasm.report.world import read_located
from gpuasm.samples import Sketches, SketchKind, compare, mash_distance, relate, sketch_text
from gpuasm.sequence.reads import Reads
from tests.tables import rows_of

PLACES = {"Bern": (46.95, 7.44), "Sydney": (-33.87, 151.21), "Nome": (64.5, -165.4)}


def mutant(codes, rate, rng):
    return np.where(rng.random(codes.size) < rate, (codes + rng.integers(1, 4, codes.size)) % 4, codes)


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    """Make 24 samples of three clades, each in a city of its own; a quarter has no place. Return the folder."""
    folder = tmp_path_factory.mktemp("related")
    rng = np.random.default_rng(9)
    root = rng.integers(0, 4, 1500)
    clades = [mutant(root, 0.02, rng) for _ in PLACES]
    fasta, sheet = [], ["sample\tdate\tlatitude\tlongitude\tCity\tcountry\tlab\n"]
    for i in range(24):
        city = list(PLACES)[i % 3]
        fasta.append(f">s{i}\n{''.join('ACGT'[c] for c in mutant(clades[i % 3], 0.003, rng))}\n")
        place = [f"{x}" for x in PLACES[city]] if i % 4 else ["", ""]
        sheet.append("\t".join([f"s{i}", f"20{10 + i}-03", *place, city if i % 4 else "?", "", "x"]) + "\n")
    (folder / "genomes.fasta").write_text("".join(fasta))
    (folder / "sheet.tsv").write_text("".join(sheet))
    return folder


@pytest.fixture
def graph(run_cli, samples):
    path = samples / "related" / "graph.npz"
    if not path.exists():
        code, _, err = run_cli("relate", samples / "genomes.fasta", "--each-sequence", "-o", path.parent, "-q")
        assert (code, err) == (0, "")
    return path


@pytest.fixture
def geolocate(run_cli, graph, samples):
    def run(*args, sheet=samples / "sheet.tsv", path=graph):
        return run_cli("geolocate", path, sheet, *args, "--device", "cpu", "-q")

    return run


def test_places_and_names(geolocate, tmp_path):
    code, out, err = geolocate("--probabilities", tmp_path / "shares.tsv", "--json", tmp_path / "run.json")
    assert (code, err) == (0, "")
    rows = rows_of(out)
    assert list(rows[0]) == [
        "vertex", "latitude", "longitude", "status", "radius_km", "radius_90_km", "city", "city_probability",
    ]  # fmt: skip
    for i, row in enumerate(rows):
        city = list(PLACES)[i % 3]
        assert (float(row["latitude"]), float(row["longitude"])) == PLACES[city]
        assert row["city"] == city
        is_inferred = i % 4 == 0
        assert row["status"] == ("inferred" if is_inferred else "known")
        assert (row["radius_km"], row["radius_90_km"]) == (("0.000", "0.000") if is_inferred else ("", ""))
        assert (row["city_probability"] != "") == is_inferred
        assert not is_inferred or float(row["city_probability"]) > 0.8
    shares = rows_of((tmp_path / "shares.tsv").read_text())
    assert next(row for row in shares if row["vertex"] == "s4")["name"] == "Sydney"
    totals = {}
    for row in shares:
        assert row["column"] == "city"
        totals[row["vertex"]] = totals.get(row["vertex"], 0) + float(row["probability"])
    assert set(totals) == {f"s{i}" for i in range(0, 24, 4)}
    assert all(0.97 < total < 1.001 for total in totals.values())
    results = json.loads((tmp_path / "run.json").read_text())["results"]
    assert (results["known"], results["inferred"], results["rounds"]) == (18, 6, 1)
    assert (results["cross_validated_median_km"], results["cross_validated_mean_km"]) == (0, 0)
    assert results["names"] == [{"column": "city", "kinds": 3, "macro_f1": 1}]
    assert sum(row["weight"] for row in results["predictors"]) == pytest.approx(1, abs=0.01)
    assert any("date within" in row["predictor"] for row in results["predictors"])
    _, again, _ = geolocate()
    assert again == out


def test_held_out_places_and_names(geolocate, tmp_path):
    code, _, err = geolocate(
        "--holdout", 0.3, "--seed", 2, "--errors", tmp_path / "errors.tsv", "-o", tmp_path / "out",
        "--json", tmp_path / "run.json",
    )  # fmt: skip
    assert (code, err) == (0, "")
    results = json.loads((tmp_path / "run.json").read_text())["results"]
    assert (results["held_out"], results["held_out_inferred"], results["mean_error_km"]) == (5, 5, 0)
    assert (results["within_radius"], results["within_radius_90"]) == (1, 1)
    assert results["held_out_names"] == [{"column": "city", "macro_f1": 1}]
    assert [row["error_km"] for row in rows_of((tmp_path / "errors.tsv").read_text())] == ["0.000"] * 5


def test_other_methods_are_those_of_the_graph_alone(geolocate, graph, tmp_path):
    plain = tmp_path / "plain.npz"
    bare, weights = read_weighted_graph(graph)
    write_graph(plain, bare, weights=weights)
    for options in (
        ["--method", "gunrock"], ["--method", "spherical"], ["--complete"], ["--directed"], ["--neighbours", 3],
    ):  # fmt: skip
        code, out, _ = geolocate(*options)
        assert code == 0
        assert geolocate(*options, path=plain)[1] == out
        assert "radius_90_km" not in out
    assert geolocate(path=plain)[1] == geolocate("--method", "spherical")[1]
    assert geolocate("--method", "related")[1] == geolocate()[1]


def test_chosen_columns(geolocate, samples):
    code, out, _ = geolocate("--names", "LAB", "--names", "city")
    assert code == 0
    assert list(rows_of(out)[0])[6:] == ["lab", "lab_probability", "city", "city_probability"]
    code, _, err = geolocate("--names", "country")
    assert (code, "1 to 512 names in a column 'country'" in err) == (65, True)
    code, _, err = geolocate("--names", "status")
    assert (code, "columns of names of places" in err) == (2, True)


def test_a_sheet_of_coordinates_alone(geolocate, tmp_path):
    (tmp_path / "sheet.tsv").write_text("sample\tlatitude\tlongitude\ns1\t-33.87\t151.21\n")
    code, out, _ = geolocate(sheet=tmp_path / "sheet.tsv")
    rows = rows_of(out)
    assert code == 0
    assert list(rows[0]) == ["vertex", "latitude", "longitude", "status", "radius_km", "radius_90_km"]
    assert {(row["latitude"], row["longitude"]) for row in rows} == {("-33.870000", "151.210000")}
    assert {row["radius_km"] for row in rows} == {""}


def test_greatest_radius(geolocate, samples, tmp_path):
    lines = (samples / "sheet.tsv").read_text().splitlines()
    cells = [line.split("\t") for line in lines]
    rng = np.random.default_rng(1)
    for row in cells[1:]:
        if row[2]:
            row[2], row[3] = (f"{x:.3f}" for x in rng.uniform(-60, 60, 2))
    (tmp_path / "sheet.tsv").write_text("".join("\t".join(row) + "\n" for row in cells))
    code, out, _ = geolocate("--max-radius", 1, sheet=tmp_path / "sheet.tsv")
    assert code == 0
    rows = [row for i, row in enumerate(rows_of(out)) if i % 4 == 0]
    assert {(row["status"], row["latitude"], row["radius_km"], row["radius_90_km"]) for row in rows} == {
        ("unknown", "", "", "")
    }


def test_map_and_geojson(geolocate, samples, tmp_path):
    few = (samples / "sheet.tsv").read_text().splitlines()[:5]
    (tmp_path / "few.tsv").write_text("\n".join(few) + "\n")
    for sheet, idea in ((samples / "sheet.tsv", False), (tmp_path / "few.tsv", True)):
        geojson, picture = tmp_path / "places.json", tmp_path / "map.svg"
        code, _, err = geolocate("--geojson", geojson, "--map", picture, "-o", tmp_path / "out", sheet=sheet)
        assert (code, err) == (0, "")
        located = read_located(geojson)
        assert located.is_calibrated
        inferred = [sample for sample in located.samples if sample.status == "inferred"]
        assert all((sample.radius_90_km is None) == idea for sample in inferred)
        assert ("<!-- no idea how far off" in picture.read_text()) == idea


def test_refusals(geolocate, graph, samples, tmp_path):
    plain = tmp_path / "plain.npz"
    write_graph(plain, read_weighted_graph(graph)[0])
    for options, path, text in (
        (["--method", "related", "--complete"], graph, "--method spherical for --complete"),
        (["--method", "related"], plain, "graph.npz of gpuasm relate for --method related"),
        (["--names", "city"], plain, "compared samples for names of places"),
        (["--probabilities", tmp_path / "x.tsv", "--complete"], graph, "compared samples for names of places"),
    ):
        code, out, err = geolocate(*options, path=path)
        assert (code, out, text in err) == (2, "", True), err


@pytest.mark.parametrize(
    ("name", "change", "text"),
    [
        ("sample_pairs", lambda a: a[:-1], "24 samples in a graph of 24"),
        ("sample_pairs", lambda a: a * 0 + 10**6, "more hashes shared"),
        ("sample_hashes", lambda a: a[:-1], "of shape"),
        ("sample_sketch", lambda a: a * 0, "k = 0"),
        ("sample_kmers", lambda a: a * np.nan, "sample_kmers"),
    ],
)
def test_damaged_comparisons(geolocate, graph, tmp_path, name, change, text):
    arrays = dict(np.load(graph))
    arrays[name] = change(arrays[name])
    np.savez(tmp_path / "bad.npz", **arrays)
    code, out, err = geolocate(path=tmp_path / "bad.npz")
    assert (code, out) == (65, "")
    assert text in err


@pytest.mark.parametrize("kind", [SketchKind.scaled(11, 3), SketchKind.bottom(11, 40)], ids=["scaled", "bottom"])
def test_comparisons_are_read_as_they_were_written(kind, geolocate, samples, tmp_path):
    texts = (samples / "genomes.fasta").read_text().split("\n")[1::2]
    names = [f"s{i}" for i in range(len(texts))]
    sketches = Sketches.join(kind, names, [sketch_text(Reads.from_strings([text]), kind) for text in texts])
    comparison = compare(sketches)
    relation, path = relate(sketches, comparison), tmp_path / "graph.npz"
    write_npz(path, relation.graph, relation.weights, others=arrays_of_samples(relation))
    found, kmers = read_compared_samples(path, relation.graph)
    assert (found.kind.k, found.kind.size, found.kind.max_hash) == (kind.k, kind.size, kind.max_hash)
    np.testing.assert_array_equal(found.shared, comparison.shared)
    np.testing.assert_array_equal(found.sizes, comparison.sizes)
    np.testing.assert_array_equal(found.compared, comparison.compared)
    np.testing.assert_array_equal(kmers, relation.kmers)
    code, out, _ = geolocate(path=path, sheet=samples / "sheet.tsv")
    assert code == 0
    assert [row["city"] for row in rows_of(out)] == [list(PLACES)[i % 3] for i in range(24)]
    run = related_samples(found, kmers, np.full(24, np.nan))
    assert list(run.distances) == ["Mash", *(["containment", "own containment"] if kind.is_scaled else [])]
    np.testing.assert_array_equal(run.distances["Mash"], mash_distance(comparison))
