"""What a turn costs: CPU milliseconds of our process, beside the neighbours where they are there.

    python bench/turns.py                         ours alone: a few minutes
    python bench/turns.py --peers                 with dp-agent, Agent Squad and LangGraph
    python bench/turns.py --only turns door       some of the tables
    python bench/turns.py --profile               where the time goes, instead of how much it is
    python bench/turns.py --quick --dry-run       whether all this still works

Every measurement is a process of its own; with --peers ours and theirs take turns, round by round,
and the ratios are taken within a round. Prints the tables and writes them to bench/README.md,
the raw figures to bench/benchmarks.json (not if only some of the tables were asked for). The files
that are measured lie in build/bench/, on a real disk one hopes; --dir puts them elsewhere.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.peers.setup import PEERS, python_of
from bench.turns import machine, profiling
from bench.turns.contest import Setting, tell
from bench.turns.report import markdown, written
from bench.turns.sections import QUICK, SECTIONS, measured

ROOT = Path(__file__).resolve().parents[1]
BENCH = ROOT / "bench"


def main() -> None:
    options = arguments()
    options.dir.mkdir(parents=True, exist_ok=True)
    if options.profile:
        with tempfile.TemporaryDirectory(dir=options.dir) as folder:
            found = profiling.profiled(Path(folder), options.variant, options.store)
        profiling.show(found)
        return
    missing = [name for name in PEERS if not python_of(name).exists()] if options.peers else []
    if missing:
        sys.exit(f"no environment of {', '.join(missing)}: run bench/peers/setup.py")
    setting = Setting(
        folder=options.dir,
        rounds=1 if options.quick else options.rounds,
        peers=options.peers,
        quick=options.quick,
        compiled=compiled_in(options.compiled),
    )
    report, raw = measure(setting, options.only or (QUICK if options.quick else SECTIONS))
    print(report)
    if options.only or options.dry_run or options.quick:
        return
    written(BENCH / "README.md", report)
    (BENCH / "benchmarks.json").write_text(json.dumps(raw, indent=1) + "\n")
    tell("Written to bench/README.md and bench/benchmarks.json")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    beside = parser.add_mutually_exclusive_group()
    beside.add_argument("--peers", action="store_true", help="measure the neighbours too")
    beside.add_argument("--no-peers", dest="peers", action="store_false", help="ours alone")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is run (3)")
    parser.add_argument("--only", nargs="+", choices=list(SECTIONS), metavar="TABLE",
                        help=f"of {', '.join(SECTIONS)}")  # fmt: skip
    parser.add_argument("--dry-run", action="store_true", help="print, write no docs")
    parser.add_argument("--quick", action="store_true", help="a few turns; writes no docs either")
    parser.add_argument("--dir", type=Path, default=ROOT / "build" / "bench")
    parser.add_argument("--compiled", type=Path, default=ROOT / "build" / "compiled" / "site",
                        metavar="SITE", help="where a compiled wheel is installed")  # fmt: skip
    parser.add_argument("--profile", action="store_true", help="print where the time goes")
    parser.add_argument("--variant", default="turn-inline", help="what --profile looks at")
    parser.add_argument("--store", choices=["sqlite", "memory"], default="sqlite", help="likewise")
    return parser.parse_args()


def compiled_in(site: Path) -> Path | None:
    """The folder of a compiled wheel; None, with a line, where there is none."""
    if any(site.glob("*__mypyc.*")):
        return site.resolve()
    tell(f"No compiled wheel in {site}: its rows are left out (`make wheel-site` builds it)")
    return None


def measure(setting: Setting, names: list[str]) -> tuple[str, dict[str, object]]:
    """Runs the tables; gives the report and all raw figures."""
    head = machine.facts()
    head["neighbours"] = "measured in the same run" if setting.peers else "not measured this time"
    head["rounds"] = str(setting.rounds)
    head["load average at the start"] = machine.load_average()
    head["fsync of one page"] = f"{machine.fsync_ms(setting.folder):.2f} ms (median of 50)"
    sections = list(measured(setting, names))
    head["load average at the end"] = machine.load_average()
    raw = {
        "facts": head,
        "goals": [
            {"goal": goal.text, "most": goal.most, "figure": goal.figure, "verdict": goal.verdict}
            for section in sections
            for goal in section.goals
        ],
        "tables": {section.key: section.raw for section in sections},
    }
    return markdown(head, sections), raw


if __name__ == "__main__":
    main()
