"""``gpuasm geolocate`` from files to files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gpuasm.report.world import read_located
from tests.tables import rows_of
from tests.unit.geolocation.test_gunrock import REFERENCE, SAMPLE
from tests.unit.geolocation.test_locating import clusters

GRAPH, LABELS = SAMPLE / "geolocation.mtx", SAMPLE / "locations.labels"


@pytest.fixture
def geolocate(run_cli):
    def run(*args):
        return run_cli("geolocate", *args, "--device", "cpu", "-q")

    return run


@pytest.fixture
def named(tmp_path):
    """A weighted edge list of samples in three places, and a sheet in which some have none."""
    graph, places, weights = clusters(np.random.default_rng(5), n=60)
    source, target = graph.edges()
    lines = [f"s{a}\ts{b}\t{w:.4f}\n" for a, b, w in zip(source, target, weights, strict=True)]
    (tmp_path / "graph.tsv").write_text("# vertices 60\n" + "".join(lines))
    sheet = ["sample\treads_1\tlatitude\tlongitude\n", "elsewhere\tx\t1\t2\n"]
    sheet += [f"s{i}\tx\t" + ("\t" if i % 4 == 0 else f"{p[0]:.3f}\t{p[1]:.3f}") + "\n" for i, p in enumerate(places)]
    (tmp_path / "sheet.tsv").write_text("".join(sheet))
    return tmp_path, places


def test_the_published_sample(geolocate, tmp_path):
    code, out, _ = geolocate(GRAPH, LABELS, "--method", "gunrock", "--iterations", 2)
    assert code == 0
    rows = rows_of(out)
    assert len(rows) == 39
    assert list(rows[0]) == ["vertex", "latitude", "longitude", "status", "radius_km"]
    for vertex, (latitude, longitude) in REFERENCE.items():
        assert rows[vertex]["vertex"] == str(vertex)
        assert float(rows[vertex]["latitude"]) == pytest.approx(latitude, abs=1e-4)
        assert float(rows[vertex]["longitude"]) == pytest.approx(longitude, abs=1e-4)
    assert [rows[v]["status"] for v in (0, 2, 38)] == ["known", "inferred", "known"]
    assert rows[0]["radius_km"] == ""
    assert float(rows[36]["radius_km"]) > 0
    _, again, _ = geolocate(GRAPH, LABELS, "--method", "gunrock", "--iterations", 2)
    assert again == out


def test_labels_from_1_name_the_vertices_of_the_table(geolocate, tmp_path):
    lines = LABELS.read_text().splitlines()
    shifted = [f"{int(line.split()[0]) + 1} {' '.join(line.split()[1:])}" for line in lines[2:]]
    (tmp_path / "from_1").write_text("\n".join(["39 2 2", *shifted]) + "\n")
    _, out, _ = geolocate(GRAPH, LABELS)
    code, moved, _ = geolocate(GRAPH, tmp_path / "from_1")
    assert code == 0
    assert [row["vertex"] for row in rows_of(moved)] == [str(i + 1) for i in range(39)]
    assert [row["latitude"] for row in rows_of(moved)] == [row["latitude"] for row in rows_of(out)]
    (tmp_path / "unclear").write_text("39 2 2\n5 1 2\n")
    code, _, err = geolocate(GRAPH, tmp_path / "unclear")
    assert code == 2
    assert "--label-base" in err


def test_a_sample_sheet_and_all_files(geolocate, named):
    folder, places = named
    code, out, _ = geolocate(
        folder / "graph.tsv", folder / "sheet.tsv", "--skip-unknown", "--neighbours", 5, "-o", folder / "located.tsv",
        "--geojson", folder / "located.json", "--map", folder / "map.svg", "--json", folder / "run.json",
        "--holdout", 0.2, "--errors", folder / "errors.tsv",
    )  # fmt: skip
    assert code == 0
    rows = {row["vertex"]: row for row in rows_of((folder / "located.tsv").read_text())}
    assert rows["s4"]["status"] == "inferred"
    assert rows["s5"]["status"] == "known"
    assert abs(float(rows["s4"]["latitude"]) - places[4][0]) < 5
    summary = dict(line.split("\t") for line in out.splitlines())
    assert summary["vertices"] == "60"
    assert summary["inferred"] == "15"
    assert float(summary["median error km"]) < float(summary["commonest place median km"])
    located = read_located(folder / "located.json")
    assert len(located.samples) == 60
    assert located.edges
    assert {s.status for s in located.samples} == {"known", "inferred"}
    assert "known (45)" in (folder / "map.svg").read_text()
    manifest = json.loads((folder / "run.json").read_text())
    assert manifest["results"]["known"] == 45
    errors = rows_of((folder / "errors.tsv").read_text())
    assert len(errors) == 9
    assert {"error_km", "commonest_place_km", "nearest_neighbour_km"} < set(errors[0])


def test_thin_evidence_stays_unknown(geolocate, named):
    folder, _ = named
    args = (folder / "graph.tsv", folder / "sheet.tsv", "--skip-unknown")
    for limit in (("--min-neighbours", 50), ("--max-radius", 0.001)):
        code, out, _ = geolocate(*args, *limit)
        assert code == 0
        assert {row["status"] for row in rows_of(out)} == {"known", "unknown"}
        assert [row["latitude"] for row in rows_of(out) if row["status"] == "unknown"] == [""] * 15


def test_states_give_what_computing_anew_gives(geolocate, named, monkeypatch):
    folder, _ = named
    args = (folder / "graph.tsv", folder / "sheet.tsv", "--skip-unknown")
    state = folder / "state.npz"
    code, first, _ = geolocate(*args, "--state", state)
    assert code == 0
    assert geolocate(*args, "--state", state)[1] == first == geolocate(*args)[1]
    with (folder / "graph.tsv").open("a") as file:
        file.write("s4\tnew\t1\nnew\ts4\t1\ns4\ts5\t3\ns5\ts4\t3\n")
    seen = []
    from gpuasm.geolocation import locating

    real = locating.neighbourhoods
    monkeypatch.setattr(locating, "neighbourhoods", lambda *a, **named: seen.append(len(a[2])) or real(*a, **named))
    code, changed, _ = geolocate(*args, "--state", state)
    assert code == 0
    assert sum(seen) < 20
    assert changed == geolocate(*args)[1] != first
    code, other, _ = geolocate(*args, "--state", state, "--min-neighbours", 2)  # other options: all anew
    assert other == geolocate(*args, "--min-neighbours", 2)[1]
    state.write_text("nonsense")
    code, _, err = geolocate(*args, "--state", state)
    assert code == 65
    assert "--state" in err


def test_directions_and_weights_can_be_left_aside(geolocate, tmp_path):
    (tmp_path / "graph.tsv").write_text("a\tb\t1\na\tc\t2\n")
    (tmp_path / "labels").write_text("b 0 0\nc 0 10\n")
    (tmp_path / "only_a").write_text("a 1 2\n")
    args = (tmp_path / "graph.tsv", tmp_path / "labels")
    place = [(row["latitude"], row["longitude"]) for row in rows_of(geolocate(*args)[1])]
    assert place[0] == ("0.000000", "10.000000")
    place = [(row["latitude"], row["longitude"]) for row in rows_of(geolocate(*args, "--unweighted")[1])]
    assert place[0] == ("0.000000", "5.000000")
    backward = rows_of(geolocate(tmp_path / "graph.tsv", tmp_path / "only_a")[1])
    assert [row["status"] for row in backward] == ["known", "inferred", "inferred"]
    forward = rows_of(geolocate(tmp_path / "graph.tsv", tmp_path / "only_a", "--directed")[1])
    assert [row["status"] for row in forward] == ["known", "unknown", "unknown"]


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (("--method", "gunrock", "--neighbours", 3), 2, "--neighbours"),
        (("--errors", "x.tsv"), 2, "--holdout"),
        (("--map", "map.jpeg"), 2, "map.jpeg"),
        (("--neighbours", 3), 2, "weights"),
        (("--iterations", 0), 2, "iterations"),
        (("--holdout", 1), 2, "holdout"),
    ],
    ids=str,
)
def test_options_that_contradict(geolocate, args, code, message):
    found, _, err = geolocate(GRAPH, LABELS, *args)
    assert found == code
    assert message in err


def test_edges_on_maps_are_there_once_and_cut_at_the_date_line(geolocate, tmp_path):
    (tmp_path / "graph.tsv").write_text("b\ta\nc\ta\na\tc\n")
    (tmp_path / "labels").write_text("a 10 170\nb 20 -170\nc 0 0\n")
    path = tmp_path / "map.json"
    code, _, err = geolocate(tmp_path / "graph.tsv", tmp_path / "labels", "--directed", "--geojson", path)
    assert code == 0, err
    lines = [f["geometry"] for f in json.loads(path.read_text())["features"] if "status" not in f["properties"]]
    assert sorted(line["type"] for line in lines) == ["LineString", "MultiLineString"]
    cut = next(line["coordinates"] for line in lines if line["type"] == "MultiLineString")
    assert cut in (
        [[[170, 10], [180, 15]], [[-180, 15], [-170, 20]]],
        [[[-170, 20], [-180, 15]], [[180, 15], [170, 10]]],
    )
    ends = [frozenset(edge) for edge in read_located(path).edges]
    assert set(ends) == {frozenset([(10, 170), (20, -170)]), frozenset([(10, 170), (0, 0)])}
    (tmp_path / "labels").write_text("a 10 180\nb 20 -170\nc 0 0\n")
    assert geolocate(tmp_path / "graph.tsv", tmp_path / "labels", "--directed", "--geojson", path)[0] == 0
    assert '"coordinates": [[-180.0, 10.0], [-170.0, 20.0]]' in path.read_text().replace(
        "[[-170.0, 20.0], [-180.0, 10.0]]", "[[-180.0, 10.0], [-170.0, 20.0]]"
    )


def test_input_without_information(geolocate, tmp_path):
    (tmp_path / "graph.txt").write_text("a -> b\n")
    (tmp_path / "sheet.tsv").write_text("sample\tlatitude\tlongitude\nx\t1\t2\n")
    code, _, err = geolocate(tmp_path / "graph.txt", tmp_path / "sheet.tsv", "--skip-unknown")
    assert code == 0
    assert "sheet.tsv names no vertex of the graph" in err
    (tmp_path / "sheet.tsv").write_text("sample\tlatitude\tlongitude\na\t1\t2\n")
    code, _, err = geolocate(tmp_path / "graph.txt", tmp_path / "sheet.tsv", "--holdout", 0.5)
    assert code == 65
    assert "sheet.tsv: expected two known places" in err
    code, _, err = geolocate("-", "-")
    assert code == 2
    assert "standard input for one file" in err


def test_bad_input(geolocate, tmp_path):
    for text, message in (("40 2 2\n0 1 2\n", "39 vertices"), ("39 2 2\n0 99 2\n", "latitude"), ("", "at least one")):
        (tmp_path / "labels").write_text(text)
        code, _, err = geolocate(GRAPH, tmp_path / "labels")
        assert code == 65
        assert message in err
    assert geolocate(GRAPH, tmp_path / "none")[0] == 66
    assert geolocate(Path("none"), LABELS)[0] == 66
