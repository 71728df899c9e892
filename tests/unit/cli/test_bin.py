"""The bin command: every file is always written, and each refusal contains a remedy."""

from __future__ import annotations

import json

import numpy as np
import pytest

from gpuasm.cli.contig_map_file import save_contig_map
from gpuasm.clustering.bins.bins import train_contig_map
from gpuasm.io import write_fasta
from gpuasm.io.contigs import read_contigs
from tests.communities import community
from tests.tables import rows_of

FILES = {
    "bins.tsv", "contigs.tsv", "contigs2bin.tsv", "map.npz", "map.tsv", "report.html", "run.json", "training.tsv",
    "unbinned.fasta",
}  # fmt: skip
OPTIONS = ("--min-bin", 100_000, "--device", "cpu", "-q")


@pytest.fixture(scope="module")
def contigs_and_owner():
    return community(3)


@pytest.fixture
def contigs(tmp_path, contigs_and_owner):
    """Return the path of the contigs of three genomes, the last contig a circle."""
    found, _ = contigs_and_owner
    path = tmp_path / "contigs.fasta"
    headers = [f"depth={depth:.2f}" for depth in found.depth[:, 0]]
    headers[-2] += " circular=yes"
    codes = [found.codes[a:b] for a, b in zip(found.start, found.start[1:], strict=False)]
    write_fasta(path, found.names, headers, codes)
    return path


@pytest.fixture(scope="module")
def trained_map(tmp_path_factory, contigs_and_owner):
    """Return the path of a small map."""
    path = tmp_path_factory.mktemp("map") / "map.npz"
    save_contig_map(path, train_contig_map(contigs_and_owner[0]))
    return path


def status(folder):
    assert {path.name for path in folder.iterdir()} == FILES | {"bins"}
    return json.loads((folder / "run.json").read_text())["status"]


def test_bins_hold_the_genomes(run_cli, tmp_path, contigs, contigs_and_owner):
    found, owner = contigs_and_owner
    out = tmp_path / "out"
    code, printed, _ = run_cli("bin", contigs, "-o", out, *OPTIONS)
    assert code == 0
    assert "3 bins" in printed
    assert status(out) == "done"
    bin_of = {row["contig"]: row["bin"] for row in rows_of(out / "contigs.tsv")}
    assert list(bin_of) == found.names
    pairs = [line.split("\t") for line in (out / "contigs2bin.tsv").read_text().splitlines()]
    assert pairs == [[name, b] for name, b in bin_of.items() if b]
    genomes = [{bin_of[name] for name, o in zip(found.names, owner, strict=True) if o == g} - {""} for g in range(3)]
    assert [len(bins) for bins in genomes] == [1, 1, 1]
    assert set.union(*genomes) == {"bin_001", "bin_002", "bin_003"}
    table = rows_of(out / "bins.tsv")
    for row in table:
        inside = read_contigs(out / "bins" / f"{row['bin']}.fasta")
        assert {c.name for c in inside} == {name for name, b in bin_of.items() if b == row["bin"]}
        assert int(row["bases"]) == sum(c.codes.size for c in inside)
        assert int(row["contigs"]) == len(inside)
        assert float(row["gc"]) == pytest.approx(
            np.isin(np.concatenate([c.codes for c in inside]), [1, 2]).mean(), abs=1e-5
        )
    assert {c.name for c in read_contigs(out / "unbinned.fasta")} == {name for name, b in bin_of.items() if not b}
    assert sorted(round(float(row["depth"])) for row in table) == [10, 20, 30]
    notes = {row["contig"]: row["note"] for row in rows_of(out / "contigs.tsv") if row["note"]}
    assert notes == {found.names[-2]: "plasmid or phage"}


def test_tables_of_the_map_fit_the_map(run_cli, tmp_path, contigs):
    out = tmp_path / "out"
    assert run_cli("bin", contigs, "-o", out, *OPTIONS)[0] == 0
    described = json.loads((out / "run.json").read_text())["results"]["map"]
    units = rows_of(out / "map.tsv")
    assert len(units) == described["rows"] * described["columns"]
    assert sum(int(unit["windows"]) for unit in units) == described["windows"]
    assert {unit["bin"] for unit in units} == {"bin_001", "bin_002", "bin_003"}
    errors = [float(row["quantisation"]) for row in rows_of(out / "training.tsv")]
    assert errors[-1] < errors[0]
    page = (out / "report.html").read_text()
    assert "Map of contigs" in page
    assert page.count("<svg") == 2


