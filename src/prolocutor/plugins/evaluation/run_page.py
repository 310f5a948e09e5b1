"""The report of a run as lines of text, and as a page of plain HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

import msgspec

from prolocutor.cli.output import clean, figure
from prolocutor.plugins.evaluation.parlai.metrics.estimates import Estimate
from prolocutor.plugins.evaluation.run_folder import RunDescription
from prolocutor.plugins.evaluation.run_report import EXAMPLES, RunReport


def report_lines(report: RunReport) -> Iterator[str]:
    """Return the report of a run as lines."""
    failed = f", {report.failed:,} failed" if report.failed else ""
    yield f"{report.examples:,} examples in {report.episodes:,} episodes{failed}"
    yield from estimate_lines({**report.metrics, **report.figures})
    if report.aggregate is not None:
        means = "mean of the tasks' figures" if report.aggregate == "macro" else "of all examples"
        yield f"over {len(report.tasks)} tasks: {report.aggregate} ({means})"
        for task, of_task in report.tasks.items():
            yield from estimate_lines({f"{task}/{name}": one for name, one in of_task.items()})
    for name in _common(report.groups):
        parts = (f"{group or '-'} {_one(found, name)}" for group, found in report.groups.items())
        yield f"{name} by group: {', '.join(parts)}"
    if len(report.by) > 1:
        yield f"answered by: {', '.join(f'{clean(by)} {n:,}' for by, n in report.by.items())}"


def estimate_lines(estimates: Mapping[str, Estimate]) -> Iterator[str]:
    """Return estimates as a table: name, value, standard error, interval."""
    width = max(map(len, estimates), default=0)
    for name, one in estimates.items():
        line = f"{clean(name):<{width}}  {_shown(name, one):>9}"
        if one.error is not None:
            line += f"  ± {figure(one.error):<8}"
        if one.low is not None and one.high is not None:
            line += f"  [{figure(one.low)}, {figure(one.high)}]"
        yield line.rstrip()


def _common(groups: Mapping[str, Mapping[str, Estimate]]) -> list[str]:
    return list(dict.fromkeys(name for found in groups.values() for name in found))


def _one(found: Mapping[str, Estimate], name: str) -> str:
    return _shown(name, found[name]) if name in found else "-"


def _shown(name: str, one: Estimate) -> str:
    whole = name.rpartition("/")[2] == EXAMPLES
    return f"{one.value:,.0f}" if whole else figure(one.value)


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


def page_of(run: RunDescription, report: RunReport) -> str:
    """Return the page of a run."""
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
