"""Reports: complete runs, runs with nothing in them, runs whose files are missing; pages that need no network."""

from __future__ import annotations

import json
import re

import pytest

from gpuasm.cli import main
from gpuasm.report import (
    add_benchmarks,
    add_checks,
    add_status,
    inputs,
    read_run,
    render,
    write_report,
    write_run_report,
    write_summary,
)
from gpuasm.report.remarks import remarks
from gpuasm.report.statistics import aligned_share, nx_curve, summarise_lengths
from gpuasm.report.tables import bases, number, seconds
from gpuasm.report.verdict import verdict_of
from tests.report_files import CONTIGS, MANIFEST, SPECTRUM, parse


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "phage"
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps(MANIFEST))
    (folder / "contigs.tsv").write_text(CONTIGS)
    (folder / "spectrum.tsv").write_text(SPECTRUM)
    return folder


def test_page_of_a_whole_run(folder):
    path = write_run_report(folder)
    page = path.read_text()
    parse(page)
    assert path == folder / "report.html"
    assert page.count("<svg") == 3
    for text in (
        "Assembly of phage",
        "contig_000001",
        "solid from 3",
        "peak 40",
        "3, the valley",
        "count k-mers (k = 31)",
        "12,345 unitigs",
    ):
        assert text in page
    assert "reads hold &lt;b&gt;adapters" in page
    for text in ("0 tips", "disk bytes", "GPU memory"):
        assert text not in page


@pytest.mark.parametrize(("schema", "is_noted"), [(1, True), (inputs.SCHEMA_VERSION, False)])
def test_a_run_of_an_older_schema_is_read_and_noted(folder, schema, is_noted):
    (folder / "run.json").write_text(json.dumps(MANIFEST | {"schema_version": schema, "results": {"reads_on": 5}}))
    page = write_run_report(folder).read_text()
    parse(page)
    assert "contig_000001" in page
    assert ("older schema 1" in page) == is_noted
    assert aligned_share(read_run(folder)) is None


def test_page_is_the_same_each_time(folder):
    assert render([read_run(folder)]) == render([read_run(folder)])


def test_figures_take_the_colours_of_the_page(folder):
    svg = "".join(re.findall(r"<svg.*?</svg>", render([read_run(folder)]), flags=re.DOTALL))
    assert "currentColor" in svg
    assert "var(--series-1)" in svg
    assert re.findall(r"(?:fill|stroke): ?#[0-9a-f]{6}", svg) == []


@pytest.mark.parametrize("name", ["run.json", "contigs.tsv", "spectrum.tsv"])
@pytest.mark.parametrize("damage", ["missing", "empty", "damaged"])
def test_a_file_that_is_missing_empty_or_damaged_is_named(folder, name, damage):
    if damage == "missing":
        (folder / name).unlink()
    else:
        (folder / name).write_text("" if damage == "empty" else "name\tkmers\nx\ty\n")
    run = read_run(folder)
    page = render([run])
    parse(page)
    assert f"{name} is {damage}" in page
    assert run.status == {"run.json": "failed", "contigs.tsv": "empty", "spectrum.tsv": "ok"}[name]


def test_an_empty_folder_still_makes_a_page(tmp_path):
    page = write_run_report(tmp_path).read_text()
    parse(page)
    assert "run.json is missing" in page


def test_headers_without_rows_make_a_page_without_figures(folder):
    (folder / "contigs.tsv").write_text(CONTIGS.splitlines()[0] + "\n")
    (folder / "spectrum.tsv").write_text("multiplicity\tkmers\n")
    (folder / "run.json").write_text(json.dumps({**MANIFEST, "status": "no solid k-mer"}))
    run = read_run(folder)
    page = render([run])
    parse(page)
    assert "<svg" not in page
    assert (run.status, run.reason) == ("empty", "no solid k-mer")


