"""What was measured as tables: on the terminal and in Markdown, with each goal met or missed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.turns.contest import Span

PAIRING = "## Routing and ranking"
"""The heading of what `bench/pairing.py` writes, before the last one of the page."""

WIRE = "## Almond's wire"
"""The heading of what `bench/almond.py` writes, at the end of the page."""


@dataclass(frozen=True)
class Goal:
    """A figure that must not be exceeded; `figure` is None where it was not measured."""

    text: str
    most: float
    figure: float | None
    unit: str = ""

    @property
    def verdict(self) -> str:
        """`met`, `MISSED` or `not measured`."""
        if self.figure is None:
            return "not measured"
        return "met" if self.figure <= self.most else "MISSED"

    def row(self) -> list[str]:
        figure = "-" if self.figure is None else f"{number(self.figure)}{self.unit}"
        return [self.text, f"at most {number(self.most)}{self.unit}", figure, self.verdict]


@dataclass
class Section:
    """One table with its heading, what is to be known to read it, and its goals."""

    key: str
    title: str
    note: str
    header: list[str]
    rows: list[list[str]] = field(default_factory=list)
    goals: list[Goal] = field(default_factory=list)
    raw: Any = None

    def markdown(self) -> str:
        return f"## {self.title}\n{self.note}\n\n{table(self.header, self.rows)}\n"


def markdown(head: dict[str, str], sections: Iterable[Section]) -> str:
    """The whole report."""
    sections = list(sections)
    goals = [goal.row() for section in sections for goal in section.goals]
    facts = "\n".join(f"- {name}: {value}" for name, value in head.items())
    return (
        "# Benchmarks\n\n"
        "Written by `make bench` or, with the neighbours, `make bench-peers`; the raw figures are "
        "in [benchmarks.json](benchmarks.json).\nCPU ms a turn is the time of all threads of the "
        "assistant's process; figures are medians over the rounds, with the least and\nthe most. "
        "A ratio is taken within each round, then the median of the ratios: the runs of a round "
        "follow one another,\nso they see the same machine, and machines that are shared change "
        "their speed by a factor of two.\n\n"
        f"{facts}\n\n## Goals\n\n{table(['goal', 'limit', 'measured', ''], goals)}\n\n"
        + "\n".join(section.markdown() for section in sections)
    )


def written(page: Path, report: str) -> None:
    """Writes a page, and leaves the sections that others write at its end as they are."""
    before = page.read_text() if page.exists() else ""
    others = [before.index(heading) for heading in (PAIRING, WIRE) if heading in before]
    kept = before[min(others) :] if others else ""
    page.write_text(f"{report.rstrip()}\n\n{kept}" if kept else report)


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table whose columns are as wide as what is in them."""
    widths = [max(len(line[at]) for line in [header, *rows]) for at in range(len(header))]

    def line(cells: list[str]) -> str:
        return "| " + " | ".join(c.ljust(w) for c, w in zip(cells, widths, strict=True)) + " |"

    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([line(header), rule, *map(line, rows)])


def spread(span: Span | None) -> str:
    """`middle (least to most)`."""
    if span is None:
        return "-"
    if span.least == span.most:
        return number(span.middle)
    return f"{number(span.middle)} ({number(span.least)} to {number(span.most)})"


def number(figure: float) -> str:
    """Three figures that matter."""
    if figure == 0:
        return "0"
    places = 3 if abs(figure) < 1 else 2 if abs(figure) < 10 else 1 if abs(figure) < 100 else 0
    return f"{figure:,.{places}f}"
