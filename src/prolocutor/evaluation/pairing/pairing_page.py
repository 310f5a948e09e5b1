"""Page: what was measured as one HTML file that needs nothing else, no script, no network.

Questions, answers and names are escaped; the page's own policy lets no script run.
"""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Final

from prolocutor.evaluation.pairing.drawings import line_plot, matrix
from prolocutor.evaluation.pairing.learning_curve import LearningPoint
from prolocutor.evaluation.pairing.measurement import Measurement
from prolocutor.evaluation.pairing.method_rows import MethodChoice, MethodRow

_STYLES: Final = (
    Path(__file__).parent.parent / "html_report.css",
    Path(__file__).with_suffix(".css"),
)
_MOST_ERRORS: Final = 400
_MOST_AGENTS: Final = 40
_LONGEST: Final = 400
_NUMBER: Final = ' class="number"'
_HEAD: Final = (
    "method", "precision@1", "95 % interval", "calls", "cost", "wait, s", "ECE",
    "ECE of all", "AUROC", "ms", "difference",
)  # fmt: skip

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
{table}
<div class="plots">{plots}</div>
{domains}
{matrices}
{errors}
</body>
</html>
"""


def page_of(found: Measurement, curve: Mapping[str, Sequence[LearningPoint]]) -> str:
    """Write what was measured, and the learning curve, as one page."""
    style = "\n".join(file.read_text("utf-8") for file in _STYLES)
    digest = b64encode(sha256(style.encode()).digest()).decode()
    page = _PAGE.format(
        policy=f"default-src 'none'; style-src 'sha256-{digest}'",
        title=escape(f"Pairing on {found.data}"),
        style=style,
        summary=escape(_summary(found)),
        table=_table(found),
        plots="".join(_plots(found, curve)),
        domains=_domains(found.rows),
        matrices=_matrices(found),
        errors=_errors(found),
    )
    return page.encode("utf-8", "replace").decode()


def best_of(rows: Sequence[MethodRow], stage: str) -> MethodRow | None:
    """Return the best line of a stage."""
    return max(
        (row for row in rows if row.stage == stage),
        key=lambda row: row.precision_at_1,
        default=None,
    )


def _summary(found: Measurement) -> str:
    return (
        f"{found.n} agents; {len(found.questions):,} questions in {found.groups:,} groups of near "
        f"duplicates, {found.answerable:,} with a right agent, on which all figures but AUROC are; "
        f"{found.learned:,} to learn from; {found.folds} folds, seed {found.seed}"
    )


def _table(found: Measurement) -> str:
    lines = []
    for stage, rows in groupby(found.rows, lambda row: row.stage):
        lines.append(f'<tr><th colspan="{len(_HEAD)}">{stage}</th></tr>')
        for one in found.published:
            if one.stage == stage:
                shown = f"<td>published: {escape(one.method)}</td>"
                shown += f"<td{_NUMBER}>{one.precision_at_1:.2%}</td>"
                lines.append(f'<tr class="published">{shown}{"<td></td>" * (len(_HEAD) - 2)}</tr>')
        lines += [_line(row) for row in rows]
    head = "".join(f"<th{_NUMBER if n else ''}>{name}</th>" for n, name in enumerate(_HEAD))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _line(row: MethodRow) -> str:
    difference = ""
    if row.difference is not None and row.than is not None:
        mean, low, high = (100 * one for one in row.difference)
        difference = f"{mean:+.1f} [{low:+.1f}, {high:+.1f}] from {row.than}"
    cells = (
        f"{row.precision_at_1:.1%}",
        f"{row.low:.1%} to {row.high:.1%}",
        f"{row.mean_calls:.2f}",
        "" if row.cost is None else f"{row.cost:.4g}",
        "" if row.wait is None else f"{row.wait:.3f}",
        "" if row.ece is None else f"{row.ece:.1%}",
        "" if row.ece_all is None else f"{row.ece_all:.1%}",
        "" if row.auroc is None else f"{row.auroc:.2f}",
        f"{row.ms:.2f}",
        difference,
    )
    shown = "".join(f"<td{_NUMBER}>{escape(cell)}</td>" for cell in cells)
    return f"<tr><td>{escape(row.method)}</td>{shown}</tr>"


def _plots(found: Measurement, curve: Mapping[str, Sequence[LearningPoint]]) -> list[str]:
    calls = {
        f"{row.stage}: {row.method}": [(row.mean_calls, row.precision_at_1)] for row in found.rows
    }
    chosen = [row for stage in ("route", "rank") if (row := best_of(found.rows, stage))]
    learned = {
        name: [(point.learned, point.precision_at_1) for point in points]
        for name, points in curve.items()
    }
    return [
        line_plot(calls, "Right, against calls", "mean calls", logarithmic=True, joined=False),
        line_plot(learned, "Right, against labels", "questions learned from", logarithmic=True),
        line_plot(
            {
                row.method: [(one.probability, one.right) for one in row.reliability]
                for row in chosen
            },
            "Reliability: how many are right, of those with a probability",
            "probability",
            ends=(0.0, 1.0),
            diagonal=True,
        ),
        line_plot(
            {f"{row.stage}: {row.method}": row.coverage for row in chosen},
            "Right, of the surest share of the questions",
            "share that is answered",
            ends=(0.0, 1.0),
        ),
    ]


def _domains(rows: Sequence[MethodRow]) -> str:
    chosen = [row for stage in ("route", "rank") if (row := best_of(rows, stage))]
    names = sorted({name for row in chosen for name in row.domains})
    if not names:
        return ""
    head = "".join(f"<th{_NUMBER}>{escape(row.method)}</th>" for row in chosen)
    lines = [
        f"<tr><td>{escape(name)}</td>"
        + "".join(f"<td{_NUMBER}>{row.domains.get(name, 0.0):.0%}</td>" for row in chosen)
        + "</tr>"
        for name in names
    ]
    body = "".join(lines)
    return f"<h2>By domain</h2><table><tr><th>domain</th>{head}</tr>{body}</table>"


def _matrices(found: Measurement) -> str:
    best = best_of(found.rows, "rank") or best_of(found.rows, "route")
    if best is None:
        return ""
    gold: Counter[str] = Counter()
    both: Counter[tuple[str, str]] = Counter()
    chosen: Counter[tuple[str, str]] = Counter()
    for one, made in zip(found.questions, found.choices[best.stage, best.method], strict=True):
        for agent in one.gold:
            gold[agent] += 1
            chosen[agent, made.agent] += 1
            both.update((agent, other) for other in one.gold)
    names = [name for name, _ in gold.most_common(_MOST_AGENTS)]
    known = frozenset(names)
    right = {pair: count / gold[pair[0]] for pair, count in both.items() if known >= {*pair}}
    taken = {pair: count / gold[pair[0]] for pair, count in chosen.items() if known >= {*pair}}
    return matrix(
        right,
        names,
        "Who is right together",
        "Of the questions of a row's agent, the column's is right for so many.",
    ) + matrix(
        taken,
        names,
        f"Who is chosen by {best.method}",
        "Of the questions of a row's agent, the column's is chosen for so many.",
    )


def _errors(found: Measurement) -> str:
    best = best_of(found.rows, "rank") or best_of(found.rows, "route")
    if best is None:
        return ""
    wrong = [
        (one, made)
        for one, made in zip(found.questions, found.choices[best.stage, best.method], strict=True)
        if one.gold and not made.right
    ]
    wrong.sort(key=lambda pair: -(pair[1].probability or 0.0))
    parts = []
    for one, made in wrong[:_MOST_ERRORS]:
        answers = [(made.agent, "chosen"), *((agent, "right") for agent in sorted(one.gold))]
        said = "".join(
            f'<p class="{"failed" if which == "chosen" else "right"}">{which}: {escape(agent)}: '
            f"{escape(one.answers.get(agent, '')[:_LONGEST])}</p>"
            for agent, which in answers
        )
        sure = "" if made.probability is None else f", {made.probability:.0%} sure"
        domain = f" ({escape(one.domain)})" if one.domain else ""
        parts.append(
            f"<details><summary>{escape(one.question.text)}{domain}: {escape(made.agent)}{sure}, "
            f"right: {escape(', '.join(sorted(one.gold)))}</summary>{said}"
            f'<p class="dim">{escape(_ranked(made))}</p></details>'
        )
    more = (
        f", the surest {_MOST_ERRORS} of them"
        if len(wrong) > _MOST_ERRORS
        else ", the surest first"
    )
    return f"<h2>Errors of {escape(best.method)}: {len(wrong):,}{more}</h2>{''.join(parts)}"


def _ranked(made: MethodChoice) -> str:
    return ", ".join(f"{agent} {probability:.2f}" for agent, probability in made.ranked)