def test_a_manifest_of_another_shape_makes_a_page(folder):
    (folder / "run.json").write_text(json.dumps({"stages": [{}], "inputs": ["x", {}], "results": [], "machine": {}}))
    parse(render([read_run(folder)]))


@pytest.fixture
def workflow(tmp_path, folder):
    """Return the folder of a workflow's results with a good and a bad sample."""
    for sample, status in (("good", "ok"), ("bad", "failed")):
        results = tmp_path / "results" / sample
        for part in ("assembly", "status", "benchmarks"):
            (results / part).mkdir(parents=True)
        for file in folder.iterdir():
            (results / "assembly" / file.name).write_text(file.read_text() if sample == "good" else "")
        for step, outcome in (("assemble_contigs", "ok" if status == "ok" else "skipped"), ("check_reads", status)):
            message = "" if outcome == "ok" else "bad_1.fq, record 3: expected a quality, found none; fetch it again"
            record = {"sample": sample, "step": step, "status": outcome, "exit_code": 65 * bool(message)}
            (results / "status" / f"{step}.json").write_text(json.dumps({**record, "message": message}))
        (results / "benchmarks" / "check_reads.tsv").write_text("s\th:m:s\tmax_rss\tcpu_time\n1.5\t0:00:01\t-\t2.25\n")
    return tmp_path / "results"


def test_command_shows_failed_samples_with_their_reason(workflow, tmp_path):
    page, summary = tmp_path / "page.html", tmp_path / "summary.tsv"
    runs = [f"{name}={workflow / name / 'assembly'}" for name in ("good", "bad")]
    files = ["--status", f"{workflow}/*/status/*.json", "--benchmarks", f"{workflow}/*/benchmarks/*.tsv"]
    with pytest.raises(SystemExit) as exit_:
        main(["report", *runs, *files, "-o", str(page), "--summary", str(summary)])
    assert exit_.value.code == 0
    text = page.read_text()
    parse(text)
    assert "1 of 2 samples could not be assembled" in text
    header, good, bad = [line.split("\t") for line in summary.read_text().splitlines()]
    good, bad = dict(zip(header, good, strict=True)), dict(zip(header, bad, strict=True))
    assert (good["status"], good["contigs"], good["bases"], good["n50"]) == ("ok", "2", "5886", "5386")
    assert bad["status"] == "failed"
    assert bad["reason"] == "check_reads: bad_1.fq, record 3: expected a quality, found none; fetch it again"


def test_steps_come_in_the_workflow_s_order_and_benchmarks_to_their_sample(workflow):
    run = read_run(workflow / "good" / "assembly", "good")
    add_status([run], [*workflow.glob("*/status/*.json"), workflow / "absent.json"])
    add_benchmarks([run], workflow.glob("*/benchmarks/*.tsv"))
    assert [step["step"] for step in run.steps] == ["check_reads", "assemble_contigs"]
    assert [(row["rule"], row["s"], row["max_rss"], row["cpu_time"]) for row in run.benchmarks] == [
        ("check_reads", 1.5, None, 2.25)
    ]


def test_command_refuses_what_is_no_folder_and_equal_names(tmp_path, capsys):
    for args, code in (([tmp_path / "absent"], 66), ([f"a={tmp_path}", f"a={tmp_path}"], 2)):
        with pytest.raises(SystemExit) as exit_:
            main(["report", *map(str, args), "-o", str(tmp_path / "page.html")])
        assert exit_.value.code == code
    assert not (tmp_path / "page.html").exists()


def checked(folder, reads=1000, aligned=990, mode="isolate", **manifest):
    results = {**MANIFEST["results"], "mode": {"name": mode}, "checked": {"reads": reads, "reads_aligned": aligned}}
    (folder / "run.json").write_text(json.dumps({**MANIFEST, "results": results, "warnings": [], **manifest}))
    return read_run(folder)


def remarks_of(run):
    return remarks(run, verdict_of(run))


