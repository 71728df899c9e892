"""Maps of the world: what is drawn, and that it is the same each time."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from gpuasm.errors import DataError, NoInputError
from gpuasm.report import world, world_places
from gpuasm.report.world import Located, LocatedSamples, draw_world, read_located, world_figure
from tests.oracles.geolocation import haversine

SAMPLES = LocatedSamples(
    [
        Located("a", 50.0, 10.0, "known"),
        Located("b & c", 40.0, 170.0, "inferred", 900.0),
        Located("d", -30.0, -175.0, "inferred"),
        Located("e", None, None, "unknown"),
    ],
    [((50.0, 10.0), (40.0, 170.0)), ((40.0, 170.0), (-30.0, -175.0))],
)


@pytest.mark.parametrize(("kind", "begins"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_files_are_the_same_each_time(kind, begins):
    data = draw_world(SAMPLES, kind=kind)
    assert data.startswith(begins)
    assert data == draw_world(SAMPLES, kind=kind)


def test_figures_of_pages_have_names_numbers_and_no_colours_of_their_own():
    svg = world_figure(SAMPLES, "samples")
    assert svg.startswith("<svg")
    assert "known (1)" in svg
    assert "inferred (2)" in svg
    assert "b &amp; c" in svg
    assert "#010101" not in svg
    assert "http" not in svg.replace("http://www.w3.org", "")


def test_nothing_to_draw_is_a_map_too():
    assert draw_world(LocatedSamples([]), kind="png").startswith(b"\x89PNG")


def test_land_is_where_it_is():
    from matplotlib.path import Path

    def is_land(latitude, longitude):
        return any(Path(polygon[0]).contains_point((longitude, latitude)) for polygon in world.land())

    assert is_land(48.9, 2.3)  # Paris
    assert is_land(-25.0, 135.0)
    assert not is_land(0.0, -150.0)
    assert len(world.land()) > 100


def test_great_circles_and_circles_keep_their_distances():
    line = world.great_circle((50.0, 10.0), (40.0, 170.0))
    ends = haversine((50.0, 10.0), (40.0, 170.0))
    for longitude, latitude in line:
        along = haversine((50.0, 10.0), (latitude, longitude)), haversine((40.0, 170.0), (latitude, longitude))
        assert sum(along) == pytest.approx(ends, rel=1e-6)
    for longitude, latitude in world.circle(89.0, 30.0, 700.0):
        assert haversine((89.0, 30.0), (latitude, longitude)) == pytest.approx(700.0, rel=1e-6)


def test_lines_are_cut_at_the_date_line():
    parts = list(world._parts(world.great_circle((0.0, 170.0), (10.0, -170.0))))
    assert len(parts) == 2
    assert all(np.abs(np.diff(part[:, 0])).max() < 180 for part in parts)


def test_other_files_are_refused(tmp_path):
    with pytest.raises(NoInputError):
        read_located(tmp_path / "none")
    path = tmp_path / "other.json"
    for text in ("no json", json.dumps({"features": [{"properties": {"status": "known"}}]}), "[]"):
        path.write_text(text)
        with pytest.raises(DataError, match="geojson"):
            read_located(path)


def test_pages_show_where_samples_are(tmp_path):
    from gpuasm.report import read_run, render

    page = render([read_run(tmp_path, "a")], located=SAMPLES)
    assert "Where the samples are" in page
    assert page.count('role="img"') == 1
    rows = re.findall(r"<tr><td.*?</tr>", page, re.DOTALL)
    assert [re.sub(r"<[^>]*>", " ", row).split() for row in rows] == [
        ["b", "&amp;", "c", "40.0000", "170.0000", "inferred", "900"],
        ["d", "-30.0000", "-175.0000", "inferred"],
        ["e", "unknown"],
        ["a", "50.0000", "10.0000", "known"],
    ]
    assert "Where the samples are" not in render([read_run(tmp_path, "a")])


def test_maps_of_regions_have_borders_and_names_within_them():
    near = LocatedSamples([Located("a", 47.0, 8.0, "known"), Located("b", 46.5, 7.0, "known")])
    svg = world_figure(near, "near")
    for name in ("Switzerland", "Bern"):
        assert f">{name}<" in svg
    assert ">Tokyo<" not in svg
    assert ">Russia<" not in svg
    whole = world_figure(SAMPLES, "samples")
    assert ">Russia<" not in whole  # names would hide samples
    assert whole.count("LineCollection") == svg.count("LineCollection")


def test_borders_and_places_are_where_they_are():
    lines = np.concatenate([np.array(line) for line in world_places.borders()])
    assert (np.abs(lines) <= (180, 90)).all()
    assert min(haversine((y, x), (47.55, 7.6)) for x, y in lines.tolist()) < 50  # three countries meet at Basel
    frame = (5.0, 17.0, 44.0, 50.0)
    cities = {place.name: place for place in world_places.cities_in(frame)}
    assert haversine((cities["Vienna"].latitude, cities["Vienna"].longitude), (48.2, 16.4)) < 20
    assert world_places.cities_in((-20.0, 60.0, 0.0, 40.0)) == []
    countries = [place.name for place in world_places.countries_in((60.0, 150.0, 10.0, 60.0))]
    assert countries[0] == "China"
    assert "India" in countries
