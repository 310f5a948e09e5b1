"""Reports of test outcomes: a table for people, JUnit XML for continuous integration."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Literal
from xml.etree import ElementTree

import msgspec

Status = Literal["passed", "failed", "error", "updated"]

_MARKS: Final = {"passed": "ok", "failed": "FAILED", "error": "ERROR", "updated": "updated"}

_UNPRINTABLE: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class TestOutcome(msgspec.Struct, kw_only=True):
    """The outcome of a test: a conversation of a file or of a simulated person.

    `details` are lines about faults, `notes` are other lines, such as a judge's reasons.
    """

    __test__ = False  # it is not a test of pytest's

    file: str
    name: str
    status: Status = "passed"
    turns: int = 0
    seconds: float = 0.0
    details: list[str] = []
    notes: list[str] = []

    def fail(self, *lines: str) -> None:
        """Add a fault."""
        self.status = "failed"
        self.details = [*self.details, *lines]


def table_lines(outcomes: Sequence[TestOutcome]) -> Iterator[str]:
    """Return a table with a line for each test, its faults below it, and the sum."""
    width = max((len(_title(outcome)) for outcome in outcomes), default=0)
    for outcome in outcomes:
        count = "1 turn" if outcome.turns == 1 else f"{outcome.turns} turns"
        mark = _MARKS[outcome.status]
        line = f"{_title(outcome):<{width}}  {mark:<7}  {count:>8}  {outcome.seconds:7.2f} s"
        yield line.rstrip()
        yield from (f"    {line}" for text in outcome.details for line in text.splitlines())
        yield from (f"    {line}" for text in outcome.notes for line in text.splitlines())
    yield summary_line(outcomes)


def summary_line(outcomes: Sequence[TestOutcome]) -> str:
    """Return a line with the numbers of passed and failed tests, and the seconds."""
    told = []
    for status, word in (
        ("failed", "failed"),
        ("error", "with errors"),
        ("updated", "written anew"),
        ("passed", "passed"),
    ):
        if number := sum(outcome.status == status for outcome in outcomes):
            told.append(f"{number:,} {word}")
    seconds = sum(outcome.seconds for outcome in outcomes)
    return f"{', '.join(told) or 'no tests'} in {seconds:.2f} s"


def _title(outcome: TestOutcome) -> str:
    return f"{outcome.file}: {outcome.name}" if outcome.name else outcome.file


def write_junit(path: Path, outcomes: Sequence[TestOutcome]) -> None:
    """Write JUnit XML, with a suite for each file."""
    root = ElementTree.Element("testsuites", name="prolocutor")
    by_file: dict[str, list[TestOutcome]] = {}
    for outcome in outcomes:
        by_file.setdefault(outcome.file, []).append(outcome)
    for file, cases in by_file.items():
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=file,
            tests=str(len(cases)),
            failures=str(sum(one.status == "failed" for one in cases)),
            errors=str(sum(one.status == "error" for one in cases)),
            time=f"{sum(one.seconds for one in cases):.3f}",
        )
        for one in cases:
            case = ElementTree.SubElement(
                suite,
                "testcase",
                classname=file,
                name=one.name or Path(file).stem,
                time=f"{one.seconds:.3f}",
            )
            if one.status in ("failed", "error"):
                kind = "failure" if one.status == "failed" else "error"
                text = _UNPRINTABLE.sub("?", "\n".join(one.details))
                first = text.partition("\n")[0]
                ElementTree.SubElement(case, kind, message=first).text = text
            if one.notes:
                notes = _UNPRINTABLE.sub("?", "\n".join(one.notes))
                ElementTree.SubElement(case, "system-out").text = notes
    path.parent.mkdir(parents=True, exist_ok=True)
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