def test_remarks_name_what_needs_attention(folder):
    run = checked(folder)
    assert remarks_of(run) == []
    assert aligned_share(run) == 0.99
    assert remarks_of(checked(folder, warnings=["one", "two"])) == ["2 warnings"]
    (folder / "contigs.tsv").write_text(CONTIGS.replace("40.1", "1.5").replace("80.0", "2.5"))
    assert [text.partition(",")[0] for text in remarks_of(checked(folder))] == ["mean depth: 1.6-fold"]


def test_remarks_of_the_check(folder):
    check = folder.parent / "phage" / "check.json"
    found = {"warnings": ["a_1.fq: 3.3% are of PhiX"], "files": [{"phix_fraction": 0.033}, {"phix_fraction": 0.01}]}
    check.write_text(json.dumps(found))
    run = checked(folder)
    add_checks([run], [check, folder / "absent.json"])
    assert [text.partition(",")[0] for text in remarks_of(run)] == ["reads of PhiX174: 2.2 %"]
    page = render([run])
    assert "a_1.fq: 3.3% are of PhiX" in page


def test_summary_has_the_figures_of_isolates(folder, tmp_path):
    write_summary([checked(folder)], tmp_path / "summary.tsv")
    header, row = [line.split("\t") for line in (tmp_path / "summary.tsv").read_text().splitlines()]
    row = dict(zip(header, row, strict=True))
    gc = (5386 * 0.447 + 500 * 0.5) / 5886
    assert (row["n50"], row["l50"], row["gc"], row["depth"]) == ("5386", "1", f"{gc:.4f}", "43.5")
    assert (row["reads"], row["reads_aligned"], row["bins"], row["remarks"]) == ("1000", "0.9900", "", "")


def test_a_page_of_many_runs_links_to_the_pages_of_each(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("gpuasm.report.page.MAX_DRAWN", 3)
    write_run_report(folder)
    runs = [read_run(folder, f"sample {number}") for number in range(4)]
    (tmp_path / "reports").mkdir()
    page = tmp_path / "reports" / "page.html"
    write_report(runs, page)
    text = page.read_text()
    parse(text)
    assert "<svg" not in text
    assert text.count('<a href="../phage/report.html">phage</a>') == len(runs)
    write_report(runs[:3], page)
    assert page.read_text().count("<svg") == 3 * 3


def test_a_link_to_a_folder_has_a_name_of_its_own(folder, tmp_path, capsys):
    (tmp_path / "linked").symlink_to(folder)
    assert read_run(tmp_path / "linked").name == "linked"
    with pytest.raises(SystemExit):
        main(["report", str(folder), str(tmp_path / "linked"), str(folder), "-o", str(tmp_path / "page.html")])
    assert "found two named 'phage'; write NAME=FOLDER" in capsys.readouterr().err


def test_summary_of_nothing_has_a_header(tmp_path):
    write_summary([], tmp_path / "summary.tsv")
    assert (tmp_path / "summary.tsv").read_text().startswith("sample\tstatus\t")


def test_lengths():
    lengths = summarise_lengths([10, 40, 20, 30])
    assert (lengths.n, lengths.total, lengths.longest, lengths.n50, lengths.l50) == (4, 100, 40, 30, 2)
    assert lengths.aun == pytest.approx((100 + 1600 + 400 + 900) / 100)
    assert summarise_lengths([]).n50 == 0


def test_nx_curve_ends_at_all_bases():
    percent, length = nx_curve([10, 30])
    assert percent == [0, 75, 75, 100]
    assert length == [30, 30, 10, 10]


def test_numbers_as_text():
    assert [bases(value) for value in (None, 999, 5386, 48_502, 611_033, 4_641_652)] == [
        "\N{EN DASH}", "999 bp", "5,386 bp", "48.5 kb", "611 kb", "4.64 Mb",
    ]  # fmt: skip
    assert [seconds(value) for value in (None, 0.5, 12.34, 1234.5)] == ["\N{EN DASH}", "0.50", "12.3", "1,234"]
    assert number(1234.56, 1) == "1,234.6"
