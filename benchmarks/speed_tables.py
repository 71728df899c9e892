"""Make the tables of time and memory, of exactness, of equal output on all devices, and of damaged inputs."""

from __future__ import annotations

from collections.abc import Iterator

from table_text import Result, dated, host, markdown, of


def speed(results: list[Result]) -> str:
    """Time and memory of whole processes: gpuasm and its peers, on CPUs and GPUs."""
    used = [result for name in ("assemble", "peers", "side_by_side") for result in of(results, name)]
    rows: dict[tuple[object, ...], list[object]] = {}
    for task, reads, *row, wall, cpu, peak in (row for result in used for row in _processes(result)):
        rows.setdefault((task, reads, *row), [wall, cpu, peak])
    head = ["task", "reads", "host", "program", "device", "threads", "wall s", "CPU s", "peak MiB"]
    found = sorted(((*key, *figures) for key, figures in rows.items()), key=lambda row: tuple(map(str, row[:6])))
    return dated(used, markdown(head, found))


def _processes(result: Result) -> Iterator[list[object]]:
    """Yield task, reads, host, program, device, threads, wall time, CPU time and memory of each process."""
    for row in _fastest(result["rows"]) if result["benchmark"] == "assemble" else result["rows"]:
        task = row.get("comparison", "assemble")
        task += f", {row['jobs']} at the same time" if row.get("jobs", 1) > 1 else ""
        reads = row.get("reads", "E. coli, 60-fold").replace("_", " ")
        version = result["parameters"].get("peers", {}).get(row.get("program"), "")
        program = f"{row.get('program', 'gpuasm')} {version}".strip()
        wall, cpu = float(row["wall_s"]), row.get("cpu_s")
        peak = row.get("peak_rss_mb")
        yield [task, reads, host(result), program, row["device"], row["threads"],
               f"{wall:.1f}", None if cpu is None else round(cpu), peak]  # fmt: skip


def _fastest(rows: list[Result]) -> list[Result]:
    """Return the fastest run for each device and number of threads, on reads as given."""
    best: dict[tuple[str, int], Result] = {}
    for row in rows:
        key = row["device"], row["threads"]
        if row["order"] == "as given" and (key not in best or row["wall_s"] < best[key]["wall_s"]):
            best[key] = row
    return list(best.values())


def tenths(results: list[Result]) -> str:
    """Return what the main thread of a command did most of the time, tenth of a second by tenth."""
    used = of(results, "tenths")
    rows = [
        [host(result), f"{row['from_s']:.1f}", row["tenths"], row["what"]] for result in used for row in result["rows"]
    ]
    return dated(used, markdown(["host", "from s", "tenths", "most of the time"], rows)) if rows else ""


def counting(results: list[Result]) -> str:
    """Time to count the 31-mers of reads in memory."""
    used = of(results, "count_on_device")
    head = ["device", "counted", "windows", "distinct", "first s", "median s"]
    rows = [
        [row["device"], "k-mers and edges" if row["followers"] else "k-mers", row["windows"], row["distinct"],
         float(row["first_s"]), f"{row['median_s']:.3f}"]
        for result in used for row in result["rows"]
    ]  # fmt: skip
    return dated(used, markdown(head, rows))


def exactness(results: list[Result]) -> str:
    """k-mers and unitigs against KMC's and BCALM's."""
    used = of(results, "exactness")
    rows = [_exact_row(row, result["parameters"]["peers"]) for result in used for row in result["rows"]]
    return dated(used, markdown(["compared", "peer", "gpuasm", "peer's", "differing"], rows))


def _exact_row(row: Result, peers: dict[str, str]) -> list[object]:
    peer = f"{row['peer']} {peers.get(row['peer'], '')}".strip()
    if row["what"] == "spectrum":
        what, key = f"distinct {row['k']}-mers, and classes of the spectrum that differ", "distinct"
    else:
        what, key = f"unitigs, k = {row['k']}, k-mers seen {row['min_count']} times or more", "unitigs"
    return [what, peer, row["gpuasm"][key], row["other"][key], row["differing"]]


def same_bytes(results: list[Result]) -> str:
    """How many different outputs the runs on all devices, numbers of threads and orders of reads have."""
    used = of(results, "assemble")
    rows = []
    for name, some in (*((host(result), [result]) for result in used), ("all", used)):
        runs = [row for result in some for row in result["rows"]]
        if runs:
            sums = [len({row[key] for row in runs}) for key in ("sha256", "graph_sha256", "scaffolds_sha256")]
            given = [", ".join(sorted({str(row[key]) for row in runs})) for key in ("device", "threads", "order")]
            rows.append([name, *given, len(runs), *sums])
    head = ["host", "devices", "threads", "order of reads", "runs", "different contigs", "graphs", "scaffolds"]
    return dated(used, markdown(head, rows))


def fuzz(results: list[Result]) -> str:
    """Fuzzed inputs of readers and of commands: how many were read, refused, or failed."""
    used = of(results, "fuzz")
    counts = ("inputs", "read", "refused", "failures")
    rows = [row for result in used for row in result["rows"]]
    found: list[list[object]] = []
    for name, is_of_commands in (("readers", (False,)), ("commands", (True,)), ("all", (False, True))):
        own = [row for row in rows if (row["kind"] == "commands") in is_of_commands]
        n_formats, peak = len({row["format"] for row in own}), max((row["peak_bytes"] for row in own), default=0)
        found.append([name, n_formats, *(sum(row[name] for row in own) for name in counts), peak >> 20])
    return dated(used, markdown(["inputs of", "kinds", *counts, "peak MiB"], found))
