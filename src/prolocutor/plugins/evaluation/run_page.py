"""The page of a run: its figures and configuration as plain HTML; the console shows its rows."""

from __future__ import annotations

from html import escape

import msgspec

from prolocutor.plugins.evaluation.report_lines import report_lines
from prolocutor.plugins.evaluation.run_folder import RunDescription
from prolocutor.plugins.evaluation.run_report import RunReport

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
