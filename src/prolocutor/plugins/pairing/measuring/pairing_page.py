"""The report page of a pairing measurement: table, plots, domains, who is chosen, errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Final

from prolocutor.plugins.evaluation.html_report import NUMBER, html_report, line, share_matrix, table
from prolocutor.plugins.evaluation.plots import line_plot
from prolocutor.plugins.pairing.measuring.learning_curve import LearningPoint
from prolocutor.plugins.pairing.measuring.measurement import Measurement
from prolocutor.plugins.pairing.measuring.method_rows import MethodChoice, MethodRow

_MOST_ERRORS: Final = 400
_MOST_AGENTS: Final = 40
_LONGEST: Final = 400
_HEAD: Final = (
    "method", "precision@1", "95 % interval", "calls", "cost", "wait, s", "ECE",
    "ECE of all", "AUROC", "ms", "difference",
)  # fmt: skip


def page_of(found: Measurement, curve: Mapping[str, Sequence[LearningPoint]]) -> str:
    """Return the page of a measurement and its learning curve."""
    body = [
        _table(found),
        f'<div class="plots">{"".join(_plots(found, curve))}</div>',
        _domains(found),
        _matrices(found),
        _errors(found),
    ]
    return html_report(f"Pairing on {found.data}", _summary(found), body)


def _summary(found: Measurement) -> str:
    return (
        f"{found.n} agents; {found.questions:,} questions in {found.groups:,} groups of near "
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
                shown += f"<td{NUMBER}>{one.precision_at_1:.2%}</td>"
                lines.append(f'<tr class="published">{shown}{"<td></td>" * (len(_HEAD) - 2)}</tr>')
        lines += [_line(row) for row in rows]
    return table(_HEAD, lines)


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
    return line(row.method, cells)


def _plots(found: Measurement, curve: Mapping[str, Sequence[LearningPoint]]) -> list[str]:
    calls = {
        f"{row.stage}: {row.method}": [(row.mean_calls, row.precision_at_1)] for row in found.rows
    }
    chosen = [row for stage in ("route", "rank") if (row := found.best(stage))]
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


def _domains(found: Measurement) -> str:
    chosen = [row for stage in ("route", "rank") if (row := found.best(stage))]
    names = sorted({name for row in chosen for name in row.domains})
    if not names:
        return ""
    lines = [line(name, (f"{row.domains.get(name, 0.0):.0%}" for row in chosen)) for name in names]
    return "<h2>By domain</h2>" + table(["domain", *(row.method for row in chosen)], lines)


def _matrices(found: Measurement) -> str:
    best = found.best("rank") or found.best("route")
    if best is None:
        return ""
    gold: Counter[str] = Counter()
    both: Counter[tuple[str, str]] = Counter()
    chosen: Counter[tuple[str, str]] = Counter()
    for one, made in zip(found.test, found.choices[best.stage, best.method], strict=True):
        for agent in one.gold:
            gold[agent] += 1
            chosen[agent, made.agent] += 1
            both.update((agent, other) for other in one.gold)
    names = [name for name, _ in gold.most_common(_MOST_AGENTS)]
    known = frozenset(names)
    right = {pair: count / gold[pair[0]] for pair, count in both.items() if known >= {*pair}}
    taken = {pair: count / gold[pair[0]] for pair, count in chosen.items() if known >= {*pair}}
    return share_matrix(
        right,
        names,
        "Who is right together",
        "Of the questions of a row's agent, the column's is right for so many.",
    ) + share_matrix(
        taken,
        names,
        f"Who is chosen by {best.method}",
        "Of the questions of a row's agent, the column's is chosen for so many.",
    )


def _errors(found: Measurement) -> str:
    best = found.best("rank") or found.best("route")
    if best is None:
        return ""
    wrong = [
        (one, made)
        for one, made in zip(found.test, found.choices[best.stage, best.method], strict=True)
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
