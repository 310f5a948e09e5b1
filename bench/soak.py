"""Kills the server at random instants while many people talk to it, and finds out what was lost.

    python bench/soak.py [--kills N] [--people N] [--seed N] [--keep DIR]

People say one numbered thing after the other to `prolocutor serve`, over real sockets, with an
`Idempotency-Key` each; where the line breaks they ask again until there is an answer. All services
fail now and then. The server gets SIGKILL a few milliseconds after it is ready, or before, and
starts again on the same file: most of the time forked from a process that has imported everything
(to save the time of the imports), one time in 20 as the real command. One life in 100 ends by
SIGTERM instead. At the end all that people saw is compared with the store. Exit status 1 if
anything differs; then the file stays.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.soaking.soak_run import Report, SoakRun


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=10_000, help="how often (10000)")
    parser.add_argument("--people", type=int, default=20, help="how many talk at once (20)")
    parser.add_argument("--seed", type=int, default=1, help="chooses faults, words, instants (1)")
    parser.add_argument("--keep", type=Path, help="the folder in which the file stays on failure")
    options = parser.parse_args()
    if options.keep is not None:
        options.keep.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="soak-", dir=options.keep))
    soak = SoakRun(folder, kills=options.kills, people=options.people, seed=options.seed)
    report = asyncio.run(soak.run())
    print(report.summary(options.seed))
    if not report.complaints:
        shutil.rmtree(folder)
        return
    show(report, folder)
    sys.exit(1)


def show(report: Report, folder: Path) -> None:
    """Print what differs and where to look for the cause."""
    print(f"\n{len(report.complaints)} things are wrong:", file=sys.stderr)
    for complaint in report.complaints:
        print(f"  {complaint}", file=sys.stderr)
    print(f"The file, the ledger and the server's log are in {folder}", file=sys.stderr)


if __name__ == "__main__":
    main()
