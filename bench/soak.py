"""Kills the server at random instants, or simulates a day, and finds out what is lost.

    python bench/soak.py [--kills N] [--people N] [--seed N] [--keep DIR]
    python bench/soak.py --people 5000 [--minutes N] [--visits N] [--seed N] [--keep DIR]

**Kills.** People say one numbered thing after the other to `prolocutor serve`, over real sockets,
with an `Idempotency-Key` each; where the line breaks they ask again until there is an answer. All
services fail now and then. The server gets SIGKILL a few milliseconds after it is ready, or
before, and starts again on the same file: most of the time forked from a process that has imported
everything (to save the time of the imports), one time in 20 as the real command. One life in 100
ends by SIGTERM instead. At the end all that people saw is compared with the store. Exit status 1
if anything differs; then the file stays.

**A day** (`--people` without `--kills`): so many people come and go, by HTTP and by sockets, in
`--minutes` (60) in place of 24 hours, while services in the server and behind HTTP fail at random.
Memory, open files, threads and the latency of turns are those of the morning in the evening, and
every turn has an answer, or the exit status is 1.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.soaking.day_run import DayRun
from bench.soaking.soak_run import Report, SoakRun


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, help="how often (10000, without people)")
    parser.add_argument("--people", type=int, help="of a day, or who talk between kills (20)")
    parser.add_argument("--minutes", type=float, default=60, help="that a day takes (60)")
    parser.add_argument("--visits", type=int, help="visits a day (twice the people)")
    parser.add_argument("--seed", type=int, default=1, help="chooses faults, words, instants (1)")
    parser.add_argument("--keep", type=Path, help="the folder in which the file stays on failure")
    options = parser.parse_args()
    if options.keep is not None:
        options.keep.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="soak-", dir=options.keep))
    if options.people is not None and options.kills is None:
        live_a_day(folder, options)
        return
    kills, people = options.kills or 10_000, options.people or 20
    soak = SoakRun(folder, kills=kills, people=people, seed=options.seed)
    report = asyncio.run(soak.run())
    print(report.summary(options.seed))
    if not report.complaints:
        shutil.rmtree(folder)
        return
    show(report, folder)
    sys.exit(1)


def live_a_day(folder: Path, options: argparse.Namespace) -> None:
    """Simulate a day, print its figures, and end with 1 if something did not stay as it was."""
    day = DayRun(
        folder,
        people=options.people,
        visits=options.visits or 2 * options.people,
        seconds=60 * options.minutes,
        seed=options.seed,
    )
    report = asyncio.run(day.run())
    print(report.summary())
    if not report.complaints:
        shutil.rmtree(folder)
        return
    for complaint in report.complaints:
        print(f"  {complaint}", file=sys.stderr)
    print(f"The file and the server's log are in {folder}", file=sys.stderr)
    sys.exit(1)


def show(report: Report, folder: Path) -> None:
    """Print what differs and where to look for the cause."""
    print(f"\n{len(report.complaints)} things are wrong:", file=sys.stderr)
    for complaint in report.complaints:
        print(f"  {complaint}", file=sys.stderr)
    print(f"The file, the ledger and the server's log are in {folder}", file=sys.stderr)


if __name__ == "__main__":
    main()
