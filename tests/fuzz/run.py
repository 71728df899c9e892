"""Fuzz readers and commands for a time: ``python -m tests.fuzz.run --seconds 3600 --jobs 2 --json FILE``.

Each input is a mutation of a valid file or of one that reached new lines. It must be read, or refused with a documented
exit code and a message, within 30 seconds and 2 GB. Other inputs are kept in a folder.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from pathlib import Path

from tests.fuzz.counts import Counts
from tests.fuzz.targets import READERS, TARGETS
from tests.fuzz.workers import Workers, warm_up

_SECONDS_BETWEEN_WRITES = 20.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600.0, help="for all targets together")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--json", type=Path, help="counts, written again every 20 seconds")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--target", choices=[*TARGETS, "readers"], action="append", metavar="NAME")
    parser.add_argument("--keep", type=Path, default=Path("fuzz_failures"), help="folder of inputs that fail")
    parser.add_argument("--corpus", type=Path, help="folder of inputs that reach new lines, to go on with")
    parser.add_argument("--add", action="store_true", help="add to the counts that the file of --json has")
    options = parser.parse_args()
    named = options.target or list(TARGETS)
    names = [name for name in TARGETS if name in named or ("readers" in named and name in READERS)]
    counts = Counts(names, keep=options.keep)
    if options.add and options.json:
        counts.read(options.json)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    print(f"seed {options.seed}, {len(names)} targets", flush=True)
    warm_up(names, jobs=options.jobs)
    print("compiled", flush=True)
    written = time.monotonic()
    end = written + options.seconds
    try:
        with Workers(options.jobs, seed=options.seed, corpus=options.corpus) as workers:
            while time.monotonic() < end:
                for name, outcome in workers.next_outcomes(counts.next_target):
                    counts.add(name, outcome)
                if time.monotonic() > written + _SECONDS_BETWEEN_WRITES:
                    counts.write(options.json)
                    print(counts.line(), flush=True)
                    written = time.monotonic()
    finally:
        counts.write(options.json)
    print(counts.table())
    sys.exit(bool(counts.n_failures))


if __name__ == "__main__":
    main()
