"""Verdicts: limits, evidence from the files of a run, and the tables that hold the limits."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import gpuasm
from gpuasm.cli import main
from gpuasm.errors import DataError
from gpuasm.report import add_checks, read_run, render
from gpuasm.report.binned_contigs import BinnedContigs
from gpuasm.report.inputs import ContigRow, Run
from gpuasm.report.peaks import find_peaks
from gpuasm.report.verdict import WORDING, judge, verdict_of
from gpuasm.report.verdict_evidence import Evidence, evidence_of
from gpuasm.report.verdict_shown import table_of_checks
from gpuasm.report.verdict_thresholds import (
    CHECKS,
    SHIPPED,
    Threshold,
    read_thresholds,
    shipped_thresholds,
    stored_thresholds,
)
from tests.report_files import CONTIGS, MANIFEST, SPECTRUM, parse

TITLES = "check\twarn_below\tfail_below\twarn_above\tfail_above\tcommunities\n"


def contig(length, depth, gc=0.5):
    return ContigRow("c", length, depth, 1, circular=False, gc=gc)


def run_of(*contigs, mode="isolate", requested="auto", **manifest):
    """Return a run of contigs; the rest goes into the results."""
    results = {"mode": {"name": mode, "reason": "as found"}, **manifest.pop("results", {})}
    known = {"status": "done", "parameters": {"mode": requested}, "results": results, **manifest}
    return Run("sample", None, manifest=known, contigs=list(contigs))


GOOD = [contig(2_000_000, 41), contig(900_000, 39), contig(40_000, 43), contig(3000, 120)]


@pytest.mark.parametrize(
    ("value", "level"),
    [(5, "fail"), (10, "warn"), (15, "warn"), (20, "pass"), (100, "pass"), (101, "warn"), (300, "fail")],
)
def test_limits_are_passed_by_values_that_reach_them(value, level):
    limits = [Threshold("depth", 20, 10, 100, 200)]
    verdict = judge(Evidence({"depth": value}), limits)
    assert verdict.level == level
    assert bool(verdict.reasons) == (level != "pass")


def test_the_worst_check_is_the_verdict_and_comes_first():
    values = {"depth": 11, "contigs": 3000, "quality": 36}
    verdict = judge(Evidence(values), shipped_thresholds())
    assert verdict.level == "fail"
    assert verdict.reasons[0].startswith("contigs of 500 bases and more: 3,000, more than 1,000")
    assert verdict.reasons[1].startswith("mean depth: 11.0-fold, less than 12.0-fold")
    assert {check.name: check.level for check in verdict.checks} == {
        "depth": "warn",
        "contigs": "fail",
        "quality": "pass",
    }
    assert "duplicates" in verdict.not_judged


@pytest.mark.parametrize(
    ("limit", "value", "shown"),
    [
        (Threshold("depth", warn_below=12), 11.96, "mean depth: 11.96-fold, less than 12.0-fold"),
        (Threshold("depth", warn_below=12), 11.5, "mean depth: 11.5-fold, less than 12.0-fold"),
        (Threshold("depth", warn_below=12.06), 12.057, "mean depth: 12.057-fold, less than 12.06-fold"),
        (Threshold("depth", warn_below=12.06), 11.96, "mean depth: 12.0-fold, less than 12.06-fold"),
        (Threshold("n50", warn_below=10_000), 9999.7, "N50 in bases: 9,999.7, less than 10,000"),
        (Threshold("size", warn_above=1.15), 1.1502, "assembled bases for each expected base: 1.1502, more than 1.15"),
        (Threshold("phix", warn_above=0.01), 0.010004, "reads of PhiX174: 1.0004 %, more than 1.0 %"),
        (Threshold("adapters", warn_above=0.07), 0.0702, "reads that run into an adapter: 7.02 %, more than 7.0 %"),
        (Threshold("reads_aligned", warn_below=0.01), 0.009999, "reads in the assembly: 0.9999 %, less than 1.0 %"),
        (Threshold("duplicates", warn_above=0.0002), 0.0003, "duplicate pairs: 0.03 %, more than 0.02 %"),
    ],
)  # fmt: skip
def test_a_value_is_shown_on_its_side_of_the_limit(limit, value, shown):
    (reason,) = judge(Evidence({limit.check: value}), [limit]).reasons
    assert reason.startswith(f"{shown};")


def test_values_and_limits_of_the_table_differ_as_they_are():
    values = {"depth": 12.04, "phix": 0.0099999, "adapters": 0.2, "quality": 35.5}
    rows = {row[0]: row[1:5] for row in table_of_checks(judge(Evidence(values), shipped_thresholds())).rows}
    assert rows == {
        "mean depth": ("12.04-fold", "pass", "12.0-fold", ""),
        "reads of PhiX174": ("0.99999 %", "pass", "", "1.0 %"),
        "reads that run into an adapter": ("20.0 %", "pass", "", "20.0 %"),
        "mean quality of the reads": ("35.50", "pass", "25.00", ""),
    }


def test_runs_without_final_contigs():
    run = run_of()
    run.manifest["status"] = "no solid k-mer"
    assert (verdict_of(run).level, verdict_of(run).reasons) == ("fail", ["no solid k-mer"])
    run = run_of(*GOOD)
    run.manifest["status"] = "stopped after reads"
    assert (verdict_of(run).level, verdict_of(run).reasons) == (
        "warn",
        ["the contigs are not final: stopped after reads"],
    )
    assert verdict_of(Run("failed", None)).level == "fail"


def test_a_clean_isolate_passes():
    verdict = verdict_of(run_of(*GOOD, results={"reads": 100, "reads_aligned": 99}))
    assert (verdict.level, verdict.reasons) == ("pass", [])


@pytest.mark.parametrize(
    ("contigs", "check", "part"),
    [
        ([contig(600_000, 40), contig(300_000, 12)], "depth_peaks", "33% at about 12-fold with 13% of the reads"),
        ([contig(600_000, 40), contig(300_000, 120)], "depth_peaks", "33% at about 120-fold with 60% of the reads"),
        ([contig(600_000, 40, 0.35), contig(300_000, 40, 0.6)], "gc_peaks", "33% of about 60% GC"),
    ],
)
def test_a_second_peak_is_another_organism(contigs, check, part):
    verdict = verdict_of(run_of(*contigs))
    assert verdict.level == "fail"
    assert [judged.name for judged in verdict.checks if judged.level != "pass"] == [check]
    assert part in verdict.reasons[0]


def test_a_community_is_a_fault_unless_it_was_requested():
    contigs = [contig(600_000, 40), contig(300_000, 12)]
    by_auto, requested = (verdict_of(run_of(*contigs, mode="meta", requested=mode)) for mode in ("auto", "meta"))
    assert by_auto.level == "fail"
    assert "the mode is community, chosen by auto: as found" in by_auto.reasons
    assert (requested.level, requested.evidence.mode) == ("pass", "community, as requested")
    alone = verdict_of(run_of(*GOOD, mode="meta"))
    assert (alone.level, len(alone.reasons)) == ("warn", 1)
    population = run_of(*GOOD, results={"mode": {"name": "meta", "is_population": True, "reason": "short"}})
    assert verdict_of(population).reasons == ["the mode is population, chosen by auto: short"]


def test_a_second_bin_is_another_organism():
    run = run_of(*GOOD)
    rows = [
        {"bin": "bin_001", "bases": "600000", "depth": "40.0"},
        {"bin": "bin_002", "bases": "300000", "depth": "12.0"},
    ]
    run.binning = BinnedContigs(rows, [], [], [], 900_000, 900_000)
    verdict = verdict_of(run)
    assert verdict.level == "fail"
    assert "2 bins: 600,000 bases at 40.0-fold with 87% of the reads, 300,000" in verdict.reasons[0]
    run.binning = BinnedContigs(rows[:1], [], [], [], 600_000, 600_000)
    assert verdict_of(run).level == "pass"
    run.binning = BinnedContigs([{"bin": "x", "bases": "nan"}], [], [], [], 0, 0)
    assert "bins" in verdict_of(run).not_judged


def test_reads_are_judged_by_the_stages_of_a_run_or_by_their_check():
    inputs = [{"n_reads": 100, "n_bases": 1000, "n_non_acgt": 30, "mean_quality": 22.0},
              {"n_reads": 100, "n_bases": 3000, "n_non_acgt": 10, "mean_quality": 30.0}]  # fmt: skip
    counts = {"trim adapters": {"with_adapter": 50}, "remove duplicates": {"removed_pairs": 40}}
    stages = [{"name": name, "counts": found} for name, found in counts.items()]
    results = {"bases_mixed": 20, "bases_compared": 10_000, "phix_share": 0.01}
    run = run_of(*GOOD, inputs=inputs, stages=stages, results=results)
    values = evidence_of(run).values
    expected = {
        "adapters": 0.25,
        "duplicates": 0.4,
        "phix": 0.01,
        "quality": 28.0,
        "unknown_bases": 0.01,
        "mixed_bases": 0.002,
    }
    assert {name: round(values[name], 9) for name in expected} == expected
    shares = {"adapter_fraction": 0.1, "duplicate_fraction": 0.3, "duplicates_by_chance": 0.1, "phix_fraction": 0.05}
    run.check = {"files": [{"n_reads": 100, **shares}]}
    values = evidence_of(run).values
    assert [round(values[name], 9) for name in ("adapters", "duplicates", "phix")] == [0.1, 0.2, 0.05]
    run.manifest["parameters"]["remove_phix"] = True
    assert evidence_of(run).values["phix"] == 0.01


@pytest.mark.parametrize(
    ("size", "level"), [(2_943_000, "pass"), (3_600_000, "warn"), (5_886_000, "fail"), (1_000_000, "fail")]
)
def test_the_expected_size_of_the_genome(size, level):
    run = run_of(*GOOD)
    assert "size" in verdict_of(run).not_judged
    run.manifest["parameters"]["genome_size"] = size
    assert verdict_of(run).level == level


def test_short_genomes_are_not_judged_by_their_n50():
    assert "n50" in verdict_of(run_of(contig(5386, 40))).not_judged
    assert verdict_of(run_of(*[contig(2000, 40)] * 100)).level == "fail"


@pytest.mark.parametrize(
    ("values", "weights", "shares"),
    [
        ([1.0], [5], [1.0]),
        ([1.0, 1.2, 0.9], [50, 20, 30], [1.0]),
        ([1.0, 5.0, 9.0], [50, 30, 20], [0.5, 0.3, 0.2]),
        ([], [], []),
    ],
)
def test_peaks(values, weights, shares):
    assert [round(peak.share, 3) for peak in find_peaks(values, weights, deviation=0.25)] == shares


def test_the_shipped_table_has_each_check_once_and_each_has_words():
    assert tuple(threshold.check for threshold in shipped_thresholds()) == CHECKS == tuple(WORDING)


def test_the_page_about_verdicts_has_the_shipped_table_and_each_check():
    text = (Path(gpuasm.__file__).parents[1] / "docs" / "verdict.md").read_text()
    shipped = (Path(gpuasm.__file__).parent / "report" / "data" / SHIPPED).read_text()
    assert f"```\n{shipped}```\n" in text
    assert [check for check in CHECKS if f"`{check}`" not in text.split("## Evidence")[1]] == []


def test_thresholds_return_from_a_run_and_damaged_ones_do_not():
    stored = json.loads(json.dumps([threshold.as_dict() for threshold in shipped_thresholds()]))
    assert stored_thresholds(stored) == shipped_thresholds()
    for damaged in (
        None,
        [],
        5,
        "x",
        [3],
        [{"check": "none"}],
        [{"check": "depth", "communities": "maybe"}],
        [{"check": []}],
    ):
        assert stored_thresholds(damaged) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected the column"),
        ("check\tdepth\n", "expected the column"),
        (TITLES + "depth\t1\n", "for 6 titles"),
        (TITLES + "dept\t\t\t\t\tyes\n", "one of the checks"),
        (TITLES + "depth\tfew\t\t\t\tyes\n", "a number as warn_below"),
        (TITLES + "depth\tnan\t\t\t\tyes\n", "a number as warn_below"),
        (TITLES + "depth\t10\t20\t\t\tyes\n", "limits of depth that rise"),
        (TITLES + "depth\t10\t5\t\t\tperhaps\n", "yes or no"),
        (TITLES + "depth\t10\t5\t\t\tno\ndepth\t10\t5\t\t\tno\n", "each check once"),
    ],
)
def test_a_table_of_other_content_is_refused(tmp_path, text, message):
    (tmp_path / "own.tsv").write_text(text)
    with pytest.raises(DataError, match=message) as caught:
        read_thresholds(tmp_path / "own.tsv")
    assert str(caught.value.path) == str(tmp_path / "own.tsv")


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "phage"
    folder.mkdir()
    for name, text in {"run.json": json.dumps(MANIFEST), "contigs.tsv": CONTIGS, "spectrum.tsv": SPECTRUM}.items():
        (folder / name).write_text(text)
    return folder


def test_a_report_takes_a_table_of_thresholds(folder, tmp_path):
    (tmp_path / "own.tsv").write_text("# ours\n" + TITLES + "depth\t60\t50\t\t\tno\n")
    summaries = []
    for options in ([], ["--verdict-thresholds", str(tmp_path / "own.tsv")]):
        files = ["--summary", str(tmp_path / "summary.tsv"), "-o", str(tmp_path / "page.html")]
        with pytest.raises(SystemExit) as end:
            main(["report", str(folder), *options, *files])
        assert not end.value.code
        with (tmp_path / "summary.tsv").open(newline="") as file:
            summaries += csv.DictReader(file, delimiter="\t")
    assert [row["verdict"] for row in summaries] == ["pass", "fail"]
    assert "mean depth: 43.5-fold, less than 50.0-fold" in summaries[1]["remarks"]
    page = (tmp_path / "page.html").read_text()
    parse(page)
    assert "What was judged" in page


def test_a_run_keeps_the_thresholds_of_its_assembly(folder):
    strict = judge(Evidence(), [Threshold("depth", 60, 50)]).as_dict()
    (folder / "run.json").write_text(json.dumps(MANIFEST | {"results": MANIFEST["results"] | {"verdict": strict}}))
    assert verdict_of(read_run(folder)).level == "fail"


@pytest.mark.parametrize("value", [5, "x", [], {"a": []}, None])
@pytest.mark.parametrize("key", ["parameters", "inputs", "stages"])
def test_damaged_runs_get_a_verdict(folder, key, value):
    (folder / "run.json").write_text(json.dumps(MANIFEST | {key: value}))
    (folder / "check.json").write_text(json.dumps({"files": [{"adapter_fraction": value, "n_reads": value}, value]}))
    run = read_run(folder)
    add_checks([run], [folder / "check.json"])
    parse(render([run]))
