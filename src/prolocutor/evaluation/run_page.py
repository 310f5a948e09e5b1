"""Page: a run as one HTML file that needs nothing else.

Nothing that was said, by data or agents, is ever read as HTML: drawings and tables are escaped, the
dialogs are JSON that a script of ours puts in as text, and the page's own policy lets no other
script run and nothing be loaded.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import msgspec

from prolocutor.evaluation.example_rows import ExampleRow, as_json
from prolocutor.evaluation.plots import bar_plot, histogram, interval_plot
from prolocutor.evaluation.run_folder import RunDescription
from prolocutor.evaluation.run_report import EXAMPLES, Estimates, RunReport
from prolocutor.parlai.metrics.estimates import Estimate

_HERE: Final = Path(__file__)
_MOST_CANDIDATES: Final = 20
_MOST_GROUPS: Final = 40
_BY_GROUP: Final = ("accuracy", "f1", "hits@1")

_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<h1>{title}</h1>
<p class="dim">{summary}</p>
<div class="plots">{plots}</div>
<h2>Figures</h2>
{figures}
<h2>Dialogs</h2>
<div class="filters">
<input type="search" id="search" placeholder="Search all that was said" aria-label="Search">
<select id="group" aria-label="Group"><option value="*">all groups</option></select>
<select id="who" aria-label="Answered by"><option value="*">answered by anybody</option></select>
<select id="outcome" aria-label="Outcome">
<option value="*">right or wrong</option>
<option value="right">right</option>
<option value="wrong">wrong</option>
<option value="failed">failed</option>
</select>
<select id="metric" aria-label="Metric"></select>
<select id="order" aria-label="Order">
<option value="data">in order of the data</option>
<option value="worst">worst first</option>
<option value="slowest">slowest first</option>
</select>
<span id="count" class="dim" role="status"></span>
</div>
<table>
<thead><tr><th class="number">#</th><th>group</th><th>said</th><th>answer</th><th>by</th>
<th class="number">turns</th><th class="number">score</th>
<th class="number">slowest</th></tr></thead>
<tbody id="rows"></tbody>
</table>
<p><button id="more" hidden>Show more</button></p>
<noscript><p>The dialogs are shown by a script of this page, which is off here.</p></noscript>
<h2>Configuration</h2>
{configuration}
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def page_of(run: RunDescription, report: RunReport, rows: Sequence[ExampleRow]) -> str:
    """Write a run as one page."""
    script = _HERE.with_suffix(".js").read_text("utf-8")
    style = _HERE.with_name("html_report.css").read_text("utf-8")
    names = [name for name in report.metrics if name != EXAMPLES]
    title = f"{run.configuration.get('subject')} on {run.options.get('data', 'data')}"
    figures = _estimate_table(
        {
            **report.metrics,
            **report.figures,
            **{
                f"{task}/{name}": one
                for task, of in report.tasks.items()
                for name, one in of.items()
            },
        }
    )
    page = _PAGE.format(
        policy=f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'",
        title=escape(title),
        style=style,
        summary=escape(_summary(run, report)),
        plots="".join(_plots(report, rows)),
        figures=figures,
        configuration=_table({**run.configuration, **run.options, **run.versions}),
        data=_script_data({"metrics": names, "dialogs": _dialogs(rows)}),
        script=script,
    )
    return page.encode("utf-8", "replace").decode()


def _summary(run: RunDescription, report: RunReport) -> str:
    parts = [
        f"{report.examples:,} examples in {report.episodes:,} dialogs",
        f"{report.failed:,} failed",
        f"started {run.started[:19]} UTC",
        "complete" if run.complete else "not complete",
    ]
    return ", ".join(parts)


def _plots(report: RunReport, rows: Sequence[ExampleRow]) -> list[str]:
    plots = [interval_plot(_scores(report.metrics), "Scores, with 95 % intervals")]
    for name in _BY_GROUP:
        of_groups = {
            group or "-": found[name]
            for group, found in list(report.groups.items())[:_MOST_GROUPS]
            if name in found
        }
        plots.append(interval_plot(of_groups, f"{name} by group"))
    if "f1" in report.metrics:
        scores = [score for row in rows if (score := row.scores.get("f1")) is not None]
        plots.append(histogram(scores, "Examples by f1", ends=(0.0, 1.0)))
    answered = [row.seconds for row in rows if row.error is None]
    plots.append(histogram(answered, "Examples by latency", " s"))
    if len(report.by) > 1:
        plots.append(bar_plot(dict(list(report.by.items())[:_MOST_GROUPS]), "Answered by"))
    return plots


def _scores(metrics: Estimates) -> Estimates:
    return {name: one for name, one in metrics.items() if name != EXAMPLES}


def _dialogs(rows: Sequence[ExampleRow]) -> list[dict[str, Any]]:
    found = []
    for (number, repeat), turns in groupby(rows, lambda row: (row.episode, row.repeat)):
        told = list(turns)
        name = f"{number}" if not repeat else f"{number}.{repeat + 1}"
        found.append({"name": name, "group": told[0].group, "turns": [_turn(one) for one in told]})
    return found


def _turn(row: ExampleRow) -> dict[str, Any]:
    candidates = row.act.get("text_candidates")
    others = candidates[1 : _MOST_CANDIDATES + 1] if isinstance(candidates, list) else []
    return {
        "n": row.n,
        "text": str(row.input.get("text") or ""),
        "labels": row.labels,
        "answer": row.answer,
        "others": [str(other) for other in others],
        "by": row.by,
        "scores": row.scores,
        "seconds": row.seconds,
        "error": row.error,
    }


def _script_data(value: Any) -> str:
    """Write JSON that cannot end the element which it stands in."""
    text = msgspec.json.encode(as_json(value)).decode()
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _estimate_table(estimates: Estimates) -> str:
    head = "".join(f"<th{_NUMBER if n else ''}>{name}</th>" for n, name in enumerate(_HEAD))
    lines = [
        f"<tr><td>{escape(name)}</td>{''.join(map(_cell, _numbers(one)))}</tr>"
        for name, one in estimates.items()
    ]
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


_NUMBER: Final = ' class="number"'
_HEAD: Final = ("figure", "value", "standard error", "low", "high", "examples")


def _numbers(one: Estimate) -> tuple[float | None, ...]:
    return one.value, one.error, one.low, one.high, one.count


def _cell(value: float | None) -> str:
    text = "" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
    return f"<td{_NUMBER}>{text}</td>"


def _table(values: Mapping[str, Any]) -> str:
    lines = [
        f"<tr><td>{escape(name)}</td><td>{escape(str(value))}</td></tr>"
        for name, value in values.items()
        if value is not None
    ]
    return f"<table><tbody>{''.join(lines)}</tbody></table>"


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
