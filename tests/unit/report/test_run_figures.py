"""Figures of a run beside those of matplotlib: insert sizes, depth along contigs, the assembly graph."""

from __future__ import annotations

import re

import pytest

from gpuasm.io.gfa_segments import read_segment_graph
from gpuasm.report import read_run, render
from gpuasm.report.assembly_graph_figure import MOST_SEGMENTS, graph_figure
from gpuasm.report.charts import Chart, short, ticks
from gpuasm.report.read_figures import depth_along_figure, insert_figure
from gpuasm.report.run_figures import figures_of
from tests.report_files import GRAPH, parse, write_files


@pytest.fixture
def folder(tmp_path):
    write_files(tmp_path / "sample")
    return tmp_path / "sample"


def titles(folder):
    return [figure.title for figure in figures_of(read_run(folder))]


def test_each_file_gives_its_figure(folder):
    every = ["k-mer spectrum", "Insert sizes", "Nx curve", "Depth and length", "Depth along contigs", "Assembly graph"]
    assert titles(folder) == every
    parse(render([read_run(folder)]))
    for name, title in (("insert_sizes.tsv", every[1]), ("depth_windows.tsv", every[4]), ("graph.gfa", every[5])):
        (folder / name).unlink()
        every.remove(title)
        assert titles(folder) == every
        assert read_run(folder).notes == []


def test_one_contig_has_no_figures_that_compare(folder):
    lines = (folder / "contigs.tsv").read_text().splitlines()
    (folder / "contigs.tsv").write_text("\n".join(lines[:2]) + "\n")
    (folder / "graph.gfa").write_text("S\tone\tACGT\nL\tone\t+\tone\t+\t3M\n")
    assert titles(folder) == ["k-mer spectrum", "Insert sizes", "Depth along contigs"]


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("insert_sizes.tsv", "5\t-1"),
        ("insert_sizes.tsv", "x\t1"),
        ("insert_sizes.tsv", "999999999\t1"),
        ("depth_windows.tsv", "contig_000001\t5\t5\t1"),
        ("depth_windows.tsv", "contig_000001\t0\t5\tnan"),
        ("depth_windows.tsv", "contig_000001\t0"),
        ("graph.gfa", "S\tx"),
    ],
)
def test_a_damaged_file_is_noted_and_has_no_figure(folder, name, row):
    path = folder / name
    path.write_text(path.read_text().splitlines()[0] + "\n" + row + "\n")
    run = read_run(folder)
    page = render([run])
    parse(page)
    assert f"{name} is damaged" in page
    assert len(figures_of(run)) == 5


def test_bars_have_the_heights_of_their_pairs():
    svg = insert_figure([(100, 10), (101, 30), (250, 20)])
    heights = [
        float(ys[0]) - float(ys[1])
        for ys in (re.findall(r",([\d.]+)", points) for points in re.findall(r'<polygon points="([^"]+)"', svg))
    ]
    assert len(heights) == 2
    assert heights[0] / heights[1] == pytest.approx(2, rel=0.01)
    assert "median 101" in svg


def test_the_line_of_depth_has_a_corner_for_each_end_of_a_window():
    windows = [("a", 0, 1000, 10.0), ("a", 1000, 1500, 20.0), ("b", 0, 700, 30.0)]
    svg, is_pooled = depth_along_figure(windows)
    assert not is_pooled
    lines = re.findall(r'<polyline points="([^"]+)"', svg)
    assert [len(line.split()) for line in lines] == [4, 2]
    ends = [float(line.split()[i].split(",")[0]) for line in lines for i in (0, -1)]
    assert ends[1] == ends[2]
    assert (ends[1] - ends[0]) / (ends[3] - ends[2]) == pytest.approx(1500 / 700, rel=0.01)


def test_many_windows_are_drawn_together_with_their_range():
    windows = [("a", i, i + 1, 100.0 if i == 5000 else 10.0) for i in range(10_000)]
    svg, is_pooled = depth_along_figure(windows)
    assert is_pooled
    assert len(svg) < 100_000
    assert re.findall(r'<polyline points="([^"]+)"', svg)[0].count(",") < 1500


