"""The report of a run as lines of text, and as a page of plain HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from html import escape
from typing import Final, TypeVar

import msgspec

from prolocutor.cli.output import clean, count_text, figure
from prolocutor.plugins.evaluation.parlai.metrics.estimates import Estimate
from prolocutor.plugins.evaluation.run_folder import RunDescription
from prolocutor.plugins.evaluation.run_report import EXAMPLES, RunReport

T = TypeVar("T")


SELDOM: Final = frozenset(
    ("precision", "recall", "hits@10", "hits@100", EXAMPLES, "latency", "latency_p99")
)
"""Metrics and figures shown only in the whole report."""

IF_THEY_DIFFER: Final = ("hits@1", "hits@5")
"""Shown where the right answer was among the candidates more often than it was given."""

IF_NOT_ZERO: Final = ("abstention", "errors")

MOST_METRICS: Final = 3
MAIN_FIGURES: Final = ("errors", "latency_p50")

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'">
<title>{title}</title>
<h1>{title}</h1>
<p>Started {started} UTC, {state}</p>
<pre>{figures}</pre>
<h2>Configuration</h2>
<pre>{configuration}</pre>
</html>
"""


def report_lines(report: RunReport, *, whole: bool = True, asked: str = "") -> Iterator[str]:
    """Return the report of a run as lines: the whole report, or the usual metrics only.

    `asked`: names of metrics, separated by commas, to show in any case.
    """
    failed = f", {report.failed:,} failed" if report.failed else ""
    examples = count_text(report.examples, "example")
    episodes = count_text(report.episodes, "episode")
    yield f"{examples} in {episodes}{failed}"
    hidden = frozenset() if whole else _hidden_names(report).difference(asked.split(","))
    yield from estimate_lines(_remove_hidden(hidden, {**report.metrics, **report.figures}))
    if report.aggregate is not None:
        means = "mean of the tasks' figures" if report.aggregate == "macro" else "of all examples"
        yield f"over {len(report.tasks)} tasks: {report.aggregate} ({means})"
        for task, found in report.tasks.items():
            of_task = _remove_hidden(hidden, found)
            yield from estimate_lines({f"{task}/{name}": one for name, one in of_task.items()})
    for name in _remove_hidden(hidden, dict.fromkeys(_common(report.groups))):
        parts = (f"{group or '-'} {_one(found, name)}" for group, found in report.groups.items())
        yield f"{name} by group: {', '.join(parts)}"
    if len(report.by) > 1:
        yield f"answered by: {', '.join(f'{clean(by)} {n:,}' for by, n in report.by.items())}"
    if hidden:
        yield f"not shown: {', '.join(sorted(hidden))} (--all)"


def main_names(report: RunReport, metric: str) -> list[str]:
    """Return the names of the figures that matter: three metrics, failures and the usual time.

    The first is the metric by which examples are right.
    """
    hidden = _hidden_names(report)
    metrics = dict.fromkeys([metric, *(name for name in report.metrics if name not in hidden)])
    known = [name for name in metrics if name in report.metrics]
    others = [name for name in MAIN_FIGURES if name in report.figures and name not in hidden]
    return [*known[:MOST_METRICS], *others]


def _hidden_names(report: RunReport) -> frozenset[str]:
    """Return the names of figures that say little about this run."""
    found = {**report.metrics, **report.figures}
    values = {name: one.value for name, one in found.items()}
    seldom = {name for name in SELDOM if name in values}
    zero = {name for name in IF_NOT_ZERO if values.get(name) == 0}
    if values.get("hits@5", 0.0) <= values.get("accuracy", 0.0):
        seldom |= {name for name in IF_THEY_DIFFER if name in values}
    return frozenset(seldom | zero)


def _remove_hidden(hidden: Set[str], named: Mapping[str, T]) -> dict[str, T]:
    return {name: one for name, one in named.items() if name not in hidden}


def estimate_lines(estimates: Mapping[str, Estimate]) -> Iterator[str]:
    """Return estimates as a table: name, value, standard error, interval."""
    width = max(map(len, estimates), default=0)
    for name, one in estimates.items():
        line = f"{clean(name):<{width}}  {_value_text(name, one):>9}"
        if one.error is not None:
            line += f"  ± {figure(one.error):<8}"
        if one.low is not None and one.high is not None:
            line += f"  [{figure(one.low)}, {figure(one.high)}]"
        yield line.rstrip()


def _common(groups: Mapping[str, Mapping[str, Estimate]]) -> list[str]:
    return list(dict.fromkeys(name for found in groups.values() for name in found))


def _one(found: Mapping[str, Estimate], name: str) -> str:
    return _value_text(name, found[name]) if name in found else "-"


def _value_text(name: str, one: Estimate) -> str:
    whole = name.rpartition("/")[2] == EXAMPLES
    return f"{one.value:,.0f}" if whole else figure(one.value)


def render_page(run: RunDescription, report: RunReport) -> str:
    """Return the HTML page of a run."""
    known = {**run.configuration, **run.options, **run.versions}
    said = (f"{name}: {msgspec.json.encode(one).decode()}" for name, one in known.items())
    page = _PAGE.format(
        title=escape(f"{run.configuration.get('subject')} on {run.options.get('data', 'data')}"),
        started=escape(run.started[:19]),
        state="complete" if run.complete else "not complete",
        figures=escape("\n".join(report_lines(report))),
        configuration=escape("\n".join(said)),
    )
    return page.encode("utf-8", "replace").decode()
