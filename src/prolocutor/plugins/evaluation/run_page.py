"""The report page of a run: plots, figures, and every dialog, which a script filters and sorts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

import msgspec

from prolocutor.plugins.evaluation.example_rows import ExampleRow
from prolocutor.plugins.evaluation.html_report import html_report, line, table, value_table
from prolocutor.plugins.evaluation.parlai.metrics.estimates import Estimate
from prolocutor.plugins.evaluation.plots import bar_plot, histogram, interval_plot
from prolocutor.plugins.evaluation.run_folder import RunDescription
from prolocutor.plugins.evaluation.run_report import EXAMPLES, RunReport

_HERE: Final = Path(__file__)
_MOST_CANDIDATES: Final = 20
_MOST_GROUPS: Final = 40
_BY_GROUP: Final = ("accuracy", "f1", "hits@1")
_HEAD: Final = ("figure", "value", "standard error", "low", "high", "examples")


class ShownTurn(msgspec.Struct, frozen=True, kw_only=True):
    """One example as `run_page.js` shows it; `others` are candidates that were not chosen."""

    n: int
    text: str
    labels: list[str]
    answer: str
    others: list[str]
    by: str
    scores: dict[str, float | None]
    seconds: float
    error: str | None


class ShownDialog(msgspec.Struct, frozen=True):
    """One episode as `run_page.js` shows it."""

    name: str
    group: str
    turns: list[ShownTurn]


def page_of(run: RunDescription, report: RunReport, rows: Sequence[ExampleRow]) -> str:
    """Return the page of a run."""
    names = [name for name in report.metrics if name != EXAMPLES]
    dialogs = msgspec.to_builtins([*_dialogs(rows)])
    body = [
        f'<div class="plots">{"".join(_plots(report, rows))}</div>',
        "<h2>Figures</h2>",
        table(_HEAD, [line(name, _cells(one)) for name, one in report.estimates()]),
        _HERE.with_suffix(".html").read_text("utf-8"),
        "<h2>Configuration</h2>",
        value_table({**run.configuration, **run.options, **run.versions}),
    ]
    return html_report(
        f"{run.configuration.get('subject')} on {run.options.get('data', 'data')}",
        _summary(run, report),
        body,
        script=_HERE.with_suffix(".js").read_text("utf-8"),
        data={"metrics": names, "dialogs": dialogs},
    )


def _summary(run: RunDescription, report: RunReport) -> str:
    parts = [
        f"{report.examples:,} examples in {report.episodes:,} dialogs",
        f"{report.failed:,} failed",
        f"started {run.started[:19]} UTC",
        "complete" if run.complete else "not complete",
    ]
    return ", ".join(parts)


def _plots(report: RunReport, rows: Sequence[ExampleRow]) -> Iterator[str]:
    scores = {name: one for name, one in report.metrics.items() if name != EXAMPLES}
    yield interval_plot(scores, "Scores, with 95 % intervals")
    for name in _BY_GROUP:
        of_groups = {
            group or "-": found[name]
            for group, found in list(report.groups.items())[:_MOST_GROUPS]
            if name in found
        }
        yield interval_plot(of_groups, f"{name} by group")
    if "f1" in report.metrics:
        f1 = [score for row in rows if (score := row.scores.get("f1")) is not None]
        yield histogram(f1, "Examples by f1", ends=(0.0, 1.0))
    yield histogram([row.seconds for row in rows if row.error is None], "Examples by latency", " s")
    if len(report.by) > 1:
        yield bar_plot(dict(list(report.by.items())[:_MOST_GROUPS]), "Answered by")


def _dialogs(rows: Sequence[ExampleRow]) -> Iterator[ShownDialog]:
    for (number, repeat), found in groupby(rows, lambda row: (row.episode, row.repeat)):
        turns = list(found)
        name = f"{number}" if not repeat else f"{number}.{repeat + 1}"
        yield ShownDialog(name, turns[0].group, [_turn(one) for one in turns])


def _turn(row: ExampleRow) -> ShownTurn:
    candidates = row.act.get("text_candidates")
    others = candidates[1 : _MOST_CANDIDATES + 1] if isinstance(candidates, list) else []
    return ShownTurn(
        n=row.n,
        text=str(row.input.get("text") or ""),
        labels=row.labels,
        answer=row.answer,
        others=[str(other) for other in others],
        by=row.by,
        scores=row.scores,
        seconds=row.seconds,
        error=row.error,
    )


def _cells(one: Estimate) -> Iterator[str]:
    for value in (one.value, one.error, one.low, one.high, one.count):
        yield "" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