def test_the_caption_of_depth_explains_what_is_drawn(folder):
    def caption():
        (text,) = [figure.caption for figure in figures_of(read_run(folder)) if figure.title == "Depth along contigs"]
        return text

    assert caption() == "Mean depth of windows. Lines part contigs."
    rows = "".join(f"contig_000001\t{i}\t{i + 1}\t9\n" for i in range(5000))
    path = folder / "depth_windows.tsv"
    path.write_text(path.read_text().splitlines()[0] + "\n" + rows)
    assert caption() == "Mean depth of windows; pale: from the least to the greatest of those drawn together."


def test_ticks_are_round_and_within_the_axis():
    assert ticks(100) == [0, 20, 40, 60, 80, 100]
    assert ticks(7.3) == [0, 2, 4, 6]
    assert ticks(0.011) == pytest.approx([0, 0.005, 0.01])
    assert [short(value) for value in (0, 300, 30_000, 2.5e6, 4e9)] == ["0", "300", "30k", "2.5M", "4G"]


def test_labels_are_text():
    chart = Chart("a <b>", "x & y", "z", 1.0, 1.0)
    chart.mark(0.5, "<i>")
    svg = chart.svg()
    assert "<b>" not in svg
    assert "<i>" not in svg
    assert "x &amp; y" in svg


def drawn(tmp_path, text):
    (tmp_path / "g.gfa").write_text(text)
    return graph_figure(read_segment_graph(tmp_path / "g.gfa"))


def test_the_graph_has_a_line_for_each_segment_and_one_tangle(tmp_path):
    found = drawn(tmp_path, GRAPH)
    assert (found.n_drawn, found.n_segments, found.n_tangles) == (6, 6, 1)
    coloured = [name for colour, name in re.findall(r'stroke="([^"]+)"[^>]*><title>(\w+)', found.svg)
                if colour != "var(--series-1)"]  # fmt: skip
    assert coloured == ["repeat"]
    assert drawn(tmp_path, GRAPH).svg == found.svg


def test_linked_ends_meet_at_one_place(tmp_path):
    svg = drawn(tmp_path, GRAPH).svg
    path = {name: d for d, name in re.findall(r'<path d="([^"]+)"[^>]*><title>(\w+)', svg)}
    ends = {name: (d[1:].split("Q")[0], " ".join(d.split()[-2:])) for name, d in path.items() if "Q" in d}
    assert ends["left_1"][1] == ends["left_2"][1] == ends["repeat"][0]
    assert ends["right_1"][0] == ends["right_2"][0] == ends["repeat"][1]
    assert "a" in path["circle"]


def test_strands_of_links_join_the_right_ends(tmp_path):
    found = drawn(tmp_path, "S\ta\t*\tLN:i:50\nS\tb\t*\tLN:i:50\nL\ta\t-\tb\t-\t9M\n")
    first, second = re.findall(r'<path d="M([\d.]+ [\d.]+)Q[\d.]+ [\d.]+ ([\d.]+ [\d.]+)"', found.svg)
    assert first[0] == second[1]
    assert first[1] != second[0]


def test_a_component_of_too_many_segments_is_not_drawn(tmp_path):
    n = MOST_SEGMENTS + 1
    chain = "".join(f"S\t{i}\t*\tLN:i:99\n" for i in range(n)) + "".join(
        f"L\t{i}\t+\t{i + 1}\t+\t9M\n" for i in range(n - 1)
    )
    assert drawn(tmp_path, chain) is None
    assert drawn(tmp_path, "S\ta\t*\tLN:i:9\nS\tb\t*\tLN:i:9\n") is None
    assert drawn(tmp_path, "") is None
    two = "S\tx\t*\tLN:i:9000000\nS\ty\t*\tLN:i:9\nL\tx\t+\ty\t+\t1M\n"
    assert drawn(tmp_path, two + chain).n_drawn == 2