def test_a_map_trained_before_gives_the_same_bins(run_cli, tmp_path, contigs):
    assert run_cli("bin", contigs, "-o", tmp_path / "one", *OPTIONS)[0] == 0
    assert run_cli("bin", contigs, "-o", tmp_path / "map", "--stop-after", "map", *OPTIONS)[0] == 0
    assert {path.name for path in (tmp_path / "map").iterdir()} == {"map.npz", "map.tsv", "training.tsv", "run.json"}
    assert json.loads((tmp_path / "map" / "run.json").read_text())["status"] == "stopped after map"
    assert run_cli("bin", contigs, "-o", tmp_path / "two", "--map", tmp_path / "map" / "map.npz", *OPTIONS)[0] == 0
    for name in ("bins.tsv", "contigs.tsv", "map.tsv", "training.tsv", "bins/bin_001.fasta"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


def test_bins_of_an_earlier_run_are_removed(run_cli, tmp_path, contigs):
    out = tmp_path / "out"
    assert run_cli("bin", contigs, "-o", out, *OPTIONS)[0] == 0
    (out / "bins" / "mine.fasta").write_text("")
    assert run_cli("bin", contigs, "-o", out, "--min-bin", 100_000_000, "--device", "cpu", "-q")[0] == 0
    assert sorted(path.name for path in (out / "bins").iterdir()) == ["bin_001.fasta", "mine.fasta"]


def test_depth_of_several_samples(run_cli, tmp_path, contigs, contigs_and_owner):
    found, owner = contigs_and_owner
    table = tmp_path / "depth.tsv"
    table.write_text(
        "contig\tday 1\tday 2\n"
        + "".join(f"{n}\t{9 - o}\t{4 + 5 * o}\n" for n, o in zip(found.names, owner, strict=True))
    )
    assert run_cli("bin", contigs, "--depth", table, "-o", tmp_path / "out", *OPTIONS)[0] == 0
    found_rows = rows_of(tmp_path / "out" / "bins.tsv")
    assert sorted((row["depth_day 1"], row["depth_day 2"]) for row in found_rows) == [
        ("7", "14"),
        ("8", "9"),
        ("9", "4"),
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no contig at all"),
        (">a depth=3\nACGTACGT\n>b depth=4\nACGT\n", "none among 2, the longest has 8"),
        (">a\n" + "N" * 3000 + "\n", "found only such of mostly N"),
    ],
)
def test_nothing_to_bin_is_no_error_and_all_files_are_there(run_cli, tmp_path, text, reason):
    path, out = tmp_path / "contigs.fasta", tmp_path / "out"
    path.write_text(text)
    code, printed, warnings = run_cli("bin", path, "-o", out, "--device", "cpu", "-q")
    assert code == 0
    assert reason in printed
    assert reason in warnings
    assert reason in status(out)
    assert rows_of(out / "bins.tsv") == []
    assert (out / "bins.tsv").read_text().startswith("bin\t")
    assert len(rows_of(out / "contigs.tsv")) == text.count(">")
    assert (out / "unbinned.fasta").read_text().count(">") == text.count(">")


def test_the_empty_map_of_too_short_contigs_bins_nothing(run_cli, tmp_path):
    path, out = tmp_path / "contigs.fasta", tmp_path / "out"
    path.write_text(">a depth=3\nACGT\n")
    assert run_cli("bin", path, "-o", tmp_path / "map", "--stop-after", "map", "--device", "cpu", "-q")[0] == 0
    assert (tmp_path / "map" / "map.npz").read_bytes() == b""
    assert run_cli("bin", path, "--map", tmp_path / "map" / "map.npz", "-o", out, "--device", "cpu", "-q")[0] == 0
    assert "no contig was long enough" in status(out)
    assert (out / "unbinned.fasta").read_text().startswith(">a ")


def test_one_contig_is_one_bin(run_cli, tmp_path, rng):
    path = tmp_path / "contigs.fasta"
    write_fasta(path, ["phage"], ["depth=30 circular=yes"], [rng.integers(0, 4, 5386, np.uint8)])
    code, printed, _ = run_cli("bin", path, "-o", tmp_path / "out", "--device", "cpu", "-q")
    assert (code, "1 bin, 100.0 %" in printed) == (0, True)
    (row,) = rows_of(tmp_path / "out" / "bins.tsv")
    assert (row["contigs"], row["bases"], row["circular"], row["silhouette"]) == ("1", "5386", "1", "")


