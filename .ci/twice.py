#!/usr/bin/env python3
"""Run a command of pytest; try what has failed beside others once more, one by one.

The last lines name what was tried twice and count all tests by how they went in the end. Exit 0
only if nothing is left that fails.
"""

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

FAILED = Path(".pytest_cache/v/cache/lastfailed")
ONE_BY_ONE = ["-n", "0", "--last-failed", "--last-failed-no-failures", "none"]
TESTS_FAILED = 1  # pytest's exit status; the others are not about tests

_CLOSING = re.compile(r"^=* ?((?:\d+ \w+(?: \(.*\))?(?:, )?)+) in ([\d.]+)s", re.MULTILINE)
_PART = re.compile(r"(\d+) (\w+)( \(.*?\)(?=,|$))?")


def main(command: list[str]) -> int:
    """Run the command, twice where it has to be, and return its exit status."""
    FAILED.unlink(missing_ok=True)
    status, first = run(command)
    if status != TESTS_FAILED:
        return status
    failed = sorted(json.loads(FAILED.read_text("utf-8")))
    say("\nTrying once more, one by one, what failed beside others ...")
    status, second = run([*command, *ONE_BY_ONE])
    say("\n  ".join(["Tried twice:", *failed]))
    say(summed(first, second))
    return status


def say(text: str) -> None:
    """Write a line in its place among what pytest writes."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def run(command: list[str]) -> tuple[int, str]:
    """Run a command and show its output; return its exit status and the output."""
    shown = []
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        while process.stdout and (part := process.stdout.read1()):
            sys.stdout.buffer.write(part)
            sys.stdout.buffer.flush()
            shown.append(part)
    return process.returncode, b"".join(shown).decode("utf-8", "replace")


def summed(first: str, second: str) -> str:
    """Return a closing line for both: what failed at first counts as it went the second time."""
    counts: Counter[str] = Counter()
    seconds, reasons = 0.0, {}
    for number, output in enumerate((first, second)):
        for words, took in _CLOSING.findall(output)[-1:]:
            seconds += float(took)
            for count, outcome, reason in _PART.findall(words):
                if not outcome.startswith(("deselected",) if number else ("failed", "error")):
                    counts[outcome] += int(count)
                    reasons[outcome] = reasons.get(outcome) or reason
    ordered = sorted(counts, key=lambda outcome: not outcome.startswith(("failed", "error")))
    parts = [f"{counts[outcome]} {outcome}{reasons[outcome]}" for outcome in ordered]
    return f"{', '.join(parts)} in {seconds:.2f}s"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