def test_contigs_without_depth_are_binned_by_composition_with_a_warning(run_cli, tmp_path, contigs):
    text = contigs.read_text().replace("depth=", "was=")
    contigs.write_text(text)
    code, _, warnings = run_cli("bin", contigs, "-o", tmp_path / "out", *OPTIONS)
    assert code == 0
    assert "composition alone" in warnings
    assert "depth" not in rows_of(tmp_path / "out" / "bins.tsv")[0]
    code, _, warnings = run_cli("bin", contigs, "--no-depth", "-o", tmp_path / "out", *OPTIONS)
    assert (code, warnings) == (0, "")


def test_damaged_contigs_are_refused_and_all_files_are_there(run_cli, tmp_path):
    path = tmp_path / "contigs.fasta"
    path.write_text("no contigs\n")
    code, _, printed = run_cli("bin", path, "-o", tmp_path / "out", "--device", "cpu", "-q")
    assert code == 65
    assert "FASTA" in printed
    assert "FASTA" in status(tmp_path / "out")


def test_wrong_maps_are_refused(run_cli, tmp_path, contigs):
    wrong = tmp_path / "wrong.npz"
    wrong.write_text("no map")
    code, _, printed = run_cli("bin", contigs, "--map", wrong, "-o", tmp_path / "out", *OPTIONS)
    assert (code, "a map that gpuasm bin wrote" in printed) == (65, True)
    np.savez(wrong, a=np.zeros(3))
    assert run_cli("bin", contigs, "--map", wrong, "-o", tmp_path / "out", *OPTIONS)[0] == 65
    code, _, printed = run_cli("bin", contigs, "--map", tmp_path / "none.npz", "-o", tmp_path / "out", *OPTIONS)
    assert (code, "--stop-after map" in printed) == (66, True)


def test_a_map_with_depth_wants_depth(run_cli, tmp_path, contigs):
    assert run_cli("bin", contigs, "-o", tmp_path / "map", "--stop-after", "map", *OPTIONS)[0] == 0
    saved = tmp_path / "map" / "map.npz"
    code, _, printed = run_cli("bin", contigs, "--no-depth", "--map", saved, "-o", tmp_path / "out", *OPTIONS)
    assert (code, "depth of 1 samples" in printed) == (65, True)


def test_contradictions_are_refused(run_cli, tmp_path, contigs):
    code, _, printed = run_cli("bin", contigs, "--no-depth", "--depth", contigs, "-o", tmp_path / "out")
    assert (code, "leave one out" in printed) == (2, True)


def test_the_folder_of_an_assembly_is_not_written_into(run_cli, tmp_path, contigs):
    (tmp_path / "run.json").write_text('{"command": "assemble"}')
    code, _, printed = run_cli("bin", contigs, "-o", tmp_path, *OPTIONS)
    assert (code, "a folder of its own" in printed) == (2, True)


def test_missing_contigs_are_refused(run_cli, tmp_path):
    assert run_cli("bin", tmp_path / "none.fasta", "-o", tmp_path / "out", "-q")[0] == 66


@pytest.mark.parametrize("name", ["pieces", "axes", "scale", "depth_scale", "weights", "size", "threshold"])
@pytest.mark.parametrize("harm", ["zero", "huge", "cut", "missing"])
def test_a_damaged_map_is_refused(run_cli, tmp_path, contigs, trained_map, name, harm):
    with np.load(trained_map) as stored:
        arrays = {key: stored[key] for key in stored.files}
    match harm:
        case "zero":
            arrays[name] = np.zeros_like(arrays[name])
        case "huge":
            arrays[name] = np.full_like(arrays[name], 1e38 if arrays[name].dtype == np.float32 else 2**62)
        case "cut":
            arrays[name] = arrays[name][:-1] if arrays[name].ndim else arrays[name][None]
        case _:
            del arrays[name]
    np.savez(tmp_path / "damaged.npz", **arrays)
    code, _, err = run_cli("bin", contigs, "--map", tmp_path / "damaged.npz", "-o", tmp_path / "out", *OPTIONS)
    may_be = {("axes", "zero"), ("weights", "zero"), ("threshold", "zero"), ("threshold", "huge")}
    assert code == 65 or ((name, harm) in may_be and code == 0), err
    assert code == 0 or "expected a map that gpuasm bin wrote" in err or "weights of" in err
